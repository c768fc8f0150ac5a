//! Draws the light of a search: a veil over all rows but their hits, and a mark below each hit. A
//! frame stretches pictures over the lanes, so it costs the same for three hits and for a million.

use super::light_band::{LightBand, LitBand};
use super::lit_rows::LitRows;
use super::overlay::Pen;

/// Height of the marks in a lane.
const MARK_PX: f64 = 2.0;
/// Height of the marks in the heading of a closed group.
const GROUP_MARK_PX: f64 = 4.0;
/// Height of a lane from which on it has marks.
const MARKED_FROM_PX: f64 = 8.0;

impl Pen {
    /// Draws the light of an area whose rows are painted.
    pub(super) fn light(&self, bands: &[LightBand], lit: &LitRows, width_px: f64) {
        let Some([veil, group_veil]) = lit.veils() else { return };
        let context = self.context();
        context.set_image_smoothing_enabled(false);
        for LightBand { y_px, height_px, lit: of } in bands {
            let is_group = of.is_some_and(|of| of.row.lane.is_none());
            context.set_fill_style_str(if is_group { &group_veil } else { &veil });
            let mark_px = if is_group { GROUP_MARK_PX } else { MARK_PX };
            let known = of.and_then(|of| Some((of, lit.position(&of.row)?)));
            let Some((LitBand { x_px: (left, right), cells, .. }, at)) = known else {
                context.fill_rect(0.0, *y_px, width_px, *height_px);
                continue;
            };
            context.fill_rect(0.0, *y_px, left, *height_px);
            context.fill_rect(right, *y_px, width_px - right, *height_px);
            let stretch = |row: f64, y_px: f64, height_px: f64| {
                let (from, wide) = (cells.0, cells.1 - cells.0);
                let stretched = context
                    .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                        &lit.canvas,
                        from,
                        row,
                        wide,
                        1.0,
                        left,
                        y_px,
                        right - left,
                        height_px,
                    );
                // Fails only for a canvas without pixels.
                stretched.ok();
            };
            stretch(at, *y_px, *height_px);
            if *height_px >= MARKED_FROM_PX {
                stretch(at + 1.0, y_px + height_px - mark_px, mark_px);
            }
        }
    }
}
