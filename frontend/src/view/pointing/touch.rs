//! Fingers on the tracks. One finger moves them, two zoom around their middle and move with it, a
//! tap selects.
//!
//! Each change of the number of fingers is a new start: the content under the fingers then stays
//! under them, so nothing jumps when a finger is lifted or put down.

use nprof_engine::base::Interval;

use crate::view::point::Point;
use crate::view::time::scale::TimeScale;
use crate::view::time::window::{NARROWEST_PS, rounded};

/// Least movement of a drag. A finger that moves less taps.
const TAP_PX: f64 = 8.0;
/// Least distance of two fingers. Nearer fingers count as this far apart, because their distance is
/// mostly noise.
const NEAREST_PX: f64 = 24.0;

/// A finger, in CSS pixels of the tracks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Finger {
    /// The browser's number of the finger.
    id: i32,
    at: Point,
}

/// State when the number of fingers changed last.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Beginning {
    window: Interval,
    scroll_px: f64,
    middle: Point,
    apart_px: f64,
}

/// All fingers on the tracks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Touches {
    fingers: Vec<Finger>,
    beginning: Option<Beginning>,
    /// True if a tap is no longer possible: a finger has moved, or there was a second one.
    has_moved: bool,
}

/// Result of a drag with fingers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FingerDrag {
    /// The window to show. It can reach beyond the trace.
    pub window: Interval,
    /// Scroll position of the rows. It can be beyond their ends.
    pub scroll_px: f64,
}

impl Touches {
    /// Returns true if any finger is on the tracks.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.fingers.is_empty()
    }

    /// Handles a finger that is put down.
    pub fn press(&mut self, id: i32, at: Point, scale: &TimeScale, scroll_px: f64) {
        self.fingers.retain(|finger| finger.id != id);
        // A second finger makes it a pinch, even without a move.
        self.has_moved = self.is_any();
        self.fingers.push(Finger { id, at });
        self.begin(scale, scroll_px);
    }

    /// Handles a move of a finger. `None` while it can still be a tap, and for fingers that are not
    /// on the tracks.
    pub fn pull(&mut self, id: i32, at: Point, scale: &TimeScale) -> Option<FingerDrag> {
        let finger = self.fingers.iter_mut().find(|finger| finger.id == id)?;
        finger.at = at;
        let beginning = self.beginning?;
        let (middle, apart_px) = self.reach();
        self.has_moved |= middle.distance_px(beginning.middle) >= TAP_PX;
        if !self.has_moved {
            return None;
        }
        let before = TimeScale { window: beginning.window, width_px: scale.width_px };
        // The timestamp in the middle of the fingers stays there, at the new zoom.
        let anchor_ps = before.time_from_px(beginning.middle.x_px);
        let duration_ps = beginning.window.duration_ps() as f64 * beginning.apart_px / apart_px;
        let duration_ps = rounded(duration_ps).max(NARROWEST_PS);
        let left_ps = rounded(duration_ps as f64 * middle.x_px / scale.width_px.max(1.0));
        let start_ps = anchor_ps.saturating_sub(left_ps);
        let window = Interval::new(start_ps, start_ps.saturating_add(duration_ps));
        Some(FingerDrag { window, scroll_px: beginning.scroll_px + beginning.middle.y_px - middle.y_px })
    }

    /// Handles a lifted finger. Returns the position of the tap, if it was one.
    pub fn release(&mut self, id: i32, scale: &TimeScale, scroll_px: f64) -> Option<Point> {
        let at = self.fingers.iter().position(|finger| finger.id == id)?;
        let finger = self.fingers.remove(at);
        self.begin(scale, scroll_px);
        (!self.has_moved).then_some(finger.at)
    }

    /// Handles a finger that the browser took for another purpose.
    pub fn cancel(&mut self, id: i32, scale: &TimeScale, scroll_px: f64) {
        self.has_moved = true;
        self.release(id, scale, scroll_px);
    }

    fn begin(&mut self, scale: &TimeScale, scroll_px: f64) {
        let (middle, apart_px) = self.reach();
        self.beginning =
            self.is_any().then_some(Beginning { window: scale.window, scroll_px, middle, apart_px });
    }

    /// The middle of the first two fingers and their distance. A single finger has the least
    /// distance.
    fn reach(&self) -> (Point, f64) {
        match self.fingers[..] {
            [] => (Point::default(), NEAREST_PX),
            [one] => (one.at, NEAREST_PX),
            [one, other, ..] => (one.at.middle(other.at), one.at.distance_px(other.at).max(NEAREST_PX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A scale of 1000 pixels for a million picoseconds: a pixel is a nanosecond.
    fn scale() -> TimeScale {
        TimeScale { window: Interval::new(0, 1_000_000), width_px: 1_000.0 }
    }

    fn drag(start_ps: i64, end_ps: i64, scroll_px: f64) -> Option<FingerDrag> {
        Some(FingerDrag { window: Interval::new(start_ps, end_ps), scroll_px })
    }

    #[test]
    fn one_finger_moves_both_ways() {
        let mut touches = Touches::default();
        touches.press(7, Point::new(500.0, 100.0), &scale(), 40.0);
        assert_eq!(touches.pull(7, Point::new(503.0, 100.0), &scale()), None, "it may still be a tap");
        assert_eq!(touches.pull(7, Point::new(400.0, 70.0), &scale()), drag(100_000, 1_100_000, 70.0));
        assert_eq!(touches.pull(9, Point::new(0.0, 0.0), &scale()), None, "a finger that was never put down");
        assert_eq!(touches.release(7, &scale(), 0.0), None, "it has moved: no tap");
        assert!(!touches.is_any());
    }

    #[test]
    fn a_finger_that_stays_taps() {
        let mut touches = Touches::default();
        touches.press(1, Point::new(20.0, 30.0), &scale(), 0.0);
        touches.pull(1, Point::new(22.0, 31.0), &scale());
        assert_eq!(touches.release(1, &scale(), 0.0), Some(Point::new(22.0, 31.0)));
        touches.press(1, Point::new(20.0, 30.0), &scale(), 0.0);
        touches.cancel(1, &scale(), 0.0);
        assert!(!touches.is_any());
    }

    #[test]
    fn two_fingers_zoom_about_their_middle_and_move_with_it() {
        let mut touches = Touches::default();
        touches.press(1, Point::new(400.0, 50.0), &scale(), 0.0);
        touches.press(2, Point::new(600.0, 50.0), &scale(), 0.0);
        assert_eq!(
            touches.pull(1, Point::new(300.0, 50.0), &scale()).map(|drag| drag.window.duration_ps()),
            Some(666_667)
        );
        // Twice as far apart around the same middle: half the span, and the timestamp in the middle
        // stays there.
        assert_eq!(touches.pull(2, Point::new(700.0, 50.0), &scale()), drag(250_000, 750_000, 0.0));
        // Both move to the right: the zoom stays.
        touches.pull(1, Point::new(400.0, 50.0), &scale());
        assert_eq!(touches.pull(2, Point::new(800.0, 50.0), &scale()), drag(200_000, 700_000, 0.0));
        assert_eq!(touches.release(2, &scale(), 0.0), None);
        assert_eq!(touches.release(1, &scale(), 0.0), None, "a pinch ends without a tap");
    }

    #[test]
    fn nothing_jumps_when_a_finger_is_lifted() {
        let mut touches = Touches::default();
        touches.press(1, Point::new(400.0, 50.0), &scale(), 0.0);
        touches.press(2, Point::new(600.0, 50.0), &scale(), 0.0);
        touches.pull(1, Point::new(200.0, 50.0), &scale());
        let shown = TimeScale { window: Interval::new(100_000, 300_000), width_px: 1_000.0 };
        touches.release(2, &shown, 12.0);
        assert_eq!(touches.pull(1, Point::new(200.0, 50.0), &shown), drag(100_000, 300_000, 12.0));
    }

    proptest! {
        #[test]
        fn the_moment_between_two_fingers_stays_between_them(
            a in 0.0..1_000.0_f64, b in 0.0..1_000.0_f64, c in 0.0..1_000.0_f64, d in 0.0..1_000.0_f64,
        ) {
            let mut touches = Touches::default();
            touches.press(1, Point::new(a, 0.0), &scale(), 0.0);
            touches.press(2, Point::new(b, 0.0), &scale(), 0.0);
            touches.pull(1, Point::new(c, 0.0), &scale());
            let drag = touches.pull(2, Point::new(d, 0.0), &scale());
            let window = drag.map_or(scale().window, |drag| drag.window);
            let before = scale().time_from_px(f64::midpoint(a, b));
            let after = TimeScale { window, width_px: 1_000.0 }.time_from_px(f64::midpoint(c, d));
            let slop_ps = 4 + window.duration_ps() / 1_000_000 + if drag.is_none() { 8_000 } else { 0 };
            prop_assert!((before - after).abs() <= slop_ps, "{before} {after} {window:?}");
        }
    }
}
