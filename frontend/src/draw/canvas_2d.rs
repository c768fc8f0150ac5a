//! Draws rectangles on a 2-D canvas, for browsers without WebGL2. The picture equals that of
//! [`super::webgl`]. The cost is one call per visible rectangle, so large windows move more slowly.

use std::collections::HashMap;
use std::ops::Range;

use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::batch::Batch;
use super::instance::{Instance, Paint};
use super::palette::{self, Ground};
use super::rectangle::{Rectangle, TilePlace};
use super::scene::Quads;
use super::shape::Band;
use super::surface::Surface;
use crate::fetch::TileKey;
use crate::view::rows::layout::sight::Area;

/// Opacity of the right end of an unfinished slice, of the area below a counter's line, and of a
/// range. `quad.frag` has the same values.
const FADED: f64 = 0.15;
const AREA: f64 = 0.35;
const EXTENT: f64 = 0.6;
/// Thickness of a counter's line in CSS pixels, as in `quad.frag`.
const LINE_PX: f64 = 1.75;
/// Number of steps in which an unfinished slice fades.
const FADE_STEPS: u32 = 16;
/// Hatching of waits: distance and thickness of its lines in CSS pixels, and their opacity, as in
/// `quad.frag`.
const HATCH_PX: f64 = 4.0;
const HATCH_LINE_PX: f64 = 2.0;
const HATCHED: f64 = 0.9;
/// Share of a diamond within its darker rim, and darkness of the rim, as in `quad.frag`.
const CORE: f64 = 0.68;
const RIM: f32 = 0.45;

/// The part of the canvas that is drawn, in device pixels.
struct Cut {
    inside: Rectangle,
    /// Height of the canvas, from whose foot hatches count.
    canvas: f64,
}

/// The canvas with the rectangles of all uploaded tiles.
#[derive(Debug)]
pub struct PlainPainter {
    context: CanvasRenderingContext2d,
    tiles: HashMap<TileKey, Vec<Instance>>,
    bands: Vec<Band>,
    /// The palette in CSS: each colour with the darker colour for a diamond's rim.
    colours: Vec<(String, String)>,
    /// The background of the current colours.
    colours_of: Option<Ground>,
}

impl PlainPainter {
    /// Prepares a canvas. `None` if the browser gives no context.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let tiles = HashMap::new();
        Some(Self { context, tiles, bands: Vec::new(), colours: Vec::new(), colours_of: None })
    }

    /// Returns true if a tile's rectangles were uploaded.
    #[must_use]
    pub fn has(&self, tile: TileKey) -> bool {
        self.tiles.contains_key(&tile)
    }

    /// Stores a tile's rectangles.
    pub fn upload(&mut self, tile: TileKey, batch: &Batch) {
        self.tiles.insert(tile, batch.instances.clone());
    }

    /// Frees a tile's rectangles.
    pub fn drop_tile(&mut self, tile: TileKey) {
        self.tiles.remove(&tile);
    }

    /// Frees all tiles.
    pub fn drop_all(&mut self) {
        self.tiles.clear();
    }

    /// Sets the positions of the lanes. Needed after each change of the layout.
    pub fn set_bands(&mut self, bands: Vec<Band>) {
        self.bands = bands;
    }

    /// Sets the colours of a background. Does nothing if they are already set.
    pub fn set_palette(&mut self, ground: Ground) {
        if self.colours_of == Some(ground) {
            return;
        }
        let css = |[red, green, blue]: palette::Rgb, dimmed: f32| {
            let part = |part: u8| (f32::from(part) * dimmed).round();
            format!("rgb({} {} {})", part(red), part(green), part(blue))
        };
        let colours = palette::colours(ground);
        self.colours = colours.into_iter().map(|colour| (css(colour, 1.0), css(colour, RIM))).collect();
        self.colours_of = Some(ground);
    }

    /// Begins a frame: clears the canvas and draws the vertical lines.
    pub fn clear(&self, surface: &Surface) {
        let context = &self.context;
        let (width, height) = surface.size_px();
        let (width, height) = (f64::from(width), f64::from(height));
        // Fails only for NaN.
        context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok();
        context.set_global_alpha(1.0);
        context.clear_rect(0.0, 0.0, width, height);
        context.set_fill_style_str(&surface.line_css());
        for x_px in &surface.lines_px {
            let thickness = surface.ratio.round().max(1.0);
            context.fill_rect((x_px * surface.ratio).round(), 0.0, thickness, height);
        }
    }

    /// Draws the rectangles of tiles in an area.
    pub fn draw(&self, surface: &Surface, area: &Area, all: &[Quads]) {
        for quads in all {
            self.draw_quads(quads, surface, area);
        }
        self.context.set_global_alpha(1.0);
    }

    fn draw_quads(&self, quads: &Quads, surface: &Surface, area: &Area) {
        let Some(instances) = self.tiles.get(&quads.tile) else { return };
        let columns = (quads.clip_px.0 * surface.ratio).round()..(quads.clip_px.1 * surface.ratio).round();
        let place = TilePlace {
            offset_px: quads.offset_px,
            cell_px: quads.cell_px,
            scroll_px: area.shift_px(),
            ratio: surface.ratio,
        };
        self.cut(surface, area, columns, |cut| {
            for run in &quads.instances {
                let Range { start, end } = *run;
                let run = instances.get(start as usize..end as usize).unwrap_or_default();
                self.draw_run(run, &place, cut);
            }
        });
    }

    /// Draws rectangles that belong to no tile, above those of the area. Their unit is a pixel of
    /// the screen.
    pub fn draw_loose(&self, surface: &Surface, area: &Area, instances: &[Instance]) {
        let place = TilePlace {
            offset_px: 0.0,
            cell_px: 1.0 / surface.ratio,
            scroll_px: area.shift_px(),
            ratio: surface.ratio,
        };
        let columns = 0.0..f64::from(surface.size_px().0);
        self.cut(surface, area, columns, |cut| self.draw_run(instances, &place, cut));
        self.context.set_global_alpha(1.0);
    }

    /// Draws nothing outside of an area and of some columns of the screen's pixels.
    fn cut(&self, surface: &Surface, area: &Area, columns: Range<f64>, draw: impl FnOnce(&Cut)) {
        let Range { start: left, end: right } = columns;
        let (top, foot) = surface.edges_px(area);
        let (top, foot) = (f64::from(top), f64::from(foot));
        let context = &self.context;
        context.save();
        context.begin_path();
        context.rect(left, top, (right - left).max(0.0), (foot - top).max(0.0));
        context.clip();
        let inside = Rectangle { left, top, right, bottom: foot };
        draw(&Cut { inside, canvas: f64::from(surface.size_px().1) });
        context.restore();
    }

    /// Draws those of `instances` that are in sight.
    fn draw_run(&self, instances: &[Instance], place: &TilePlace, cut: &Cut) {
        let inside = &cut.inside;
        for instance in instances {
            let Some(band) = self.bands.get(instance.lane as usize) else { continue };
            let Some(mut rectangle) = place.rectangle(instance, *band) else { continue };
            let is_in_sight = rectangle.left < inside.right && rectangle.right > inside.left;
            if is_in_sight && rectangle.top < inside.bottom && rectangle.bottom > inside.top {
                if matches!(instance.paint, Paint::Wait | Paint::WaitCell) {
                    (rectangle.left, rectangle.right) =
                        (rectangle.left.max(inside.left), rectangle.right.min(inside.right));
                }
                self.paint(instance, rectangle, place.ratio, cut.canvas);
            }
        }
    }

    fn paint(&self, instance: &Instance, rectangle: Rectangle, ratio: f64, height: f64) {
        let Some((colour, rim)) = self.colours.get(usize::from(instance.colour)) else { return };
        let context = &self.context;
        let alpha = f64::from(instance.alpha) / f64::from(u8::MAX);
        let Rectangle { left, top, right, bottom } = rectangle;
        context.set_fill_style_str(colour);
        context.set_global_alpha(alpha);
        match instance.paint {
            Paint::Slice | Paint::Cell | Paint::Tick | Paint::Heat => {
                context.fill_rect(left, top, right - left, bottom - top);
            }
            Paint::Wait | Paint::WaitCell => {
                context.set_global_alpha(alpha * HATCHED);
                self.hatch(rectangle, ratio, height);
            }
            Paint::Instant => {
                context.set_fill_style_str(rim);
                self.diamond(rectangle, 1.0);
                context.set_fill_style_str(colour);
                self.diamond(rectangle, CORE);
            }
            Paint::Unfinished => {
                let step = (right - left) / f64::from(FADE_STEPS);
                for at in (0..FADE_STEPS).map(f64::from) {
                    let share = (at + 0.5) / f64::from(FADE_STEPS);
                    context.set_global_alpha(alpha * (1.0 - share * (1.0 - FADED)));
                    context.fill_rect(left + at * step, top, step, bottom - top);
                }
            }
            Paint::Value => {
                // The number of rows whose middle lies on the line.
                let line = (LINE_PX * ratio - 0.5).ceil().min(bottom - top);
                context.fill_rect(left, top, right - left, line);
                context.set_global_alpha(alpha * AREA);
                context.fill_rect(left, top + line, right - left, bottom - top - line);
            }
            Paint::Range => {
                context.set_global_alpha(alpha * EXTENT);
                context.fill_rect(left, top, right - left, bottom - top);
            }
        }
    }

    /// Draws lines from the lower left to the upper right that continue across rectangles. In each
    /// row of pixels, the pixels whose middle lies on a line are drawn.
    fn hatch(&self, rectangle: Rectangle, ratio: f64, height: f64) {
        let context = &self.context;
        let Rectangle { left, top, right, bottom } = rectangle;
        let (step, thickness) = (HATCH_PX * ratio, HATCH_LINE_PX * ratio);
        context.begin_path();
        let mut y = top.max(0.0);
        while y < bottom.min(height) {
            let phase = height - (y + 0.5);
            let mut start = phase + ((left - thickness - phase) / step).floor() * step;
            while start < right {
                let from = (start - 0.5).ceil().max(left);
                let to = (start + thickness - 0.5).ceil().min(right);
                if to > from {
                    context.rect(from, y, to - from, 1.0);
                }
                start += step;
            }
            y += 1.0;
        }
        context.fill();
    }

    /// Draws a diamond in the middle of a rectangle, scaled to this share of its width and height.
    fn diamond(&self, rectangle: Rectangle, share: f64) {
        let context = &self.context;
        let (x, y) =
            (f64::midpoint(rectangle.left, rectangle.right), f64::midpoint(rectangle.top, rectangle.bottom));
        let half_width = (rectangle.right - rectangle.left) / 2.0 * share;
        let half_height = (rectangle.bottom - rectangle.top) / 2.0 * share;
        context.begin_path();
        context.move_to(x, y - half_height);
        context.line_to(x + half_width, y);
        context.line_to(x, y + half_height);
        context.line_to(x - half_width, y);
        context.close_path();
        context.fill();
    }
}
