//! Paints the critical path: a veil over everything else, and the line.

use super::overlay::{HALO_PX, HALO_STRENGTH, Inks, Pen};
use super::path_line::{PathLine, PathStroke};
use super::scene::Rect;
use crate::view::rows::layout::sight::Area;

/// Widths of the critical path: through work, and while nothing works.
const PATH_PX: f64 = 3.0;
const IDLE_PATH_PX: f64 = 1.0;

impl Pen {
    /// Draws the critical path with a halo, as fronts are.
    pub(super) fn path(&self, path: &PathLine, canvas_px: f64, inks: &Inks) {
        let context = self.context();
        context.set_line_join("round");
        for (ink, more_px, alpha) in [(inks.halo, 2.0 * HALO_PX, HALO_STRENGTH), (inks.path, 0.0, 1.0)] {
            context.set_global_alpha(alpha);
            context.set_stroke_style_str(ink);
            for PathStroke { points, is_idle } in &path.strokes {
                let line_px = if *is_idle { IDLE_PATH_PX } else { PATH_PX };
                context.set_line_width(line_px + more_px);
                context.begin_path();
                points.iter().for_each(|(x_px, y_px)| context.line_to(*x_px, *y_px));
                context.stroke();
            }
        }
        context.set_global_alpha(1.0);
        context.set_line_join("miter");
        path.tags.iter().for_each(|tag| self.tag(tag, canvas_px, inks.path, inks));
    }

    /// Dims an area but the clear places, which do not overlap.
    pub(super) fn veil(&self, area: Area, canvas_px: f64, clear: &[Rect], inks: &Inks) {
        let context = self.context();
        context.begin_path();
        context.rect(0.0, area.top_px, canvas_px, area.height_px);
        // The other way round, so that a place counts as outside.
        for Rect { x_px, y_px, width_px, height_px } in clear {
            context.rect(x_px + width_px, *y_px, -width_px, *height_px);
        }
        context.set_fill_style_str(inks.veil);
        context.fill();
    }
}
