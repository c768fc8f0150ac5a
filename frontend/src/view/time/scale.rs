//! Conversion of time to pixels and back.

use nprof_engine::base::Interval;
use nprof_engine::tile::Level;

/// A window of time, stretched over a width in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeScale {
    /// The visible span.
    pub window: Interval,
    /// Width in pixels.
    pub width_px: f64,
}

/// Greatest width of a cell in device pixels. The least width is half of it.
const CELL_PX: f64 = 2.0;

impl TimeScale {
    /// Position of a timestamp. Subtracts as integers first: an `f64` loses a picosecond long after
    /// the origin.
    #[must_use]
    pub fn px_from_time(&self, time_ps: i64) -> f64 {
        time_ps.saturating_sub(self.window.start.0) as f64 * self.px_per_ps()
    }

    /// The timestamp at a pixel.
    #[must_use]
    pub fn time_from_px(&self, px: f64) -> i64 {
        self.window.start.0.saturating_add(self.ps_from_px(px))
    }

    /// Duration of this many pixels.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "floats beyond i64 saturate")]
    pub fn ps_from_px(&self, px: f64) -> i64 {
        (px / self.px_per_ps()).round() as i64
    }

    /// Pixels per picosecond.
    #[must_use]
    pub fn px_per_ps(&self) -> f64 {
        self.width_px.max(1.0) / self.window.duration_ps().max(1) as f64
    }

    /// The coarsest level whose cells are at most `CELL_PX` device pixels wide, else the finest
    /// level.
    #[must_use]
    pub fn level(&self, device_pixel_ratio: f64) -> Level {
        Level::for_cell_ps(CELL_PX / (self.px_per_ps() * device_pixel_ratio.max(0.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn late_moments_keep_their_last_digits() {
        let start = 9_000_000_000_000_000_000;
        let scale = TimeScale { window: Interval::new(start, start + 1_000), width_px: 1_000.0 };
        assert_eq!(scale.px_from_time(start + 7), 7.0);
        assert_eq!(scale.time_from_px(7.0), start + 7);
    }

    proptest! {
        #[test]
        fn cells_are_one_to_two_pixels(duration in 2_000_000_i64..1 << 50, width in 200.0..4000.0_f64, ratio in 1.0..3.0_f64) {
            let scale = TimeScale { window: Interval::new(0, duration), width_px: width };
            let cell_px = scale.level(ratio).cell_ps() as f64 * scale.px_per_ps() * ratio;
            prop_assert!(cell_px <= CELL_PX || scale.level(ratio).number() == 0, "{cell_px}");
            prop_assert!(cell_px > CELL_PX / 2.0, "{cell_px}");
        }
    }
}
