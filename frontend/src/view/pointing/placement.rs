//! Position of a tooltip. Pure.

/// A point or size in CSS pixels of the viewport.
pub type Pixels = (f64, f64);

/// Distance between the anchor and the tooltip.
pub const GAP_PX: f64 = 12.0;
/// Least distance between the tooltip and the edge of the viewport.
const EDGE_PX: f64 = 4.0;

/// Position of the tooltip's upper left corner: below and right of the anchor, or on the other side
/// if there is no room. The tooltip is always inside the viewport. If it is larger than the
/// viewport, its start is visible.
#[must_use]
pub fn place(anchor: Pixels, size: Pixels, viewport: Pixels) -> Pixels {
    let along = |anchor: f64, size: f64, viewport: f64| {
        let after = anchor + GAP_PX;
        let before = anchor - GAP_PX - size;
        let at = if after + size + EDGE_PX <= viewport || before < EDGE_PX { after } else { before };
        at.min(viewport - size - EDGE_PX).max(EDGE_PX)
    };
    (along(anchor.0, size.0, viewport.0), along(anchor.1, size.1, viewport.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWPORT: Pixels = (1000.0, 500.0);

    #[test]
    fn stands_below_and_right_where_there_is_room() {
        assert_eq!(place((100.0, 100.0), (200.0, 50.0), VIEWPORT), (112.0, 112.0));
    }

    #[test]
    fn changes_side_at_the_far_edges() {
        assert_eq!(place((950.0, 480.0), (200.0, 50.0), VIEWPORT), (738.0, 418.0));
    }

    #[test]
    fn stays_inside_where_neither_side_has_room() {
        for x in [0.0, 300.0, 500.0, 700.0, 1000.0] {
            let (left, _) = place((x, 0.0), (900.0, 50.0), VIEWPORT);
            assert!(left >= EDGE_PX && left + 900.0 <= 1000.0 - EDGE_PX, "{x} gave {left}");
        }
        assert_eq!(
            place((500.0, 0.0), (2000.0, 50.0), VIEWPORT).0,
            EDGE_PX,
            "its start is what is read first"
        );
    }
}
