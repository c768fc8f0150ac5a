//! Content of a cell, and the law by which finer cells make a coarser one.

use super::name_times::NameTimes;

/// A summary whose merges can be grouped in any way: `merge` is associative, and [`Default`] is
/// neutral.
pub trait CellSummary: Default + Clone {
    /// Merges a summary of later cells into this one.
    fn merge(&mut self, later: &Self);

    /// Bytes of memory, also outside the value itself.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }

    /// Gives memory back that grows with the number of different names. The rest is enough for
    /// the cell, unless very many names share its time.
    fn shed(&mut self) {}
}

/// Names that a summary keeps when it gives memory back.
const KEPT_NAMES: usize = 256;

/// Summary of the slices of one lane in one cell, with the time of every name. Cells are computed
/// from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SliceSummary {
    /// Covered time, in picoseconds.
    pub busy_ps: u64,
    /// Part of the covered time that is only waiting, in picoseconds.
    pub wait_ps: u64,
    /// Number of slices that start here.
    pub count: u32,
    /// Length in picoseconds and row of the longest slice that overlaps; the first row of equal
    /// slices.
    pub longest: Option<(u64, u32)>,
    /// Name of the longest slice, for cells without busy time.
    pub longest_name: u32,
    /// Time by name, without waits.
    pub names: NameTimes,
}

impl CellSummary for SliceSummary {
    fn merge(&mut self, later: &Self) {
        self.busy_ps += later.busy_ps;
        self.wait_ps += later.wait_ps;
        self.count += later.count;
        if let Some((duration, row)) = later.longest {
            self.see(duration, row, later.longest_name);
        }
        self.names.merge(&later.names);
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.names.bytes()
    }

    fn shed(&mut self) {
        self.names.keep_largest(KEPT_NAMES);
    }
}

impl SliceSummary {
    /// Keeps the slice if it is the longest.
    pub fn see(&mut self, duration_ps: u64, row: u32, name: u32) {
        let better = self.longest.is_none_or(|(longest, first)| (duration_ps, first) > (longest, row));
        if better {
            self.longest = Some((duration_ps, row));
            self.longest_name = name;
        }
    }

    /// The cell that is stored and drawn.
    pub fn cell(&self) -> SliceCell {
        let dominant = self.names.dominant();
        let (longest_ps, longest_row) = self.longest.unwrap_or_default();
        SliceCell {
            busy_ps: self.busy_ps,
            wait_ps: self.wait_ps,
            count: self.count,
            name: dominant.filter(|&(_, time)| time > 0).map_or(self.longest_name, |(name, _)| name),
            longest_row,
            longest_ps,
        }
    }
}

/// Cell of a lane of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceCell {
    /// Covered time in picoseconds; at most the cell's width.
    pub busy_ps: u64,
    /// Part of the covered time that is only waiting ([`crate::model::is_wait`]), in picoseconds.
    pub wait_ps: u64,
    /// Number of slices that start here.
    pub count: u32,
    /// Number of the name with the most time here, waits excluded. The longest slice's name if
    /// there is no such name.
    pub name: u32,
    /// Row of the longest slice that overlaps. While a pyramid is built, the row is counted within
    /// the track.
    pub longest_row: u32,
    /// Full length of the longest slice, in picoseconds.
    pub longest_ps: u64,
}

/// Cell of a counter: the range of its samples, and the last value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The last value.
    pub last: f64,
    /// Number of samples; 0 in a neutral range.
    pub count: u32,
}

impl Range {
    /// Range of one sample.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self { min: value, max: value, last: value, count: 1 }
    }
}

impl CellSummary for Range {
    fn merge(&mut self, later: &Self) {
        if later.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *later;
            return;
        }
        // `min` and `max` of floats skip NaN on either side.
        *self = Self {
            min: self.min.min(later.min),
            max: self.max.max(later.max),
            last: later.last,
            count: self.count + later.count,
        };
    }
}

/// A cell and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedCell<T> {
    /// Index in cells of the level from time zero.
    pub index: i64,
    /// Summary of the cell.
    pub content: T,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slice_summary() -> impl Strategy<Value = SliceSummary> {
        prop::collection::vec((0_u64..9, 0_u32..50, 0_u32..4), 0..6).prop_map(|slices| {
            let mut summary = SliceSummary::default();
            for (duration, row, name) in slices {
                summary.busy_ps += duration;
                summary.wait_ps += duration / 2;
                summary.count += 1;
                summary.see(duration, row, name);
                summary.names.add(name, duration);
            }
            summary
        })
    }

    fn range() -> impl Strategy<Value = Range> {
        prop::collection::vec(-5.0..5.0, 0..4).prop_map(|values: Vec<f64>| {
            let mut range = Range::default();
            values.iter().for_each(|&value| range.merge(&Range::of(value)));
            range
        })
    }

    #[track_caller]
    fn check_law<T: CellSummary + PartialEq + std::fmt::Debug>(a: &T, b: &T, c: &T) {
        let join = |x: &T, y: &T| {
            let mut joined = x.clone();
            joined.merge(y);
            joined
        };
        assert_eq!(join(&join(a, b), c), join(a, &join(b, c)), "associative");
        assert_eq!(&join(a, &T::default()), a, "neutral on the right");
        assert_eq!(&join(&T::default(), a), a, "neutral on the left");
    }

    proptest! {
        #[test]
        fn slices_merge_in_any_grouping(a in slice_summary(), b in slice_summary(), c in slice_summary()) {
            // Rows grow with time, and equal rows have equal names, so the three need different
            // rows.
            let shift = |mut s: SliceSummary, by: u32| { s.longest = s.longest.map(|(d, r)| (d, r + by)); s };
            check_law(&a, &shift(b, 100), &shift(c, 200));
        }

        #[test]
        fn ranges_merge_in_any_grouping(a in range(), b in range(), c in range()) {
            check_law(&a, &b, &c);
        }
    }
}
