//! The visible part of both runs, which share one axis.

use nprof_engine::base::Interval;

/// The visible part, as shares of the longer run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedSight {
    /// Left edge, from 0.
    pub from: f64,
    /// Right edge, to 1.
    pub to: f64,
}

impl Default for PairedSight {
    fn default() -> Self {
        Self { from: 0.0, to: 1.0 }
    }
}

/// The smallest visible part: the picture has no finer detail.
const LEAST: f64 = 1.0 / 1_000.0;
/// The part around a place that is looked at, relative to its length.
const AROUND: f64 = 1.5;

impl PairedSight {
    /// Width of the visible part.
    #[must_use]
    pub fn width(self) -> f64 {
        self.to - self.from
    }

    /// The place at a share of the width of the picture.
    #[must_use]
    pub fn place(self, across: f64) -> f64 {
        self.from + across * self.width()
    }

    /// The part between two places, or the least one around them.
    #[must_use]
    pub fn between(one: f64, other: f64) -> Self {
        let width = (other - one).abs().clamp(LEAST, 1.0);
        let middle = (one + other) / 2.0;
        let from = (middle - width / 2.0).clamp(0.0, 1.0 - width);
        Self { from, to: from + width }
    }

    /// The part in which a place is seen with what is around it.
    #[must_use]
    pub fn around(from: f64, to: f64) -> Self {
        let beside = (to - from) * AROUND;
        Self::between(from - beside, to + beside)
    }

    /// The part that is so many times as wide, with the place under the pointer where it is.
    #[must_use]
    pub fn zoomed(self, times: f64, across: f64) -> Self {
        let width = (self.width() * times).clamp(LEAST, 1.0);
        let from = (self.place(across) - across * width).clamp(0.0, 1.0 - width);
        Self { from, to: from + width }
    }

    /// The part that lies further by so many of its widths.
    #[must_use]
    pub fn moved(self, widths: f64) -> Self {
        let width = self.width();
        let from = (self.from + widths * width).clamp(0.0, 1.0 - width);
        Self { from, to: from + width }
    }

    /// Whether all of both runs is visible.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.width() >= 1.0
    }

    /// The visible time.
    #[must_use]
    pub fn span(self, longer_ps: i64) -> Interval {
        let at = |share: f64| (share * longer_ps as f64).round() as i64;
        Interval::new(at(self.from), at(self.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sight: PairedSight, from: f64, to: f64) {
        assert!((sight.from - from).abs() < 1e-9 && (sight.to - to).abs() < 1e-9, "{sight:?}");
    }

    #[test]
    fn the_place_under_the_pointer_stays() {
        let half = PairedSight::default().zoomed(0.5, 0.25);
        check(half, 0.125, 0.625);
        check(half.zoomed(2.0, 0.25), 0.0, 1.0);
        check(half.zoomed(100.0, 0.9), 0.0, 1.0);
        assert!(half.zoomed(2.0, 0.25).is_whole());
    }

    #[test]
    fn nothing_beside_the_runs_is_shown() {
        check(PairedSight::between(0.8, 1.3), 0.5, 1.0);
        check(PairedSight::between(0.5, 0.5), 0.4995, 0.5005);
        check(PairedSight { from: 0.2, to: 0.4 }.moved(-3.0), 0.0, 0.2);
        check(PairedSight { from: 0.2, to: 0.4 }.moved(0.5), 0.3, 0.5);
        check(PairedSight::around(0.4, 0.5), 0.25, 0.65);
        assert_eq!(PairedSight { from: 0.2, to: 0.4 }.span(1_000), Interval::new(200, 400));
    }
}
