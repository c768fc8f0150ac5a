//! Root blame: waiting is passed on to where the delay began.
//!
//! A rank that is late because it waited elsewhere passes the blame on to the causes of that wait.
//! This is one forward pass over all operations, in the order of their last arrivals. It follows
//! the long-term delay costs of Scalasca (Böhme et al., "Identifying the root causes of wait states
//! in large-scale parallel applications", 2016). A transfer that takes longer than those of its
//! like is a cause of its own: the link among the ranks of its group.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrival::{Arrival, Span};

/// A cause: a rank by its position, or the link of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cause {
    Rank(usize),
    Link(u32),
}

/// Causes with their shares, which add up to 1.
type Shares = Rc<[(Cause, f64)]>;

/// A wait of a rank outside of its own computation.
#[derive(Debug, Clone)]
struct Open {
    amount_ps: f64,
    causes: Shares,
}

/// Open waits of a rank.
#[derive(Debug, Default)]
struct History {
    open: VecDeque<Open>,
    /// Number of waits that were dropped at the front.
    dropped: usize,
    /// For each group the number of waits before the rank's last call in it.
    seen: FxHashMap<u32, usize>,
}

/// Open waits that are kept for each rank.
const MOST_OPEN: usize = 256;
/// Smaller shares of an operation are left out.
const LEAST_SHARE: f64 = 0.01;
/// A transfer is slow above this multiple of the median of its like, plus [`SLOW_PS`].
pub(super) const SLOW: f64 = 1.25;
/// See [`SLOW`].
pub(super) const SLOW_PS: f64 = 5e6;

/// Root blame so far, in picoseconds.
#[derive(Debug, Default)]
pub(super) struct RootBlame {
    history: Vec<History>,
    /// Groups whose last operation with all members had a slow transfer.
    slow: FxHashSet<u32>,
    pub(super) causes: FxHashMap<Cause, f64>,
    /// The slow transfers of each group.
    pub(super) excess: FxHashMap<u32, Excess>,
}

/// The slow transfers of a group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Excess {
    /// Time of its members beyond the usual, as far as computation does not cover it, in
    /// picoseconds. It is no part of the blame: nobody waited in it.
    pub(super) of_ranks_ps: f64,
    /// Operations with slow transfers, and the time by which these were slower.
    pub(super) operations: u64,
    pub(super) of_operations_ps: f64,
    /// The operation with the slowest transfer, and the time by which it was slower.
    pub(super) worst: Option<(usize, f64)>,
}

/// Facts about an operation that the pass needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Number of the instance.
    pub(super) at: usize,
    pub(super) group: u32,
    pub(super) span: Span,
    /// Time by which the transfer is longer than that of its like.
    pub(super) excess_ps: f64,
    /// Whether all ranks of the job take part. Nobody inherits a delay beyond such a call.
    pub(super) is_of_all: bool,
}

impl RootBlame {
    pub(super) fn new(ranks: usize) -> Self {
        Self { history: std::iter::repeat_with(History::default).take(ranks).collect(), ..Self::default() }
    }

    /// Takes the next operation. `lost` are members whose calls the trace lacks. `open` tells how
    /// much of a span of a rank lies outside of its computation.
    pub(super) fn add(
        &mut self,
        step: Step,
        (arrivals, lost): (&[Arrival], &[usize]),
        open: impl Fn(&Arrival, i64, i64) -> i64,
    ) {
        let shares = self.shares(step, arrivals);
        if step.is_of_all {
            for history in &mut self.history {
                history.dropped += history.open.len();
                history.open.clear();
            }
        }
        let slow = self.causes_of_slowness(step, lost);
        let is_link = step.excess_ps > 0.0 && slow.iter().any(|(cause, _)| *cause == Cause::Link(step.group));
        if is_link {
            self.excess.entry(step.group).or_default().add(step);
        }
        for one in arrivals {
            let history = &mut self.history[one.member.rank];
            let end = history.dropped + history.open.len();
            history.seen.insert(step.group, end);
            let mut excess_ps = 0.0;
            if step.excess_ps > 0.0 {
                let from = step.span.last_ps.max(one.start_ps).min(one.end_ps);
                let share = open(one, from, one.end_ps) as f64 / (one.end_ps - from).max(1) as f64;
                excess_ps = step.excess_ps * share;
            }
            if is_link {
                self.excess.entry(step.group).or_default().of_ranks_ps += excess_ps;
            }
            if step.is_of_all {
                continue;
            }
            let waited = open(one, one.start_ps, one.start_ps.saturating_add(one.wait_ps));
            if waited > 0
                && let Some(causes) = &shares
            {
                history.push(Open { amount_ps: waited as f64, causes: Rc::clone(causes) });
            }
            if step.excess_ps > 0.0 {
                history.push(Open { amount_ps: excess_ps, causes: Rc::clone(&slow) });
            }
        }
    }

    /// The causes of a slow transfer: the link of the group. If calls are lost and the link was not
    /// slow before, the transfer seems slow because the awaited call is not there.
    fn causes_of_slowness(&mut self, step: Step, lost: &[usize]) -> Shares {
        if lost.is_empty() {
            match step.excess_ps > 0.0 {
                true => self.slow.insert(step.group),
                false => self.slow.remove(&step.group),
            };
        }
        if lost.is_empty() || self.slow.contains(&step.group) {
            return Rc::from([(Cause::Link(step.group), 1.0)]);
        }
        lost.iter().map(|&rank| (Cause::Rank(rank), 1.0 / lost.len() as f64)).collect()
    }

    /// Adds the blame of an operation, and returns its causes. `None` if nobody waited.
    fn shares(&mut self, step: Step, arrivals: &[Arrival]) -> Option<Shares> {
        let total: f64 = arrivals.iter().map(|one| one.wait_ps as f64).sum();
        if total <= 0.0 {
            return None;
        }
        let inherited = arrivals.iter().map(|one| self.history[one.member.rank].since(step.group).1);
        let least = inherited.fold(f64::INFINITY, f64::min);
        let mut causes: FxHashMap<Cause, f64> = FxHashMap::default();
        for one in arrivals.iter().filter(|one| one.blame_ps > 0.0) {
            let (open, sum) = self.history[one.member.rank].since(step.group);
            let late = one.start_ps.saturating_sub(step.span.first_ps).max(1) as f64;
            let passed = ((sum - least) / late).clamp(0.0, 1.0);
            *causes.entry(Cause::Rank(one.member.rank)).or_default() += (1.0 - passed) * one.blame_ps;
            if passed > 0.0 {
                for wait in open {
                    let part = passed * one.blame_ps * wait.amount_ps / sum;
                    for (cause, share) in wait.causes.iter() {
                        *causes.entry(*cause).or_default() += part * share;
                    }
                }
            }
        }
        for (cause, amount) in &causes {
            *self.causes.entry(*cause).or_default() += amount;
        }
        let mut kept: Vec<(Cause, f64)> =
            causes.into_iter().filter(|(_, amount)| *amount >= LEAST_SHARE * total).collect();
        // The order of a hash map must not decide how sums are rounded.
        kept.sort_unstable_by_key(|(cause, _)| *cause);
        let sum: f64 = kept.iter().map(|(_, amount)| amount).sum();
        kept.iter_mut().for_each(|(_, amount)| *amount /= sum);
        (sum > 0.0).then(|| Rc::from(kept))
    }
}

impl Excess {
    fn add(&mut self, step: Step) {
        self.operations += 1;
        self.of_operations_ps += step.excess_ps;
        if self.worst.is_none_or(|(_, most_ps)| step.excess_ps > most_ps) {
            self.worst = Some((step.at, step.excess_ps));
        }
    }
}

impl History {
    fn push(&mut self, open: Open) {
        if self.open.len() == MOST_OPEN {
            self.open.pop_front();
            self.dropped += 1;
        }
        self.open.push_back(open);
    }

    /// Waits since the rank's last call in a group, and their sum.
    fn since(&self, group: u32) -> (impl Iterator<Item = &Open>, f64) {
        let from = self.seen.get(&group).map_or(0, |seen| seen.saturating_sub(self.dropped));
        let open = self.open.range(from.min(self.open.len())..);
        let sum = open.clone().map(|wait| wait.amount_ps).sum();
        (open, sum)
    }
}
