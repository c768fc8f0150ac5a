//! The payload of a tile: what a group of tracks shows in one span of time, ready for drawing.

use serde::{Deserialize, Serialize};

/// One tile. Self-contained: it brings the texts it uses.
///
/// A tile covers [`CELLS`](crate::tile::CELLS) cells of its level. Where a lane has few slices in that span it brings
/// the slices themselves, else its cells' summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Version of this layout.
    pub version: u16,
    /// First moment that the tile covers.
    pub start_ps: i64,
    /// Width of a cell in picoseconds.
    pub cell_ps: i64,
    /// Texts that `name` numbers point into.
    pub names: Vec<String>,
    /// Which of them are names of waits, ascending.
    pub waits: Vec<u32>,
    /// Lanes that have anything in this span.
    pub lanes: Vec<Lane>,
}

/// One line of a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// The track.
    pub track: u32,
    /// The line within it, from 0 at the top.
    pub lane: u32,
    /// What it shows.
    pub content: Content,
}

/// What a lane shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// All slices that overlap the tile, in order of start.
    Slices(Vec<TileSlice>),
    /// Summaries of the cells that are not empty, in order.
    Cells(Vec<TileCell>),
    /// All samples in the tile, and the one before it, in order.
    Samples(Vec<TileSample>),
    /// Ranges of a counter in the cells that are not empty, in order.
    Ranges(Vec<TileRange>),
}

/// A slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileSlice {
    /// Start, relative to the tile's; negative where it began before.
    pub start_ps: i64,
    /// Full length; 0 for instants.
    pub duration_ps: i64,
    /// Its row.
    pub row: u32,
    /// Index into the tile's texts.
    pub name: u32,
    /// 0 complete, 1 instant, 2 unfinished.
    pub form: u8,
}

/// Several slices of one lane in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileCell {
    /// Which cell of the tile, from 0.
    pub cell: u32,
    /// Time covered by slices, in picoseconds, at most the cell's width.
    pub busy_ps: u64,
    /// The part of it in which nothing is done but waiting.
    pub wait_ps: u64,
    /// Slices that start in the cell.
    pub count: u32,
    /// The text with the most busy time here.
    pub name: u32,
    /// The row of the longest slice that overlaps the cell.
    pub longest_row: u32,
    /// Its full length.
    pub longest_ps: u64,
}

/// A sample of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileSample {
    /// When, relative to the tile's start; negative for the one before the tile.
    pub time_ps: i64,
    /// The value from then on.
    pub value: f64,
    /// Its row.
    pub row: u32,
}

/// The samples of a counter in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileRange {
    /// Which cell of the tile, from 0.
    pub cell: u32,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The last value, which holds until the next sample.
    pub last: f64,
}
