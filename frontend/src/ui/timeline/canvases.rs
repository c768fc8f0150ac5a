//! The timeline's canvases, what draws on them, and what they show already: a canvas is painted
//! again only when something on it changed.

use nprof_engine::base::Interval;
use nprof_engine::tile::TileId;
use web_sys::HtmlCanvasElement;

use super::minimap::Picture;
use crate::draw::overlay::{Pen, Shade};
use crate::draw::painter::{Grounds, Painter};
use crate::draw::palette::Ground;
use crate::view::TimeScale;

/// Height of the ruler in CSS pixels; `timeline.css` gives it the same.
pub const RULER_PX: f64 = 24.0;

/// The canvases, once they are in the page.
#[derive(Debug)]
pub struct Canvases {
    /// For the rectangles.
    pub grounds: Grounds,
    /// For texts, above the rectangles.
    pub above: HtmlCanvasElement,
    /// The ruler.
    pub ruler: HtmlCanvasElement,
    /// The minimap.
    pub minimap: HtmlCanvasElement,
}

/// What the rectangles' canvas shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Below {
    /// Time over the width.
    pub scale: TimeScale,
    /// Height in CSS pixels.
    pub height_px: f64,
    /// Distance of the canvas's top from the top of the first row.
    pub scroll_px: f64,
    /// Pixels of the screen for a CSS pixel.
    pub ratio: f64,
    /// What colours stand on.
    pub ground: Ground,
    /// The tiles, each with the span that it is drawn for.
    pub pieces: Vec<(TileId, Interval)>,
}

/// What the ruler shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    /// Time over the width.
    pub scale: TimeScale,
    /// The moment that counts as zero.
    pub zero_ps: i64,
    /// Pixels of the screen for a CSS pixel.
    pub ratio: f64,
    /// What colours stand on.
    pub ground: Ground,
    /// The shaded spans.
    pub shades: Vec<Shade>,
}

/// What draws on the canvases.
#[derive(Debug)]
pub struct Tools {
    /// The canvases.
    pub canvases: Canvases,
    /// Draws the rectangles; `None` where the browser has nothing for it.
    pub painter: Option<Painter>,
    /// Draws above them.
    pub above: Pen,
    /// Draws the ruler.
    pub ruler: Pen,
    /// Draws the minimap.
    pub minimap: Picture,
    below: Option<Below>,
    ruled: Option<Ruled>,
}

impl Tools {
    /// Takes the canvases. Also says, in words for people, why the rectangles cannot be drawn,
    /// where that is so.
    ///
    /// # Errors
    /// Why nothing at all can be drawn, in words for people.
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
        Ok((Self { canvases, painter, above, ruler, minimap, below: None, ruled: None }, missing))
    }

    /// The browser took the graphics card away: draws without one until it is back.
    pub fn lose_card(&mut self) {
        if let Some(Painter::Card(_)) = self.painter {
            self.painter = Painter::plain(&self.canvases.grounds);
        }
        self.below = None;
    }

    /// The browser gave the graphics card back: the next frame uploads everything again.
    pub fn restore_card(&mut self) {
        self.painter = Painter::new(&self.canvases.grounds).ok();
        self.below = None;
    }

    /// Gives the canvases the pixels of the screen that they cover. Whichever of the rectangles'
    /// canvases is not in use gets none.
    pub fn fit(&self, (width_px, height_px): (f64, f64), ratio: f64) {
        let size = |height_px: f64| ((width_px * ratio).round() as u32, (height_px * ratio).round() as u32);
        if let Some(painter) = &self.painter {
            let (used, idle) = painter.canvases(&self.canvases.grounds);
            resize(used, size(height_px));
            resize(idle, (0, 0));
            // Browsers put a picture of their own on a canvas whose graphics card is lost.
            used.set_hidden(false);
            idle.set_hidden(true);
        }
        resize(&self.canvases.above, size(height_px));
        resize(&self.canvases.ruler, size(RULER_PX));
    }

    /// Whether the rectangles' canvas shows something else than this. It counts as painted from now
    /// on.
    pub fn is_below_new(&mut self, below: Below) -> bool {
        is_new(&mut self.below, below)
    }

    /// Whether the ruler shows something else than this. It counts as painted from now on.
    pub fn is_ruler_new(&mut self, ruled: Ruled) -> bool {
        is_new(&mut self.ruled, ruled)
    }
}

fn is_new<T: PartialEq>(shown: &mut Option<T>, wanted: T) -> bool {
    let is_new = shown.as_ref() != Some(&wanted);
    *shown = Some(wanted);
    is_new
}

fn resize(canvas: &HtmlCanvasElement, (width, height): (u32, u32)) {
    // Setting the size empties the canvas, even to what it is.
    if canvas.width() != width || canvas.height() != height {
        canvas.set_width(width);
        canvas.set_height(height);
    }
}
