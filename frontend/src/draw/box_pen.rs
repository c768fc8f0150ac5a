//! Paints the boxes of findings: outlines that cover no bar, then their tags.

use super::finding_box::{BoxOutline, BoxTag, DrawnBoxes};
use super::overlay::{Inks, Pen};
use super::scene::Rect;

/// Widths of the outlines.
const LINE_PX: f64 = 1.0;
const FOLLOWED_PX: f64 = 2.0;
/// Width of the halo on each side of the outline of the followed finding.
const HALO_PX: f64 = 1.0;
/// Corner radius of tags.
const RADIUS_PX: f64 = 3.0;

impl Pen {
    /// Paints the boxes of an area.
    pub(super) fn boxes(&self, boxes: &DrawnBoxes, inks: &Inks) {
        let (followed, others): (Vec<_>, Vec<_>) =
            boxes.outlines.iter().partition(|outline| outline.is_followed);
        self.outlines(&others, inks.finding, LINE_PX);
        if !followed.is_empty() {
            self.outlines(&followed, inks.halo, FOLLOWED_PX + 2.0 * HALO_PX);
            self.outlines(&followed, inks.finding, FOLLOWED_PX);
        }
    }

    /// All outlines are one line: a thousand lines of their own would take milliseconds.
    fn outlines(&self, outlines: &[&BoxOutline], ink: &str, line_px: f64) {
        let context = self.context();
        context.set_stroke_style_str(ink);
        context.set_line_width(line_px);
        context.begin_path();
        for Rect { x_px, y_px, width_px, height_px } in outlines.iter().map(|of| of.rect) {
            // On whole pixels, so that they are crisp.
            let (left, top) = (x_px.round() - 0.5, y_px.round() + 0.5);
            context.rect(left, top, width_px.round(), height_px.round() - 1.0);
        }
        context.stroke();
    }

    /// Paints the tags of an area.
    pub(super) fn box_tags(&self, tags: &[BoxTag], inks: &Inks) {
        let (followed, others): (Vec<_>, Vec<_>) = tags.iter().partition(|tag| tag.is_followed);
        self.tags_in(&others, inks.finding_soft, inks.finding, inks.finding);
        self.tags_in(&followed, inks.finding, inks.finding, inks.on_finding);
    }

    /// Paints tags in one look. As with outlines, a path and a change of ink for each of them would
    /// take milliseconds.
    fn tags_in(&self, tags: &[&BoxTag], fill: &str, line: &str, ink: &str) {
        if tags.is_empty() {
            return;
        }
        let context = self.context();
        context.set_fill_style_str(fill);
        context.set_stroke_style_str(line);
        context.set_line_width(LINE_PX);
        context.begin_path();
        let top_px = |tag: &BoxTag| tag.rect.y_px.round() + 0.5;
        for tag in tags {
            let Rect { x_px, width_px, height_px, .. } = tag.rect;
            let (left, width, height) = (x_px.round() - 0.5, width_px.round(), height_px - 1.0);
            // Fails only for a negative radius.
            context.round_rect_with_f64(left, top_px(tag), width, height, RADIUS_PX).ok();
        }
        context.fill();
        context.stroke();
        context.set_fill_style_str(ink);
        for tag in tags {
            // Fails only for NaN.
            let middle_px = top_px(tag) + tag.rect.height_px / 2.0;
            context.fill_text(&tag.mark.label, tag.text_px(), middle_px).ok();
        }
    }
}
