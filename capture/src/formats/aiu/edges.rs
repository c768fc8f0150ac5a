//! Quantities that rise at the start of an interval and fall at its end: how many run, their rates,
//! and the time in which any runs.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::spill::{Key, NoBytes, Scratch, Sorter, Space};

/// A step of a quantity, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    time_ps: i64,
    step: i64,
}

impl Key for Edge {
    type Span = NoBytes;
    const MAX_LEN: usize = 20;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_signed(self.time_ps);
        out.put_signed(self.step);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { time_ps: cursor.signed()?, step: cursor.signed()? })
    }
}

/// The steps of a quantity.
pub(super) struct Edges<'s> {
    sorter: Sorter<Edge, &'s dyn Scratch>,
    is_empty: bool,
}

impl<'s> Edges<'s> {
    pub(super) fn new(space: Space<'s>) -> Self {
        Self { sorter: space.sorter(16), is_empty: true }
    }

    /// Adds an interval with this quantity. An interval without duration adds nothing.
    pub(super) fn add(&mut self, start_ps: i64, end_ps: i64, quantity: i64) -> Result<()> {
        if end_ps <= start_ps || quantity == 0 {
            return Ok(());
        }
        self.is_empty = false;
        self.sorter.push(Edge { time_ps: start_ps, step: quantity })?;
        self.sorter.push(Edge { time_ps: end_ps, step: -quantity })
    }

    /// Whether there is no interval.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Calls `take` with each time at which the sum changes, and the sum from then on. Returns the
    /// time in which the sum was not zero, in picoseconds.
    pub(super) fn finish(self, mut take: impl FnMut(i64, i64) -> Result<()>) -> Result<i64> {
        let mut sorted = self.sorter.finish()?;
        let (mut sum, mut told, mut busy_ps) = (0_i64, 0_i64, 0_i64);
        let mut now: Option<i64> = None;
        while let Some(&Edge { time_ps, step }) = sorted.next()? {
            if let Some(before) = now.filter(|&before| before < time_ps) {
                if sum != told {
                    take(before, sum)?;
                    told = sum;
                }
                if sum != 0 {
                    busy_ps = busy_ps.saturating_add(time_ps.saturating_sub(before));
                }
            }
            now = Some(time_ps);
            sum = sum.saturating_add(step);
        }
        if let Some(last) = now.filter(|_| sum != told) {
            take(last, sum)?;
        }
        Ok(busy_ps)
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
        let total = edges.finish(|time, sum| {
            found.push((time, sum));
            Ok(())
        });
        assert_eq!((found.as_slice(), total.unwrap()), (samples, busy), "{intervals:?}");
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
