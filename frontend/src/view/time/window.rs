//! Moves and zooms the window over a trace. All results lie inside the trace, with a small margin,
//! and are never empty.

use nprof_engine::base::Interval;

/// The narrowest window, in picoseconds: a nanosecond, about one tick of an accelerator.
pub const NARROWEST_PS: i64 = 1_000;

/// Margin on both sides of the trace, as a share of its duration. It keeps the first and last
/// slices off the edge.
const MARGIN: f64 = 0.01;

/// Space on both sides of the span that is shown first, as a share of its duration.
const FIRST_MARGIN: f64 = 0.05;

/// Limits of the windows of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    /// From the first timestamp of all ranks to the last.
    pub whole: Interval,
    /// The busiest time span, if it is a small part of the whole.
    pub active: Option<Interval>,
}

impl Reach {
    /// The window that a profile opens with: around its active span, else the whole profile.
    #[must_use]
    pub fn first(&self) -> Interval {
        self.active.map_or_else(
            || widest(self.whole),
            |active| {
                let margin = rounded(active.duration_ps() as f64 * FIRST_MARGIN);
                let around =
                    Interval::new(active.start.0.saturating_sub(margin), active.end.0.saturating_add(margin));
                clamped(around, self.whole)
            },
        )
    }
}

/// The widest window: the whole trace with its margins. A trace without duration gets the narrowest
/// window.
#[must_use]
pub fn widest(whole: Interval) -> Interval {
    let duration = whole.end.0.saturating_sub(whole.start.0);
    let margin = rounded(duration as f64 * MARGIN).max(NARROWEST_PS);
    Interval::new(whole.start.0.saturating_sub(margin), whole.end.0.saturating_add(margin))
}

/// The nearest window that lies inside the trace and is neither too narrow nor too wide.
#[must_use]
pub fn clamped(window: Interval, whole: Interval) -> Interval {
    let widest = widest(whole);
    let widest_ps = widest.end.0.saturating_sub(widest.start.0);
    let duration = window.end.0.saturating_sub(window.start.0).clamp(NARROWEST_PS.min(widest_ps), widest_ps);
    let start = window.start.0.clamp(widest.start.0, widest.end.0 - duration);
    Interval::new(start, start + duration)
}

/// The window `factor` times as wide. The timestamp `at_ps` stays in its place on the screen.
#[must_use]
pub fn zoomed(window: Interval, factor: f64, at_ps: i64, whole: Interval) -> Interval {
    let widest = widest(whole);
    let widest_ps = widest.end.0.saturating_sub(widest.start.0) as f64;
    let old_ps = window.duration_ps().max(1) as f64;
    let new_ps = (old_ps * factor).clamp(NARROWEST_PS as f64, widest_ps);
    let share = (at_ps.saturating_sub(window.start.0) as f64 / old_ps).clamp(0.0, 1.0);
    let anchor = at_ps.clamp(window.start.0, window.end.0);
    let start = anchor.saturating_sub(rounded(new_ps * share));
    clamped(Interval::new(start, start.saturating_add(rounded(new_ps))), whole)
}

/// The window moved by this many times its own duration. Positive numbers move it later.
#[must_use]
pub fn shifted(window: Interval, windows: f64, whole: Interval) -> Interval {
    let by = rounded(window.duration_ps() as f64 * windows);
    let moved = Interval::new(window.start.0.saturating_add(by), window.end.0.saturating_add(by));
    clamped(moved, whole)
}

/// The window moved as little as needed to show `[start, end)`, and widened if the span is longer
/// than the window.
#[must_use]
pub fn revealing(window: Interval, start_ps: i64, end_ps: i64, whole: Interval) -> Interval {
    let visible = window.overlaps(start_ps, end_ps) && start_ps >= window.start.0 && end_ps <= window.end.0;
    if visible {
        return window;
    }
    let duration = end_ps.saturating_sub(start_ps).max(0);
    // A slice as wide as the window would hide its neighbours.
    let width = window.duration_ps().max(duration.saturating_add(duration / 4));
    let start = start_ps.saturating_sub((width - duration) / 2);
    clamped(Interval::new(start, start.saturating_add(width)), whole)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "floats beyond i64 saturate, and the window is clamped after"
)]
pub(in crate::view) fn rounded(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: Interval =
        Interval { start: nprof_engine::base::Time(0), end: nprof_engine::base::Time(1_000_000) };

    #[test]
    fn the_moment_under_the_cursor_stays() {
        let window = zoomed(Interval::new(200_000, 600_000), 0.5, 300_000, WHOLE);
        assert_eq!(window, Interval::new(250_000, 450_000));
    }

    #[test]
    fn zooming_out_ends_at_the_margins() {
        assert_eq!(zoomed(Interval::new(0, 1_000_000), 100.0, 5, WHOLE), widest(WHOLE));
    }

    #[test]
    fn panning_stops_at_the_margin() {
        assert_eq!(shifted(Interval::new(900_000, 1_000_000), 5.0, WHOLE), Interval::new(910_000, 1_010_000));
        assert_eq!(shifted(Interval::new(0, 100_000), -5.0, WHOLE), Interval::new(-10_000, 90_000));
    }

    #[test]
    fn a_visible_slice_leaves_the_window_alone() {
        let window = Interval::new(100_000, 200_000);
        assert_eq!(revealing(window, 120_000, 130_000, WHOLE), window);
        assert_eq!(revealing(window, 500_000, 510_000, WHOLE), Interval::new(455_000, 555_000));
        assert_eq!(revealing(window, 400_000, 800_000, WHOLE), Interval::new(350_000, 850_000));
    }

    proptest! {
        #[test]
        fn every_move_stays_inside(
            start in -1_i64 << 61..1 << 61, duration in 0_i64..1 << 60, at in any::<i64>(),
            factor in 0.0..1e6_f64, windows in -1e6..1e6_f64, from in any::<i64>(), to in any::<i64>(),
        ) {
            let whole = Interval::new(start, start + duration);
            let widest = widest(whole);
            let first = clamped(Interval::new(from, to), whole);
            for window in [
                first,
                zoomed(first, factor, at, whole),
                shifted(first, windows, whole),
                revealing(first, from, to.max(from), whole),
            ] {
                prop_assert!(window.start >= widest.start && window.end <= widest.end, "{window:?} in {widest:?}");
                prop_assert!(window.duration_ps() >= NARROWEST_PS);
            }
        }
    }
}
