//! The timeline's canvases, their painters, and their current content. A canvas is painted again
//! only if its content changed.

use std::sync::Arc;

use nprof_engine::base::Interval;
use web_sys::HtmlCanvasElement;

use super::minimap::Picture;
use crate::draw::lit_rows::LitRows;
use crate::draw::overlay::{Pen, Shade};
use crate::draw::painter::{Grounds, Painter};
use crate::draw::palette::Ground;
use crate::fetch::TileKey;
use crate::view::rows::layout::sight::RowSight;
use crate::view::run_waits::WaitStretch;
use crate::view::{Size, TimeScale};

/// Height of the ruler in CSS pixels; `timeline.css` gives it the same.
pub const RULER_PX: f64 = 24.0;

/// The canvases, once they are in the page.
#[derive(Debug)]
pub struct Canvases {
    /// Canvases of the rectangles.
    pub grounds: Grounds,
    /// Canvas of texts, above the rectangles.
    pub above: HtmlCanvasElement,
    /// Canvas of the ruler.
    pub ruler: HtmlCanvasElement,
    /// Canvas of the minimap.
    pub minimap: HtmlCanvasElement,
}

/// Content of the rectangles' canvas.
#[derive(Debug, Clone, PartialEq)]
pub struct Below {
    /// Time over the width.
    pub scale: TimeScale,
    /// The areas of the canvas.
    pub sight: RowSight,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
    /// Background of the canvas.
    pub ground: Ground,
    /// The tiles, each with the span for which it is drawn.
    pub pieces: Vec<(TileKey, Interval)>,
    /// The waits, if they are shown.
    pub waits: Option<Arc<Vec<WaitStretch>>>,
}

/// Content of the ruler.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    /// Time over the width.
    pub scale: TimeScale,
    /// The timestamp that counts as zero.
    pub zero_ps: i64,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
    /// Background of the canvas.
    pub ground: Ground,
    /// The shaded spans.
    pub shades: Vec<Shade>,
}

/// The painters of the canvases.
#[derive(Debug)]
pub struct Tools {
    /// The canvases.
    pub canvases: Canvases,
    /// Draws the rectangles. `None` if the browser supports no painter.
    pub painter: Option<Painter>,
    /// Draws above the rectangles.
    pub above: Pen,
    /// Draws the ruler.
    pub ruler: Pen,
    /// Draws the minimap.
    pub minimap: Picture,
    /// The rows of light that are painted. `None` if the browser gives no further canvas.
    pub lit: Option<LitRows>,
    below: Option<Below>,
    ruled: Option<Ruled>,
}

impl Tools {
    /// Takes the canvases. If the rectangles cannot be drawn, the second value says why, in words
    /// for people.
    ///
    /// # Errors
    /// If nothing at all can be drawn, says why in words for people.
    pub fn new(canvases: Canvases) -> Result<(Self, Option<String>), String> {
        let no_canvas = || {
            "This browser gives no 2-D canvas to draw the timeline on: allow canvases for this page, then reload it"
                .to_owned()
        };
        let above = Pen::new(&canvases.above).ok_or_else(no_canvas)?;
        let ruler = Pen::new(&canvases.ruler).ok_or_else(no_canvas)?;
        let minimap = Picture::new(&canvases.minimap).ok_or_else(no_canvas)?;
        let (painter, missing) = match Painter::new(&canvases.grounds) {
            Ok(painter) => (Some(painter), None),
            Err(reason) => (None, Some(reason)),
        };
        let lit = LitRows::new();
        Ok((Self { canvases, painter, above, ruler, minimap, lit, below: None, ruled: None }, missing))
    }

    /// Switches to the 2-D painter after the browser took the graphics card away.
    pub fn lose_card(&mut self) {
        if let Some(Painter::Card(_)) = self.painter {
            self.painter = Painter::plain(&self.canvases.grounds);
        }
        self.below = None;
    }

    /// Switches back after the browser returned the graphics card. The next frame uploads all tiles
    /// again.
    pub fn restore_card(&mut self) {
        self.painter = Painter::new(&self.canvases.grounds).ok();
        self.below = None;
    }

    /// Sets the canvases to the device pixels that they cover. The rectangles' canvas that is not
    /// in use gets none.
    pub fn fit(&self, size: Size, ratio: f64) {
        let device_px = |px: f64| (px * ratio).round() as u32;
        let (width, height) = (device_px(size.width_px), device_px(size.height_px));
        if let Some(painter) = &self.painter {
            let (used, idle) = painter.canvases(&self.canvases.grounds);
            resize(used, width, height);
            resize(idle, 0, 0);
            // Browsers show a picture of their own on a canvas with a lost graphics card.
            used.set_hidden(false);
            idle.set_hidden(true);
        }
        resize(&self.canvases.above, width, height);
        resize(&self.canvases.ruler, width, device_px(RULER_PX));
    }

    /// Returns true if the rectangles' canvas shows other content than this. The new content counts
    /// as painted from now on.
    pub fn is_below_new(&mut self, below: Below) -> bool {
        is_new(&mut self.below, below)
    }

    /// Returns true if the ruler shows other content than this. The new content counts as painted
    /// from now on.
    pub fn is_ruler_new(&mut self, ruled: Ruled) -> bool {
        is_new(&mut self.ruled, ruled)
    }
}

fn is_new<T: PartialEq>(shown: &mut Option<T>, wanted: T) -> bool {
    let is_new = shown.as_ref() != Some(&wanted);
    *shown = Some(wanted);
    is_new
}

fn resize(canvas: &HtmlCanvasElement, width: u32, height: u32) {
    // Setting the size clears the canvas, even if the size is unchanged.
    if canvas.width() != width || canvas.height() != height {
        canvas.set_width(width);
        canvas.set_height(height);
    }
}
