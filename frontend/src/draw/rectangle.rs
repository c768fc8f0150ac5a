//! The pixels that an instance covers: the rules of `quad.vert` for a canvas without a graphics
//! card.
//!
//! All results are whole pixels of the screen. Both painters round in the same way, so they draw
//! the same picture.

use super::instance::{Instance, Paint};
use super::shape::Band;

/// Half of a diamond's width, in CSS pixels.
pub(super) const DIAMOND_PX: f64 = 5.0;
/// Gap at the end of a slice, in CSS pixels.
const GAP_PX: f64 = 1.0;
/// Least width of a slice with a gap at its end, in CSS pixels.
const WIDE_PX: f64 = 4.0;
/// The least height of a cell and of a counter's value, in CSS pixels.
const LEAST_CELL_PX: f64 = 2.0;
const LEAST_VALUE_PX: f64 = 1.5;

/// Position of a tile on the canvas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TilePlace {
    /// The tile's start, in CSS pixels from the canvas's left edge.
    pub offset_px: f64,
    /// Width of a cell in CSS pixels.
    pub cell_px: f64,
    /// Distance of the canvas's top from the top of the first row, in CSS pixels.
    pub scroll_px: f64,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
}

/// A rectangle in device pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge; greater than `left`.
    pub right: f64,
    /// Lower edge; no less than `top`.
    pub bottom: f64,
}

impl TilePlace {
    /// The pixels of an instance whose lane has this band. `None` if the lane is hidden.
    #[must_use]
    pub fn rectangle(&self, instance: &Instance, band: Band) -> Option<Rectangle> {
        if band.height_px <= 0.0 {
            return None;
        }
        let ratio = self.ratio;
        let x = |cells: f32| rounded((f64::from(cells) * self.cell_px + self.offset_px) * ratio);
        let (top_px, height_px) = (f64::from(band.top_px), f64::from(band.height_px));
        let lane = rounded(height_px * ratio);
        let base = rounded((top_px + height_px - self.scroll_px) * ratio);
        let height = |share: f32| rounded(f64::from(share) * lane);
        let (mut left, mut right) = (x(instance.start), x(instance.end));
        let (mut top, mut bottom) = (base - height(instance.high), base - height(instance.low));
        if instance.paint == Paint::Instant {
            let half = (DIAMOND_PX * ratio).floor();
            right = left + half + 1.0;
            left -= half;
            let inset = ((lane - 2.0 * DIAMOND_PX * ratio - 1.0) / 2.0).floor().max(0.0);
            top += inset;
            bottom -= inset;
        } else {
            let is_bar = matches!(instance.paint, Paint::Slice | Paint::Unfinished | Paint::Wait);
            if is_bar && right - left >= WIDE_PX * ratio {
                right -= (GAP_PX * ratio).floor();
            }
            let least = match instance.paint {
                Paint::Cell => rounded(LEAST_CELL_PX * ratio),
                Paint::Value | Paint::Range => (LEAST_VALUE_PX * ratio).floor().max(1.0),
                Paint::WaitCell => 0.0,
                _ => 1.0,
            };
            let thin = if instance.paint == Paint::Tick { ratio.floor().max(1.0) } else { 1.0 };
            // Nothing vanishes: each rectangle has at least one device pixel and a visible height.
            right = right.max(left + thin);
            top = top.min(bottom - least);
        }
        Some(Rectangle { left, top, right, bottom })
    }
}

/// Rounds to the nearest pixel, halves up, as the shader does.
fn rounded(px: f64) -> f64 {
    (px + 0.5).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANE: Band = Band { top_px: 103.0, height_px: 16.0 };

    /// Checks an instance from cell `start` to `end` of the lane, at two CSS pixels per cell.
    #[track_caller]
    fn check(
        paint: Paint,
        (start, end): (f32, f32),
        (low, high): (f32, f32),
        ratio: f64,
        expected: [f64; 4],
    ) {
        let instance = Instance { start, end, low, high, lane: 0, paint, colour: 0, alpha: 255 };
        let place = TilePlace { offset_px: 10.0, cell_px: 2.0, scroll_px: 100.0, ratio };
        let found = place.rectangle(&instance, LANE).expect("in sight");
        assert_eq!([found.left, found.top, found.right, found.bottom], expected);
    }

    #[test]
    fn slices_leave_a_pixel_where_they_are_wide() {
        check(Paint::Slice, (0.0, 10.0), (0.0, 1.0), 1.0, [10.0, 3.0, 29.0, 19.0]);
        check(Paint::Slice, (0.0, 10.0), (0.0, 1.0), 2.0, [20.0, 6.0, 58.0, 38.0]);
        check(Paint::Slice, (0.0, 1.0), (0.0, 1.0), 1.0, [10.0, 3.0, 12.0, 19.0]);
        check(Paint::Unfinished, (0.0, 2.0), (0.0, 1.0), 1.0, [10.0, 3.0, 13.0, 19.0]);
        check(Paint::Cell, (0.0, 2.0), (0.0, 0.5), 1.0, [10.0, 11.0, 14.0, 19.0]);
    }

    #[test]
    fn nothing_vanishes() {
        check(Paint::Slice, (3.0, 3.0), (0.0, 1.0), 1.0, [16.0, 3.0, 17.0, 19.0]);
        check(Paint::Cell, (3.0, 3.0), (0.0, 0.0), 1.0, [16.0, 17.0, 17.0, 19.0]);
        check(Paint::Tick, (3.0, 3.0), (0.25, 0.75), 2.0, [32.0, 14.0, 34.0, 30.0]);
        check(Paint::WaitCell, (3.0, 4.0), (0.5, 0.5), 1.0, [16.0, 11.0, 18.0, 11.0]);
        check(Paint::Value, (3.0, 4.0), (0.0, 0.0), 2.0, [32.0, 35.0, 36.0, 38.0]);
    }

    #[test]
    fn instants_are_as_wide_at_every_zoom() {
        check(Paint::Instant, (5.0, 5.0), (0.0, 1.0), 1.0, [15.0, 5.0, 26.0, 17.0]);
    }

    #[test]
    fn hidden_lanes_have_no_pixels() {
        let instance = Instance {
            start: 0.0,
            end: 1.0,
            low: 0.0,
            high: 1.0,
            lane: 0,
            paint: Paint::Slice,
            colour: 0,
            alpha: 9,
        };
        let place = TilePlace { offset_px: 0.0, cell_px: 1.0, scroll_px: 0.0, ratio: 1.0 };
        assert_eq!(place.rectangle(&instance, Band { top_px: 0.0, height_px: 0.0 }), None);
    }
}
