//! The regions of the ranks of a profile.

use nprof_engine::analysis::Analysed;
use nprof_engine::base::{ClockFit, Interval};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::region::RankRegions;
use nprof_engine::makers::{marks, work_of_steps};
use nprof_engine::native::AllCores;
use nprof_engine::query::RegionSpan;

use super::{AnalysisError, of_segment};
use crate::store::{Profile, RankFile, StoreError};

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
            let marks = marks(segment, cancel)?;
            let found = RankRegions::of(&work_of_steps(segment, &marks, cancel)?, &marks, cancel)?;
            Ok(found.on(clock(file)))
        })?;
        Ok(RegionsOfRank { rank: file.rank, regions })
    };
    let work = Work { exec: &AllCores, cancel };
    work.gather(ranks.len(), |at| Ok(of_rank(ranks[at]))).map_err(failed)?.into_iter().collect()
}

/// The spans of the regions of a name, on the clock of the analysis: those that users named, and
/// steps, layers and phases of all ranks. Empty if no region has the name.
pub fn spans_on_job(
    profile: &Profile,
    name: &str,
    analysed: &Analysed,
    cancel: Cancel<'_>,
) -> anyhow::Result<Vec<Interval>> {
    let mut spans = noted_spans(profile, name)?;
    let files: Vec<&RankFile> = profile.manifest.ranks.iter().collect();
    spans.extend(named_spans(&regions_of_job(profile, &files, analysed, cancel)?, name));
    Ok(spans)
}

/// The regions of a rank, on the clock of its segment: those that users named, then steps, layers
/// and phases with other names.
pub fn named_on_rank(
    profile: &Profile,
    file: &RankFile,
    cancel: Cancel<'_>,
) -> anyhow::Result<Vec<RegionSpan>> {
    let mut all = noted_on_rank(profile, file)?;
    // A name that a user gave is that of the user, even if a step has it, too.
    let noted = all.len();
    for region in regions_of(profile, &[file], cancel)?.iter().flat_map(|of| &of.regions.all) {
        if all[..noted].iter().all(|of| of.name != region.name) {
            all.push(local_region(file, &region.name, region.span));
        }
    }
    Ok(all)
}

/// The spans of the regions of a name on one rank, on the clock of its segment: those that users
/// named, else steps, layers and phases. Empty if no region has the name.
pub fn spans_on_rank(
    profile: &Profile,
    file: &RankFile,
    name: &str,
    cancel: Cancel<'_>,
) -> anyhow::Result<Vec<Interval>> {
    // A name that a user gave is that of the user, even if a step has it, too.
    let noted = noted_spans_on_rank(profile, file, name)?;
    if !noted.is_empty() {
        return Ok(noted);
    }
    let regions = regions_of(profile, &[file], cancel)?;
    let clock = file.clock_fit();
    Ok(named_spans(&regions, name).map(|span| clock.to_local_span(span)).collect())
}

/// The spans of the regions of a name that users gave, on the clock of the segment of a rank.
/// Regions of other ranks are left out.
pub fn noted_spans_on_rank(
    profile: &Profile,
    file: &RankFile,
    name: &str,
) -> Result<Vec<Interval>, StoreError> {
    let noted = noted_on_rank(profile, file)?.into_iter();
    Ok(noted.filter(|region| region.name == name).map(|region| region.span).collect())
}

/// The regions that users named on a rank or on all ranks, on the clock of the segment of the rank.
fn noted_on_rank(profile: &Profile, file: &RankFile) -> Result<Vec<RegionSpan>, StoreError> {
    Ok(profile.notes()?.regions_on(Some(file.rank), file.clock_fit()))
}

/// A region on the clock that all ranks share, on the clock of the segment of a rank.
fn local_region(file: &RankFile, name: &str, span: Interval) -> RegionSpan {
    RegionSpan { name: name.to_owned(), span: file.clock_fit().to_local_span(span) }
}

fn noted_spans(profile: &Profile, name: &str) -> anyhow::Result<Vec<Interval>> {
    let notes = profile.notes()?;
    let noted = notes.regions.iter().filter(|region| region.name == name);
    Ok(noted.map(|region| Interval::new(region.start_ps, region.end_ps)).collect())
}

fn named_spans<'r>(of: &'r [RegionsOfRank], name: &'r str) -> impl Iterator<Item = Interval> + 'r {
    let all = of.iter().flat_map(|of| &of.regions.all);
    all.filter(move |region| region.name == name).map(|region| region.span)
}
