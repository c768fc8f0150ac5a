//! Unions of the times of computation, communication and copies of one rank.

use std::rc::Rc;

use crate::base::Interval;
use crate::model::{ComputeLoad, RankCalls};

/// Intervals that are kept apart until they are joined: 16 MB.
const MANY: usize = 1 << 20;

/// Intervals of one track, joined where they touch. Starts must ascend.
#[derive(Debug, Default)]
pub(crate) struct Union {
    parts: Vec<(i64, i64)>,
}

impl Union {
    /// Adds an interval.
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        match self.parts.last_mut() {
            Some(last) if start >= last.0 && start <= last.1 => last.1 = last.1.max(end),
            _ => self.parts.push((start, end)),
        }
    }

    /// Joins the intervals of several tracks if there are many. Tracks of queues overlap each other
    /// nearly all the time.
    pub(super) fn compact(&mut self) {
        if self.parts.len() > MANY {
            self.parts = std::mem::take(self).settled();
        }
    }

    /// Adds intervals of another union, in any order.
    pub(super) fn take_in(&mut self, parts: Vec<(i64, i64)>) {
        self.parts.extend(parts);
    }

    /// The disjoint intervals, ascending.
    pub(crate) fn settled(mut self) -> Vec<(i64, i64)> {
        // The intervals of one track are so already.
        if self.parts.is_sorted_by(|one, two| one.1 < two.0) {
            return self.parts;
        }
        // A stable sort joins the runs of tracks, which ascend.
        self.parts.sort();
        let mut joined = Self::default();
        for (start, end) in self.parts {
            joined.add(start, end);
        }
        joined.parts
    }
}

/// Disjoint intervals in picoseconds, ascending.
pub(crate) type IntervalList = Vec<(i64, i64)>;

/// The union of lists of disjoint intervals. Costs a comparison for each interval and each doubling
/// of the lists, less where they overlap.
pub(crate) fn joined(mut lists: Vec<Rc<IntervalList>>) -> Rc<IntervalList> {
    lists.retain(|parts| !parts.is_empty());
    while lists.len() > 1 {
        // Lists of similar lengths are neighbours.
        lists.sort_by_key(|parts| parts.len());
        let mut left = std::mem::take(&mut lists).into_iter();
        while let Some(one) = left.next() {
            lists.push(left.next().map_or(one.clone(), |two| Rc::new(both_joined(&one, &two))));
        }
    }
    lists.pop().unwrap_or_default()
}

/// The union of two lists.
fn both_joined(mut one: &[(i64, i64)], mut two: &[(i64, i64)]) -> IntervalList {
    let mut all = Vec::with_capacity(one.len() + two.len());
    while let (Some(first), Some(second)) = (one.first(), two.first()) {
        let (start, mut end) = *first.min(second);
        loop {
            let before = end;
            (one, end) = without_touched(one, end);
            (two, end) = without_touched(two, end);
            if end == before {
                break;
            }
        }
        all.push((start, end));
    }
    all.extend_from_slice(one);
    all.extend_from_slice(two);
    all
}

/// The intervals of a list that begin after `end`, and the later end of the others.
fn without_touched(list: &[(i64, i64)], mut end: i64) -> (&[(i64, i64)], i64) {
    let mut touched = 0;
    while let Some(part) = list.get(touched).filter(|part| part.0 <= end) {
        end = end.max(part.1);
        touched += 1;
    }
    (&list[touched..], end)
}

/// The sum of the lengths of disjoint intervals.
pub(super) fn length(parts: &[(i64, i64)]) -> i64 {
    parts.iter().map(|(start, end)| end.saturating_sub(*start)).fold(0, i64::saturating_add)
}

/// The times that two lists of disjoint ascending intervals have in common.
pub(super) fn both(a: &[(i64, i64)], b: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let (mut at, mut common) = (0, Vec::new());
    for &(start, end) in a {
        while b.get(at).is_some_and(|part| part.1 <= start) {
            at += 1;
        }
        for part in b[at..].iter().take_while(|part| part.0 < end) {
            common.push((part.0.max(start), part.1.min(end)));
        }
    }
    common
}

/// The times of disjoint ascending intervals without those of others.
pub(super) fn without(parts: &[(i64, i64)], others: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let (mut at, mut left) = (0, Vec::new());
    for &(start, end) in parts {
        while others.get(at).is_some_and(|other| other.1 <= start) {
            at += 1;
        }
        let mut from = start;
        for other in others[at..].iter().take_while(|other| other.0 < end) {
            if other.0 > from {
                left.push((from, other.0));
            }
            from = from.max(other.1);
        }
        if from < end {
            left.push((from, end));
        }
    }
    left
}

/// Fills in the totals of a rank from its calls, and from the times in which it computed and in
/// which it copied or filled memory.
pub(super) fn complete(rank: &mut RankCalls, compute: Union, copies: Union) {
    rank.calls.sort();
    rank.calls.shrink();
    let (compute, copies) = (compute.settled(), copies.settled());
    let mut calls = Union::default();
    for at in 0..rank.calls.len() {
        calls.add(rank.calls.starts_ps[at], rank.calls.end_ps(at));
    }
    let calls = calls.settled();
    rank.compute_ps = length(&compute);
    rank.communication_ps = length(&calls);
    rank.covered_ps = both(&calls, &compute);
    rank.busy_ps = rank.compute_ps + rank.communication_ps - length(&rank.covered_ps);
    let work = Union { parts: [&calls[..], &compute].concat() }.settled();
    let alone = without(&copies, &work);
    rank.copy_ps = length(&alone);
    let all = [&calls, &compute, &copies];
    let first = all.iter().filter_map(|parts| parts.first()).map(|part| part.0).min();
    let last = all.iter().filter_map(|parts| parts.last()).map(|part| part.1).max();
    let worked = Interval::new(first.unwrap_or(0), last.unwrap_or(0));
    rank.span_ps = worked.duration_ps();
    rank.worked_ps = (worked.start.0, worked.end.0);
    rank.compute_load = ComputeLoad::of(&compute, worked);
    rank.copy_load = ComputeLoad::of(&alone, worked);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::CallList;

    proptest! {
        #[test]
        fn lists_are_joined_like_all_their_intervals(
            lists in prop::collection::vec(prop::collection::vec((0..90_i64, 0..9_i64), 0..12), 0..6),
        ) {
            let mut all = Union::default();
            let mut of_lists = Vec::new();
            for list in lists {
                let mut of_list = Union::default();
                for (start, length) in list {
                    all.add(start, start + length);
                    of_list.add(start, start + length);
                }
                of_lists.push(Rc::new(of_list.settled()));
            }
            prop_assert_eq!(&*joined(of_lists), &all.settled());
        }
    }

    #[test]
    fn times_are_joined_and_counted_once() {
        let mut compute = Union::default();
        for (start, end) in [(50, 60), (0, 10), (5, 20), (20, 25)] {
            compute.add(start, end);
        }
        let calls = CallList {
            starts_ps: vec![15, 58],
            durations_ps: vec![10, 12],
            signatures: vec![0; 2],
            numbers: vec![0; 2],
            rows: vec![0, 1],
            ..CallList::default()
        };
        let mut copies = Union::default();
        // Before all, under computation, under both, and alone.
        for (start, end) in [(-10, 2), (12, 30), (40, 45)] {
            copies.add(start, end);
        }
        let mut rank = RankCalls { calls, ..RankCalls::default() };
        complete(&mut rank, compute, copies);
        assert_eq!(rank.covered_ps, [(15, 25), (58, 60)]);
        assert_eq!((rank.compute_ps, rank.communication_ps), (35, 22));
        assert_eq!((rank.busy_ps, rank.copy_ps, rank.span_ps), (45, 10 + 5 + 5, 80));
        assert_eq!(rank.worked_ps, (-10, 70));
        assert_eq!(rank.copy_load.within(Interval::new(-10, 70)), 20.0);
        assert_eq!(rank.copy_load.within(Interval::new(25, 44)), 5.0 + 4.0);
    }
}
