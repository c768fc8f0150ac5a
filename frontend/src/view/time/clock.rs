//! Format of timestamps: counted from a zero, in the ruler's form, with as many digits as a pixel
//! of the window needs.

use nprof_engine::base::clamped;

use super::scale::TimeScale;
use super::ticks::{base_of, in_full};

/// Greatest distance from the ruler's base, in its units. Timestamps farther away get a base of
/// their own.
const MOST_UNITS: i64 = 50;

/// Format of the timestamps of a window. Equal for windows with equal formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// The timestamp that counts as zero.
    zero_ps: i64,
    /// Base of offsets, counted from zero; 0 is no base.
    base_ps: i64,
    /// Bases are multiples of this number.
    unit_ps: i64,
    /// Value of the last digit that is written.
    digit_ps: i64,
}

impl Clock {
    /// The format for a window over some pixels.
    #[must_use]
    pub fn new(scale: &TimeScale, zero_ps: i64) -> Self {
        let (base_ps, unit_ps) = base_of(scale, zero_ps);
        Self { zero_ps, base_ps, unit_ps, digit_ps: digit(scale.ps_from_px(1.0)) }
    }

    /// Distance of a timestamp from zero, in picoseconds.
    #[must_use]
    pub fn since_zero(&self, time_ps: i64) -> i64 {
        time_ps.saturating_sub(self.zero_ps)
    }

    /// A timestamp as text. Near zero: `12.345 ms`. Else base and offset as on the ruler: `97 ms +
    /// 990.12 µs`.
    #[must_use]
    pub fn text(&self, time_ps: i64) -> String {
        let since_ps = self.since_zero(time_ps);
        let digit_ps = self.digit_ps.min(least_digit(since_ps)).max(1);
        let since_ps = rounded(since_ps, digit_ps);
        let base_ps = match self.base_ps {
            0 => 0,
            base_ps if self.is_near(since_ps, base_ps) => base_ps,
            _ => since_ps.div_euclid(self.unit_ps.max(1)).saturating_mul(self.unit_ps),
        };
        match since_ps.saturating_sub(base_ps) {
            0 if base_ps != 0 => in_full(base_ps),
            offset_ps if base_ps != 0 => format!("{} + {}", in_full(base_ps), in_full(offset_ps)),
            _ => in_full(since_ps),
        }
    }

    fn is_near(&self, since_ps: i64, base_ps: i64) -> bool {
        (0..self.unit_ps.saturating_mul(MOST_UNITS)).contains(&since_ps.saturating_sub(base_ps))
    }
}

/// The largest power of ten that is no more than this; at least 1.
fn digit(ps: i64) -> i64 {
    10_i64.pow(ps.max(1).ilog10())
}

/// The value of the third digit of a number: times near zero keep as many, however wide the window
/// is.
fn least_digit(ps: i64) -> i64 {
    digit(clamped(ps.unsigned_abs())) / 100
}

/// Rounds to the nearest multiple, halves away from zero.
pub(super) fn rounded(ps: i64, multiple: i64) -> i64 {
    let half = multiple / 2 * ps.signum();
    ps.saturating_add(half) / multiple * multiple
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::time::ticks::Ruler;
    use nprof_engine::base::Interval;
    use proptest::prelude::*;

    const NS: i64 = 1_000;
    const US: i64 = 1_000 * NS;
    const MS: i64 = 1_000 * US;

    /// Checks the text of a timestamp in a window over 1,000 pixels.
    #[track_caller]
    fn check(zero_ps: i64, (start_ps, end_ps): (i64, i64), time_ps: i64, expected: &str) {
        let window = Interval::new(start_ps, end_ps);
        let clock = Clock::new(&TimeScale { window, width_px: 1_000.0 }, zero_ps);
        assert_eq!(clock.text(time_ps), expected);
    }

    #[test]
    fn digits_follow_the_window() {
        let start = 97 * MS + 985 * US;
        let narrow = (start, start + 12 * US);
        check(0, narrow, start + 5_120_455, "97 ms + 990.12 µs");
        check(0, narrow, start + 5_131_455, "97 ms + 990.13 µs");
        check(0, (start, start + 1_000), start + 7, "97.985 ms + 0.007 ns");
        check(0, (0, 302 * MS), start, "98 ms");
        check(0, (0, 302 * MS), 97_930 * US, "97.9 ms");
    }

    #[test]
    fn moments_near_zero_keep_three_digits() {
        check(0, (0, 302 * MS), 121_922, "122 ns");
        check(0, (0, 302 * MS), -1_341_000, "−1.34 µs");
        check(0, (0, 302 * MS), 150 * US, "150 µs");
        check(0, (0, 302 * MS), 7, "0.007 ns");
        check(0, (0, 302 * MS), 0, "0 ns");
    }

    #[test]
    fn moments_count_from_the_zero() {
        let zero = 1_428_625_000 * MS;
        check(zero, (zero, zero + 12 * US), zero + 3 * US, "3 µs");
        check(zero, (zero, zero + 12 * US), zero, "0 ns");
        check(zero, (zero, zero + 12 * US), zero - 3 * US, "−3 µs");
    }

    #[test]
    fn moments_outside_of_the_window_keep_the_form() {
        let window = (97 * MS + 985 * US, 97 * MS + 997 * US);
        check(0, window, 96 * MS + 200 * US, "96 ms + 200 µs");
        check(0, window, 200 * MS + 200 * US, "200 ms + 200 µs");
        check(0, window, 98 * MS, "97 ms + 1 ms");
        check(0, window, 96 * MS, "96 ms");
    }

    proptest! {
        /// Timestamps that are two pixels apart never read the same, and their digits never have
        /// the wrong order.
        #[test]
        fn pixels_can_be_told_apart(
            start in -1_i64 << 60..1 << 60, duration in 1_000_i64..1 << 50, zero in -1_i64 << 40..1 << 40,
            width in 200.0..4000.0_f64, at in 0.0..1.0_f64,
        ) {
            let scale = TimeScale { window: Interval::new(start, start + duration), width_px: width };
            let clock = Clock::new(&scale, zero);
            let time = start + (duration as f64 * at) as i64;
            prop_assert_ne!(clock.text(time), clock.text(time + scale.ps_from_px(2.0).max(2)));
        }

        /// The base equals the ruler's base.
        #[test]
        fn the_base_is_the_rulers(start in 0_i64..1 << 50, duration in 1_000_i64..1 << 40, width in 200.0..4000.0_f64) {
            let scale = TimeScale { window: Interval::new(start, start + duration), width_px: width };
            let text = Clock::new(&scale, 0).text(start + duration / 2);
            if let Some(base) = Ruler::new(&scale, 0).base {
                prop_assert!(text.starts_with(&base), "{} does not begin with {}", text, base);
            }
        }
    }
}
