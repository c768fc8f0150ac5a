//! Time by name in one cell after the other. The table's memory is kept from cell to cell and never
//! cleared: each entry states its cell.

use std::cmp::Reverse;

use crate::model::WaitNames;

/// Entries of a new table, a power of two.
const FIRST_SLOTS: usize = 64;
/// Factor that spreads names over the table: 2^32 divided by the golden ratio (Knuth, volume 3,
/// section 6.4).
const SPREAD: u32 = 0x9E37_79B9;

/// Time by name in the open cell.
#[derive(Debug)]
pub struct NameSums<'a> {
    waits: &'a WaitNames,
    /// Entries of the table, a power of two. At least half of them belong to earlier cells.
    slots: Vec<SumSlot>,
    /// Number of the open cell, counted from 1.
    cell: u32,
    /// Positions of the open cell's entries.
    used: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SumSlot {
    name: u32,
    /// Cell of the entry; 0 for an unused entry.
    cell: u32,
    time_ps: u64,
}

/// Sums by name of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameSum {
    /// Time of the names of waits, in picoseconds.
    pub wait_ps: u64,
    /// The name with the most time that is not a wait; of equal names the one with the smallest
    /// number. `None` if no such name took time.
    pub dominant: Option<u32>,
}

impl<'a> NameSums<'a> {
    /// Creates an empty table.
    pub fn new(waits: &'a WaitNames) -> Self {
        Self { waits, slots: vec![SumSlot::default(); FIRST_SLOTS], cell: 1, used: Vec::new() }
    }

    /// Adds time to a name.
    #[inline]
    pub fn add(&mut self, name: u32, time_ps: u64) {
        let (mask, shift) = (self.slots.len() - 1, u32::BITS - self.slots.len().trailing_zeros());
        let mut at = (name.wrapping_mul(SPREAD) >> shift) as usize & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.cell != self.cell {
                self.enter(at, name, time_ps);
                return;
            }
            if slot.name == name {
                slot.time_ps += time_ps;
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Writes the first entry of a name in the open cell, at this position.
    fn enter(&mut self, at: usize, name: u32, time_ps: u64) {
        self.slots[at] = SumSlot { name, cell: self.cell, time_ps };
        self.used.push(at as u32);
        if self.used.len() * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let before = std::mem::take(&mut self.slots);
        self.slots = vec![SumSlot::default(); before.len() * 2];
        for at in std::mem::take(&mut self.used) {
            let SumSlot { name, time_ps, .. } = before[at as usize];
            self.add(name, time_ps);
        }
    }

    /// Returns the sums of the open cell, and begins the next cell.
    pub fn take(&mut self) -> NameSum {
        let (mut wait_ps, mut most) = (0, (0, Reverse(u32::MAX)));
        for &at in &self.used {
            let slot = &self.slots[at as usize];
            if self.waits.contains(slot.name) {
                wait_ps += slot.time_ps;
            } else {
                most = most.max((slot.time_ps, Reverse(slot.name)));
            }
        }
        self.used.clear();
        self.cell += 1;
        let (time_ps, Reverse(name)) = most;
        NameSum { wait_ps, dominant: (time_ps > 0).then_some(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sums: &mut NameSums, names: std::ops::Range<u32>, expected: Option<u32>) {
        for round in 1..4 {
            names.clone().for_each(|name| sums.add(name * 64, u64::from(name / 2) * round));
        }
        assert_eq!(sums.take(), NameSum { wait_ps: 0, dominant: expected });
    }

    #[test]
    fn few_and_many_names_add_up_alike_and_cells_begin_anew() {
        let no_waits = WaitNames::default();
        let mut sums = NameSums::new(&no_waits);
        check(&mut sums, 0..2, None);
        check(&mut sums, 0..10, Some(8 * 64));
        check(&mut sums, 0..40, Some(38 * 64));
        check(&mut sums, 0..300, Some(298 * 64));
        check(&mut sums, 2..7, Some(6 * 64));
        sums.add(u32::MAX, 1);
        assert_eq!(sums.take().dominant, Some(u32::MAX));
    }

    #[test]
    fn waits_add_up_beside_the_other_names_in_every_cell() {
        let waits = WaitNames::from_iter([0, 5, 7]);
        let mut sums = NameSums::new(&waits);
        for _ in 0..3 {
            for (name, time_ps) in [(5, 9), (6, 1), (0, 20), (5, 3)] {
                sums.add(name, time_ps);
            }
            assert_eq!(sums.take(), NameSum { wait_ps: 32, dominant: Some(6) });
        }
        sums.add(7, 1);
        assert_eq!(sums.take(), NameSum { wait_ps: 1, dominant: None });
    }
}
