//! The job as a whole: shares of its time, and what could be saved.

use super::culprit::outstanding;
use super::{Job, RankReport, Report};

/// Sums over all ranks of a job. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobTotals {
    /// Ranks of the profile.
    pub ranks: u64,
    /// Ranks of the job, as far as the traces tell. Those beyond [`Self::ranks`] were not recorded.
    pub world: u64,
    /// Collective operations.
    pub operations: u64,
    /// Operations with calls of one rank only. Nobody is known to wait in them.
    pub alone: u64,
    /// Calls of all ranks.
    pub calls: u64,
    /// Calls that the traces lack, although the job went on with their ranks.
    pub lost: u64,
    /// Time from the first to the last work of each rank.
    pub span_ps: i64,
    /// Time with computation.
    pub compute_ps: i64,
    /// Time with communication.
    pub communication_ps: i64,
    /// Time with communication under computation.
    pub overlap_ps: i64,
    /// Time with communication and no computation.
    pub exposed_ps: i64,
    /// Part of the exposed time in which ranks waited.
    pub exposed_wait_ps: i64,
    /// Time with copies and fills of memory, and neither computation nor communication.
    pub copy_ps: i64,
    /// Time without computation, communication, copies and fills.
    pub idle_ps: i64,
    /// Waits of all ranks.
    pub wait_ps: i64,
    /// Computation of the busiest rank over the mean of all ranks, minus 1. `None` without
    /// computation.
    pub imbalance: Option<f64>,
    /// Number of the rank with the largest [`RankReport::job_delay_ps`] among those that stand out:
    /// of equal ranks none is named.
    pub straggler: Option<u32>,
    /// Its [`RankReport::job_delay_ps`].
    pub straggler_delay_ps: i64,
    /// The largest [`RankReport::late_ranks_delay_ps`].
    pub late_ranks_delay_ps: i64,
}

impl JobTotals {
    /// Part of the exposed time in which data moved.
    #[must_use]
    pub fn exposed_transfer_ps(&self) -> i64 {
        self.exposed_ps.saturating_sub(self.exposed_wait_ps)
    }
}

/// The totals of a job.
#[must_use]
pub fn totals(job: &Job, report: &Report) -> JobTotals {
    let sum = |part: fn(&RankReport) -> i64| report.ranks.iter().map(part).fold(0, i64::saturating_add);
    let compute_ps = sum(|rank| rank.compute_ps);
    let mean = compute_ps as f64 / report.ranks.len().max(1) as f64;
    let most = report.ranks.iter().map(|rank| rank.compute_ps).max().unwrap_or(0);
    let late = outstanding(report);
    let late = report.ranks.iter().filter(|rank| rank.job_delay_ps > 0 && late.contains(&rank.rank));
    let straggler = late.max_by_key(|rank| (rank.job_delay_ps, std::cmp::Reverse(rank.rank)));
    JobTotals {
        ranks: job.ranks.len() as u64,
        world: if job.ranks.is_empty() { 0 } else { job.world.into() },
        operations: report.operations.len() as u64,
        alone: report.operations.iter().filter(|one| one.is_alone()).count() as u64,
        calls: job.ranks.iter().map(|rank| rank.calls.len() as u64).sum(),
        lost: report.ranks.iter().map(|rank| rank.lost).sum(),
        span_ps: sum(|rank| rank.span_ps),
        compute_ps,
        communication_ps: sum(|rank| rank.communication_ps),
        overlap_ps: sum(|rank| rank.overlap_ps),
        exposed_ps: sum(|rank| rank.exposed_ps),
        exposed_wait_ps: sum(|rank| rank.exposed_wait_ps),
        copy_ps: sum(|rank| rank.copy_ps),
        idle_ps: sum(|rank| rank.idle_ps),
        wait_ps: sum(|rank| rank.wait_ps),
        imbalance: (mean > 0.0).then(|| most as f64 / mean - 1.0),
        straggler: straggler.map(|rank| rank.rank),
        straggler_delay_ps: straggler.map_or(0, |rank| rank.job_delay_ps),
        late_ranks_delay_ps: report.ranks.iter().map(|rank| rank.late_ranks_delay_ps).max().unwrap_or(0),
    }
}
