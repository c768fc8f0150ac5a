//! Position of a tooltip. Pure.

use crate::view::point::Point;
use crate::view::size::Size;

/// Distance between the anchor and the tooltip.
pub const GAP_PX: f64 = 12.0;
/// Least distance between the tooltip and the edge of the viewport.
const EDGE_PX: f64 = 4.0;

/// Position of the tooltip's upper left corner: below and right of the anchor, or on the other side
/// if there is no room. The tooltip is always inside the viewport. If it is larger than the
/// viewport, its start is visible.
#[must_use]
pub fn place(anchor: Point, size: Size, viewport: Size) -> Point {
    let along = |anchor: f64, size: f64, viewport: f64| {
        let after = anchor + GAP_PX;
        let before = anchor - GAP_PX - size;
        let at = if after + size + EDGE_PX <= viewport || before < EDGE_PX { after } else { before };
        at.min(viewport - size - EDGE_PX).max(EDGE_PX)
    };
    Point {
        x_px: along(anchor.x_px, size.width_px, viewport.width_px),
        y_px: along(anchor.y_px, size.height_px, viewport.height_px),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWPORT: Size = Size::new(1000.0, 500.0);

    #[track_caller]
    fn check_place(anchor: (f64, f64), size: (f64, f64), expected: (f64, f64)) {
        let found = place(Point::new(anchor.0, anchor.1), Size::new(size.0, size.1), VIEWPORT);
        assert_eq!(found, Point::new(expected.0, expected.1));
    }

    #[test]
    fn stands_below_and_right_where_there_is_room() {
        check_place((100.0, 100.0), (200.0, 50.0), (112.0, 112.0));
    }

    #[test]
    fn changes_side_at_the_far_edges() {
        check_place((950.0, 480.0), (200.0, 50.0), (738.0, 418.0));
    }

    #[test]
    fn stays_inside_where_neither_side_has_room() {
        for x in [0.0, 300.0, 500.0, 700.0, 1000.0] {
            let left = place(Point::new(x, 0.0), Size::new(900.0, 50.0), VIEWPORT).x_px;
            assert!(left >= EDGE_PX && left + 900.0 <= 1000.0 - EDGE_PX, "{x} gave {left}");
        }
        let left = place(Point::new(500.0, 0.0), Size::new(2000.0, 50.0), VIEWPORT).x_px;
        assert_eq!(left, EDGE_PX, "its start is what is read first");
    }
}
