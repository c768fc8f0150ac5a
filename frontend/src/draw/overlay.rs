//! The 2-D canvases: texts, outlines, arrows and shades above the rectangles, and the ruler.

use std::cell::OnceCell;
use std::collections::HashMap;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::arrow::{Arrow, Tag};
use super::finding_box::DrawnBoxes;
use super::front::{Front, FrontOf, Mark};
use super::label::Label;
use super::light_band::LightBand;
use super::lit_rows::LitRows;
use super::palette::{Ground, Ink};
use super::path_line::PathLine;
use super::scene::Rect;
use crate::view::TimeScale;
use crate::view::rows::layout::sight::Area;
use crate::view::time::ticks::Ruler;

const FONT: &str =
    "11px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Noto Sans\", \"Liberation Sans\", sans-serif";

/// CSS colours for one background.
pub(super) struct Inks {
    ground: &'static str,
    text: &'static str,
    muted: &'static str,
    selected: &'static str,
    hovered: &'static str,
    accent: &'static str,
    shade: &'static str,
    on_accent: &'static str,
    /// Colour around lines that cross bars of any colour.
    pub(super) halo: &'static str,
    /// Colour of the critical path, which no bar has.
    pub(super) path: &'static str,
    /// Colour over everything that is not on the path.
    pub(super) veil: &'static str,
    /// Colours of the boxes of findings: of lines and texts, of tags, and of texts on the colour of
    /// lines.
    pub(super) finding: &'static str,
    pub(super) finding_soft: &'static str,
    pub(super) on_finding: &'static str,
}

fn inks(ground: Ground) -> &'static Inks {
    match ground {
        Ground::Light => &Inks {
            ground: "#ffffff",
            text: "#1a1e24",
            muted: "#565f6b",
            selected: "#10141a",
            hovered: "rgb(16 20 26 / 55%)",
            accent: "#3451c6",
            shade: "rgb(52 81 198 / 14%)",
            on_accent: "#ffffff",
            halo: "#ffffff",
            path: "#c4127e",
            veil: "rgb(255 255 255 / 52%)",
            finding: "#8a4b00",
            finding_soft: "#fdf3e1",
            on_finding: "#ffffff",
        },
        Ground::Dark => &Inks {
            ground: "#15191f",
            text: "#e5e8ec",
            muted: "#9da7b3",
            selected: "#ffffff",
            hovered: "rgb(255 255 255 / 70%)",
            accent: "#8ea8ff",
            shade: "rgb(142 168 255 / 18%)",
            on_accent: "#0e1433",
            halo: "#0b0e13",
            path: "#ff5cb8",
            veil: "rgb(21 25 31 / 52%)",
            finding: "#f0b35a",
            finding_soft: "#35290f",
            on_finding: "#0e1115",
        },
    }
}

/// A span shaded from top to bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct Shade {
    /// Left and right edge, in CSS pixels.
    pub span_px: (f64, f64),
    /// Text in the middle of the span.
    pub label: String,
}

/// Everything drawn above the rectangles.
#[derive(Debug, Default)]
pub struct Above<'a> {
    /// The drawing of each area.
    pub areas: Vec<AreaAbove<'a>>,
    /// The rows of light that the areas need.
    pub lit: Option<&'a LitRows>,
    /// Arrows to and from the selected slice.
    pub arrows: Vec<Arrow>,
    /// The critical path, if it is shown.
    pub path: PathLine,
    /// The marked span and the one being dragged.
    pub shades: Vec<Shade>,
    /// Position of the pointer, for a hairline.
    pub pointer_px: Option<f64>,
}

/// Everything drawn above the rectangles of an area.
#[derive(Debug, Default)]
pub struct AreaAbove<'a> {
    /// The area, which cuts off everything that reaches beyond it.
    pub area: Area,
    /// Texts on slices.
    pub labels: Vec<Label<'a>>,
    /// The places that are clear while everything else is dim. `None` if nothing is.
    pub clear: Option<Vec<Rect>>,
    /// The light of a search, if it is shown.
    pub light: Vec<LightBand>,
    /// Boxes of findings.
    pub boxes: DrawnBoxes,
    /// The slice under the pointer.
    pub hovered: Option<Rect>,
    /// The selected slice.
    pub selected: Option<Rect>,
    /// Arrival fronts of the selected operation and of the one under the pointer.
    pub fronts: Vec<Front>,
    /// Transfers of these operations, from the row of a rank to that of another.
    pub transfers: Vec<Arrow>,
}

/// A 2-D canvas with a cache of text widths.
#[derive(Debug)]
pub struct Pen {
    context: CanvasRenderingContext2d,
    /// The font, as the browser writes it.
    font: OnceCell<String>,
    /// Widths of names in CSS pixels. Cleared when it grows large: most names repeat, but not all.
    widths: HashMap<String, f64>,
}

/// Approximate length of the straight part at both ends of an arrow.
const STRAIGHT_PX: f64 = 8.0;
/// Width of the line of an arrow.
const ARROW_PX: f64 = 1.5;
/// Corner radius of arrows that turn round.
const CORNER_PX: f64 = 5.0;

/// The place of a line in a row.
type PlaceOf = fn(&Mark) -> f64;

/// Widths of the lines through arrivals and through ends.
const START_LINE_PX: f64 = 2.0;
const END_LINE_PX: f64 = 1.0;
/// Width of the halo on each side of a line, and its opacity.
pub(super) const HALO_PX: f64 = 1.5;
pub(super) const HALO_STRENGTH: f64 = 0.7;
/// Radius of the dot on the awaited arrival.
const DOT_PX: f64 = 4.0;
/// Opacity of the front under the pointer.
const POINTED_STRENGTH: f64 = 0.75;

/// Draws an arrow to a slice that starts before the other one ends. The line leaves to the right,
/// runs back between the two lanes and arrives from the left.
fn back_to(context: &CanvasRenderingContext2d, arrow: &Arrow) {
    let ((x0, y0), (x1, y1)) = (arrow.from_px, arrow.to_px);
    // An arrow within one lane runs below the lane.
    let between = if (y1 - y0).abs() < 1.0 { y0 + 11.0 } else { f64::midpoint(y0, y1) };
    let (right, left) = (x0.max(x1 - STRAIGHT_PX) + STRAIGHT_PX, x1 - STRAIGHT_PX - CORNER_PX);
    let corners = [(right, y0), (right, between), (left, between), (left, y1), (x1, y1)];
    for pair in corners.windows(2) {
        let ((from_x, from_y), (to_x, to_y)) = (pair[0], pair[1]);
        // Fails only for a negative radius.
        context.arc_to(from_x, from_y, to_x, to_y, CORNER_PX).ok();
    }
    context.line_to(x1, y1);
}

/// Space between a text and the hatched band around it.
const GAP_PX: f64 = 3.0;
/// Height of a text.
const LABEL_HEIGHT_PX: f64 = 12.0;
/// Limit of cached text widths.
const MOST_WIDTHS: usize = 50_000;

impl Pen {
    /// Prepares a canvas. `None` if the browser gives no context.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { context, font: OnceCell::new(), widths: HashMap::new() })
    }

    pub(super) fn context(&self) -> &CanvasRenderingContext2d {
        &self.context
    }

    /// Sets the font, which a canvas loses with its size. Browsers compute the styles of the page
    /// for each font that is set, which takes half a millisecond if something has moved.
    fn choose_font(&self) {
        if self.font.get().is_none_or(|known| *known != self.context.font()) {
            self.context.set_font(FONT);
            self.font.get_or_init(|| self.context.font());
        }
    }

    /// Width of a text in CSS pixels.
    pub fn width_px(&mut self, text: &str) -> f64 {
        if let Some(width) = self.widths.get(text) {
            return *width;
        }
        self.choose_font();
        let width = self.context.measure_text(text).map_or(0.0, |metrics| metrics.width());
        if self.widths.len() >= MOST_WIDTHS {
            self.widths.clear();
        }
        self.widths.insert(text.to_owned(), width);
        width
    }

    /// Clears the canvas and sets its unit to CSS pixels.
    fn clear(&self, width_px: f64, height_px: f64, ratio: f64) {
        // Fails only for NaN.
        self.context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).ok();
        self.context.clear_rect(0.0, 0.0, width_px, height_px);
    }

    /// Draws everything above the rectangles.
    pub fn draw_above(&self, scale: &TimeScale, height_px: f64, ratio: f64, ground: Ground, above: &Above) {
        let inks = inks(ground);
        let context = &self.context;
        self.clear(scale.width_px, height_px, ratio);
        self.choose_font();
        context.set_text_baseline("middle");
        context.set_text_align("left");
        for part in &above.areas {
            context.save();
            context.begin_path();
            context.rect(0.0, part.area.top_px, scale.width_px, part.area.height_px);
            context.clip();
            self.draw_area(part, above.lit, scale.width_px, inks);
            context.restore();
        }
        self.path(&above.path, scale.width_px, inks);
        for arrow in &above.arrows {
            self.arrow(arrow, inks.accent);
        }
        let tags = above.arrows.iter().filter_map(|arrow| arrow.tag.as_ref());
        for tag in tags.filter(|tag| !tag.text.is_empty()) {
            self.tag(tag, scale.width_px, inks.accent, inks);
        }
        for shade in &above.shades {
            self.shade(shade, height_px, inks);
        }
        if let Some(x_px) = above.pointer_px {
            context.set_fill_style_str(inks.hovered);
            context.set_global_alpha(0.4);
            context.fill_rect(x_px.round(), 0.0, 1.0, height_px);
            context.set_global_alpha(1.0);
        }
    }

    fn draw_area(&self, above: &AreaAbove<'_>, lit: Option<&LitRows>, width_px: f64, inks: &Inks) {
        let context = &self.context;
        context.set_fill_style_str(inks.ground);
        for label in above.labels.iter().filter(|label| label.gap_px > 0.0) {
            let (left, top) = (label.x_px - GAP_PX, label.y_px - LABEL_HEIGHT_PX / 2.0);
            context.fill_rect(left, top, label.gap_px + 2.0 * GAP_PX, LABEL_HEIGHT_PX);
        }
        // A change of ink costs more than a second look at each label.
        for ink in [Ink::Dark, Ink::White] {
            context.set_fill_style_str(ink.css());
            for label in above.labels.iter().filter(|label| label.ink == ink) {
                // Fails only for NaN.
                context.fill_text(&label.text, label.x_px, label.y_px + 0.5).ok();
            }
        }
        if let Some(clear) = &above.clear {
            self.veil(above.area, width_px, clear, inks);
        }
        if let Some(lit) = lit {
            self.light(&above.light, lit, width_px);
        }
        self.boxes(&above.boxes, inks);
        for front in &above.fronts {
            self.front(front, inks);
        }
        for arrow in &above.transfers {
            self.transfer(arrow, inks);
        }
        if let Some(rect) = above.hovered {
            self.outline(rect, width_px, inks.hovered, 1.0);
        }
        if let Some(rect) = above.selected {
            self.outline(rect, width_px, inks.selected, 2.0);
        }
        self.box_tags(&above.boxes.tags, inks);
    }

    /// Draws the ruler. Labels count from a base that is drawn elsewhere.
    pub fn draw_ruler(
        &mut self,
        scale: &TimeScale,
        ruler: &Ruler,
        height_px: f64,
        ratio: f64,
        ground: Ground,
        shades: &[Shade],
    ) {
        let inks = inks(ground);
        let fits: Vec<bool> = ruler
            .ticks
            .iter()
            .map(|tick| scale.px_from_time(tick.time_ps) + self.width_px(&tick.label) + 8.0 <= scale.width_px)
            .collect();
        let context = &self.context;
        self.clear(scale.width_px, height_px, ratio);
        for shade in shades {
            let (left, right) = shade.span_px;
            context.set_fill_style_str(inks.shade);
            context.fill_rect(left, 0.0, (right - left).max(1.0), height_px);
        }
        context.set_fill_style_str(inks.muted);
        let minor_px = ruler.minor_ps as f64 * scale.px_per_ps();
        let since_zero_ps = scale.window.start.0.saturating_sub(ruler.zero_ps);
        let first_ps = since_zero_ps.div_euclid(ruler.minor_ps).saturating_mul(ruler.minor_ps);
        let mut x_px = scale.px_from_time(first_ps.saturating_add(ruler.zero_ps));
        while x_px < scale.width_px && minor_px >= 1.0 {
            context.fill_rect(x_px.round(), height_px - 4.0, 1.0, 4.0);
            x_px += minor_px;
        }
        self.choose_font();
        context.set_text_baseline("middle");
        context.set_text_align("left");
        context.set_fill_style_str(inks.text);
        for (tick, fits) in ruler.ticks.iter().zip(fits) {
            let x_px = scale.px_from_time(tick.time_ps).round();
            context.fill_rect(x_px, 4.0, 1.0, height_px - 4.0);
            // Half a label could be misread. The tick stays.
            if fits {
                context.fill_text(&tick.label, x_px + 4.0, height_px / 2.0).ok();
            }
        }
    }

    fn outline(&self, rect: Rect, canvas_px: f64, ink: &str, line_px: f64) {
        let context = &self.context;
        let left = rect.x_px.max(-10.0).round();
        let right = (rect.x_px + rect.width_px).min(canvas_px + 10.0).round();
        context.set_stroke_style_str(ink);
        context.set_line_width(line_px);
        let width = (right - left).max(3.0);
        context.stroke_rect(left - 0.5, rect.y_px.round() - 0.5, width, rect.height_px.round() + 1.0);
    }

    /// Draws a front. A halo sets its lines apart from bars and hatches of any colour. Lines stand
    /// on whole pixels within rows, so that they are crisp there.
    fn front(&self, front: &Front, inks: &Inks) {
        let context = &self.context;
        context.set_line_join("round");
        let lines: [(PlaceOf, f64); 2] =
            [(|mark| mark.end_px.floor() + 0.5, END_LINE_PX), (|mark| mark.start_px.round(), START_LINE_PX)];
        let strength = if front.of == FrontOf::Selected { 1.0 } else { POINTED_STRENGTH };
        for (x_px, line_px) in lines {
            for (ink, width_px, alpha) in
                [(inks.halo, line_px + 2.0 * HALO_PX, HALO_STRENGTH), (inks.accent, line_px, 1.0)]
            {
                context.set_global_alpha(alpha * strength);
                context.set_stroke_style_str(ink);
                context.set_line_width(width_px);
                context.begin_path();
                for mark in &front.marks {
                    context.line_to(x_px(mark), mark.span_px.0);
                    context.line_to(x_px(mark), mark.span_px.1);
                }
                context.stroke();
            }
        }
        if let Some((x_px, y_px)) = front.awaited_px {
            for (ink, radius_px) in [(inks.halo, DOT_PX + HALO_PX), (inks.accent, DOT_PX)] {
                context.set_fill_style_str(ink);
                context.begin_path();
                // Fails only for a negative radius.
                context.arc(x_px, y_px, radius_px, 0.0, std::f64::consts::TAU).ok();
                context.fill();
            }
        }
        context.set_global_alpha(1.0);
        context.set_line_join("miter");
    }

    fn arrow(&self, arrow: &Arrow, ink: &str) {
        let context = &self.context;
        let dash = if arrow.tag.is_some() { [4.0, 3.0].map(JsValue::from_f64).to_vec() } else { Vec::new() };
        // Fails only if the argument is not a list.
        context.set_line_dash(&js_sys::Array::from_iter(dash)).ok();
        context.set_stroke_style_str(ink);
        context.set_line_width(ARROW_PX);
        self.arrow_line(arrow);
        context.set_line_dash(&js_sys::Array::new()).ok();
        self.arrow_head(arrow, ink);
    }

    /// Draws an arrow that crosses bars of any colour.
    fn transfer(&self, arrow: &Arrow, inks: &Inks) {
        let context = &self.context;
        for (ink, width_px, alpha) in
            [(inks.halo, ARROW_PX + 2.0 * HALO_PX, HALO_STRENGTH), (inks.text, ARROW_PX, 1.0)]
        {
            context.set_global_alpha(alpha);
            context.set_stroke_style_str(ink);
            context.set_line_width(width_px);
            self.arrow_line(arrow);
        }
        self.arrow_head(arrow, inks.text);
    }

    fn arrow_line(&self, arrow: &Arrow) {
        let context = &self.context;
        let ((x0, y0), (x1, y1)) = (arrow.from_px, arrow.to_px);
        context.begin_path();
        context.move_to(x0, y0);
        if x1 >= x0 {
            // Touching slices of one lane leave no room for a bend. Others need a little.
            let least = if (y1 - y0).abs() < 1.0 { 0.0 } else { STRAIGHT_PX };
            let bend = ((x1 - x0) / 2.0).clamp(least, 120.0);
            context.bezier_curve_to(x0 + bend, y0, x1 - bend, y1, x1, y1);
        } else {
            back_to(context, arrow);
        }
        context.stroke();
    }

    fn arrow_head(&self, arrow: &Arrow, ink: &str) {
        let context = &self.context;
        let (x1, y1) = arrow.to_px;
        context.set_fill_style_str(ink);
        context.begin_path();
        context.move_to(x1, y1);
        context.line_to(x1 - 6.0, y1 - 3.5);
        context.line_to(x1 - 6.0, y1 + 3.5);
        context.close_path();
        context.fill();
    }

    /// Draws a text at the end of an arrow that points out of sight, and keeps it inside the
    /// canvas.
    pub(super) fn tag(&self, tag: &Tag, canvas_px: f64, ink: &str, inks: &Inks) {
        const HEIGHT_PX: f64 = 16.0;
        let context = &self.context;
        self.choose_font();
        let width = context.measure_text(&tag.text).map_or(0.0, |metrics| metrics.width()) + 10.0;
        let left = (tag.at_px.0 - width / 2.0).clamp(2.0, (canvas_px - width - 2.0).max(2.0));
        let top = tag.at_px.1 - HEIGHT_PX / 2.0;
        context.set_fill_style_str(ink);
        context.fill_rect(left, top, width, HEIGHT_PX);
        context.set_fill_style_str(inks.on_accent);
        context.set_text_align("left");
        context.set_text_baseline("middle");
        context.fill_text(&tag.text, left + 5.0, tag.at_px.1 + 0.5).ok();
    }

    fn shade(&self, shade: &Shade, height_px: f64, inks: &Inks) {
        let context = &self.context;
        let (left, right) = shade.span_px;
        context.set_fill_style_str(inks.shade);
        context.fill_rect(left, 0.0, right - left, height_px);
        context.set_fill_style_str(inks.accent);
        context.fill_rect(left.round(), 0.0, 1.0, height_px);
        context.fill_rect(right.round() - 1.0, 0.0, 1.0, height_px);
        if shade.label.is_empty() {
            return;
        }
        self.choose_font();
        let width = context.measure_text(&shade.label).map_or(0.0, |metrics| metrics.width()) + 12.0;
        let middle = f64::midpoint(left.max(0.0), right);
        context.fill_rect(middle - width / 2.0, 6.0, width, 18.0);
        context.set_fill_style_str(inks.on_accent);
        context.set_text_align("center");
        context.set_text_baseline("middle");
        context.fill_text(&shade.label, middle, 15.5).ok();
    }
}
