//! Pictures of the light of a search: each row of light is two rows of pixels, a veil with gaps at
//! the hits and marks where they are. They are painted once for an answer.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use leptos::prelude::document;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::light_band::LightBand;
use super::palette::Ground;
use crate::view::Sheet;
use crate::view::light::{Light, LitRow};

/// Rows of light that are kept at least.
const LEAST_ROWS: usize = 64;
/// Parts that a hit covers at least: two pixels at the coarsest.
const LEAST_CELLS: u32 = 4;

/// Red, green, blue and opacity.
type Pixel = [u8; 4];

/// Opacity of the veil.
const VEIL: u8 = 194;

/// The veil over lanes: the ground of the timeline.
fn veil(ground: Ground) -> Pixel {
    match ground {
        Ground::Light => [255, 255, 255, VEIL],
        Ground::Dark => [21, 25, 31, VEIL],
    }
}

/// The veil over the headings of closed groups: their own ground.
fn group_veil(ground: Ground) -> Pixel {
    match ground {
        Ground::Light => [238, 240, 243, VEIL],
        Ground::Dark => [14, 17, 21, VEIL],
    }
}

/// The marks: the colour of accents, and on a dark ground, where many bars are blue, that of texts.
fn mark(ground: Ground) -> Pixel {
    match ground {
        Ground::Light => [52, 81, 198, 255],
        Ground::Dark => [255, 255, 255, 255],
    }
}

fn css([red, green, blue, opacity]: Pixel) -> String {
    format!("rgb({red} {green} {blue} / {})", f64::from(opacity) / 255.0)
}

/// The rows of light that are painted.
#[derive(Debug)]
pub struct LitRows {
    pub(super) canvas: HtmlCanvasElement,
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
            // Rows of the other time can follow. A new size clears the canvas.
            self.canvas.set_width(light.most_cells());
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

    /// The position of a row on the canvas: that of its veil, which the marks follow.
    pub(super) fn position(&self, row: &LitRow) -> Option<f64> {
        Some(2.0 * *self.rows.get(row)? as f64)
    }

    /// The veils in CSS: over lanes, and over headings of closed groups. `None` before anything is
    /// painted.
    pub(super) fn veils(&self) -> Option<[String; 2]> {
        let (.., ground) = self.of.as_ref()?;
        Some([css(veil(*ground)), css(group_veil(*ground))])
    }

    fn put(&self, at: usize, row: &LitRow, light: &Light, sheet: &Sheet, ground: Ground) {
        let cells = light.rank(row.source, row.time).map_or(0, |rank| rank.cells);
        let veil = if row.lane.is_some() { veil(ground) } else { group_veil(ground) };
        let pixels = pixels(&light.stretches(sheet, row), cells, veil, mark(ground));
        if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), cells, 2) {
            // Fails only for NaN.
            self.context.put_image_data(&image, 0.0, 2.0 * at as f64).ok();
        }
    }
}

/// A row of the veil with gaps at the hits, then one with marks there.
fn pixels(stretches: &[Range<u32>], cells: u32, veil: Pixel, mark: Pixel) -> Vec<u8> {
    let mut pixels = [veil.repeat(cells as usize), vec![0; cells as usize * veil.len()]].concat();
    for &Range { start: first, end } in stretches {
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
