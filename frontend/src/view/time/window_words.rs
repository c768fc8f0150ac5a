//! A window in words, for users of screen readers.

use nprof_engine::base::Interval;

use super::clock::rounded;
use super::ticks::{decimals, in_unit, unit_of};

/// Start and end of a window, counted from `zero_ps`: `98.06 to 98.46 ms`. Both have the unit of
/// the farther one, and as many digits as tell a tenth of the window.
#[must_use]
pub fn ends_in_words(window: Interval, zero_ps: i64) -> String {
    let (start_ps, end_ps) = (window.start.0.saturating_sub(zero_ps), window.end.0.saturating_sub(zero_ps));
    let (unit_ps, symbol) = unit_of(start_ps.saturating_abs().max(end_ps.saturating_abs()));
    let tenth_ps = (end_ps.saturating_sub(start_ps) / 10).max(1);
    let digit_ps = 10_i64.pow(tenth_ps.ilog10()).min(unit_ps);
    let words = |time_ps: i64| in_unit(rounded(time_ps, digit_ps), unit_ps, decimals(digit_ps, unit_ps));
    format!("{} to {} {symbol}", words(start_ps), words(end_ps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start_ps: i64, end_ps: i64, zero_ps: i64, expected: &str) {
        assert_eq!(ends_in_words(Interval::new(start_ps, end_ps), zero_ps), expected);
    }

    #[test]
    fn a_window_has_one_unit_and_the_digits_that_tell_its_ends_apart() {
        check(98_058_000_000, 98_460_000_000, 0, "98.06 to 98.46 ms");
        check(0, 302_000_000_000, 0, "0 to 302 ms");
        check(97_985_120_455, 97_985_121_455, 0, "97.9851205 to 97.9851215 ms");
        check(-1_500_000, 500_000, 0, "−1.5 to 0.5 µs");
        check(1_234_567_000_000_000, 1_234_569_000_000_000, 0, "1,234.5670 to 1,234.5690 s");
        check(0, 1_000_000_000_000, 0, "0.0 to 1.0 s");
        check(5_000_000, 9_000_000, 5_000_000, "0.0 to 4.0 µs");
        check(7, 7, 0, "0.007 to 0.007 ns");
        check(i64::MIN, i64::MAX, 1, "−9,223,372 to 9,223,372 s");
    }
}
