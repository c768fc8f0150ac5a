//! Quantities that rise at the start of an interval and fall at its end: how many run, their rates,
//! and the time in which any runs.

use std::collections::BTreeMap;

use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::base::{Interval, Result};
use nprof_engine::spill::{NoBytes, Scratch, Sorter, Space, SpillKey};

use super::kernel::take_device;

/// A step of a quantity, ordered by device and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QuantityEdge {
    device: u16,
    time_ps: i64,
    step: i64,
}

impl SpillKey for QuantityEdge {
    type Span = NoBytes;
    const MAX_LEN: usize = 23;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(u64::from(self.device));
        out.put_signed(self.time_ps);
        out.put_signed(self.step);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { device: take_device(cursor)?, time_ps: cursor.signed()?, step: cursor.signed()? })
    }
}

/// The steps of a quantity.
pub(super) struct Edges<'s> {
    sorter: Sorter<QuantityEdge, &'s dyn Scratch>,
}

impl<'s> Edges<'s> {
    pub(super) fn new(space: Space<'s>) -> Self {
        Self { sorter: space.sorter(16) }
    }

    /// Adds an interval of the first device with this quantity.
    pub(super) fn add(&mut self, start_ps: i64, end_ps: i64, quantity: i64) -> Result<()> {
        self.add_on(0, Interval::new(start_ps, end_ps), quantity)
    }

    /// Adds an interval of a device with this quantity. An interval without duration adds nothing.
    pub(super) fn add_on(&mut self, device: u16, during: Interval, quantity: i64) -> Result<()> {
        if during.end <= during.start || quantity == 0 {
            return Ok(());
        }
        self.sorter.push(QuantityEdge { device, time_ps: during.start.0, step: quantity })?;
        self.sorter.push(QuantityEdge { device, time_ps: during.end.0, step: -quantity })
    }

    /// Calls `take` with each device and time at which the sum of the device changes, and the sum
    /// from then on. Returns the time in which the sum was not zero, in picoseconds, by device.
    pub(super) fn finish(
        self,
        mut take: impl FnMut(u16, i64, i64) -> Result<()>,
    ) -> Result<BTreeMap<u16, i64>> {
        let mut sorted = self.sorter.finish()?;
        let mut busy = BTreeMap::new();
        let (mut sum, mut told, mut busy_ps) = (0_i64, 0_i64, 0_i64);
        let mut now: Option<(u16, i64)> = None;
        while let Some(&QuantityEdge { device, time_ps, step }) = sorted.next()? {
            if let Some((of, before)) = now.filter(|&before| before < (device, time_ps)) {
                if sum != told {
                    take(of, before, sum)?;
                    told = sum;
                }
                if of != device {
                    busy.insert(of, std::mem::take(&mut busy_ps));
                } else if sum != 0 {
                    busy_ps = busy_ps.saturating_add(time_ps.saturating_sub(before));
                }
            }
            now = Some((device, time_ps));
            sum = sum.saturating_add(step);
        }
        if let Some((of, last)) = now {
            if sum != told {
                take(of, last, sum)?;
            }
            busy.insert(of, busy_ps);
        }
        Ok(busy)
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::spill::MemoryScratch;

    use super::*;

    #[track_caller]
    fn check(intervals: &[(i64, i64, i64)], samples: &[(i64, i64)], busy: i64) {
        let scratch = MemoryScratch::default();
        let mut edges = Edges::new(Space::new(&scratch));
        for &(start, end, quantity) in intervals {
            edges.add(start, end, quantity).unwrap();
        }
        let mut found = Vec::new();
        let total = edges.finish(|_, time, sum| {
            found.push((time, sum));
            Ok(())
        });
        let total = total.unwrap().into_values().sum::<i64>();
        assert_eq!((found.as_slice(), total), (samples, busy), "{intervals:?}");
    }

    #[test]
    fn each_device_has_its_own_sums() {
        let scratch = MemoryScratch::default();
        let mut edges = Edges::new(Space::new(&scratch));
        for (device, start, end) in [(1, 0, 30), (0, 10, 20), (1, 40, 50), (0, 15, 60)] {
            edges.add_on(device, Interval::new(start, end), 1).unwrap();
        }
        let mut found = Vec::new();
        let busy = edges.finish(|device, time, sum| {
            found.push((device, time, sum));
            Ok(())
        });
        assert_eq!(busy.unwrap(), BTreeMap::from([(0, 50), (1, 40)]));
        let of_first = [(0, 10, 1), (0, 15, 2), (0, 20, 1), (0, 60, 0)];
        assert_eq!(found, [&of_first[..], &[(1, 0, 1), (1, 30, 0), (1, 40, 1), (1, 50, 0)]].concat());
    }

    #[test]
    fn sums_change_at_the_ends_of_intervals() {
        check(&[], &[], 0);
        check(&[(5, 5, 1)], &[], 0);
        check(&[(1000, 1100, 1), (1010, 1020, 1)], &[(1000, 1), (1010, 2), (1020, 1), (1100, 0)], 100);
        check(&[(20, 30, 1), (0, 10, 1)], &[(0, 1), (10, 0), (20, 1), (30, 0)], 20);
        // One interval begins when another ends: the sum stays.
        check(&[(0, 10, 7), (10, 30, 7)], &[(0, 7), (30, 0)], 30);
    }
}
