//! The results of the analysis: of each operation, rank and link, and of the job.

use super::arrival::{Arrival, ArrivalFacts, InstanceTimes, judge};
use super::{Instances, Job, JobClocks};
use crate::base::ClockFit;
use crate::exec::Cancel;

/// An operation with its times. Times are in picoseconds of the shared clock.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceReport {
    /// Number of the group in the job.
    pub group: u32,
    /// Number of the signature of the majority.
    pub signature: u32,
    /// Arrivals and ends.
    pub span: InstanceTimes,
    /// Position of the rank that came first; `None` without members.
    pub first: Option<u32>,
    /// Position of the rank that came last; `None` if there is one member.
    pub last: Option<u32>,
    /// Position of the root, for kinds with one.
    pub root: Option<u32>,
    /// Sum of the waits of all members.
    pub wait_ps: i64,
    /// Members that are present.
    pub state: OperationState,
    /// Number of the step of the job; `None` before the first mark of a trace that has marks.
    pub step: Option<u32>,
}

impl InstanceReport {
    /// Whether the call of one rank only is there: its own end tells nothing of how long it waited.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.last.is_none()
    }

    /// Time from the last arrival to the last end.
    #[must_use]
    pub fn transfer_ps(&self) -> i64 {
        self.span.end_ps.saturating_sub(self.span.last_ps).max(0)
    }
}

/// Sums over the operations of a rank, in picoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankReport {
    /// Number of the rank.
    pub rank: u32,
    /// Operations of the rank.
    pub collectives: u64,
    /// Operations of its groups that its trace lacks, although the job went on with it.
    pub lost: u64,
    /// Time it waited for others.
    pub wait_ps: i64,
    /// Waiting of others, shared among those who had not come.
    pub blame_ps: f64,
    /// Waiting of others in the operations in which it came last.
    pub last_takes_all_ps: f64,
    /// Waiting of others, passed on to where the delay began.
    pub root_blame_ps: f64,
    /// Operations in which it came last, among those that wait for all.
    pub last: u64,
    /// Operations in which it came first, among those that wait for all.
    pub first: u64,
    /// Direct blame beyond the mean of each operation: how much later it came than ranks that are
    /// equal.
    pub surplus_ps: f64,
    /// Deviation of [`Self::surplus_ps`] that chance explains.
    pub chance_ps: f64,
    /// Sum of the other ranks in its operations.
    pub partners: u64,
    /// Waiting that would go if it had come with the last but one.
    pub saving_ps: f64,
    /// Time by which operations would have begun earlier had this rank come as early as the median.
    /// These are those that wait for all, in which it came last, each from the last one of the
    /// other ranks that stand out. Times at which several are delayed count once. The job cannot be
    /// shorter by more, but by less: ranks that do not stand out can be late, too.
    pub job_delay_ps: i64,
    /// Time by which its operations would have begun earlier had no rank come later than the
    /// median: an upper limit, too.
    pub late_ranks_delay_ps: i64,
    /// Time in which it computed.
    pub compute_ps: i64,
    /// Time in which it communicated.
    pub communication_ps: i64,
    /// Time in which it did both.
    pub overlap_ps: i64,
    /// Time in which it communicated and did not compute.
    pub exposed_ps: i64,
    /// Part of the exposed time in which it waited.
    pub exposed_wait_ps: i64,
    /// Time in which it copied or filled memory, and neither computed nor communicated.
    pub copy_ps: i64,
    /// Time without a kernel, copy or fill on its device.
    pub idle_ps: i64,
    /// Time from its first to its last work.
    pub span_ps: i64,
}

/// Costs of the slow transfers of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkReport {
    /// Number of the group in the job.
    pub group: u32,
    /// Waiting that its slow transfers caused elsewhere, in picoseconds.
    pub root_blame_ps: f64,
    /// Time of its ranks in these transfers beyond the usual, as far as computation does not cover
    /// it, in picoseconds. It is no part of the blame.
    pub excess_ps: f64,
    /// Operations with slow transfers.
    pub operations: u64,
    /// Mean time by which these transfers took longer than usual, in picoseconds.
    pub slower_ps: f64,
    /// Number of the instance with the slowest transfer.
    pub worst: Option<u32>,
}

/// Everything about the operations of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The clocks that the calls show.
    pub clocks: JobClocks,
    /// The clocks in use for the times of the job: those that the user has set, else those that the
    /// calls show.
    pub used: Vec<ClockFit>,
    /// The matched calls.
    pub instances: Instances,
    /// The operations, in the order of [`Report::instances`].
    pub operations: Vec<InstanceReport>,
    /// The ranks, ascending.
    pub ranks: Vec<RankReport>,
    /// Links with slow transfers, those with the largest cost first.
    pub links: Vec<LinkReport>,
    /// Parts of the job after which nobody inherits a delay: steps, or what lies between operations
    /// of all ranks if there are more of these. At least 1.
    pub parts: u32,
    /// Contradictions between members.
    pub contradictions: Vec<Contradiction>,
    /// Waits that were cut, because a call ended before the awaited rank came: a wrong clock or a
    /// wrong match.
    pub cuts: u64,
}

impl Report {
    /// The clock in use for the times of the segment of the rank at a position of the job: the
    /// times of calls have what the trace states of its clock added, those of the segment have not.
    #[must_use]
    pub fn clock_of_segment(&self, job: &Job, at: usize) -> ClockFit {
        self.used[at].of_moved(job.ranks[at].stated_ps.saturating_neg())
    }

    /// The clocks in use for the times of the ranks' segments, in the order of ranks.
    pub fn clocks_of_segments(&self, job: &Job) -> impl Iterator<Item = ClockFit> {
        (0..job.ranks.len()).map(|at| self.clock_of_segment(job, at))
    }

    /// Lowest and highest possible offset for the times of the ranks' segments, in the order of
    /// ranks. A clock that the user has set has none.
    pub fn bounds_of_segments(&self, job: &Job) -> impl Iterator<Item = (Option<i64>, Option<i64>)> {
        let ranks = job.ranks.iter().zip(&self.clocks.ranks);
        ranks.map(|(rank, found)| {
            let of_segment = |ps: i64| ps.saturating_add(rank.stated_ps);
            let bounds = rank.given.is_none().then_some((found.low_ps, found.high_ps));
            let (low, high) = bounds.unwrap_or_default();
            (low.map(of_segment), high.map(of_segment))
        })
    }

    /// For each rank and call the number of its operation.
    #[must_use]
    pub fn by_call(&self, job: &Job) -> Vec<Vec<u32>> {
        self.instances.by_call(job)
    }

    /// Positions of the ranks that belong to an operation, as its group states, and whose traces
    /// lack their call. Empty if the group does not state its ranks.
    #[must_use]
    pub fn absent_ranks(&self, job: &Job, at: usize) -> Vec<usize> {
        let one = &self.operations[at];
        let group = &job.groups[one.group as usize];
        if !group.is_stated() || one.state.absent == 0 {
            return Vec::new();
        }
        let present: Vec<usize> = self.instances.members(at).map(|member| member.rank).collect();
        let members = group.ranks().into_iter().filter_map(|rank| job.position(rank));
        members.filter(|rank| !present.contains(rank)).collect()
    }

    /// The members of an instance on the shared clock, ordered by rank.
    #[must_use]
    pub fn arrivals(&self, job: &Job, at: usize) -> Vec<Arrival> {
        let scene =
            ArrivalFacts { job, instances: &self.instances, clocks: &self.used, cancel: Cancel::NEVER };
        let mut arrivals = Vec::new();
        scene.arrivals(at, &mut arrivals);
        let one = &self.operations[at];
        let kind = job.signatures[one.signature as usize].kind;
        judge(&mut arrivals, kind, one.root.map(|root| root as usize));
        arrivals
    }
}

/// Presence of the members of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// The trace does not say who belongs to it.
    #[default]
    GroupUnknown,
    /// All members are there.
    Complete,
    /// Ranks are absent that were not recorded at that time.
    Partial,
    /// The trace of a member lacks the call, and the job went on with this member.
    Lost,
    /// A member has no further call of the group and meets none of its ranks again, although its
    /// recording goes on.
    MissingAtEnd,
}

/// State of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationState {
    /// Members that are present.
    pub presence: Presence,
    /// Members that are not there, as far as known.
    pub absent: u32,
    /// Whether sizes or types differ.
    pub has_other_size: bool,
    /// Whether kinds differ.
    pub has_other_kind: bool,
}

/// Contradictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mismatch {
    /// Another number or type of elements than most ranks.
    Size,
    /// Another kind of operation than most ranks.
    Kind,
    /// No call, and nothing shows that the job went on with this rank.
    Missing,
}

impl Mismatch {
    /// Name for people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Kind => "kind",
            Self::Missing => "missing",
        }
    }
}

/// A statement of a rank about an operation that most others contradict, or the lack of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contradiction {
    /// Number of the instance.
    pub instance: u32,
    /// Position of the rank in the job.
    pub rank: u32,
    /// Contradictions.
    pub what: Mismatch,
}
