//! Floating-point operations of a rank over time, in few steps of equal length.

use super::compute_load::MAX_STEPS;
use crate::base::{Interval, signed};

/// Operations of a rank, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlopLoad {
    /// Start of the first step, in picoseconds.
    pub start_ps: i64,
    /// Length of a step, in picoseconds; 0 without steps.
    pub step_ps: i64,
    /// Operations a second that the device can do, if that is known.
    pub peak: Option<u64>,
    /// Operations of each step.
    flops: Vec<u64>,
}

impl FlopLoad {
    /// A load without operations, whose steps divide a span.
    #[must_use]
    pub fn over(span: Interval) -> Self {
        let length_ps = span.duration_ps();
        if length_ps <= 0 {
            return Self::default();
        }
        let step_ps = length_ps.saturating_sub(1) / MAX_STEPS + 1;
        let count = usize::try_from((length_ps - 1) / step_ps + 1).unwrap_or(0);
        Self { start_ps: span.start.0, step_ps, peak: None, flops: vec![0; count] }
    }

    /// Adds operations that are done evenly in a span. Those outside of all steps are dropped.
    pub fn add(&mut self, span: Interval, flops: u64) {
        let length_ps = span.duration_ps().max(1);
        let end_ps = span.start.0.saturating_add(length_ps);
        // Differences of rounded sums, so that nothing is lost.
        let until = |ps: i64| {
            let elapsed_ps = ps.clamp(span.start.0, end_ps).saturating_sub(span.start.0);
            let part = i128::from(flops) * i128::from(elapsed_ps) / i128::from(length_ps);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        for at in self.steps(span.start.0, end_ps) {
            let step = self.step(at);
            let added = until(step.end.0) - until(step.start.0);
            self.flops[at] = self.flops[at].saturating_add(added);
        }
    }

    /// Whether no operations are known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flops.iter().all(|flops| *flops == 0)
    }

    /// Operations within a span, as if those of a step were done evenly.
    #[must_use]
    pub fn within(&self, span: Interval) -> f64 {
        let of_step = |at: usize| {
            let inside_ps = self.step(at).overlap_ps(span.start.0, span.end.0);
            self.flops[at] as f64 * inside_ps as f64 / self.step_ps as f64
        };
        self.steps(span.start.0, span.end.0).map(of_step).sum()
    }

    /// The steps that reach into a time.
    fn steps(&self, from_ps: i64, to_ps: i64) -> std::ops::Range<usize> {
        if self.step_ps <= 0 || from_ps >= to_ps || to_ps <= self.start_ps {
            return 0..0;
        }
        let at = |ps: i64| {
            let step = ps.saturating_sub(self.start_ps).max(0) / self.step_ps;
            usize::try_from(step).unwrap_or(usize::MAX).min(self.flops.len())
        };
        at(from_ps)..at(to_ps - 1).saturating_add(1).min(self.flops.len())
    }

    fn step(&self, at: usize) -> Interval {
        let start_ps = self.start_ps.saturating_add(self.step_ps.saturating_mul(signed(at)));
        Interval::lasting(start_ps, self.step_ps)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operations_are_spread_over_their_span() {
        let mut load = FlopLoad::over(Interval::new(100, 110));
        assert!(load.is_empty() && load.step_ps == 1);
        load.add(Interval::new(102, 106), 8);
        load.add(Interval::new(108, 108), 3);
        load.add(Interval::new(0, 50), 9);
        let within = |from, to| load.within(Interval::new(from, to));
        assert_eq!(
            [within(0, 103), within(103, 108), within(108, 109), within(0, 999)],
            [2.0, 6.0, 3.0, 11.0]
        );
        assert_eq!(FlopLoad::default().within(Interval::new(0, 9)), 0.0);
    }

    proptest! {
        #[test]
        fn no_operation_inside_is_lost(
            work in prop::collection::vec((0..900_000_i64, 0..90_000_i64, 0..100_u64), 0..40),
            cut in 0..1_000_000_i64,
        ) {
            let mut load = FlopLoad::over(Interval::new(0, 1_000_000));
            for (start, length, flops) in &work {
                load.add(Interval::lasting(*start, *length), *flops);
            }
            let all: u64 = work.iter().map(|one| one.2).sum();
            let parts = load.within(Interval::new(0, cut)) + load.within(Interval::new(cut, 1_000_000));
            prop_assert!((parts - all as f64).abs() <= 1e-6, "{parts} of {all}");
        }
    }
}
