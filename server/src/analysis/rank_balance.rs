//! The ranks of a profile beside each other.

use nprof_engine::exec::Cancel;
use nprof_engine::insight::region::RankRegions;
use nprof_engine::wire::rank_balance::RankBalance;

use super::AnalysisError;
use super::graph::{Replayable, files_of};
use super::regions::regions_of_job;
use crate::store::Profile;

/// The time of work by name beside the median of the other ranks, and the imbalance of regions: at
/// most `most` of each.
pub fn rank_balance(
    profile: &Profile,
    of: &Replayable,
    most: usize,
    cancel: Cancel<'_>,
) -> Result<RankBalance, AnalysisError> {
    let regions = regions_of_job(profile, &files_of(profile), &of.analysed, cancel)?;
    let of_ranks: Vec<&RankRegions> = regions.iter().map(|of| &of.regions).collect();
    Ok(RankBalance::of(of.graph(), &of_ranks, most))
}
