//! What one pass over the values finds out, so that each codec can state its size without encoding.

use super::bits::width_of;
use super::int::signed_len;

/// Most distinct values that are listed: their codes then fit a byte.
pub const DISTINCT_MAX: usize = 256;

/// What the codecs need to know of a column. An empty column has zeros throughout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    pub count: usize,
    pub first: i64,
    pub min: i64,
    pub max: i64,
    /// The smallest and the largest difference to the value before, wrapping, read as signed.
    pub delta_min: i64,
    pub delta_max: i64,
    /// Bytes of all values as signed varints.
    pub varints_len: usize,
    /// Runs of equal values.
    pub runs: usize,
    pub longest_run: usize,
    /// The greatest common divisor of the distances from the first value; 0 where all are equal.
    pub divisor: u64,
    /// All values in ascending order, once each, where there are at most [`DISTINCT_MAX`].
    pub distinct: Option<Vec<i64>>,
}

impl Stats {
    pub fn of(values: &[i64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        let mut stats = Self {
            count: values.len(),
            first,
            min: values.iter().copied().min().unwrap_or(0),
            max: values.iter().copied().max().unwrap_or(0),
            delta_min: 0,
            delta_max: 0,
            varints_len: values.iter().map(|value| signed_len(*value)).sum(),
            runs: 0,
            longest_run: 0,
            divisor: 0,
            distinct: distinct_of(values),
        };
        stats.measure_deltas(values);
        stats.measure_runs(values);
        stats.divisor = divisor_of(values, first);
        stats
    }

    fn measure_deltas(&mut self, values: &[i64]) {
        let deltas =
            || values.iter().zip(values.iter().skip(1)).map(|(before, value)| value.wrapping_sub(*before));
        (self.delta_min, self.delta_max) = deltas().next().map_or((0, 0), |first| {
            deltas().fold((first, first), |(min, max), delta| (min.min(delta), max.max(delta)))
        });
    }

    fn measure_runs(&mut self, values: &[i64]) {
        for run in values.chunk_by(|a, b| a == b) {
            self.runs += 1;
            self.longest_run = self.longest_run.max(run.len());
        }
    }

    /// Bits of the distance from the smallest value.
    pub fn range_width(&self) -> u8 {
        width_of(self.max.abs_diff(self.min))
    }

    /// Bits of the distance from the smallest difference.
    pub fn delta_width(&self) -> u8 {
        width_of(self.delta_max.abs_diff(self.delta_min))
    }
}

fn divisor_of(values: &[i64], first: i64) -> u64 {
    let mut divisor = 0;
    for value in values {
        let distance = value.abs_diff(first);
        // Once found, the divisor divides nearly every distance: one remainder each. It is never zero here.
        if divisor == 0 || distance % divisor != 0 {
            divisor = gcd(divisor, distance);
            if divisor == 1 {
                break;
            }
        }
    }
    divisor
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Four times as many slots as values: chains stay short.
const SLOTS: usize = 4 * DISTINCT_MAX;
const SLOT_SHIFT: u32 = u64::BITS - SLOTS.ilog2();
/// 2^64 divided by the golden ratio: its products spread neighbouring values over the slots.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

fn distinct_of(values: &[i64]) -> Option<Vec<i64>> {
    let mut slots: [Option<i64>; SLOTS] = [None; SLOTS];
    let mut distinct = Vec::new();
    for run in values.chunk_by(|a, b| a == b) {
        let value = run[0];
        let mut slot = (value.cast_unsigned().wrapping_mul(SPREAD) >> SLOT_SHIFT) as usize;
        while slots[slot].is_some_and(|there| there != value) {
            slot = (slot + 1) % SLOTS;
        }
        if slots[slot].is_none() {
            if distinct.len() == DISTINCT_MAX {
                return None;
            }
            slots[slot] = Some(value);
            distinct.push(value);
        }
    }
    distinct.sort_unstable();
    Some(distinct)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_divisor_of_the_distances() {
        assert_eq!(Stats::of(&[7, 7 + 714, 7 + 3 * 714]).divisor, 714);
        assert_eq!(Stats::of(&[i64::MIN, i64::MAX]).divisor, u64::MAX);
        assert_eq!(Stats::of(&[5, 5]).divisor, 0);
        assert_eq!(Stats::of(&[]).divisor, 0);
        assert_eq!(Stats::of(&[0, 4, 6]).divisor, 2);
    }

    #[test]
    fn the_257th_distinct_value_ends_the_list() {
        let values: Vec<i64> = (0..257).map(|i| i * -3).collect();
        let mut sorted = values[..256].to_vec();
        sorted.reverse();
        assert_eq!(Stats::of(&values[..256]).distinct, Some(sorted));
        assert_eq!(Stats::of(&values).distinct, None);
    }

    #[test]
    fn runs_are_counted() {
        let stats = Stats::of(&[1, 1, 2, 2, 2, 1]);
        assert_eq!((stats.runs, stats.longest_run), (3, 3));
    }

    proptest! {
        #[test]
        fn spans_are_those_of_the_values(values in prop::collection::vec(any::<i64>(), 2..50)) {
            let stats = Stats::of(&values);
            let deltas: Vec<i64> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            prop_assert_eq!(Some(&stats.delta_min), deltas.iter().min());
            prop_assert_eq!(Some(&stats.delta_max), deltas.iter().max());
            prop_assert_eq!(Some(&stats.min), values.iter().min());
            prop_assert_eq!(Some(&stats.max), values.iter().max());
        }
    }
}
