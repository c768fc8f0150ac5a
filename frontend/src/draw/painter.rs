//! Draws rectangles: with WebGL2 if the browser has it, else on a 2-D canvas.

use web_sys::HtmlCanvasElement;

use super::batch::Batch;
use super::canvas_2d::PlainPainter;
use super::instance::Instance;
use super::palette::Ground;
use super::scene::Quads;
use super::shape::Band;
use super::surface::Surface;
use super::webgl::CardPainter;
use crate::fetch::TileKey;
use crate::view::rows::layout::sight::Area;

/// A painter of one of the two kinds. Both draw the same picture.
#[derive(Debug)]
pub enum Painter {
    /// Draws with the graphics card.
    Card(CardPainter),
    /// Draws on a 2-D canvas.
    Plain(PlainPainter),
}

/// The canvases of the two painters. A canvas that had a context of one kind never gets a context
/// of the other kind.
#[derive(Debug)]
pub struct Grounds {
    /// Canvas for WebGL2.
    pub card: HtmlCanvasElement,
    /// Canvas for 2-D.
    pub plain: HtmlCanvasElement,
}

impl Painter {
    /// The best painter that the browser supports.
    ///
    /// # Errors
    /// If the browser supports neither, says what is missing, in words for people.
    pub fn new(grounds: &Grounds) -> Result<Self, String> {
        match CardPainter::new(&grounds.card) {
            Ok(painter) => Ok(Self::Card(painter)),
            Err(reason) => Self::plain(grounds).ok_or_else(|| {
                format!("{}, and no 2-D canvas instead: allow one of the two for this page", reason.0)
            }),
        }
    }

    /// The painter without a graphics card. `None` if the browser gives no 2-D canvas.
    #[must_use]
    pub fn plain(grounds: &Grounds) -> Option<Self> {
        PlainPainter::new(&grounds.plain).map(Self::Plain)
    }

    /// The canvas in use, then the one that stays empty.
    #[must_use]
    pub fn canvases<'a>(&self, grounds: &'a Grounds) -> (&'a HtmlCanvasElement, &'a HtmlCanvasElement) {
        match self {
            Self::Card(_) => (&grounds.card, &grounds.plain),
            Self::Plain(_) => (&grounds.plain, &grounds.card),
        }
    }

    /// Returns true if a tile was uploaded.
    #[must_use]
    pub fn has(&self, tile: TileKey) -> bool {
        match self {
            Self::Card(painter) => painter.has(tile),
            Self::Plain(painter) => painter.has(tile),
        }
    }

    /// Uploads a tile's rectangles.
    pub fn upload(&mut self, tile: TileKey, batch: &Batch) {
        match self {
            Self::Card(painter) => painter.upload(tile, batch),
            Self::Plain(painter) => painter.upload(tile, batch),
        }
    }

    /// Frees a tile's rectangles.
    pub fn drop_tile(&mut self, tile: TileKey) {
        match self {
            Self::Card(painter) => painter.drop_tile(tile),
            Self::Plain(painter) => painter.drop_tile(tile),
        }
    }

    /// Frees all tiles, before another rank is shown.
    pub fn drop_all(&mut self) {
        match self {
            Self::Card(painter) => painter.drop_all(),
            Self::Plain(painter) => painter.drop_all(),
        }
    }

    /// Sets the positions of the lanes. Needed after each change of the layout.
    pub fn set_bands(&mut self, bands: Vec<Band>) {
        match self {
            Self::Card(painter) => painter.set_bands(&bands),
            Self::Plain(painter) => painter.set_bands(bands),
        }
    }

    /// Sets the colours of a background. Does nothing if they are already set.
    pub fn set_palette(&mut self, ground: Ground) {
        match self {
            Self::Card(painter) => painter.set_palette(ground),
            Self::Plain(painter) => painter.set_palette(ground),
        }
    }

    /// Begins a frame: clears the canvas and draws the vertical lines.
    pub fn clear(&self, surface: &Surface) {
        match self {
            Self::Card(painter) => painter.clear(surface),
            Self::Plain(painter) => painter.clear(surface),
        }
    }

    /// Draws the rectangles of tiles in an area.
    pub fn draw(&self, surface: &Surface, area: &Area, all: &[Quads]) {
        match self {
            Self::Card(painter) => painter.draw(surface, area, all),
            Self::Plain(painter) => painter.draw(surface, area, all),
        }
    }

    /// Draws rectangles that belong to no tile, above those of the area. Their unit is a pixel of
    /// the screen.
    pub fn draw_loose(&mut self, surface: &Surface, area: &Area, instances: &[Instance]) {
        match self {
            Self::Card(painter) => painter.draw_loose(surface, area, instances),
            Self::Plain(painter) => painter.draw_loose(surface, area, instances),
        }
    }
}
