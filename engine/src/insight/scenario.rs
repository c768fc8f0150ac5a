//! A scenario: by how much edits change each piece of work of a job.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::edit::{Change, Edit, EditError, NameGlob, Subject};
use super::graph::{JobGraph, communicating_classes};
use super::median_rank::MedianRank;
use super::names::{ClassName, longest_names, longest_of};
use super::node_change::NodeChange;
use crate::model::{MachineSide, RankWork};

/// Changes of all work of a job.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    /// For each rank and class the factor of its durations. Empty for a rank without changes.
    factors: Vec<Vec<f64>>,
    /// For each signature of the job the factor of its transfers. Empty without changes.
    transfers: Vec<f64>,
    /// For each rank the changes of its nodes. Empty for a rank without changes.
    changes: Vec<Vec<NodeChange>>,
    /// Positions of ranks that no operation waits for.
    never_awaited: Vec<u32>,
    /// For each meeting with another one its longest transfer, in picoseconds.
    most_transfers_ps: FxHashMap<u32, i64>,
    /// Whether no work waits for its launch.
    launches_are_free: bool,
    /// Whether no call of a host waits for a device.
    hosts_never_wait: bool,
    /// Queues of ranks that no work on other queues waits for.
    never_awaited_queues: FxHashSet<RankQueue>,
    /// Numbers of semaphores that no work waits for.
    ignored_semaphores: Vec<u32>,
    /// The largest part by which an edit changes some work.
    largest_change: f64,
}

/// A queue of a rank, by positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RankQueue {
    pub(super) rank: u32,
    pub(super) queue: u32,
}

/// The part by which the work of a rank changes at most if it becomes that of the median rank: a
/// rank takes up to twice as long.
const LARGEST_OF_MEDIAN: f64 = 0.5;
/// Names of work that a message lists.
const MOST_KNOWN: usize = 5;

/// A duration times a factor, in picoseconds. A factor of 1 changes nothing.
pub(super) fn scaled(duration_ps: i64, factor: f64) -> i64 {
    if factor == 1.0 {
        return duration_ps;
    }
    let scaled = duration_ps as f64 * factor;
    // Saturates.
    scaled.round() as i64
}

impl Scenario {
    /// The scenario that changes nothing.
    #[must_use]
    pub fn unchanged() -> Self {
        Self::default()
    }

    /// The scenario of some edits together. An edit that changes nothing is an error.
    pub fn new(graph: &JobGraph, edits: &[Edit]) -> Result<Self, EditError> {
        let mut scenario = Self::default();
        for edit in edits {
            scenario.add(graph, edit)?;
        }
        Ok(scenario)
    }

    pub(super) fn is_unchanged(&self) -> bool {
        let is_one = |factors: &Vec<f64>| factors.iter().all(|factor| *factor == 1.0);
        self.factors.iter().all(is_one)
            && is_one(&self.transfers)
            && self.changes.iter().all(Vec::is_empty)
            && self.never_awaited.is_empty()
            && self.most_transfers_ps.is_empty()
            && !self.launches_are_free
            && !self.hosts_never_wait
            && self.never_awaited_queues.is_empty()
            && self.ignored_semaphores.is_empty()
    }

    /// A rank is as fast as the median one.
    pub(super) fn with_median_rank(ranks: &MedianRank<'_>, at: usize) -> Self {
        let mut scenario = Self { largest_change: LARGEST_OF_MEDIAN, ..Self::default() };
        scenario.change_rank(at, ranks.changes(at));
        scenario
    }

    /// Nodes of ranks change.
    pub(super) fn with_changes(changes: impl IntoIterator<Item = (usize, Vec<NodeChange>)>) -> Self {
        let mut scenario = Self::default();
        for (at, changes) in changes {
            scenario.change_rank(at, changes);
        }
        scenario
    }

    /// The transfers of meetings take at most so many picoseconds.
    pub(super) fn with_most_transfers(most_ps: FxHashMap<u32, i64>) -> Self {
        Self { most_transfers_ps: most_ps, ..Self::default() }
    }

    /// The same, and nodes of the rank at this position change.
    pub(super) fn and_changes(mut self, at: usize, changes: Vec<NodeChange>) -> Self {
        self.change_rank(at, changes);
        self
    }

    /// Transfers take no time.
    pub(super) fn without_transfers(graph: &JobGraph) -> Self {
        Self { transfers: vec![0.0; graph.kinds.len()], largest_change: 1.0, ..Self::default() }
    }

    /// No work waits for its launch.
    pub(super) fn with_free_launches() -> Self {
        Self { launches_are_free: true, ..Self::default() }
    }

    /// No call of a host waits for a device.
    pub(super) fn with_hosts_that_never_wait() -> Self {
        Self { hosts_never_wait: true, ..Self::default() }
    }

    /// No work on other queues waits for the work of these queues, only for what it waited for.
    pub(super) fn without_waits_for(queues: Vec<RankQueue>) -> Self {
        Self { never_awaited_queues: queues.into_iter().collect(), ..Self::default() }
    }

    fn change_rank(&mut self, at: usize, changes: Vec<NodeChange>) {
        if self.changes.len() <= at {
            self.changes.resize(at + 1, Vec::new());
        }
        self.changes[at] = changes;
    }

    /// The rest of a transfer that takes `rest_ps` in the unchanged run.
    pub(super) fn bounded_transfer_ps(&self, meeting: u32, rest_ps: i64) -> i64 {
        self.most_transfers_ps.get(&meeting).map_or(rest_ps, |most_ps| rest_ps.min(*most_ps))
    }

    pub(super) fn launches_are_free(&self) -> bool {
        self.launches_are_free
    }

    pub(super) fn hosts_never_wait(&self) -> bool {
        self.hosts_never_wait
    }

    pub(super) fn is_queue_never_awaited(&self, queue: RankQueue) -> bool {
        !self.never_awaited_queues.is_empty() && self.never_awaited_queues.contains(&queue)
    }

    pub(super) fn changes_transfers(&self) -> bool {
        self.transfers.iter().any(|factor| *factor != 1.0) || !self.most_transfers_ps.is_empty()
    }

    /// The largest part by which some work changes: 0.5 if it takes half of its time.
    pub(super) fn largest_change(&self) -> f64 {
        self.largest_change
    }

    pub(super) fn factor(&self, rank: u32, class: u32) -> f64 {
        self.factors.get(rank as usize).and_then(|of| of.get(class as usize)).copied().unwrap_or(1.0)
    }

    pub(super) fn transfer(&self, signature: u32) -> f64 {
        self.transfers.get(signature as usize).copied().unwrap_or(1.0)
    }

    pub(super) fn change(&self, rank: u32, node: usize) -> Option<NodeChange> {
        self.changes.get(rank as usize)?.get(node).copied()
    }

    pub(super) fn is_never_awaited(&self, rank: u32) -> bool {
        self.never_awaited.contains(&rank)
    }

    /// Whether no work of the new run waits for the semaphore of an edge.
    pub(super) fn ignores(&self, work: &RankWork, semaphore: u32) -> bool {
        if self.ignored_semaphores.is_empty() {
            return false;
        }
        let of = work.semaphores.get(semaphore as usize);
        of.is_some_and(|of| self.ignored_semaphores.contains(&of.number))
    }

    fn add(&mut self, graph: &JobGraph, edit: &Edit) -> Result<(), EditError> {
        let is_found = match (&edit.subject, edit.change) {
            (Subject::Kernel(pattern), Change::Factor(factor)) => self.scale(graph, factor, |work, class| {
                let class = work.classes[class];
                work.queues[class.queue as usize].side == MachineSide::Device
                    && work.name(class.name).is_some_and(|name| pattern.fits(name))
            }),
            (Subject::Engine(pattern), Change::Factor(factor)) => {
                self.scale_named(graph, factor, ClassName::Engine, pattern)
            }
            (Subject::DmaQueue(pattern), Change::Factor(factor)) => {
                self.scale_named(graph, factor, ClassName::DmaQueue, pattern)
            }
            (Subject::Layer(pattern), Change::Factor(factor)) => {
                self.scale_named(graph, factor, ClassName::Layer, pattern)
            }
            (Subject::AwaitedSemaphore(number), Change::Factor(_)) => {
                self.ignored_semaphores.push(*number);
                let mut semaphores = graph.ranks.iter().flat_map(|rank| &rank.work.semaphores);
                semaphores.any(|of| of.number == *number)
            }
            (Subject::Transfer(kind), Change::Factor(factor)) => {
                self.scale_transfers(graph, factor, |of| of.eq_ignore_ascii_case(kind))
            }
            (Subject::Bandwidth, Change::Factor(factor)) => {
                self.scale_transfers(graph, 1.0 / factor, |_| true)
            }
            (Subject::Rank(number), change) => {
                let at = rank_of(graph, *number, edit)?;
                match change {
                    Change::Factor(factor) => self.scale_rank(graph, at, factor),
                    Change::Median => self.change_rank(at, MedianRank::new(graph).changes(at)),
                }
                true
            }
            (Subject::AwaitedRank(number), Change::Factor(_)) => {
                let at = rank_of(graph, *number, edit)?;
                self.never_awaited.push(crate::base::narrow(at));
                true
            }
            (_, Change::Median) => return Err(EditError::NoMedian { edit: edit.to_string() }),
        };
        let part = match (&edit.subject, edit.change) {
            (Subject::Bandwidth, Change::Factor(factor)) => (1.0 / factor - 1.0).abs(),
            (Subject::AwaitedRank(_) | Subject::AwaitedSemaphore(_), _) => 0.0,
            (_, Change::Median) => LARGEST_OF_MEDIAN,
            (_, Change::Factor(factor)) => (factor - 1.0).abs(),
        };
        self.largest_change = self.largest_change.max(part);
        if is_found { Ok(()) } else { Err(no_such_work(graph, edit)) }
    }

    /// Scales the durations of the classes that are wanted.
    fn scale(&mut self, graph: &JobGraph, factor: f64, is_wanted: impl Fn(&RankWork, usize) -> bool) -> bool {
        self.factors.resize(graph.ranks.len(), Vec::new());
        let mut is_found = false;
        for (factors, rank) in self.factors.iter_mut().zip(&graph.ranks) {
            for class in (0..rank.work.classes.len()).filter(|class| is_wanted(&rank.work, *class)) {
                factors.resize(rank.work.classes.len(), 1.0);
                factors[class] *= factor;
                is_found = true;
            }
        }
        is_found
    }

    /// Scales the durations of the classes whose engine, queue or layer fits.
    fn scale_named(&mut self, graph: &JobGraph, factor: f64, of: ClassName, pattern: &NameGlob) -> bool {
        self.scale(graph, factor, |work, class| {
            of.of(work, class).is_some_and(|name| pattern.fits_any_case(name))
        })
    }

    /// Scales all work of a rank's devices but its calls.
    fn scale_rank(&mut self, graph: &JobGraph, at: usize, factor: f64) {
        self.factors.resize(graph.ranks.len(), Vec::new());
        let rank = &graph.ranks[at];
        let factors = &mut self.factors[at];
        factors.resize(rank.work.classes.len(), 1.0);
        let meets = communicating_classes(&rank.work, &rank.calls);
        for (class, meets) in meets.into_iter().enumerate() {
            let queue = rank.work.classes[class].queue as usize;
            if !meets && rank.work.queues[queue].side == MachineSide::Device {
                factors[class] *= factor;
            }
        }
    }

    fn scale_transfers(&mut self, graph: &JobGraph, factor: f64, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.transfers.resize(graph.kinds.len(), 1.0);
        let mut is_found = false;
        for (of, kind) in self.transfers.iter_mut().zip(&graph.kinds) {
            if is_wanted(kind.name()) {
                *of *= factor;
                is_found = true;
            }
        }
        is_found
    }
}

/// Position of the rank with this number.
fn rank_of(graph: &JobGraph, number: u32, edit: &Edit) -> Result<usize, EditError> {
    let found = graph.ranks.iter().position(|rank| rank.rank == number);
    let first_and_last = [graph.ranks.first(), graph.ranks.last()].into_iter().flatten();
    let known = || first_and_last.map(|rank| format!("rank {}", rank.rank)).collect::<Vec<_>>().join(" to ");
    found.ok_or_else(|| EditError::NoSuchWork { edit: edit.to_string(), known: vec![known()] })
}

/// A name as an edit can have it: one that a sentence cannot hold ends with `*`.
fn glob_of(name: &str) -> String {
    /// Characters of a name.
    const LONGEST: usize = 60;
    name.char_indices().nth(LONGEST).map_or_else(|| name.to_owned(), |(end, _)| format!("{}*", &name[..end]))
}

/// An edit of nothing, with the work that the profile has.
fn no_such_work(graph: &JobGraph, edit: &Edit) -> EditError {
    let quoted = |names: Vec<&str>| {
        let mut known: Vec<String> = names.into_iter().map(|name| format!("`{}`", glob_of(name))).collect();
        // Long names that begin alike follow each other often enough.
        known.dedup();
        known.truncate(MOST_KNOWN);
        known
    };
    let known = match &edit.subject {
        Subject::Kernel(_) => quoted(longest_names(graph)),
        Subject::Engine(_) => quoted(longest_of(graph, ClassName::Engine)),
        Subject::DmaQueue(_) => quoted(longest_of(graph, ClassName::DmaQueue)),
        Subject::Layer(_) => quoted(longest_of(graph, ClassName::Layer)),
        Subject::AwaitedSemaphore(_) => {
            let semaphores = graph.ranks.iter().flat_map(|rank| &rank.work.semaphores);
            let numbers: BTreeSet<u32> = semaphores.map(|of| of.number).collect();
            numbers.into_iter().map(|number| format!("semaphore {number}")).collect()
        }
        _ => {
            let kinds = graph.kinds.iter().map(|kind| kind.name());
            kinds.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect()
        }
    };
    EditError::NoSuchWork { edit: edit.to_string(), known }
}
