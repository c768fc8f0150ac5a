//! Compares lanes with the plain rule: the lowest free lane. The plain rule checks every slice and
//! lane.

use proptest::prelude::*;

use super::*;
use crate::exec::steps;

#[track_caller]
fn check(nesting: Nesting, slices: &[(i64, i64)], expected: &[(u32, u32)]) {
    let mut lanes = LaneAssigner::new(nesting);
    let found: Vec<(u32, u32)> =
        slices.iter().map(|&(start, end)| lanes.place(start, end)).map(|p| (p.lane, p.depth)).collect();
    assert_eq!(found, expected);
}

#[test]
fn calls_go_below_their_callers() {
    check(
        Nesting::Calls,
        &[(0, 10), (0, 5), (1, 2), (5, 10), (12, 13)],
        &[(0, 0), (1, 1), (2, 2), (1, 1), (0, 0)],
    );
}

#[test]
fn a_partial_overlap_takes_a_line_of_its_own_at_the_same_depth() {
    check(Nesting::Calls, &[(0, 10), (5, 15), (6, 8)], &[(0, 0), (1, 0), (2, 2)]);
}

#[test]
fn concurrent_slices_fill_the_first_free_line() {
    check(Nesting::Concurrent, &[(0, 10), (1, 2), (2, 3), (10, 11)], &[(0, 0), (1, 0), (1, 0), (0, 0)]);
}

#[test]
fn slices_beyond_the_lanes_share_the_last_one() {
    for nesting in [Nesting::Calls, Nesting::Concurrent] {
        let mut lanes = LaneAssigner::new(nesting);
        let most = line_ends::MAX_LINES as i64;
        let deepest = (0..most + 9).map(|at| lanes.place(at, 4 * most - at)).last().unwrap();
        assert_eq!((lanes.count(), lanes.crowded()), (most as u32, 9));
        let depth = if nesting == Nesting::Calls { most as u32 + 8 } else { 0 };
        assert_eq!(deepest, LaneSlot { lane: most as u32 - 1, depth });
        assert_eq!(lanes.place(4 * most, 4 * most + 1), LaneSlot { lane: 0, depth: 0 });
    }
}

/// The definition of a place: checks every open slice and every lane.
struct ByDefinition {
    nesting: Nesting,
    free_from: Vec<i64>,
    open: Vec<(i64, usize)>,
}

impl ByDefinition {
    fn place(&mut self, start_ps: i64, end_ps: i64) -> LaneSlot {
        self.open.retain(|&(end, _)| end > start_ps);
        let enclosing: Vec<usize> = match self.nesting {
            Nesting::Calls => {
                self.open.iter().filter(|&&(end, _)| end >= end_ps).map(|open| open.1).collect()
            }
            Nesting::Concurrent => Vec::new(),
        };
        let lowest = enclosing.iter().max().map_or(0, |lane| lane + 1);
        let free = (lowest..self.free_from.len()).find(|&lane| self.free_from[lane] <= start_ps);
        let lane = free.unwrap_or_else(|| {
            self.free_from.push(i64::MIN);
            self.free_from.len() - 1
        });
        self.free_from[lane] = end_ps;
        if end_ps > start_ps {
            self.open.push((end_ps, lane));
        }
        LaneSlot { lane: narrow(lane), depth: narrow(enclosing.len()) }
    }
}

fn nesting() -> impl Strategy<Value = Nesting> {
    prop_oneof![Just(Nesting::Calls), Just(Nesting::Concurrent)]
}

proptest! {
    #[test]
    fn places_are_those_of_the_definition(
        mut slices in prop::collection::vec((-30_i64..60, prop_oneof![0_i64..20, 0_i64..200]), 0..300),
        nesting in nesting(),
    ) {
        slices.sort_by_key(|&(start, duration)| (start, -duration));
        let mut lanes = LaneAssigner::new(nesting);
        let mut expected = ByDefinition { nesting, free_from: Vec::new(), open: Vec::new() };
        for (start, duration) in slices {
            prop_assert_eq!(lanes.place(start, start + duration), expected.place(start, start + duration));
            prop_assert_eq!(lanes.count() as usize, expected.free_from.len());
        }
    }

    #[test]
    fn no_lane_overlaps_itself(
        mut slices in prop::collection::vec((0_i64..60, 0_i64..20), 0..100),
        nesting in nesting(),
    ) {
        slices.sort_by_key(|&(start, duration)| (start, -duration));
        let mut lanes = LaneAssigner::new(nesting);
        let mut last_end = std::collections::HashMap::new();
        for (start, duration) in slices {
            let lane = lanes.place(start, start + duration).lane;
            let end = last_end.insert(lane, start + duration).unwrap_or(i64::MIN);
            prop_assert!(end <= start, "lane {} ends at {} and goes on at {}", lane, end, start);
        }
    }
}

/// Steps per slice for `count` slices, each given by its number.
fn steps_of_each(nesting: Nesting, count: i64, slice: impl Fn(i64) -> (i64, i64)) -> u64 {
    let (mut lanes, before) = (LaneAssigner::new(nesting), steps());
    for number in 0..count {
        let (start, end) = slice(number);
        lanes.place(start, end);
    }
    (steps() - before) / count.unsigned_abs()
}

/// Slices that are all open at once, in orders that were or could be expensive.
#[test]
fn steps_grow_with_the_logarithm_of_what_is_open() {
    const MANY: i64 = 1 << 17;
    /// An order without runs.
    fn scattered(number: i64) -> i64 {
        (number * 0x9e37_79b1) % MANY
    }
    type Slice = fn(i64) -> (i64, i64);
    let shapes: [(&str, Slice); 5] = [
        ("one span", |_| (0, 1)),
        ("nested", |number| (number, 4 * MANY - number)),
        ("each ends after the one before", |number| (number, MANY + number)),
        ("ends in no order", |number| (number, MANY + scattered(number))),
        ("short ones below long ones", |number| {
            if number % 2 == 0 { (number, 4 * MANY - number) } else { (number, number + 1) }
        }),
    ];
    for nesting in [Nesting::Calls, Nesting::Concurrent] {
        for (name, slice) in shapes {
            let steps = steps_of_each(nesting, MANY, slice);
            // log2 is 17: a few walks through a tree of lanes, and as many runs with a search in
            // each.
            assert!(steps < 17 * 17, "{name}, {nesting:?}: {steps} steps a slice");
            let fewer = steps_of_each(nesting, MANY / 64, slice);
            assert!(steps <= 3 * fewer + 17, "{name}, {nesting:?}: {fewer} steps a slice became {steps}");
        }
    }
}
