//! Time in picoseconds.
//!
//! Accelerator clocks tick at 0.4–1.8 ns, so whole nanoseconds would round a 5 ns instruction by
//! percents. Times count from the profile's origin. The wall clock of the origin is kept
//! separately, in Unix nanoseconds. An `i64` of picoseconds spans ±106 days. Only ±53 days are
//! used, so that any two times can be subtracted.

use std::fmt;
use std::ops::Range;

/// Picoseconds in a nanosecond.
pub const PS_PER_NS: i64 = 1_000;
/// Picoseconds in a microsecond.
pub const PS_PER_US: i64 = 1_000_000;
/// Picoseconds in a millisecond.
pub const PS_PER_MS: i64 = 1_000_000_000;
/// Picoseconds in a second.
pub const PS_PER_S: i64 = 1_000_000_000_000;

/// A duration for people, in the largest unit that leaves at least 1: `2.50 s`, `-12.3 µs`.
#[must_use]
pub fn short_duration(ps: f64) -> String {
    const UNITS: [(i64, &str); 4] =
        [(PS_PER_S, "s"), (PS_PER_MS, "ms"), (PS_PER_US, "µs"), (PS_PER_NS, "ns")];
    match UNITS.into_iter().find(|(unit, _)| ps.abs() >= *unit as f64) {
        Some((unit, symbol)) => format!("{} {symbol}", three_digits(ps / unit as f64)),
        None => format!("{ps:.0} ps"),
    }
}

/// A number with at least three digits.
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A time in picoseconds since the profile's origin; can be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    /// The whole nanosecond that contains this time. Rounds down, also below zero.
    #[must_use]
    pub fn floor_ns(self) -> i64 {
        self.0.div_euclid(PS_PER_NS)
    }
}

/// A half-open span of time `[start, end)`; `start <= end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Interval {
    /// First time inside.
    pub start: Time,
    /// First time after.
    pub end: Time,
}

impl Interval {
    /// Creates an interval from picoseconds. If the end is before the start, the interval is empty
    /// and lies at the start.
    #[must_use]
    pub fn new(start_ps: i64, end_ps: i64) -> Self {
        Self { start: Time(start_ps), end: Time(end_ps.max(start_ps)) }
    }

    /// Creates an interval from its start and its duration, in picoseconds.
    #[must_use]
    pub fn lasting(start_ps: i64, duration_ps: i64) -> Self {
        Self::new(start_ps, start_ps.saturating_add(duration_ps))
    }

    /// The shortest interval that contains both.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The part that lies in both intervals; empty if they do not overlap.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self::new(self.start.0.max(other.start.0), self.end.0.min(other.end.0))
    }

    /// Length in picoseconds.
    #[must_use]
    pub fn duration_ps(self) -> i64 {
        self.end.0.saturating_sub(self.start.0)
    }

    /// Whether a slice `[start, end)` shows in this window. An empty slice shows if its start is
    /// inside.
    #[must_use]
    pub fn overlaps(self, start_ps: i64, end_ps: i64) -> bool {
        start_ps < self.end.0 && (end_ps > self.start.0 || (start_ps == end_ps && start_ps >= self.start.0))
    }

    /// Slices that show in this window, as runs of positions. The starts are ascending.
    #[must_use]
    pub fn runs_of(self, starts_ps: &[i64], durations_ps: &[i64]) -> Vec<Range<usize>> {
        let first_inside = starts_ps.partition_point(|&start| start < self.start.0);
        let end = starts_ps.partition_point(|&start| start < self.end.0).max(first_inside);
        let mut runs: Vec<Range<usize>> = Vec::new();
        let before = starts_ps[..first_inside].iter().zip(durations_ps).enumerate();
        let reaching =
            before.filter(|(_, (start, duration))| start.saturating_add(**duration) > self.start.0);
        for at in reaching.map(|(at, _)| at).chain((first_inside < end).then_some(first_inside)) {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        if let Some(last) = runs.last_mut().filter(|_| first_inside < end) {
            last.end = end;
        }
        runs
    }

    /// Length of the part of `[start, end)` that lies inside, in picoseconds.
    #[must_use]
    pub fn overlap_ps(self, start_ps: i64, end_ps: i64) -> i64 {
        (end_ps.min(self.end.0) - start_ps.max(self.start.0)).max(0)
    }
}

/// Total time that slices cover. Slices come in the order of their starts.
#[derive(Debug, Clone, Copy)]
pub struct Covered {
    until_ps: i64,
    total_ps: u64,
}

impl Covered {
    /// Creates a total that ignores all time before `start_ps`.
    #[must_use]
    pub fn after(start_ps: i64) -> Self {
        Self { until_ps: start_ps, total_ps: 0 }
    }

    /// Adds the next slice.
    pub fn add(&mut self, start_ps: i64, end_ps: i64) {
        self.add_known(end_ps.saturating_sub(start_ps.max(self.until_ps)).max(0).unsigned_abs(), end_ps);
    }

    /// Adds the next slices. `added_ps` is the time that they add, `end_ps` the end of the last.
    pub fn add_known(&mut self, added_ps: u64, end_ps: i64) {
        self.total_ps += added_ps;
        self.until_ps = self.until_ps.max(end_ps);
    }

    /// Latest end so far; at least the time before which everything is ignored.
    #[must_use]
    pub fn until_ps(&self) -> i64 {
        self.until_ps
    }

    /// Covered time in picoseconds.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        self.total_ps
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_have_three_digits_and_units() {
        for (ps, text) in
            [(0.0, "0 ps"), (1_500.0, "1.50 ns"), (-12_345_678.0, "-12.3 µs"), (2.5e12, "2.50 s")]
        {
            assert_eq!(short_duration(ps), text);
        }
    }

    proptest! {
        #[test]
        fn runs_are_what_overlaps(
            mut starts in prop::collection::vec(0..60_i64, 0..40),
            durations in prop::collection::vec(prop_oneof![Just(0_i64), 0..30_i64], 40),
            (from, to) in (0..60_i64, 0..30_i64),
        ) {
            starts.sort_unstable();
            let window = Interval::new(from, from + to);
            let runs = window.runs_of(&starts, &durations);
            prop_assert!(runs.iter().all(|run| run.start < run.end));
            prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "runs that touch are one");
            let overlapping: Vec<usize> =
                (0..starts.len()).filter(|&at| window.overlaps(starts[at], starts[at] + durations[at])).collect();
            prop_assert_eq!(runs.into_iter().flatten().collect::<Vec<_>>(), overlapping);
        }
    }

    #[test]
    fn nanoseconds_round_down_on_both_sides_of_zero() {
        assert_eq!(Time(1_999).floor_ns(), 1);
        assert_eq!(Time(-1).floor_ns(), -1);
    }

    #[test]
    fn what_overlaps_is_covered_once() {
        let mut covered = Covered::after(10);
        for (start, end) in [(0, 12), (5, 11), (11, 20), (30, 30), (40, 50), (45, 60)] {
            covered.add(start, end);
        }
        assert_eq!(covered.total_ps(), 10 + 20);
        covered.add_known(7, 70);
        covered.add(65, 75);
        assert_eq!(covered.total_ps(), 30 + 7 + 5);
    }

    #[test]
    fn empty_slices_show_where_they_stand() {
        let window = Interval::new(10, 20);
        assert!(window.overlaps(10, 10));
        assert!(!window.overlaps(20, 20));
        assert!(!window.overlaps(5, 10));
        assert_eq!(window.overlap_ps(5, 12), 2);
    }
}
