//! A zoom or move that goes on while its key is held, and slows down when the key is released.

use crate::view::{Act, Command};

/// Time in which the movement ends.
const END_MS: f64 = 120.0;
/// Windows that a move passes in a second.
const WINDOWS_PER_S: f64 = 1.2;
/// Growth of the window in a second of zooming out, as a power of e.
const ZOOM_PER_S: f64 = 1.6;
/// Longest time between frames that counts: after a pause, the view does not leap.
const MOST_FRAME_MS: f64 = 100.0;

/// A movement by a held key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glide {
    act: Act,
    start_ms: f64,
    /// Time of the last frame.
    frame_ms: f64,
    released_ms: Option<f64>,
}

impl Glide {
    /// A movement whose key is held from now on.
    #[must_use]
    pub fn new(act: Act, now_ms: f64) -> Self {
        Self { act, start_ms: now_ms, frame_ms: now_ms, released_ms: None }
    }

    /// The command of the key.
    #[must_use]
    pub fn act(&self) -> Act {
        self.act
    }

    /// Releases the key.
    pub fn release(&mut self, now_ms: f64) {
        self.released_ms.get_or_insert(now_ms);
    }

    /// Goes on to a frame: the command for it, if the view moves.
    pub fn frame(&mut self, now_ms: f64) -> Option<Command> {
        let from_ms = self.frame_ms.max(now_ms - MOST_FRAME_MS);
        self.frame_ms = now_ms;
        let moved_s = (self.moved_ms(now_ms) - self.moved_ms(from_ms)) / 1_000.0;
        if moved_s <= 0.0 {
            return None;
        }
        let zoom = |sign: f64| Command::ZoomMiddle { factor: (sign * ZOOM_PER_S * moved_s).exp() };
        let pan = |sign: f64| Command::Pan { windows: sign * WINDOWS_PER_S * moved_s };
        match self.act {
            Act::ZoomIn => Some(zoom(-1.0)),
            Act::ZoomOut => Some(zoom(1.0)),
            Act::MoveLeft => Some(pan(-1.0)),
            Act::MoveRight => Some(pan(1.0)),
            _ => None,
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self, now_ms: f64) -> bool {
        self.released_ms.is_some_and(|released_ms| now_ms >= released_ms + END_MS)
    }

    /// Time that the view has moved at full speed for the way that it made until now. After the
    /// release, the speed falls evenly to zero.
    fn moved_ms(&self, now_ms: f64) -> f64 {
        let held_ms = |until_ms: f64| (until_ms - self.start_ms).max(0.0);
        let Some(released_ms) = self.released_ms.filter(|released_ms| *released_ms < now_ms) else {
            return held_ms(now_ms);
        };
        let since_ms = (now_ms - released_ms).min(END_MS);
        held_ms(released_ms) + since_ms - since_ms * since_ms / (2.0 * END_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way in windows, with frames every `step_ms` until the glide is over.
    fn way(released_ms: f64, step_ms: f64) -> f64 {
        let mut glide = Glide::new(Act::MoveRight, 0.0);
        let (mut way, mut now_ms) = (0.0, 0.0);
        while !glide.is_over(now_ms) {
            now_ms += step_ms;
            if now_ms >= released_ms {
                glide.release(released_ms);
            }
            if let Some(Command::Pan { windows }) = glide.frame(now_ms) {
                way += windows;
            }
        }
        way
    }

    #[test]
    fn the_way_is_that_of_the_time_and_of_no_frame() {
        // Held for a second, then slower for 120 ms: half of the way of full speed.
        let expected = WINDOWS_PER_S * (1.0 + 0.06);
        for step_ms in [4.0, 16.0, 40.0] {
            assert!((way(1_000.0, step_ms) - expected).abs() < 1e-9, "{} {expected}", way(1_000.0, step_ms));
        }
    }

    #[test]
    fn a_pause_of_the_page_is_no_leap() {
        let mut glide = Glide::new(Act::ZoomIn, 0.0);
        assert_eq!(glide.frame(0.0), None);
        let Some(Command::ZoomMiddle { factor }) = glide.frame(60_000.0) else { panic!("no zoom") };
        assert!(factor > 0.8, "{factor}");
    }
}
