//! The regions of the ranks of a profile.

use nprof_engine::analysis::Analysed;
use nprof_engine::base::ClockFit;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::region::RankRegions;
use nprof_engine::makers::{marks, work};
use nprof_engine::native::AllCores;

use super::{AnalysisError, of_segment};
use crate::store::{Profile, RankFile};

/// The regions of one rank.
#[derive(Debug)]
pub struct RegionsOfRank {
    /// Number of the rank.
    pub rank: u32,
    /// Its regions.
    pub regions: RankRegions,
}

/// The regions of these ranks of a profile, in the order of the ranks, on the clocks that the
/// profile states.
pub fn regions_of(
    profile: &Profile,
    ranks: &[&RankFile],
    cancel: Cancel<'_>,
) -> Result<Vec<RegionsOfRank>, AnalysisError> {
    regions_on(profile, ranks, &RankFile::clock_fit, cancel)
}

/// The regions of these ranks of a profile, in the order of the ranks, on the clock that the
/// analysis of all ranks uses: that of graphs, findings and energy.
pub fn regions_of_job(
    profile: &Profile,
    ranks: &[&RankFile],
    analysed: &Analysed,
    cancel: Cancel<'_>,
) -> Result<Vec<RegionsOfRank>, AnalysisError> {
    regions_on(profile, ranks, &|file| analysed.clock_of(file.rank), cancel)
}

fn regions_on(
    profile: &Profile,
    ranks: &[&RankFile],
    clock: &(dyn Fn(&RankFile) -> ClockFit + Sync),
    cancel: Cancel<'_>,
) -> Result<Vec<RegionsOfRank>, AnalysisError> {
    let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    let of_rank = |file: &RankFile| {
        let regions = of_segment(profile, file, |segment| {
            let found = RankRegions::of(&work(segment, cancel)?, &marks(segment, cancel)?, cancel)?;
            Ok(found.on(clock(file)))
        })?;
        Ok(RegionsOfRank { rank: file.rank, regions })
    };
    let work = Work { exec: &AllCores, cancel };
    work.gather(ranks.len(), |at| Ok(of_rank(ranks[at]))).map_err(failed)?.into_iter().collect()
}
