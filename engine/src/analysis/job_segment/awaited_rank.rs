//! The rank that others wait for in an operation.

use crate::analysis::arrival::Arrival;
use crate::analysis::{Job, Report};
use crate::base::Interval;
use crate::model::{CollectiveKind, WaitingRanks};

/// An awaited arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Awaited {
    /// Position of the awaited rank in the job.
    pub(super) rank: usize,
    /// The time when it came, in picoseconds of the shared clock.
    pub(super) came_ps: i64,
    /// Position of the only rank that waits; `None` if all others wait.
    pub(super) only: Option<usize>,
}

/// Position in `arrivals` of the awaited one. `root` is the position of the root's rank in the job.
pub(super) fn awaited_of(arrivals: &[Arrival], kind: CollectiveKind, root: Option<usize>) -> Option<usize> {
    let mut places = 0..arrivals.len();
    match kind.waiting() {
        // The last of several that came at once.
        WaitingRanks::ForAll => places.max_by_key(|&at| arrivals[at].start_ps).filter(|_| arrivals.len() > 1),
        WaitingRanks::ForRoot => places.find(|&at| Some(arrivals[at].member.rank) == root),
        WaitingRanks::RootForAll => places
            .filter(|&at| Some(arrivals[at].member.rank) != root)
            .min_by_key(|&at| arrivals[at].start_ps),
    }
}

impl Awaited {
    /// The awaited arrival of an operation. `None` if nobody waits for anybody.
    pub(super) fn of(job: &Job, report: &Report, at: usize) -> Option<Self> {
        let one = &report.operations[at];
        let kind = job.signatures[one.signature as usize].kind;
        let root = one.root.map(|root| root as usize);
        let only = if kind.waiting() == WaitingRanks::RootForAll { Some(root?) } else { None };
        if kind.waiting() == WaitingRanks::ForAll {
            return one.last.map(|last| Self { rank: last as usize, came_ps: one.span.last_ps, only });
        }
        let arrivals = report.arrivals(job, at);
        let awaited = arrivals.get(awaited_of(&arrivals, kind, root)?)?;
        Some(Self { rank: awaited.member.rank, came_ps: awaited.start_ps, only })
    }

    /// End of the wait of a call: its start if it does not wait.
    pub(super) fn until(&self, rank: usize, call: Interval) -> i64 {
        if rank == self.rank || self.only.is_some_and(|only| only != rank) {
            return call.start.0;
        }
        self.came_ps.clamp(call.start.0, call.end.0)
    }
}
