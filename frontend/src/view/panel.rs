//! Height of the panel below the timeline, and when it is closed to the line of its tabs.

/// Viewport height below which the panel starts closed: 30 rem. A small screen at 200 % zoom has
/// this height.
pub const LOW_VIEWPORT_PX: f64 = 480.0;
/// Height of the panel when it is first opened.
pub const DEFAULT_PX: f64 = 280.0;
/// Least height at which the panel is useful.
pub const SMALLEST_PX: f64 = 96.0;
/// Height of the closed panel, which shows only its tabs.
pub const TABS_PX: f64 = 36.0;
/// Least height of the timeline and the bars above it.
const ABOVE_PX: f64 = 240.0;

/// Returns true if the viewport is so low that the panel starts closed.
#[must_use]
pub fn is_low(viewport_px: f64) -> bool {
    viewport_px < LOW_VIEWPORT_PX
}

/// The largest height in a viewport.
#[must_use]
pub fn largest_px(viewport_px: f64) -> f64 {
    (viewport_px - ABOVE_PX).max(SMALLEST_PX)
}

/// The nearest possible height in a viewport.
#[must_use]
pub fn clamped_px(height_px: f64, viewport_px: f64) -> f64 {
    height_px.clamp(SMALLEST_PX, largest_px(viewport_px))
}

/// The height after a drag of the splitter to `height_px`. `None` closes the panel.
#[must_use]
pub fn dragged_px(height_px: f64, viewport_px: f64) -> Option<f64> {
    let closes = height_px < (SMALLEST_PX + TABS_PX) / 2.0;
    (!closes).then(|| clamped_px(height_px, viewport_px))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeline_keeps_its_room() {
        assert_eq!(clamped_px(280.0, 800.0), 280.0);
        assert_eq!(clamped_px(900.0, 800.0), 560.0);
        assert_eq!(clamped_px(280.0, 400.0), 160.0);
        assert_eq!(clamped_px(280.0, 200.0), SMALLEST_PX);
        assert_eq!((is_low(479.0), is_low(480.0)), (true, false));
    }

    #[test]
    fn a_drag_to_the_foot_closes() {
        assert_eq!(dragged_px(20.0, 800.0), None);
        assert_eq!(dragged_px(-300.0, 800.0), None);
        assert_eq!(dragged_px(70.0, 800.0), Some(SMALLEST_PX));
        assert_eq!(dragged_px(300.0, 800.0), Some(300.0));
    }
}
