//! Statistics of a column from one pass over its values, from which each codec states its size
//! without encoding.

use super::bits::width_of;
use crate::base::bytes::zigzag;

/// Most distinct values that are listed: their codes fit a byte.
pub const DISTINCT_MAX: usize = 256;
/// A value is common if at most one row in this many differs.
const EXCEPTIONS_SHARE: usize = 4;
/// Shortest average run for which run length is a candidate.
const RUNS_SHARE: usize = 2;
/// Longest column for which varints are a candidate. Longer columns have better forms.
const VARINTS_MAX: usize = 256;
/// Rows that are sampled to compare the sizes of values and differences.
const SPREAD_SAMPLE: usize = 256;
/// Distinct values are looked for only above this many bits a value: a list of narrower values
/// would save too little.
const DISTINCT_WORTH_BITS: u8 = 3;

/// Statistics that the codecs need. An empty column has zeros throughout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    pub count: usize,
    pub first: i64,
    pub min: i64,
    pub max: i64,
    /// Smallest and largest difference to the value before, wrapping, read as signed.
    pub delta_min: i64,
    pub delta_max: i64,
    /// Bytes of all values as signed varints, if the column is short.
    pub varints_len: Option<usize>,
    /// Bits of the sampled values, of their differences, and the number of samples. Each number
    /// counts its own zigzag bits.
    value_bits: usize,
    delta_bits: usize,
    sampled: usize,
    /// Number of values that are one more than the value before.
    pub successions: usize,
    /// Number of runs of equal values.
    pub runs: usize,
    /// Rows of the longest run, if there are few runs.
    pub longest_run: Option<usize>,
    /// All distinct values in ascending order, if there are at most [`DISTINCT_MAX`] and they are
    /// far apart.
    pub distinct: Option<Vec<i64>>,
    /// The exceptions, if most values are the same.
    pub exceptions: Option<Exceptions>,
}

/// The smallest representation of a column, counted in the bits that each number needs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitSpread {
    /// Differences between neighbours.
    Differences,
    /// The values themselves, with their signs.
    AroundZero,
    /// Distances from the smallest.
    Distances,
}

/// A common value, and the values that differ from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceptions {
    pub common: i64,
    pub count: usize,
    pub min: i64,
    pub max: i64,
    /// Most rows between two exceptions, or before the first.
    pub longest_step: u64,
}

impl Stats {
    pub fn of(values: &[i64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        let mut stats = Self::constant(first, values.len());
        if are_all(values, first) {
            return stats;
        }
        stats.measure(values);
        stats.exceptions = exceptions_of(values);
        if stats.range_width() > DISTINCT_WORTH_BITS {
            stats.distinct = distinct_of(values);
        }
        stats
    }

    /// Statistics of `count` times the same value.
    fn constant(value: i64, count: usize) -> Self {
        Self {
            count,
            first: value,
            min: value,
            max: value,
            delta_min: 0,
            delta_max: 0,
            varints_len: Some(count * varint_len_of_width(width(value))),
            value_bits: 0,
            sampled: 0,
            delta_bits: 0,
            successions: 0,
            runs: count.min(1),
            longest_run: Some(count),
            distinct: None,
            exceptions: (count > 0).then_some(Exceptions {
                common: value,
                count: 0,
                min: 0,
                max: 0,
                longest_step: 0,
            }),
        }
    }

    fn measure(&mut self, values: &[i64]) {
        let spans = Spans::of_near(values).unwrap_or_else(|| Spans::of(values));
        (self.min, self.max) = (spans.min, spans.max);
        (self.delta_min, self.delta_max) = (spans.delta_min, spans.delta_max);
        self.successions = spans.successions;
        self.runs = spans.changes + 1;
        self.longest_run = (self.runs * RUNS_SHARE <= values.len()).then(|| longest_run(values));
        self.varints_len = (values.len() <= VARINTS_MAX)
            .then(|| values.iter().map(|value| varint_len_of_width(width(*value))).sum());
        // A sample shows as well as all rows which numbers are smaller.
        let step = values.len().div_ceil(SPREAD_SAMPLE);
        let sample = || (1..values.len()).step_by(step);
        self.sampled = sample().count();
        self.value_bits = sample().map(|row| width(values[row])).sum();
        self.delta_bits = sample().map(|row| width(values[row].wrapping_sub(values[row - 1]))).sum();
    }

    /// Representation that suits an entropy coder best.
    pub fn spread(&self) -> BitSpread {
        let distances = usize::from(self.range_width()) * self.sampled;
        let least = self.value_bits.min(self.delta_bits).min(distances);
        if least == self.delta_bits {
            BitSpread::Differences
        } else if least == self.value_bits {
            BitSpread::AroundZero
        } else {
            BitSpread::Distances
        }
    }

    /// Bits of the largest distance from the smallest value.
    pub fn range_width(&self) -> u8 {
        width_of(self.max.abs_diff(self.min))
    }

    /// Bits of the largest distance from the smallest difference.
    pub fn delta_width(&self) -> u8 {
        width_of(self.delta_max.abs_diff(self.delta_min))
    }
}

/// Values that are compared at once, without a branch for each.
const COMPARED: usize = 64;

/// Whether all values are `common`.
pub fn are_all(values: &[i64], common: i64) -> bool {
    values.chunks(COMPARED).all(|chunk| chunk.iter().fold(0, |differ, value| differ | (value ^ common)) == 0)
}

/// Ranges of the values and of the differences between neighbours.
struct Spans {
    min: i64,
    max: i64,
    delta_min: i64,
    delta_max: i64,
    successions: usize,
    changes: usize,
}

impl Spans {
    /// Spans of values that are not all the same.
    fn of(values: &[i64]) -> Self {
        let (min, max) = values.iter().fold((i64::MAX, i64::MIN), |(min, max), &v| (min.min(v), max.max(v)));
        let mut spans =
            Self { min, max, delta_min: i64::MAX, delta_max: i64::MIN, successions: 0, changes: 0 };
        for (before, value) in values.iter().zip(&values[1..]) {
            let delta = value.wrapping_sub(*before);
            spans.delta_min = spans.delta_min.min(delta);
            spans.delta_max = spans.delta_max.max(delta);
            spans.successions += usize::from(delta == 1);
            spans.changes += usize::from(delta != 0);
        }
        spans
    }

    /// Spans by numbers of 32 bits, of which every processor compares several at once. `None` if a
    /// value is too far from the first.
    fn of_near(values: &[i64]) -> Option<Self> {
        const CHUNK: usize = 256;
        /// Distances are below this, to both sides, so that their differences fit 32 bits.
        const FAR: i64 = 1 << 30;
        let (&first, rest) = values.split_first()?;
        // Near the limits of `i64`, a distance that wraps would look near.
        if first.checked_abs()? > i64::MAX - FAR {
            return None;
        }
        // The distance before the chunk, then those of the chunk.
        let mut distances = [0_i32; CHUNK + 1];
        let (mut min, mut max, mut delta_min, mut delta_max) = (0, 0, i32::MAX, i32::MIN);
        let (mut successions, mut changes) = (0_u32, 0_u32);
        for chunk in rest.chunks(CHUNK) {
            let mut reach = 0;
            for (slot, value) in distances[1..].iter_mut().zip(chunk) {
                let distance = value.wrapping_sub(first);
                reach |= distance.wrapping_add(FAR).cast_unsigned();
                *slot = distance as i32;
            }
            if reach >= 2 * FAR.cast_unsigned() {
                return None;
            }
            for (&before, &distance) in distances.iter().zip(&distances[1..=chunk.len()]) {
                let delta = distance - before;
                (min, max) = (distance.min(min), distance.max(max));
                (delta_min, delta_max) = (delta.min(delta_min), delta.max(delta_max));
                successions += u32::from(delta == 1);
                changes += u32::from(delta != 0);
            }
            distances[0] = distances[chunk.len()];
        }
        Some(Self {
            min: first + i64::from(min),
            max: first + i64::from(max),
            delta_min: i64::from(delta_min),
            delta_max: i64::from(delta_max),
            successions: successions as usize,
            changes: changes as usize,
        })
    }
}

/// Rows of the longest run of equal values.
fn longest_run(values: &[i64]) -> usize {
    let (mut longest, mut run_start) = (0, 0);
    for (row, (before, value)) in (1..).zip(values.iter().zip(&values[1..])) {
        if value != before {
            longest = longest.max(row - run_start);
            run_start = row;
        }
    }
    longest.max(values.len() - run_start)
}

/// Bits of a number with its sign.
fn width(value: i64) -> usize {
    usize::from(width_of(zigzag(value)))
}

fn varint_len_of_width(width: usize) -> usize {
    width.max(1).div_ceil(7)
}

/// Exceptions from the value that occurs most often among five sampled rows. `None` if it is not
/// common.
fn exceptions_of(values: &[i64]) -> Option<Exceptions> {
    const PROBES: usize = 5;
    let probe = |at: usize| values[(values.len() - 1) * at / (PROBES - 1)];
    let votes = |value: i64| (0..PROBES).filter(|at| probe(*at) == value).count();
    let common =
        (0..PROBES).map(probe).max_by_key(|value| votes(*value)).filter(|value| votes(*value) > 1)?;
    let count = values.iter().filter(|value| **value != common).count();
    if count * EXCEPTIONS_SHARE > values.len() {
        return None;
    }
    let mut exceptions = Exceptions { common, count, min: i64::MAX, max: i64::MIN, longest_step: 0 };
    let mut next = 0;
    for (row, &value) in values.iter().enumerate().filter(|(_, value)| **value != common) {
        exceptions.min = exceptions.min.min(value);
        exceptions.max = exceptions.max.max(value);
        exceptions.longest_step = exceptions.longest_step.max((row - next) as u64);
        next = row + 1;
    }
    Some(exceptions)
}

/// Four times as many slots as values, so that chains stay short.
const SLOTS: usize = 4 * DISTINCT_MAX;
const SLOT_SHIFT: u32 = u64::BITS - SLOTS.ilog2();
/// 2^64 divided by the golden ratio. Products with it spread neighbouring values over the slots.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Distinct values in ascending order; `None` if there are more than [`DISTINCT_MAX`].
pub fn distinct_of(values: &[i64]) -> Option<Vec<i64>> {
    // Positions in `distinct` plus one; 0 for an empty slot.
    let mut slots = [0_u16; SLOTS];
    let mut distinct: Vec<i64> = Vec::with_capacity(DISTINCT_MAX);
    for &value in values {
        let mut slot = (value.cast_unsigned().wrapping_mul(SPREAD) >> SLOT_SHIFT) as usize;
        loop {
            match distinct.get(usize::from(slots[slot]).wrapping_sub(1)) {
                Some(there) if *there == value => break,
                Some(_) => slot = (slot + 1) % SLOTS,
                None if distinct.len() == DISTINCT_MAX => return None,
                None => {
                    distinct.push(value);
                    slots[slot] = distinct.len() as u16;
                    break;
                }
            }
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
        assert_eq!((stats.runs, stats.longest_run), (3, Some(3)));
        assert_eq!(Stats::of(&[1, 1, 2, 2, 3]).longest_run, None);
    }

    proptest! {
        #[test]
        fn spans_are_those_of_the_values(
            first in any::<i64>(),
            steps in prop::collection::vec(prop_oneof![-3..3_i64, -1_i64 << 31..1 << 31, any::<i64>()], 2..600),
        ) {
            let values: Vec<i64> = steps.iter().map(|step| first.wrapping_add(*step)).collect();
            let stats = Stats::of(&values);
            let deltas: Vec<i64> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
            prop_assert_eq!(Some(&stats.delta_min), deltas.iter().min());
            prop_assert_eq!(Some(&stats.delta_max), deltas.iter().max());
            prop_assert_eq!(Some(&stats.min), values.iter().min());
            prop_assert_eq!(Some(&stats.max), values.iter().max());
        }
    }
}
