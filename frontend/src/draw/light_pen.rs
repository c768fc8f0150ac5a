//! Draws the light of a search: a veil over all rows but their hits, and a mark below each hit. The
//! heading of a closed group has marks.
//!
//! A row of light is painted once, as two rows of pixels: the veil with gaps, and the marks. A frame
//! stretches them over the lane, so it costs the same for three hits and for a million.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::document;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::light_band::{LightBand, LitBand};
use super::overlay::Pen;
use super::palette::Ground;
use crate::view::Sheet;
use crate::view::light::{Light, LitRow};

/// Rows of light that are kept at least.
const LEAST_ROWS: usize = 64;
/// Parts that a hit covers at least: two pixels at the coarsest.
const LEAST_CELLS: u32 = 4;
/// Height of the marks in a lane, and that of a lane from which on it has marks.
const MARK_PX: f64 = 2.0;
const MARKED_FROM_PX: f64 = 8.0;

/// Red, green, blue and opacity.
type Pixel = [u8; 4];

/// The veil: the ground of the timeline.
fn veil(ground: Ground) -> Pixel {
    match ground {
        Ground::Light => [255, 255, 255, 194],
        Ground::Dark => [21, 25, 31, 194],
    }
}

/// The marks: the colour of accents.
fn mark(ground: Ground) -> Pixel {
    match ground {
        Ground::Light => [52, 81, 198, 255],
        Ground::Dark => [142, 168, 255, 255],
    }
}

/// The rows of light that are painted.
#[derive(Debug)]
pub struct LitRows {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    of: Option<(Arc<Light>, Arc<Sheet>, Ground)>,
    /// The position of each row on the canvas.
    rows: HashMap<LitRow, usize>,
    room: usize,
}

impl LitRows {
    /// A canvas of its own. `None` if the browser gives none.
    #[must_use]
    pub fn new() -> Option<Self> {
        let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { canvas, context, of: None, rows: HashMap::new(), room: 0 })
    }

    /// Paints the rows that these bands need, unless they are there.
    pub fn paint<'b>(
        &mut self,
        light: &Arc<Light>,
        sheet: &Arc<Sheet>,
        ground: Ground,
        bands: impl Iterator<Item = &'b LightBand>,
    ) {
        let is_same = self.of.as_ref().is_some_and(|(of, on, before)| {
            Arc::ptr_eq(of, light) && Arc::ptr_eq(on, sheet) && *before == ground
        });
        let needed: Vec<LitRow> = bands.filter_map(|band| Some(band.lit?.row)).collect();
        let missing = needed.iter().filter(|row| !self.rows.contains_key(row)).count();
        if !is_same || self.rows.len() + missing > self.room {
            self.of = Some((Arc::clone(light), Arc::clone(sheet), ground));
            self.rows.clear();
            self.room = needed.len().next_power_of_two().max(LEAST_ROWS);
            let cells = needed.iter().filter_map(|row| Some(light.rank(row.source)?.cells)).max();
            // A new size clears the canvas.
            self.canvas.set_width(cells.unwrap_or(0));
            self.canvas.set_height(2 * self.room as u32);
        }
        for row in needed {
            if !self.rows.contains_key(&row) {
                let at = self.rows.len();
                self.rows.insert(row, at);
                self.put(at, &row, light, sheet, ground);
            }
        }
    }

    fn put(&self, at: usize, row: &LitRow, light: &Light, sheet: &Sheet, ground: Ground) {
        let cells = light.rank(row.source).map_or(0, |rank| rank.cells);
        let pixels = pixels(&light.stretches(sheet, row), cells, veil(ground), mark(ground));
        if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), cells, 2) {
            // Fails only for NaN.
            self.context.put_image_data(&image, 0.0, 2.0 * at as f64).ok();
        }
    }
}

/// A row of the veil with gaps at the hits, then one with marks there.
fn pixels(stretches: &[(u32, u32)], cells: u32, veil: Pixel, mark: Pixel) -> Vec<u8> {
    let mut pixels = [veil.repeat(cells as usize), vec![0; cells as usize * veil.len()]].concat();
    for &(first, end) in stretches {
        let more = LEAST_CELLS.saturating_sub(end - first);
        let first = first.saturating_sub(more / 2).min(cells) as usize;
        let end = end.saturating_add(more.div_ceil(2)).min(cells) as usize;
        let (dim, lit) = pixels.split_at_mut(cells as usize * veil.len());
        dim[first * veil.len()..end * veil.len()].fill(0);
        lit[first * veil.len()..end * veil.len()]
            .chunks_exact_mut(mark.len())
            .for_each(|one| one.copy_from_slice(&mark));
    }
    pixels
}

impl Pen {
    /// Draws the light of an area whose rows are painted.
    pub(super) fn light(&self, bands: &[LightBand], lit: &LitRows, width_px: f64) {
        let Some((.., ground)) = lit.of else { return };
        let [red, green, blue, opacity] = veil(ground);
        let context = self.context();
        context.set_fill_style_str(&format!("rgb({red} {green} {blue} / {})", f64::from(opacity) / 255.0));
        context.set_image_smoothing_enabled(false);
        for LightBand { y_px, height_px, lit: of } in bands {
            // The heading of a closed group has its own ground, so it has marks alone.
            let is_group = of.is_some_and(|of| of.row.lane.is_none());
            let known = of.and_then(|of| Some((of, *lit.rows.get(&of.row)?)));
            let Some((LitBand { x_px: (left, right), cells, .. }, at)) = known else {
                context.fill_rect(0.0, *y_px, width_px, *height_px);
                continue;
            };
            if !is_group {
                context.fill_rect(0.0, *y_px, left, *height_px);
                context.fill_rect(right, *y_px, width_px - right, *height_px);
            }
            let stretch = |row: f64, y_px: f64, height_px: f64| {
                let (from, wide) = (cells.0, cells.1 - cells.0);
                let stretched = context
                    .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                        &lit.canvas, from, row, wide, 1.0, left, y_px, right - left, height_px,
                    );
                // Fails only for a canvas without pixels.
                stretched.ok();
            };
            if !is_group {
                stretch(2.0 * at as f64, *y_px, *height_px);
            }
            if *height_px >= MARKED_FROM_PX {
                stretch(2.0 * at as f64 + 1.0, y_px + height_px - MARK_PX, MARK_PX);
            }
        }
    }
}
