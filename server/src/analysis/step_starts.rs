//! The begins of a step on all ranks, by the marks of the program.

use std::collections::BTreeMap;

use nprof_engine::analysis::Analysed;
use nprof_engine::exec::Cancel;
use nprof_engine::makers::marks;
use nprof_engine::model::{MachineSide, MarkKind};

use super::graph::files_of;
use super::{AnalysisError, of_segment, on_all_cores};
use crate::store::{Profile, RankFile};

/// The begins of the first step that all ranks mark on their hosts, in the order of the graph and
/// on its clock. Empty if there is none.
pub fn step_starts(
    profile: &Profile,
    analysed: &Analysed,
    cancel: Cancel<'_>,
) -> Result<Vec<i64>, AnalysisError> {
    let files = files_of(profile);
    if files.len() < 2 {
        return Ok(Vec::new());
    }
    let of_rank = |file: &RankFile| {
        let clock = analysed.clock_of(file.rank);
        let mut starts: BTreeMap<String, i64> = BTreeMap::new();
        for mark in of_segment(profile, file, |segment| marks(segment, cancel))? {
            if mark.kind == MarkKind::Step && mark.side == MachineSide::Host {
                starts.entry(mark.name).or_insert(clock.to_shared(mark.span.start).0);
            }
        }
        Ok(starts)
    };
    let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    let of_ranks = on_all_cores(cancel).gather(files.len(), |at| Ok(of_rank(files[at]))).map_err(failed)?;
    let of_ranks = of_ranks.into_iter().collect::<Result<Vec<BTreeMap<String, i64>>, AnalysisError>>()?;
    let mut names: Vec<(&i64, &String)> =
        of_ranks[0].iter().map(|(name, start_ps)| (start_ps, name)).collect();
    names.sort();
    let starts =
        |name: &String| of_ranks.iter().map(|of| of.get(name).copied()).collect::<Option<Vec<i64>>>();
    Ok(names.into_iter().find_map(|(_, name)| starts(name)).unwrap_or_default())
}
