//! Root blame: waiting is passed on to where the delay began.
//!
//! A rank that is late because it waited elsewhere passes the blame on to the causes of that wait.
//! This is one forward pass over all operations, in the order of their last arrivals. It follows
//! the long-term delay costs of Scalasca (Böhme et al., "Identifying the root causes of wait states
//! in large-scale parallel applications", 2016). A transfer that takes longer than those of its
//! like is a cause of its own: the link among the ranks of its group.
//!
//! After an operation that delays all its ranks, these are equally late. An operation under
//! computation delays nobody, so its ranks keep the delays that they have against each other, and
//! the causes of these delays.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrival::{Arrival, InstanceTimes};

/// A cause: a rank by its position, or the link of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cause {
    Rank(usize),
    Link(u32),
}

/// Causes with their shares, which add up to 1.
type CauseShares = Rc<[(Cause, f64)]>;

/// A wait of a rank outside of its own computation.
#[derive(Debug, Clone)]
struct OpenWait {
    amount_ps: f64,
    causes: CauseShares,
}

/// Open waits of a rank.
#[derive(Debug, Default)]
struct WaitHistory {
    open: VecDeque<OpenWait>,
    /// Number of waits that were dropped at the front.
    dropped: usize,
    /// For each group the number of waits up to the rank's last call in it.
    seen: FxHashMap<u32, usize>,
    /// For each group the delay that the rank keeps against the others after its last call in it.
    kept: FxHashMap<u32, OpenWait>,
}

/// Open waits that are kept for each rank.
const MOST_OPEN: usize = 256;
/// A rank keeps a delay from this on, in picoseconds: less is not worth the memory.
const LEAST_KEPT_PS: i64 = 1_000_000;
/// Smaller shares of an operation are left out.
const LEAST_SHARE: f64 = 0.01;
/// A transfer is slow above this multiple of the median of its like, plus [`SLOW_PS`].
pub(super) const SLOW: f64 = 1.25;
/// See [`SLOW`].
pub(super) const SLOW_PS: f64 = 5e6;

/// Root blame so far, in picoseconds.
#[derive(Debug, Default)]
pub(super) struct RootBlame {
    history: Vec<WaitHistory>,
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
pub(super) struct OperationFacts {
    /// Number of the instance.
    pub(super) at: usize,
    pub(super) group: u32,
    pub(super) span: InstanceTimes,
    /// Time by which the transfer is longer than that of its like.
    pub(super) excess_ps: f64,
    /// Whether all ranks of the job take part. Nobody inherits a delay beyond such a call.
    pub(super) is_of_all: bool,
}

impl RootBlame {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            history: std::iter::repeat_with(WaitHistory::default).take(ranks).collect(),
            ..Self::default()
        }
    }

    /// Takes the next operation. `lost` are members whose calls the trace lacks. `open` tells how
    /// much of a shared span lies outside of a rank's computation.
    pub(super) fn add(
        &mut self,
        step: OperationFacts,
        arrivals: &[Arrival],
        lost: &[usize],
        open: impl Fn(usize, i64, i64) -> i64,
    ) {
        let heirs = self.heirs(step, arrivals);
        let shares = self.shares(step, &heirs);
        let slow = self.causes_of_slowness(step, lost);
        let is_link = step.excess_ps > 0.0 && slow.iter().any(|(cause, _)| *cause == Cause::Link(step.group));
        if is_link {
            self.excess.entry(step.group).or_default().add(step);
        }
        let wait =
            |one: &Arrival| open(one.member.rank, one.start_ps, one.start_ps.saturating_add(one.wait_ps));
        let waits: Vec<i64> = arrivals.iter().map(wait).collect();
        let kept = match step.is_of_all {
            true => Vec::new(),
            false => self.kept(step, &heirs, &waits, shares.as_ref()),
        };
        if step.is_of_all {
            self.history.iter_mut().for_each(WaitHistory::forget);
        }
        for (one, waited) in arrivals.iter().zip(waits) {
            let mut excess_ps = 0.0;
            if step.excess_ps > 0.0 {
                let from = step.span.last_ps.max(one.start_ps).min(one.end_ps);
                let share =
                    open(one.member.rank, from, one.end_ps) as f64 / (one.end_ps - from).max(1) as f64;
                excess_ps = step.excess_ps * share;
            }
            if is_link {
                self.excess.entry(step.group).or_default().of_ranks_ps += excess_ps;
            }
            let history = &mut self.history[one.member.rank];
            if let Some(causes) = shares.as_ref().filter(|_| waited > 0 && !step.is_of_all) {
                history.push(OpenWait { amount_ps: waited as f64, causes: Rc::clone(causes) });
            }
            history.see(step.group);
            if step.excess_ps > 0.0 && !step.is_of_all {
                history.push(OpenWait { amount_ps: excess_ps, causes: Rc::clone(&slow) });
            }
        }
        // A member whose call was lost was delayed, too, if the operation delayed all others.
        let is_blocking = kept.is_empty() && !step.is_of_all;
        for &rank in lost.iter().filter(|_| is_blocking) {
            let waited = open(rank, step.span.first_ps, step.span.last_ps);
            let history = &mut self.history[rank];
            if let Some(causes) = shares.as_ref().filter(|_| waited > 0) {
                history.push(OpenWait { amount_ps: waited as f64, causes: Rc::clone(causes) });
            }
            history.see(step.group);
        }
        for (rank, open) in kept {
            self.history[rank].kept.insert(step.group, open);
        }
    }

    /// The members with the part of their lateness that they inherited.
    fn heirs<'a>(&self, step: OperationFacts, arrivals: &'a [Arrival]) -> Vec<Heir<'a>> {
        let inherited = |one: &Arrival| self.history[one.member.rank].inherited_ps(step.group);
        let least = arrivals.iter().map(inherited).fold(f64::INFINITY, f64::min);
        let heir = |one: &'a Arrival| {
            let late_ps = one.start_ps.saturating_sub(step.span.first_ps).max(1) as f64;
            let inherited_ps = inherited(one);
            let passed = ((inherited_ps - least) / late_ps).clamp(0.0, 1.0);
            Heir { one, late_ps, inherited_ps, passed }
        };
        arrivals.iter().map(heir).collect()
    }

    /// Adds an amount to the causes of a member's lateness.
    fn put(&self, step: OperationFacts, heir: &Heir<'_>, amount_ps: f64, to: &mut FxHashMap<Cause, f64>) {
        let rank = heir.one.member.rank;
        *to.entry(Cause::Rank(rank)).or_default() += (1.0 - heir.passed) * amount_ps;
        if heir.passed == 0.0 {
            return;
        }
        for wait in self.history[rank].since(step.group) {
            let part = heir.passed * amount_ps * wait.amount_ps / heir.inherited_ps;
            for (cause, share) in wait.causes.iter() {
                *to.entry(*cause).or_default() += part * share;
            }
        }
    }

    /// The delays that members keep after an operation. A rank that had nothing to compute while it
    /// waited is now as late as the last one. A rank that computed is not, and the last one stays
    /// behind it.
    fn kept(
        &self,
        step: OperationFacts,
        heirs: &[Heir<'_>],
        waits: &[i64],
        shares: Option<&CauseShares>,
    ) -> Vec<(usize, OpenWait)> {
        let ready = |(heir, wait): (&Heir<'_>, &i64)| heir.one.start_ps.saturating_add(*wait);
        let first = heirs.iter().zip(waits).map(ready).min().unwrap_or_default();
        let mut kept = Vec::new();
        for (heir, wait) in heirs.iter().zip(waits) {
            let behind_ps = ready((heir, wait)).saturating_sub(first);
            if behind_ps < LEAST_KEPT_PS {
                continue;
            }
            let mut causes = FxHashMap::default();
            self.put(step, heir, heir.late_ps, &mut causes);
            for (cause, share) in shares.into_iter().flat_map(|shares| shares.iter()) {
                *causes.entry(*cause).or_default() += *wait as f64 * share;
            }
            if let Some(causes) = cut(causes) {
                kept.push((heir.one.member.rank, OpenWait { amount_ps: behind_ps as f64, causes }));
            }
        }
        kept
    }

    /// The causes of a slow transfer: the link of the group. If calls are lost and the link was not
    /// slow before, the transfer seems slow because the awaited call is not there.
    fn causes_of_slowness(&mut self, step: OperationFacts, lost: &[usize]) -> CauseShares {
        let lost = if step.excess_ps > 0.0 { lost } else { &[] };
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
    fn shares(&mut self, step: OperationFacts, heirs: &[Heir<'_>]) -> Option<CauseShares> {
        let mut causes: FxHashMap<Cause, f64> = FxHashMap::default();
        for heir in heirs.iter().filter(|heir| heir.one.blame_ps > 0.0) {
            self.put(step, heir, heir.one.blame_ps, &mut causes);
        }
        for (cause, amount) in &causes {
            *self.causes.entry(*cause).or_default() += amount;
        }
        cut(causes)
    }
}

/// A member of an operation, and why it is late.
#[derive(Debug, Clone, Copy)]
struct Heir<'a> {
    one: &'a Arrival,
    late_ps: f64,
    /// Sum of its open waits and of the delay that it kept.
    inherited_ps: f64,
    /// Share of its lateness that others caused.
    passed: f64,
}

/// The shares of causes without the smallest ones. `None` if there are none.
fn cut(causes: FxHashMap<Cause, f64>) -> Option<CauseShares> {
    let mut kept: Vec<(Cause, f64)> = causes.into_iter().collect();
    // The order of a hash map must not decide how sums are rounded.
    kept.sort_unstable_by_key(|(cause, _)| *cause);
    let total: f64 = kept.iter().map(|(_, amount)| amount).sum();
    kept.retain(|(_, amount)| *amount > 0.0 && *amount >= LEAST_SHARE * total);
    let sum: f64 = kept.iter().map(|(_, amount)| amount).sum();
    kept.iter_mut().for_each(|(_, amount)| *amount /= sum);
    (sum > 0.0).then(|| Rc::from(kept))
}

impl Excess {
    fn add(&mut self, step: OperationFacts) {
        self.operations += 1;
        self.of_operations_ps += step.excess_ps;
        if self.worst.is_none_or(|(_, most_ps)| step.excess_ps > most_ps) {
            self.worst = Some((step.at, step.excess_ps));
        }
    }
}

impl WaitHistory {
    fn push(&mut self, open: OpenWait) {
        if self.open.len() == MOST_OPEN {
            self.open.pop_front();
            self.dropped += 1;
        }
        self.open.push_back(open);
    }

    /// Drops everything: after an operation of all ranks nothing is inherited.
    fn forget(&mut self) {
        self.dropped += self.open.len();
        self.open.clear();
        self.kept.clear();
    }

    /// Counts all waits so far as seen by a group.
    fn see(&mut self, group: u32) {
        self.seen.insert(group, self.dropped + self.open.len());
        self.kept.remove(&group);
    }

    /// The delay that the rank kept after its last call in a group, and its waits since then.
    fn since(&self, group: u32) -> impl Iterator<Item = &OpenWait> {
        let from = self.seen.get(&group).map_or(0, |seen| seen.saturating_sub(self.dropped));
        self.kept.get(&group).into_iter().chain(self.open.range(from.min(self.open.len())..))
    }

    /// Sum of [`Self::since`].
    fn inherited_ps(&self, group: u32) -> f64 {
        self.since(group).map(|wait| wait.amount_ps).sum()
    }
}
