//! Computation or other work of a rank over time, in few steps of equal length.

use crate::base::{Interval, signed};

/// Most steps of a rank. A view of all ranks has about as many pixels, and a list of the times
/// themselves would be as long as the trace.
pub const MAX_STEPS: i64 = 2_048;

/// Parts of a step in which shares are counted. A share has three decimal digits then, which are
/// stored in less than two bytes.
const PARTS: i64 = 200;

/// Share of time with computation, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComputeLoad {
    /// Start of the first step, in picoseconds.
    pub start_ps: i64,
    /// Length of a step, in picoseconds; 0 without steps.
    pub step_ps: i64,
    /// For each step the parts of [`PARTS`] with computation.
    parts: Vec<u8>,
}

impl ComputeLoad {
    /// The load of a rank that computed at these times, which are disjoint and ascend. Steps divide
    /// the time in which it worked.
    #[must_use]
    pub fn of(computed_ps: &[(i64, i64)], worked: Interval) -> Self {
        let (first, length_ps) = (worked.start.0, worked.duration_ps());
        if length_ps <= 0 || computed_ps.is_empty() {
            return Self::default();
        }
        let step_ps = length_ps.saturating_sub(1) / MAX_STEPS + 1;
        let last = first.saturating_add(length_ps);
        let count = (length_ps - 1) / step_ps + 1;
        let mut busy_ps = vec![0_i64; usize::try_from(count).unwrap_or(0)];
        for &(start, end) in computed_ps {
            let (mut at_ps, end) = (start.max(first), end.min(last));
            while at_ps < end {
                let step = (at_ps - first) / step_ps;
                let until_ps = end.min(first.saturating_add((step + 1).saturating_mul(step_ps)));
                if let Some(busy_ps) = usize::try_from(step).ok().and_then(|step| busy_ps.get_mut(step)) {
                    *busy_ps += until_ps - at_ps;
                }
                at_ps = until_ps;
            }
        }
        let part = |busy_ps: i64| {
            let parts = i128::from(busy_ps) * i128::from(PARTS) / i128::from(step_ps);
            u8::try_from(parts).unwrap_or(u8::MAX)
        };
        Self { start_ps: first, step_ps, parts: busy_ps.into_iter().map(part).collect() }
    }

    /// Whether the rank worked at no time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Time with computation within a span, in picoseconds, as far as steps tell.
    #[must_use]
    pub fn within(&self, span: Interval) -> f64 {
        let (from, to) = (span.start.0, span.end.0);
        if self.step_ps <= 0 {
            return 0.0;
        }
        let part =
            |time: i64| usize::try_from(time.saturating_sub(self.start_ps) / self.step_ps).unwrap_or(0);
        let (first, last) = (part(from), part(to).min(self.parts.len().saturating_sub(1)));
        let computed = |at: usize| {
            let start = self.step_ps.saturating_mul(signed(at));
            let start = self.start_ps.saturating_add(start);
            let inside = to.min(start.saturating_add(self.step_ps)).saturating_sub(from.max(start)).max(0);
            inside as f64 * f64::from(self.parts[at]) / PARTS as f64
        };
        (first..=last).filter(|at| *at < self.parts.len()).map(computed).sum()
    }

    /// Starts of steps with the share that holds from there on, from 0 to 1. A step with the share
    /// of the step before is left out. The end of the last step has the share 0.
    pub fn changes(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        let before = std::iter::once(None).chain(self.parts.iter().copied().map(Some));
        let now = self.parts.iter().copied().chain(self.parts.iter().take(1).map(|_| 0));
        let start_ps = |step: i64| self.start_ps.saturating_add(step.saturating_mul(self.step_ps));
        (0..)
            .zip(before.zip(now))
            .filter(|(_, (before, now))| *before != Some(*now))
            .map(move |(step, (_, now))| (start_ps(step), f64::from(now) / PARTS as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_have_the_share_that_was_computed() {
        let load = ComputeLoad::of(&[(10, 20), (25, 30)], Interval::new(10, 40));
        assert_eq!((load.step_ps, load.parts.len()), (1, 30));
        assert_eq!(load.changes().collect::<Vec<_>>(), [(10, 1.0), (20, 0.0), (25, 1.0), (30, 0.0)]);
        for (from, to, computed) in [(0, 100, 15.0), (15, 27, 7.0), (20, 25, 0.0), (50, 60, 0.0)] {
            assert_eq!(load.within(Interval::new(from, to)), computed, "{from} to {to}");
        }
        assert_eq!(ComputeLoad::default().within(Interval::new(0, 100)), 0.0);

        let second = 1_000_000_000_000;
        let computed = [(0, second / 4), (second / 2, second)];
        let load = ComputeLoad::of(&computed, Interval::new(0, second));
        let changes: Vec<_> = load.changes().collect();
        assert_eq!(changes.first(), Some(&(0, 1.0)));
        // The last step ends after the time: a part of it has no computation.
        assert_eq!(changes.last(), Some(&(load.step_ps * load.parts.len() as i64, 0.0)));
        assert!(changes.len() <= 6, "{changes:?}");
    }

    #[test]
    fn a_rank_without_computation_has_no_load() {
        assert_eq!(ComputeLoad::of(&[], Interval::new(0, 100)).changes().count(), 0);
        assert_eq!(ComputeLoad::of(&[(5, 5)], Interval::new(5, 5)).changes().count(), 0);
        let widest = ComputeLoad::of(&[(i64::MIN, i64::MAX)], Interval::new(i64::MIN, i64::MAX));
        assert!(widest.parts.len() <= MAX_STEPS as usize);
    }

    proptest! {
        #[test]
        fn shares_add_up_to_what_was_computed(
            gaps in proptest::collection::vec((1_i64..5_000_000, 1_i64..5_000_000), 1..200),
            first in -1_000_000_000_i64..1_000_000_000,
        ) {
            let mut at = first;
            let computed: Vec<_> = gaps
                .iter()
                .map(|(gap, length)| {
                    let start = at + gap;
                    at = start + length;
                    (start, at)
                })
                .collect();
            let load = ComputeLoad::of(&computed, Interval::new(first, at));
            let changes: Vec<_> = load.changes().collect();
            let sum: f64 = changes.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 * pair[0].1).sum();
            let computed_ps: i64 = computed.iter().map(|(start, end)| end - start).sum();
            // A share is rounded down to a part of a step.
            let slack = (load.step_ps * load.parts.len() as i64) as f64 / PARTS as f64;
            prop_assert!(sum <= computed_ps as f64 + 1.0 && sum >= computed_ps as f64 - slack - 1.0);
            prop_assert!(changes.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
