//! Lanes: the lines of a track. No lane overlaps itself, so every slice can be seen.

use crate::model::Nesting;

/// Where a slice stands within its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, from 0 at the top.
    pub lane: u32,
    /// How many slices enclose it, where nesting means calls; else 0.
    pub depth: u32,
}

/// Assigns lanes to the slices of one track, which come in order of start, longest first.
#[derive(Debug)]
pub struct Lanes {
    nesting: Nesting,
    /// When each lane is free again.
    free_from: Vec<i64>,
    /// Slices that may enclose others and have not ended yet: end and lane, in order of start.
    open: Vec<(i64, u32)>,
}

impl Lanes {
    /// For a track.
    pub fn new(nesting: Nesting) -> Self {
        Self { nesting, free_from: Vec::new(), open: Vec::new() }
    }

    /// The place of the next slice: below the slices that enclose it, on the first line that is free.
    pub fn place(&mut self, start_ps: i64, end_ps: i64) -> Place {
        let (depth, lowest) = match self.nesting {
            Nesting::Calls => {
                self.open.retain(|&(end, _)| end > start_ps);
                let enclosing = || self.open.iter().filter(|&&(end, _)| end >= end_ps);
                (enclosing().count(), enclosing().map(|&(_, lane)| lane as usize + 1).max())
            }
            Nesting::Concurrent => (0, None),
        };
        let from = lowest.unwrap_or(0);
        let free = (from..self.free_from.len()).find(|&lane| self.free_from[lane] <= start_ps);
        let lane = free.unwrap_or_else(|| {
            self.free_from.resize(self.free_from.len().max(from) + 1, i64::MIN);
            self.free_from.len() - 1
        });
        self.free_from[lane] = end_ps;
        let lane = u32::try_from(lane).unwrap_or(u32::MAX);
        if self.nesting == Nesting::Calls && end_ps > start_ps {
            self.open.push((end_ps, lane));
        }
        Place { lane, depth: u32::try_from(depth).unwrap_or(u32::MAX) }
    }

    /// Lines so far.
    pub fn count(&self) -> u32 {
        u32::try_from(self.free_from.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(nesting: Nesting, slices: &[(i64, i64)], expected: &[(u32, u32)]) {
        let mut lanes = Lanes::new(nesting);
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

    proptest! {
        #[test]
        fn no_lane_overlaps_itself(mut slices in prop::collection::vec((0_i64..60, 0_i64..20), 0..100), calls in any::<bool>()) {
            slices.sort_by_key(|&(start, duration)| (start, -duration));
            let mut lanes = Lanes::new(if calls { Nesting::Calls } else { Nesting::Concurrent });
            let mut last_end = std::collections::HashMap::new();
            for (start, duration) in slices {
                let lane = lanes.place(start, start + duration).lane;
                let end = last_end.insert(lane, start + duration).unwrap_or(i64::MIN);
                prop_assert!(end <= start, "lane {} ends at {} and goes on at {}", lane, end, start);
            }
        }
    }
}
