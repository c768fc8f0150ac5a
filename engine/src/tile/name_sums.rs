//! Time by name in one cell after the other, in a table whose memory is kept from cell to cell and never cleared: each
//! entry says which cell it is of.

/// Entries of a new table; a power of two.
const FIRST_SLOTS: usize = 64;
/// Spreads names over the table: 2^32 divided by the golden ratio (Knuth, volume 3, section 6.4).
const SPREAD: u32 = 0x9E37_79B9;

/// Time by name in the open cell.
#[derive(Debug)]
pub struct NameSums {
    /// A power of two of them, at least half of them of cells before.
    slots: Vec<Slot>,
    /// The open cell, counted from 1.
    cell: u32,
    /// Positions of the open cell's entries.
    used: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    name: u32,
    cell: u32,
    time_ps: u64,
}

impl Default for NameSums {
    fn default() -> Self {
        Self { slots: vec![Slot::default(); FIRST_SLOTS], cell: 1, used: Vec::new() }
    }
}

impl NameSums {
    /// Adds time to a name.
    pub fn add(&mut self, name: u32, time_ps: u64) {
        let (mask, shift) = (self.slots.len() - 1, u32::BITS - self.slots.len().trailing_zeros());
        let mut at = (name.wrapping_mul(SPREAD) >> shift) as usize;
        loop {
            let slot = &mut self.slots[at & mask];
            if slot.cell != self.cell {
                *slot = Slot { name, cell: self.cell, time_ps };
                self.used.push((at & mask) as u32);
                if self.used.len() * 2 > self.slots.len() {
                    self.grow();
                }
                return;
            }
            if slot.name == name {
                slot.time_ps += time_ps;
                return;
            }
            at += 1;
        }
    }

    fn grow(&mut self) {
        let before = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); before.len() * 2];
        for at in std::mem::take(&mut self.used) {
            let Slot { name, time_ps, .. } = before[at as usize];
            self.add(name, time_ps);
        }
    }

    /// The time of the open cell's names that are in an ascending list.
    pub fn time_of(&self, names: &[u32]) -> u64 {
        if names.is_empty() {
            return 0;
        }
        let slots = self.used.iter().map(|&at| &self.slots[at as usize]);
        slots.filter(|slot| names.binary_search(&slot.name).is_ok()).map(|slot| slot.time_ps).sum()
    }

    /// The name with the most time, of equals the smallest; `None` where nothing took time but the
    /// names of an ascending list. The next cell begins.
    pub fn take_dominant(&mut self, without: &[u32]) -> Option<u32> {
        let slots = self.used.iter().map(|&at| &self.slots[at as usize]);
        let slots = slots.filter(|slot| without.is_empty() || without.binary_search(&slot.name).is_err());
        let most = slots.max_by_key(|slot| (slot.time_ps, std::cmp::Reverse(slot.name)));
        let dominant = most.filter(|slot| slot.time_ps > 0).map(|slot| slot.name);
        self.used.clear();
        self.cell += 1;
        dominant
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
        assert_eq!(sums.take_dominant(&[]), expected);
    }

    #[test]
    fn few_and_many_names_add_up_alike_and_cells_begin_anew() {
        let mut sums = NameSums::default();
        check(&mut sums, 0..2, None);
        check(&mut sums, 0..10, Some(8 * 64));
        check(&mut sums, 0..40, Some(38 * 64));
        check(&mut sums, 0..300, Some(298 * 64));
        check(&mut sums, 2..7, Some(6 * 64));
        sums.add(u32::MAX, 1);
        assert_eq!(sums.take_dominant(&[]), Some(u32::MAX));
        sums.add(5, 9);
        sums.add(6, 1);
        assert_eq!((sums.time_of(&[5, 7]), sums.take_dominant(&[5, 7])), (9, Some(6)));
    }
}
