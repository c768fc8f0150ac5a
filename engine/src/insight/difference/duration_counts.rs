//! Durations of the slices of a row, counted by size.

/// Steps of an octave: a step is 2 to 3 % wide, so a kernel that takes a tenth longer moves by
/// several.
const STEPS_OF_OCTAVE: u16 = 32;
/// Bits of a duration that tell its step within an octave.
const BITS: u32 = STEPS_OF_OCTAVE.ilog2();
/// Bars of a picture.
const MOST_BARS: usize = 24;

/// Numbers of slices by the step of their duration, ascending. Empty steps are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DurationCounts(Vec<(u16, u64)>);

/// The durations of a row in two runs, in bars that both share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationBars {
    /// Begin of each bar, and end of the last one, in picoseconds: ascending, by a factor
    /// that is nearly the same for all.
    pub edges_ps: Vec<i64>,
    /// Slices of the first run in each bar.
    pub a: Vec<u64>,
    /// Slices of the second run.
    pub b: Vec<u64>,
}

impl DurationCounts {
    /// Counts a slice.
    pub(super) fn add(&mut self, duration_ps: i64) {
        self.add_to(step_of(duration_ps), 1);
    }

    /// Counts the slices of another row as well.
    pub(super) fn merge(&mut self, of: &Self) {
        of.0.iter().for_each(|(step, count)| self.add_to(*step, *count));
    }

    fn add_to(&mut self, step: u16, count: u64) {
        match self.0.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(at) => self.0[at].1 += count,
            Err(at) => self.0.insert(at, (step, count)),
        }
    }
}

impl DurationBars {
    /// The durations of both. `None` without slices.
    pub(super) fn of(a: &DurationCounts, b: &DurationCounts) -> Option<Self> {
        let ends = [a, b].into_iter().flat_map(|of| of.0.first().into_iter().chain(of.0.last()));
        let steps = || ends.clone().map(|(step, _)| *step);
        let (first, last) = (steps().min()?, steps().max()?);
        let wide = usize::from(last - first + 1).div_ceil(MOST_BARS);
        let bars = usize::from(last - first + 1).div_ceil(wide);
        let counts = |of: &DurationCounts| {
            let mut counts = vec![0; bars];
            of.0.iter().for_each(|(step, count)| counts[usize::from(step - first) / wide] += count);
            counts
        };
        let edge = |bar: usize| start_of(first + (bar * wide) as u16);
        Some(Self { edges_ps: (0..=bars).map(edge).collect(), a: counts(a), b: counts(b) })
    }
}

/// The step of a duration. A short one is its own step.
fn step_of(duration_ps: i64) -> u16 {
    let value = duration_ps.max(0) as u64;
    let octave = value.checked_ilog2().unwrap_or_default().saturating_sub(BITS);
    // The leading bit counts as one octave.
    (octave as u16) * STEPS_OF_OCTAVE + (value >> octave) as u16
}

/// The least duration of a step.
fn start_of(step: u16) -> i64 {
    let octave = (step / STEPS_OF_OCTAVE).saturating_sub(1);
    let value = i128::from(step - octave * STEPS_OF_OCTAVE) << octave;
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_at_its_least_duration() {
        for value in (0..200).chain([1_000, 65_535, 65_536, 1_000_000_007, i64::MAX / 3, i64::MAX]) {
            let step = step_of(value);
            assert!(start_of(step) <= value, "{value}");
            assert!(step_of(start_of(step)) == step, "{value}");
            assert!(value == i64::MAX || start_of(step + 1) > value || step_of(i64::MAX) == step, "{value}");
            // No step is wider than a 32nd of its duration.
            assert!(value - start_of(step) <= value / 32, "{value}");
        }
        assert_eq!(step_of(-5), 0);
    }

    #[test]
    fn bars_hold_all_slices_and_are_few() {
        let counts = |of: &[i64]| {
            let mut counts = DurationCounts::default();
            of.iter().for_each(|duration| counts.add(*duration));
            counts
        };
        let (a, b) = (counts(&[1_000, 1_010, 2_000]), counts(&[1_000_000]));
        let bars = DurationBars::of(&a, &b).unwrap();
        assert_eq!((bars.a.iter().sum::<u64>(), bars.b.iter().sum::<u64>()), (3, 1));
        assert!(bars.a.len() <= MOST_BARS && bars.edges_ps.len() == bars.a.len() + 1);
        assert!(bars.edges_ps.is_sorted() && bars.edges_ps[0] <= 1_000);
        assert!(bars.edges_ps.last().is_some_and(|last| *last > 1_000_000));
        let swapped = DurationBars::of(&b, &a).unwrap();
        assert_eq!((swapped.a, swapped.b), (bars.b, bars.a));
        assert_eq!(DurationBars::of(&counts(&[]), &counts(&[])), None);
        let one = DurationBars::of(&counts(&[7, 7]), &counts(&[])).unwrap();
        assert_eq!((one.edges_ps, one.a, one.b), (vec![7, 8], vec![2], vec![0]));
    }
}
