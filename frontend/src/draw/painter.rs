//! Carries rectangles to the screen: with WebGL2 where the browser has it, else on a 2-D canvas.

use nprof_engine::tile::TileId;
use web_sys::HtmlCanvasElement;

use super::batch::{Batch, Instance};
use super::palette::Ground;
use super::scene::Quads;
use super::shape::Band;
use super::surface::Surface;
use super::{plain, webgl};

/// One of the two ways to draw. The picture is the same.
#[derive(Debug)]
pub enum Painter {
    /// On the graphics card.
    Card(webgl::Painter),
    /// On a 2-D canvas.
    Plain(plain::Painter),
}

/// The canvases of the two ways. A canvas that had a context of one kind never gets one of the
/// other.
#[derive(Debug)]
pub struct Grounds {
    /// For WebGL2.
    pub card: HtmlCanvasElement,
    /// For 2-D.
    pub plain: HtmlCanvasElement,
}

impl Painter {
    /// The best way that the browser has.
    ///
    /// # Errors
    /// Where there is none, what is missing, in words for people.
    pub fn new(grounds: &Grounds) -> Result<Self, String> {
        match webgl::Painter::new(&grounds.card) {
            Ok(painter) => Ok(Self::Card(painter)),
            Err(reason) => Self::plain(grounds).ok_or_else(|| {
                format!("{}, and no 2-D canvas instead: allow one of the two for this page", reason.0)
            }),
        }
    }

    /// The way that needs no graphics card; `None` where the browser gives no 2-D canvas.
    #[must_use]
    pub fn plain(grounds: &Grounds) -> Option<Self> {
        plain::Painter::new(&grounds.plain).map(Self::Plain)
    }

    /// The canvas that is drawn on, and the one that stays empty.
    #[must_use]
    pub fn canvases<'a>(&self, grounds: &'a Grounds) -> (&'a HtmlCanvasElement, &'a HtmlCanvasElement) {
        match self {
            Self::Card(_) => (&grounds.card, &grounds.plain),
            Self::Plain(_) => (&grounds.plain, &grounds.card),
        }
    }

    /// Whether a tile was uploaded.
    #[must_use]
    pub fn has(&self, tile: TileId) -> bool {
        match self {
            Self::Card(painter) => painter.has(tile),
            Self::Plain(painter) => painter.has(tile),
        }
    }

    /// Uploads a tile's rectangles.
    pub fn upload(&mut self, tile: TileId, batch: &Batch) {
        match self {
            Self::Card(painter) => painter.upload(tile, batch),
            Self::Plain(painter) => painter.upload(tile, batch),
        }
    }

    /// Frees a tile's rectangles.
    pub fn drop_tile(&mut self, tile: TileId) {
        match self {
            Self::Card(painter) => painter.drop_tile(tile),
            Self::Plain(painter) => painter.drop_tile(tile),
        }
    }

    /// Frees all tiles: another rank is shown.
    pub fn drop_all(&mut self) {
        match self {
            Self::Card(painter) => painter.drop_all(),
            Self::Plain(painter) => painter.drop_all(),
        }
    }

    /// Tells where the lanes stand; needed after each change of the layout.
    pub fn set_bands(&mut self, bands: Vec<Band>) {
        match self {
            Self::Card(painter) => painter.set_bands(&bands),
            Self::Plain(painter) => painter.set_bands(bands),
        }
    }

    /// Takes the colours for a ground; does nothing where they are here already.
    pub fn set_palette(&mut self, ground: Ground) {
        match self {
            Self::Card(painter) => painter.set_palette(ground),
            Self::Plain(painter) => painter.set_palette(ground),
        }
    }

    /// Draws rectangles that belong to no tile, above those of a frame that was just drawn. Their
    /// unit is a pixel of the screen.
    pub fn draw_loose(&mut self, surface: &Surface, instances: &[Instance]) {
        match self {
            Self::Card(painter) => painter.draw_loose(surface, instances),
            Self::Plain(painter) => painter.draw_loose(surface, instances),
        }
    }

    /// Draws a frame.
    pub fn draw(&self, surface: &Surface, all: &[Quads]) {
        match self {
            Self::Card(painter) => painter.draw(surface, all),
            Self::Plain(painter) => painter.draw(surface, all),
        }
    }
}
