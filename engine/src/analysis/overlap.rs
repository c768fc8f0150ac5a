//! Matching of equal calls whose clocks are known: by order and by overlap.
//!
//! All ranks issue the operations of a group in one order, and nobody leaves an operation that
//! waits for all before the last one has come. So the calls of an operation overlap, and but for
//! those in flight together their order is that of the operations. Ends tell only which of several
//! orders fits best: threads of a busy host leave an operation milliseconds apart.
//!
//! The sequences of ranks are merged one after the other, each into the line of operations so far.
//! Time is `n log n` in calls.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::base::Result;
use crate::exec::Cancel;

/// Operations that a call is compared with: those that end nearest.
const NEAR: usize = 16;
/// Operations around the end of a call among which these are.
const AROUND: usize = 64;

/// A call on the shared clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedCall {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    pub(super) rank: u16,
    pub(super) call: u32,
}

/// Calls that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OverlapGroup {
    pub(super) last_start_ps: i64,
    pub(super) first_end_ps: i64,
    pub(super) last_end_ps: i64,
    /// Rank and call.
    pub(super) members: Vec<(u16, u32)>,
}

/// The operations of ranks. `of_ranks` has the equal calls of each rank, by start. Two clocks
/// differ by `slack_ps` at most.
pub(super) fn operations(
    mut of_ranks: Vec<Vec<SharedCall>>,
    slack_ps: i64,
    cancel: Cancel<'_>,
) -> Result<Vec<OverlapGroup>> {
    of_ranks.sort_by_key(|calls| (Reverse(calls.len()), calls.first().map(|call| call.rank)));
    let mut line: Vec<OverlapGroup> = Vec::new();
    for calls in of_ranks {
        cancel.check()?;
        let pairs = pairs(&line, &calls, slack_ps);
        line = merged(line, &calls, &pairs);
    }
    line.sort_by_key(|one| (one.first_end_ps, one.last_start_ps));
    Ok(line)
}

impl OverlapGroup {
    fn of(call: &SharedCall) -> Self {
        Self {
            last_start_ps: call.start_ps,
            first_end_ps: call.end_ps,
            last_end_ps: call.end_ps,
            members: vec![(call.rank, call.call)],
        }
    }

    fn add(&mut self, call: &SharedCall) {
        self.last_start_ps = self.last_start_ps.max(call.start_ps);
        self.first_end_ps = self.first_end_ps.min(call.end_ps);
        self.last_end_ps = self.last_end_ps.max(call.end_ps);
        self.members.push((call.rank, call.call));
    }
}

/// A chain of pairs: more pairs are better, then ends that differ by less.
#[derive(Debug, Clone, Copy)]
struct Chain {
    count: u32,
    apart_ps: f64,
    /// The last pair.
    pair: Option<usize>,
}

impl Chain {
    const NONE: Self = Self { count: 0, apart_ps: 0.0, pair: None };

    fn is_better(&self, other: &Self) -> bool {
        (self.count, -self.apart_ps) > (other.count, -other.apart_ps)
    }
}

/// The best chains up to each position of the line, in a Fenwick tree.
struct Best(Vec<Chain>);

impl Best {
    fn before(&self, position: usize) -> Chain {
        let (mut at, mut best) = (position, Chain::NONE);
        while at > 0 {
            if self.0[at].is_better(&best) {
                best = self.0[at];
            }
            at &= at - 1;
        }
        best
    }

    fn put(&mut self, position: usize, chain: Chain) {
        let mut at = position + 1;
        while at < self.0.len() {
            if chain.is_better(&self.0[at]) {
                self.0[at] = chain;
            }
            at += at & at.wrapping_neg();
        }
    }
}

/// Positions in the line and in the calls that belong together.
fn pairs(line: &[OverlapGroup], calls: &[SharedCall], slack_ps: i64) -> Vec<(usize, usize)> {
    let reach = OverlapBounds::of(line);
    let mut best = Best(vec![Chain::NONE; line.len() + 1]);
    // For each pair that was tried its positions, and the pair before it in its chain.
    let mut tried: Vec<(usize, usize, Option<usize>)> = Vec::new();
    let (mut near, mut found) = (Vec::new(), Vec::new());
    for (number, call) in calls.iter().enumerate() {
        near.clear();
        near.extend(reach.around(call, slack_ps).filter(|&at| {
            line[at].first_end_ps.saturating_add(slack_ps) >= call.start_ps
                && line[at].last_start_ps <= call.end_ps.saturating_add(slack_ps)
        }));
        near.sort_by_key(|&at| line[at].first_end_ps.abs_diff(call.end_ps));
        near.truncate(NEAR);
        found.clear();
        for &at in &near {
            let before = best.before(at);
            let apart_ps = before.apart_ps + line[at].first_end_ps.abs_diff(call.end_ps) as f64;
            tried.push((at, number, before.pair));
            found.push((at, Chain { count: before.count + 1, apart_ps, pair: Some(tried.len() - 1) }));
        }
        found.iter().for_each(|&(at, chain)| best.put(at, chain));
    }
    let mut chain = Vec::new();
    let mut last = best.before(line.len()).pair;
    while let Some((at, number, before)) = last.map(|pair| tried[pair]) {
        chain.push((at, number));
        last = before;
    }
    tried.sort_by_key(|&(at, number, _)| line[at].first_end_ps.abs_diff(calls[number].end_ps));
    add_others(&tried, &mut chain);
    chain
}

/// Adds pairs outside of the chain, those that end nearest first: threads of one rank can begin
/// calls that are in flight together in either order.
fn add_others(tried: &[(usize, usize, Option<usize>)], chain: &mut Vec<(usize, usize)>) {
    let mut is_taken: FxHashSet<usize> = chain.iter().map(|(at, _)| *at).collect();
    let mut is_met: FxHashSet<usize> = chain.iter().map(|(_, number)| *number).collect();
    for &(at, number, _) in tried {
        if !is_taken.contains(&at) && !is_met.contains(&number) {
            is_taken.insert(at);
            is_met.insert(number);
            chain.push((at, number));
        }
    }
}

/// Bounds of the positions in a line whose operations can overlap a call.
struct OverlapBounds {
    /// The latest first end up to each position, and the earliest last start from it on.
    ends_ps: Vec<i64>,
    starts_ps: Vec<i64>,
}

impl OverlapBounds {
    fn of(line: &[OverlapGroup]) -> Self {
        let mut ends_ps: Vec<i64> = line.iter().map(|one| one.first_end_ps).collect();
        let mut starts_ps: Vec<i64> = line.iter().map(|one| one.last_start_ps).collect();
        for at in 1..line.len() {
            ends_ps[at] = ends_ps[at].max(ends_ps[at - 1]);
        }
        for at in (1..line.len()).rev() {
            starts_ps[at - 1] = starts_ps[at - 1].min(starts_ps[at]);
        }
        Self { ends_ps, starts_ps }
    }

    fn around(&self, call: &SharedCall, slack_ps: i64) -> std::ops::Range<usize> {
        let from = self.ends_ps.partition_point(|end| end.saturating_add(slack_ps) < call.start_ps);
        let to = self.starts_ps.partition_point(|start| *start <= call.end_ps.saturating_add(slack_ps));
        let middle = self.ends_ps.partition_point(|end| *end < call.end_ps);
        from.max(middle.saturating_sub(AROUND))..to.min(middle + AROUND)
    }
}

/// The line with the calls of one more rank. Calls without a partner become operations of their
/// own. Operations come by the arrival of their last rank.
fn merged(mut line: Vec<OverlapGroup>, calls: &[SharedCall], pairs: &[(usize, usize)]) -> Vec<OverlapGroup> {
    let mut is_met = vec![false; calls.len()];
    for &(at, number) in pairs {
        line[at].add(&calls[number]);
        is_met[number] = true;
    }
    line.extend(
        calls.iter().zip(is_met).filter(|(_, is_met)| !is_met).map(|(call, _)| OverlapGroup::of(call)),
    );
    line.sort_by_key(|one| (one.last_start_ps, one.first_end_ps));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts and ends of calls of a rank.
    fn calls(rank: u16, times: &[(i64, i64)]) -> Vec<SharedCall> {
        let one =
            |(call, &(start_ps, end_ps)): (u32, &(i64, i64))| SharedCall { start_ps, end_ps, rank, call };
        (0..).zip(times).map(one).collect()
    }

    /// The calls of each operation, by rank.
    #[track_caller]
    fn check(of_ranks: &[&[(i64, i64)]], expected: &[&[(u16, u32)]]) {
        let of_ranks = (0..).zip(of_ranks).map(|(rank, times)| calls(rank, times)).collect();
        let found = operations(of_ranks, 0, Cancel::NEVER).unwrap();
        let mut members: Vec<Vec<(u16, u32)>> = found.into_iter().map(|one| one.members).collect();
        members.iter_mut().for_each(|members| members.sort_unstable());
        assert_eq!(members, expected);
    }

    #[test]
    fn calls_that_overlap_belong_together_however_far_their_ends_are_apart() {
        check(
            &[&[(0, 50), (60, 99), (120, 160)], &[(40, 44), (90, 93), (150, 170)]],
            &[&[(0, 0), (1, 0)], &[(0, 1), (1, 1)], &[(0, 2), (1, 2)]],
        );
        // A rank leaves late, when another one is already in the next operation.
        check(&[&[(0, 50), (55, 90)], &[(40, 42), (44, 90)]], &[&[(0, 0), (1, 0)], &[(0, 1), (1, 1)]]);
    }

    #[test]
    fn a_call_that_a_rank_lacks_moves_no_other() {
        check(
            &[&[(0, 9), (10, 19), (20, 29), (30, 39)], &[(15, 18), (28, 32), (33, 38)], &[(5, 8), (12, 20)]],
            &[&[(0, 0), (2, 0)], &[(0, 1), (1, 0), (2, 1)], &[(0, 2), (1, 1)], &[(0, 3), (1, 2)]],
        );
        check(&[&[(0, 9)], &[(10, 19)]], &[&[(0, 0)], &[(1, 0)]]);
        check(&[&[], &[(10, 19)]], &[&[(1, 0)]]);
        check(&[], &[]);
    }

    #[test]
    fn calls_in_flight_together_keep_their_order() {
        // The second operation ends first on one rank.
        check(
            &[&[(0, 50), (1, 45), (2, 60)], &[(10, 48), (11, 49), (12, 58)]],
            &[&[(0, 1), (1, 1)], &[(0, 0), (1, 0)], &[(0, 2), (1, 2)]],
        );
        // Two threads of the second rank begin them in the other order.
        check(&[&[(0, 90), (1, 50)], &[(45, 50), (60, 91)]], &[&[(0, 1), (1, 0)], &[(0, 0), (1, 1)]]);
    }
}
