//! The ruler: positions and labels of its ticks.
//!
//! Labels are short for every window. Far from zero they count from a base, which is shown once at
//! the left.

use nprof_engine::base::Interval;
use nprof_engine::base::time::{PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US};

use super::scale::TimeScale;

/// Units of the ruler, finest first.
const UNITS: [(i64, &str); 4] = [(PS_PER_NS, "ns"), (PS_PER_US, "µs"), (PS_PER_MS, "ms"), (PS_PER_S, "s")];

/// Least distance between labelled ticks, in pixels: room for "+1.99995 ms".
const LABEL_PX: f64 = 96.0;

/// The ticks of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruler {
    /// The base of the labels, if it is not zero.
    pub base: Option<String>,
    /// All labelled ticks, from left to right.
    pub ticks: Vec<Tick>,
    /// Distance between the small ticks, in picoseconds.
    pub minor_ps: i64,
    /// The timestamp that counts as zero. Small ticks are at multiples of `minor_ps` from it.
    pub zero_ps: i64,
}

/// A labelled tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// Position in picoseconds.
    pub time_ps: i64,
    /// Text of the label.
    pub label: String,
}

impl Ruler {
    /// The ruler for a window. Labels count from `zero_ps`.
    #[must_use]
    pub fn new(scale: &TimeScale, zero_ps: i64) -> Self {
        let window = Interval::new(
            scale.window.start.0.saturating_sub(zero_ps),
            scale.window.end.0.saturating_sub(zero_ps),
        );
        let (step_ps, minor_ps) = step(LABEL_PX / scale.px_per_ps());
        let (unit_ps, _) = unit_of(step_ps);
        let base_ps = base(window, unit_ps);
        let first = window.start.0.div_euclid(step_ps) * step_ps;
        let sign = if base_ps == 0 { "" } else { "+" };
        let ticks = (0..)
            .map_while(|at| first.checked_add(step_ps.checked_mul(at)?))
            .take_while(|time_ps| *time_ps < window.end.0)
            .filter(|time_ps| *time_ps >= window.start.0)
            .map(|time_ps| {
                let offset_ps = time_ps - base_ps;
                let sign = if offset_ps < 0 { "" } else { sign };
                // Each label uses the coarsest unit that it reaches: "1 µs" after "500 ns".
                let (unit_ps, symbol) = unit_of(offset_ps.saturating_abs().max(unit_ps));
                let label =
                    format!("{sign}{} {symbol}", in_unit(offset_ps, unit_ps, decimals(step_ps, unit_ps)));
                Tick { time_ps: time_ps.saturating_add(zero_ps), label }
            })
            .collect();
        let base = (base_ps != 0).then(|| in_full(base_ps));
        Self { base, ticks, minor_ps, zero_ps }
    }
}

/// The base of the labels of a scale and the next coarser unit, both in picoseconds. The base
/// counts from `zero_ps`. It is 0 if labels are short without a base.
#[must_use]
pub(super) fn base_of(scale: &TimeScale, zero_ps: i64) -> (i64, i64) {
    let (step_ps, _) = step(LABEL_PX / scale.px_per_ps());
    let (unit_ps, _) = unit_of(step_ps);
    let start_ps = scale.window.start.0.saturating_sub(zero_ps);
    let window = Interval::new(start_ps, scale.window.end.0.saturating_sub(zero_ps));
    (base(window, unit_ps), unit_ps.saturating_mul(1_000))
}

/// A time in full, in the coarsest unit that it reaches: `59,602.423028 s`.
pub(super) fn in_full(time_ps: i64) -> String {
    let (unit_ps, symbol) = unit_of(time_ps.saturating_abs());
    format!("{} {symbol}", in_unit(time_ps, unit_ps, 0))
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least_ps`, and the distance of
/// its small ticks.
fn step(least_ps: f64) -> (i64, i64) {
    let mut power = 1_i64;
    loop {
        for (times, parts) in [(1, 5), (2, 4), (5, 5)] {
            let Some(step) = power.checked_mul(times) else { return (power, power) };
            if step as f64 >= least_ps {
                return (step, (step / parts).max(1));
            }
        }
        let Some(next) = power.checked_mul(10) else { return (power, power) };
        power = next;
    }
}

/// The coarsest unit no longer than the step. Below a nanosecond, fractions of a nanosecond.
pub(super) fn unit_of(step_ps: i64) -> (i64, &'static str) {
    UNITS.into_iter().rev().find(|(unit_ps, _)| *unit_ps <= step_ps).unwrap_or(UNITS[0])
}

/// The base of labels: a multiple of the next coarser unit if labels would be long without a base.
fn base(window: Interval, unit_ps: i64) -> i64 {
    /// Labels of up to this many units are short enough.
    const SHORT: i64 = 10_000;
    let coarser_ps = unit_ps.saturating_mul(1_000);
    let farthest = window.start.0.unsigned_abs().max(window.end.0.unsigned_abs());
    if unit_ps == PS_PER_S || farthest < unit_ps.saturating_mul(SHORT).unsigned_abs() {
        return 0;
    }
    window.start.0.div_euclid(coarser_ps).saturating_mul(coarser_ps)
}

/// The decimals in a unit that tell all multiples of a step apart.
pub(super) fn decimals(step_ps: i64, unit_ps: i64) -> usize {
    let is_enough = |decimals: &u32| step_ps % (unit_ps / 10_i64.pow(*decimals)).max(1) == 0;
    (0..=unit_ps.ilog10()).find(is_enough).unwrap_or(0) as usize
}

/// A time in a unit: exact, with commas between thousands, and without trailing zeros beyond a
/// number of decimals.
pub(super) fn in_unit(time_ps: i64, unit_ps: i64, least_decimals: usize) -> String {
    let (size, unit) = (time_ps.unsigned_abs(), unit_ps.unsigned_abs());
    let (whole, rest) = (size / unit, size % unit);
    let mut text = String::new();
    if time_ps < 0 {
        text.push('−');
    }
    let digits = whole.to_string();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let all = unit.ilog10() as usize;
    let fraction = format!("{rest:0all$}");
    let decimals = fraction.trim_end_matches('0').len().max(least_decimals.min(all));
    if decimals > 0 {
        text.push('.');
        text.push_str(&fraction[..decimals]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start_ps: i64, end_ps: i64, width_px: f64, expected: &str) {
        let ruler = Ruler::new(&TimeScale { window: Interval::new(start_ps, end_ps), width_px }, 0);
        let mut lines: Vec<_> = ruler.base.into_iter().map(|base| format!("[{base}]")).collect();
        lines.extend(ruler.ticks.into_iter().map(|tick| tick.label));
        assert_eq!(lines.join(" | "), expected);
    }

    #[test]
    fn labels_suit_the_zoom() {
        check(0, PS_PER_S, 500.0, "0 ms | 200 ms | 400 ms | 600 ms | 800 ms");
        check(0, 4_000_000, 400.0, "0 µs | 1 µs | 2 µs | 3 µs");
        check(0, 1_500, 400.0, "0.0 ns | 0.5 ns | 1.0 ns");
        check(0, 2_000_000, 400.0, "0 ns | 500 ns | 1.0 µs | 1.5 µs");
        check(1_869 * PS_PER_US, 1_875 * PS_PER_US, 300.0, "1.870 ms | 1.872 ms | 1.874 ms");
        check(-2 * PS_PER_S, 2 * PS_PER_S, 400.0, "−2 s | −1 s | 0 s | 1 s");
    }

    #[test]
    fn far_from_zero_labels_count_from_a_base() {
        let start = 1_234 * PS_PER_MS + 560 * PS_PER_US;
        check(start, start + 2 * PS_PER_US, 400.0, "[1.23456 s] | +0 ns | +500 ns | +1.0 µs | +1.5 µs");
    }

    #[test]
    fn moments_are_exact() {
        assert_eq!(in_full(59_602_423_028_000_001), "59,602.423028000001 s");
        assert_eq!(in_full(-1_500), "−1.5 ns");
        assert_eq!(in_full(0), "0 ns");
        assert_eq!(in_full(i64::MIN), "−9,223,372.036854775808 s");
    }

    #[test]
    fn labels_count_from_the_zero() {
        let zero_ps = 1_428_625 * PS_PER_S + 7;
        let window = Interval::new(zero_ps, zero_ps + 2_000_000);
        let ruler = Ruler::new(&TimeScale { window, width_px: 400.0 }, zero_ps);
        let ticks: Vec<_> =
            ruler.ticks.iter().map(|tick| (tick.time_ps - zero_ps, tick.label.as_str())).collect();
        assert_eq!(ticks, [(0, "0 ns"), (500_000, "500 ns"), (1_000_000, "1.0 µs"), (1_500_000, "1.5 µs")]);
        assert_eq!(ruler.base, None);
    }

    #[test]
    fn the_widest_window_has_a_ruler() {
        let ruler =
            Ruler::new(&TimeScale { window: Interval::new(i64::MIN / 2, i64::MAX / 2), width_px: 800.0 }, 0);
        assert!((4..=10).contains(&ruler.ticks.len()), "{ruler:?}");
    }
}
