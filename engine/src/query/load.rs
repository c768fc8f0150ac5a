//! Time in which a track works, in which it waits, and in which it does either. Each moment counts
//! once for each, also where slices overlap.

use crate::base::{Covered, Interval};
use crate::model::WaitNames;
use crate::segment::BlockNameTotal;

/// Time of a track, from slices in the order of their starts.
#[derive(Debug, Clone, Copy)]
pub struct TrackLoad {
    busy: Covered,
    wait: Covered,
    either: Covered,
}

/// Sums of the durations of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockLoad {
    work_ps: u64,
    wait_ps: u64,
}

impl BlockLoad {
    /// The sums of a block with these totals by name.
    #[must_use]
    pub fn of(names: &[BlockNameTotal], waits: &WaitNames) -> Self {
        let mut load = Self::default();
        for of in names {
            match waits.contains(of.name) {
                true => load.wait_ps = load.wait_ps.saturating_add(of.total_ps),
                false => load.work_ps = load.work_ps.saturating_add(of.total_ps),
            }
        }
        load
    }
}

impl TrackLoad {
    /// Creates a load that ignores all time before `start_ps`.
    #[must_use]
    pub fn after(start_ps: i64) -> Self {
        let none = Covered::after(start_ps);
        Self { busy: none, wait: none, either: none }
    }

    /// Adds the next slice.
    pub fn add(&mut self, is_wait: bool, slice: Interval) {
        let covered = if is_wait { &mut self.wait } else { &mut self.busy };
        covered.add(slice.start.0, slice.end.0);
        self.either.add(slice.start.0, slice.end.0);
    }

    /// Adds the next block from its sums, if they tell its times. `covered_ps` is the time of all
    /// its slices after the end of all blocks before. A block `is_apart` if the next one starts
    /// after its end. Returns false if only the rows tell the times.
    #[must_use]
    pub fn add_block(&mut self, block: &BlockLoad, span: Interval, covered_ps: u64, is_apart: bool) -> bool {
        let end_ps = span.end.0;
        let (own, other) = match (block.work_ps, block.wait_ps) {
            (_, 0) => (&mut self.busy, &self.wait),
            (0, _) => (&mut self.wait, &self.busy),
            // Slices that overlap nothing: the sums are the times. The ends of work and of waits
            // are not known, so later slices must not overlap them either.
            (work_ps, wait_ps) if is_apart && work_ps.checked_add(wait_ps) == Some(covered_ps) => {
                self.busy.add_known(work_ps, end_ps);
                self.wait.add_known(wait_ps, end_ps);
                self.either.add_known(covered_ps, end_ps);
                return true;
            }
            _ => return false,
        };
        // Time under slices of the other kind is missing in the stored time.
        if other.until_ps() > span.start.0.max(own.until_ps()) {
            return false;
        }
        own.add_known(covered_ps, end_ps);
        self.either.add_known(covered_ps, end_ps);
        true
    }

    /// Time in which at least one slice ran that is no wait.
    #[must_use]
    pub fn busy_ps(&self) -> u64 {
        self.busy.total_ps()
    }

    /// Time in which at least one slice waited.
    #[must_use]
    pub fn wait_ps(&self) -> u64 {
        self.wait.total_ps()
    }

    /// Time in which at least one slice ran or waited.
    #[must_use]
    pub fn covered_ps(&self) -> u64 {
        self.either.total_ps()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Slices: whether they wait, start and end.
    type Slices = [(bool, i64, i64)];

    /// The load of slices in blocks of this many rows, from sums where they tell the times.
    /// Returns busy, wait, both, and the number of blocks that were read.
    fn of_blocks(slices: &Slices, rows: usize) -> (u64, u64, u64, usize) {
        let (mut load, mut all, mut read) = (TrackLoad::after(0), Covered::after(0), 0);
        let blocks: Vec<&Slices> = slices.chunks(rows).collect();
        for (at, block) in blocks.iter().enumerate() {
            let sum = |of: bool| {
                let of_kind = block.iter().filter(|(is_wait, ..)| *is_wait == of);
                of_kind.map(|(_, start, end)| end.abs_diff(*start)).sum()
            };
            let sums = BlockLoad { work_ps: sum(false), wait_ps: sum(true) };
            let before = all.total_ps();
            block.iter().for_each(|&(_, start, end)| all.add(start, end));
            let end = block.iter().map(|slice| slice.2).max().unwrap();
            let is_apart = blocks.get(at + 1).is_none_or(|next| next[0].1 >= end);
            let covered_ps = all.total_ps() - before;
            if !load.add_block(&sums, Interval::new(block[0].1, end), covered_ps, is_apart) {
                read += 1;
                block.iter().for_each(|&(is_wait, start, end)| load.add(is_wait, Interval::new(start, end)));
            }
        }
        (load.busy_ps(), load.wait_ps(), load.covered_ps(), read)
    }

    #[test]
    fn work_and_waits_count_each_moment_once() {
        let mut load = TrackLoad::after(10);
        for (is_wait, start, end) in
            [(true, 0, 40), (false, 5, 20), (false, 15, 30), (true, 35, 50), (false, 60, 61)]
        {
            load.add(is_wait, Interval::new(start, end));
        }
        assert_eq!((load.busy_ps(), load.wait_ps(), load.covered_ps()), (21, 40, 41));
    }

    #[test]
    fn slices_one_after_the_other_are_not_read() {
        let slices = [(true, 0, 5), (false, 5, 7), (false, 8, 9), (true, 9, 20), (false, 20, 21)];
        assert_eq!(of_blocks(&slices, 2), (4, 16, 20, 0));
    }

    proptest! {
        #[test]
        fn sums_of_blocks_give_the_same_as_all_rows(
            mut slices in prop::collection::vec((any::<bool>(), 0..60_i64, 0..20_i64), 1..40),
            rows in 1..6_usize,
        ) {
            slices.sort_by_key(|slice| slice.1);
            let slices: Vec<_> =
                slices.into_iter().map(|(is_wait, start, length)| (is_wait, start, start + length)).collect();
            let covered = |of: &[bool]| {
                let is_inside = |at: i64| {
                    slices.iter().any(|&(is_wait, start, end)| of.contains(&is_wait) && (start..end).contains(&at))
                };
                (0..80).filter(|&at| is_inside(at)).count() as u64
            };
            let (busy, wait, either, _) = of_blocks(&slices, rows);
            prop_assert_eq!((busy, wait), (covered(&[false]), covered(&[true])));
            prop_assert_eq!(either, covered(&[false, true]));
        }
    }
}
