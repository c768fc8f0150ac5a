//! The dependency graph of a profile, as a server keeps it.

use nprof_engine::exec::Cancel;
use nprof_engine::insight::wait::AskedWaits;
use nprof_engine::insight::walk::JobEdges;
use nprof_engine::wire::bundle::BundledWaits;
use nprof_engine::wire::rank_balance::RankBalance;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_waits::RunWaits;

use super::graph::{MOST_EVENTS, Replayable};
use super::kept_answers::KeptAnswer;
use super::on_all_cores;
use super::rank_balance::rank_balance;
use super::run_waits::{MOST_ROWS, run_waits, unknown_rank, waits_of_each};
use crate::store::Profile;

impl Replayable {
    /// The waits of a run: sums, and the single waits within a span.
    pub fn run_waits(
        &self,
        profile: &Profile,
        asked: &AskedWaits<'_>,
        cancel: Cancel<'_>,
    ) -> Result<RunWaits, Refusal> {
        let graph = self.run.with_work()?;
        if let Some(reason) = asked.ranks.and_then(|ranks| unknown_rank(graph, ranks)) {
            return Err(Refusal::new(RefusalKind::NotFound, reason));
        }
        let edges = JobEdges::of(graph, on_all_cores(cancel))?;
        run_waits(profile, &edges, asked, MOST_ROWS, cancel).map_err(|error| error.refusal())
    }

    /// The ranks beside each other: at most `most` names and regions.
    pub fn rank_balance(
        &self,
        profile: &Profile,
        most: usize,
        cancel: Cancel<'_>,
    ) -> Result<RankBalance, Refusal> {
        self.run.with_work()?;
        rank_balance(profile, self, most, cancel).map_err(|error| error.refusal())
    }

    /// The waits of all ranks together, and of each with its longest single waits, at most `most`.
    pub fn waits_of_each(
        &self,
        profile: &Profile,
        most: usize,
        cancel: Cancel<'_>,
    ) -> Result<Vec<BundledWaits>, Refusal> {
        let edges = JobEdges::of(self.run.with_work()?, on_all_cores(cancel))?;
        waits_of_each(profile, &edges, most, cancel).map_err(|error| error.refusal())
    }
}

/// Weighs as many events as it has.
impl KeptAnswer for Replayable {
    fn weight(&self) -> u64 {
        self.graph().len() as u64
    }

    const CAPACITY: u64 = MOST_EVENTS;
}
