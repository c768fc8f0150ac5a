//! The payload of a tile: the content of a group of tracks in one span of time, ready for drawing.

use serde::{Deserialize, Serialize};

use crate::model::Form;

/// One tile, which contains all the texts it uses.
///
/// A tile covers [`CELLS`](crate::tile::CELLS) cells of its level. If a lane has few slices in that
/// span, the tile contains the slices themselves. Otherwise it contains a summary of each cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Version of this layout.
    pub version: u16,
    /// First time that the tile covers.
    pub start_ps: i64,
    /// Width of a cell in picoseconds.
    pub cell_ps: i64,
    /// Texts that `name` fields index.
    pub names: Vec<String>,
    /// Indices of the names of waits, ascending.
    pub waits: Vec<u32>,
    /// Lanes that have content in this span.
    pub lanes: Vec<TileLane>,
}

/// One lane of a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TileLane {
    /// Number of the track.
    pub track: u32,
    /// Lane within the track, from 0 at the top.
    pub lane: u32,
    /// Content of the lane.
    pub content: Content,
}

/// Content of a lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// All slices that overlap the tile, in order of start.
    Slices(Vec<TileSlice>),
    /// Summaries of the non-empty cells, in order.
    Cells(Vec<TileCell>),
    /// All samples in the tile and the last one before it, in order.
    Samples(Vec<TileSample>),
    /// Ranges of a counter in the non-empty cells, in order.
    Ranges(Vec<TileRange>),
    /// Periods of throttling with a limit that overlap the tile, in order of start.
    Limits(Vec<TileLimit>),
}

/// A slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileSlice {
    /// Start relative to the tile's start, in picoseconds; negative if the slice began before the
    /// tile.
    pub start_ps: i64,
    /// Full duration in picoseconds; 0 for instants.
    pub duration_ps: i64,
    /// Row number.
    pub row: u32,
    /// Index into the tile's texts.
    pub name: u32,
    /// Form of the slice.
    pub form: Form,
}

/// Several slices of one lane in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileCell {
    /// Cell of the tile, from 0.
    pub cell: u32,
    /// Time covered by slices, in picoseconds, at most the cell's width.
    pub busy_ps: u64,
    /// The part of the busy time that is only waiting, in picoseconds.
    pub wait_ps: u64,
    /// Number of slices that start in the cell.
    pub count: u32,
    /// The text with the most busy time in the cell, as an index.
    pub name: u32,
    /// The row of the longest slice that overlaps the cell.
    pub longest_row: u32,
    /// Full duration of that longest slice, in picoseconds.
    pub longest_ps: u64,
}

/// A period in which a device may use only a part of its peak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileLimit {
    /// Start relative to the tile's start, in picoseconds.
    pub start_ps: i64,
    /// Duration in picoseconds; a cell if short periods are summed up.
    pub duration_ps: i64,
    /// Row of the period, of the longest one of several.
    pub row: u32,
    /// Its name, as an index into the tile's texts.
    pub name: u32,
    /// Share of the peak that is allowed, from 0 to 1.
    pub share: f32,
    /// Part of the duration in which the limit holds, from 0 to 1.
    pub part: f32,
}

/// A sample of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileSample {
    /// Time relative to the tile's start, in picoseconds; negative for the sample before the tile.
    pub time_ps: i64,
    /// The value from that time on.
    pub value: f64,
    /// Row number.
    pub row: u32,
}

/// The samples of a counter in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TileRange {
    /// Cell of the tile, from 0.
    pub cell: u32,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// The last value, which holds until the next sample.
    pub last: f64,
}
