//! The meaning of a turn of the wheel, or of two fingers on a trackpad, over the tracks.

/// Zoom per pixel of the wheel.
const WHEEL_ZOOM: f64 = 0.002;
/// Like [`WHEEL_ZOOM`], for pinches. Browsers report a pinch as small turns of the wheel with the
/// control key.
const PINCH_ZOOM: f64 = 0.01;
/// Longest turn of a pinch in an event. Mice turn by more.
const MOST_PINCH_PX: f64 = 40.0;
/// Limit of the zoom per event: some mice send a whole turn at once.
const MOST_ZOOM: f64 = 2.0;

/// Use of a turn away or towards, without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WheelUse {
    /// The rows scroll.
    #[default]
    Scroll,
    /// The window zooms.
    Zoom,
}

impl WheelUse {
    /// The use in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Scroll => "The wheel scrolls the tracks. With Ctrl it zooms.",
            Self::Zoom => "The wheel zooms. With Shift it scrolls the tracks.",
        }
    }

    /// The other use.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Scroll => Self::Zoom,
            Self::Zoom => Self::Scroll,
        }
    }
}

/// A turn of the wheel, and the keys that are held.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WheelTurn {
    /// Distance to the side, in pixels.
    pub across_px: f64,
    /// Distance towards the user, in pixels.
    pub down_px: f64,
    /// Whether Control is held, or two fingers pinch.
    pub control: bool,
    /// Whether Alt or Command is held.
    pub alt_or_meta: bool,
    /// Whether Shift is held.
    pub shift: bool,
}

/// The effect of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WheelEffect {
    /// The rows scroll by so many pixels.
    Scroll(f64),
    /// The window moves by so many pixels.
    Pan(f64),
    /// The window becomes so many times as long.
    Zoom(f64),
}

impl WheelTurn {
    /// The effect of this turn.
    #[must_use]
    pub fn effect(self, wheel: WheelUse) -> WheelEffect {
        let Self { across_px, down_px, control, alt_or_meta, shift } = self;
        // Some browsers turn the wheel sideways themselves while shift is held, others do not.
        let turned_px = across_px + down_px;
        match wheel {
            _ if control || alt_or_meta => WheelEffect::Zoom(zoom(turned_px, control)),
            WheelUse::Scroll if shift => WheelEffect::Pan(turned_px),
            WheelUse::Zoom if shift => WheelEffect::Scroll(turned_px),
            _ if across_px.abs() > down_px.abs() => WheelEffect::Pan(across_px),
            WheelUse::Scroll => WheelEffect::Scroll(down_px),
            WheelUse::Zoom => WheelEffect::Zoom(zoom(down_px, false)),
        }
    }
}

fn zoom(turned_px: f64, control: bool) -> f64 {
    let speed = if control && turned_px.abs() < MOST_PINCH_PX { PINCH_ZOOM } else { WHEEL_ZOOM };
    (turned_px * speed).exp().clamp(1.0 / MOST_ZOOM, MOST_ZOOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are letters: c, a, s.
    #[track_caller]
    fn check(across_px: f64, down_px: f64, keys: &str, scrolling: &str, zooming: &str) {
        let has = |key| keys.contains(key);
        let (control, alt_or_meta, shift) = (has('c'), has('a'), has('s'));
        let turn = WheelTurn { across_px, down_px, control, alt_or_meta, shift };
        let shown = |wheel| match turn.effect(wheel) {
            WheelEffect::Scroll(px) => format!("scroll {px}"),
            WheelEffect::Pan(px) => format!("pan {px}"),
            WheelEffect::Zoom(factor) => format!("zoom {factor:.2}"),
        };
        assert_eq!((shown(WheelUse::Scroll).as_str(), shown(WheelUse::Zoom).as_str()), (scrolling, zooming));
    }

    #[test]
    fn the_wheel_scrolls_and_zooms_with_a_key() {
        check(0.0, 100.0, "", "scroll 100", "zoom 1.22");
        check(0.5, -0.75, "", "scroll -0.75", "zoom 1.00");
        check(0.0, -100.0, "c", "zoom 0.82", "zoom 0.82");
        check(0.0, -100.0, "a", "zoom 0.82", "zoom 0.82");
        // A pinch.
        check(0.0, 10.0, "c", "zoom 1.11", "zoom 1.11");
        check(0.0, 100_000.0, "c", "zoom 2.00", "zoom 2.00");
    }

    #[test]
    fn a_turn_to_the_side_or_with_shift_moves_in_time() {
        check(30.0, 10.0, "", "pan 30", "pan 30");
        check(0.0, 100.0, "s", "pan 100", "scroll 100");
        check(100.0, 0.0, "s", "pan 100", "scroll 100");
    }
}
