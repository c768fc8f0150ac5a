//! Coverage: which part of a run was recorded, so that no conclusion is drawn from what is not
//! there.

use crate::analysis::{InstanceReport, Job, Report};
use crate::base::{Interval, Time};
use crate::insight::graph::{JobGraph, RankGraph};
use crate::model::{MachineSide, Role};

/// A recording counts as late, or as cut, if it lacks this share of the run. Ranks do not begin
/// their work in the same moment.
const LATE: f64 = 0.01;
/// Launches are missing if more than this share of the work has none: a program starts some work
/// without a call of its own.
const MOST_UNLAUNCHED: f64 = 0.02;

/// The recorded part of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankCoverage {
    /// Number of the rank.
    pub rank: u32,
    /// Calls of collective operations that were recorded.
    pub calls: u64,
    /// Calls that others show, and that the trace lacks.
    pub absent_calls: u64,
    /// First and last work in picoseconds of the shared clock. `None` without work.
    pub work_ps: Option<(i64, i64)>,
    /// Time from the begin of the run to the rank's first work, if it is so long that the recording
    /// began late, in picoseconds.
    pub late_ps: i64,
    /// Time from the rank's last work to the end of the run, if it is so long that the recording
    /// was cut, in picoseconds.
    pub cut_ps: i64,
    /// Share of the run that was recorded.
    pub time: f64,
    /// Kernels, copies and other work on its queues to which launches lead.
    pub launchable: u64,
    /// Those of them whose launch was not recorded.
    pub unlaunched: u64,
}

impl RankCoverage {
    /// Whether the trace lacks more launches than programs leave out by their nature.
    #[must_use]
    pub fn lacks_launches(&self) -> bool {
        share(self.unlaunched, self.launchable.max(1)) > MOST_UNLAUNCHED
    }

    /// Share of the rank's calls that were recorded.
    #[must_use]
    pub fn of_calls(&self) -> f64 {
        share(self.calls, self.calls + self.absent_calls)
    }
}

/// The recorded part of a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Coverage {
    /// The ranks of the profile, in the order of the job.
    pub ranks: Vec<RankCoverage>,
    /// Ranks of the job, as far as known; at least those of the profile.
    pub world: u32,
    /// For each rank the operations of its groups that its trace lacks, on the shared clock.
    pub(super) absent: Vec<Vec<Interval>>,
    /// Calls of ranks that the profile lacks, as far as the operations of the others tell.
    pub calls_of_absent_ranks: u64,
    /// Calls of which nobody can tell to which group they belong.
    pub unplaced_calls: u64,
}

impl Coverage {
    /// The coverage of a job.
    #[must_use]
    pub fn of(job: &Job, report: &Report, graph: &JobGraph) -> Self {
        let absent = absent_operations(job, report);
        let spans: Vec<Option<(i64, i64)>> = graph.ranks.iter().map(work_span).collect();
        let first_ps = spans.iter().flatten().map(|span| span.0).min().unwrap_or(0);
        let last_ps = spans.iter().flatten().map(|span| span.1).max().unwrap_or(0);
        let whole_ps = last_ps.saturating_sub(first_ps).max(1);
        let goes_on_ps = |at: usize| {
            let recorded_ps = job.ranks[at].rest.recorded_ps.1;
            report.used[at].to_shared(Time(recorded_ps)).0
        };
        let least_ps = (whole_ps as f64 * LATE) as i64;
        let only_long = |ps: i64| if ps > least_ps { ps } else { 0 };
        let rank = |at: usize| {
            let work_ps = spans[at];
            // A rank that begins late lacks no calls before; a recording that begins late does.
            let lacks_begin = |begin_ps: i64| {
                report.operations.is_empty() || absent[at].iter().any(|of| of.start.0 < begin_ps)
            };
            let late = |span: (i64, i64)| only_long(span.0.saturating_sub(first_ps));
            let late_ps = work_ps.map_or(whole_ps, |span| if lacks_begin(span.0) { late(span) } else { 0 });
            // A host that was recorded to the end shows that the device had no more work.
            let cut_ps =
                work_ps.map_or(0, |span| only_long(last_ps.saturating_sub(span.1.max(goes_on_ps(at)))));
            let (launchable, unlaunched) = launches(&graph.ranks[at]);
            RankCoverage {
                rank: job.ranks[at].rank,
                calls: job.ranks[at].calls.len() as u64,
                absent_calls: absent[at].len() as u64,
                work_ps,
                late_ps,
                cut_ps,
                time: (1.0 - late_ps.saturating_add(cut_ps) as f64 / whole_ps as f64).max(0.0),
                launchable,
                unlaunched,
            }
        };
        let of_stated = |one: &&InstanceReport| job.groups[one.group as usize].is_stated();
        let all_absent: u64 =
            report.operations.iter().filter(of_stated).map(|one| u64::from(one.state.absent)).sum();
        let lost: u64 = absent.iter().map(|of| of.len() as u64).sum();
        Self {
            ranks: (0..job.ranks.len()).map(rank).collect(),
            absent,
            world: job.world.max(crate::base::narrow(job.ranks.len())),
            calls_of_absent_ranks: all_absent.saturating_sub(lost),
            unplaced_calls: job.unplaced.iter().map(|one| one.calls).sum(),
        }
    }

    /// Share of the calls of all ranks of the job that were recorded.
    #[must_use]
    pub fn of_calls(&self) -> f64 {
        let calls: u64 = self.ranks.iter().map(|rank| rank.calls).sum();
        share(calls, calls + self.calls_of_absent_ranks + self.lost_calls())
    }

    /// Share of the calls of the ranks of the profile that were recorded.
    #[must_use]
    pub fn of_own_calls(&self) -> f64 {
        let calls: u64 = self.ranks.iter().map(|rank| rank.calls).sum();
        share(calls, calls + self.lost_calls())
    }

    /// Share of the work of devices whose launch was not recorded, in traces that have launches.
    #[must_use]
    pub fn unlaunched(&self) -> f64 {
        let unlaunched: u64 = self.ranks.iter().map(|rank| rank.unlaunched).sum();
        let all: u64 = self.ranks.iter().map(|rank| rank.launchable).sum();
        if all == 0 { 0.0 } else { unlaunched as f64 / all as f64 }
    }

    fn lost_calls(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.absent_calls).sum()
    }

    /// Share of the time of the ranks of the profile that was recorded.
    #[must_use]
    pub fn of_own_time(&self) -> f64 {
        let recorded: f64 = self.ranks.iter().map(|rank| rank.time).sum();
        if self.ranks.is_empty() { 1.0 } else { recorded / self.ranks.len() as f64 }
    }

    /// Share of the time of all ranks of the job that was recorded.
    #[must_use]
    pub fn of_time(&self) -> f64 {
        let recorded: f64 = self.ranks.iter().map(|rank| rank.time).sum();
        if self.world == 0 { 1.0 } else { recorded / f64::from(self.world) }
    }

    /// Ranks of the job that the profile lacks.
    #[must_use]
    pub fn absent_ranks(&self) -> u32 {
        self.world.saturating_sub(crate::base::narrow(self.ranks.len()))
    }

    /// Whether all of the job was recorded, as far as the profile tells.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_whole = |rank: &RankCoverage| {
            rank.absent_calls == 0 && rank.late_ps == 0 && rank.cut_ps == 0 && !rank.lacks_launches()
        };
        self.absent_ranks() == 0 && self.unplaced_calls == 0 && self.ranks.iter().all(is_whole)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The number of slices on queues to which threads launch, and of those of them without a launch.
/// Other launches, such as preparations, are recorded only where work waited for them.
fn launches(rank: &RankGraph) -> (u64, u64) {
    let is_of_thread = |node: u32| {
        let launching = rank.work.launching(node);
        let queue = launching.map(|launching| rank.classes[launching.class as usize].queue);
        queue.is_some_and(|queue| rank.work.queues[queue as usize].identity.role == Role::HostThread)
    };
    let mut of_queues = vec![(0_u64, 0_u64); rank.work.queues.len()];
    for (at, node) in (0_u32..).zip(&rank.work.nodes) {
        let class = rank.classes[node.class as usize];
        if class.side == MachineSide::Device && !class.waits && rank.is_recorded(node) {
            let (all, without) = &mut of_queues[class.queue as usize];
            *all += 1;
            *without += u64::from(!is_of_thread(at));
        }
    }
    let launched = of_queues.into_iter().filter(|(all, without)| without < all);
    launched.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
}

/// First and last recorded work of a rank: of its devices, or of its hosts without any.
fn work_span(rank: &RankGraph) -> Option<(i64, i64)> {
    let of = |side: MachineSide| {
        let mut span: Option<(i64, i64)> = None;
        for node in &rank.work.nodes {
            if rank.is_recorded(node) && rank.classes[node.class as usize].side == side {
                let (from, to) = span.unwrap_or((node.start_ps, node.end_ps()));
                span = Some((from.min(node.start_ps), to.max(node.end_ps())));
            }
        }
        span
    };
    of(MachineSide::Device).or_else(|| of(MachineSide::Host))
}

/// For each rank the operations of its groups that others show and its trace lacks.
fn absent_operations(job: &Job, report: &Report) -> Vec<Vec<Interval>> {
    let mut absent = vec![Vec::new(); job.ranks.len()];
    for (number, one) in report.operations.iter().enumerate() {
        for at in report.absent_ranks(job, number) {
            absent[at].push(Interval::new(one.span.first_ps, one.span.end_ps));
        }
    }
    absent
}
