//! The payload of a tile: the content of a group of tracks in one span of time, ready for drawing.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::model::SliceForm;

/// One tile, which contains all the texts it uses.
///
/// A tile covers [`CELLS`](crate::tile::CELLS) cells of its level. If a lane has few slices in that
/// span, the tile contains the slices themselves. Otherwise it contains a summary of each cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tile {
    /// Version of this layout.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub version: u16,
    /// First time that the tile covers.
    pub start_ps: i64,
    /// Width of a cell in picoseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileSlice {
    /// Start relative to the tile's start, in picoseconds; negative if the slice began before the
    /// tile.
    pub start_ps: i64,
    /// Full duration in picoseconds; 0 for instants.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub duration_ps: i64,
    /// Row number.
    pub row: u32,
    /// Index into the tile's texts.
    pub name: u32,
    /// Form of the slice.
    pub form: SliceForm,
}

/// Several slices of one lane in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileCell {
    /// Cell of the tile, from 0.
    #[cfg_attr(feature = "schema", schemars(range(max = 511)))]
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

/// A period of throttling, in which a device may use only a part of its peak. Time without a limit
/// has none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileLimit {
    /// Start relative to the tile's start, in picoseconds.
    pub start_ps: i64,
    /// Duration in picoseconds; a cell if short periods are summed up.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub duration_ps: i64,
    /// Row of the period, of the longest one of several.
    pub row: u32,
    /// Its name, as an index into the tile's texts.
    pub name: u32,
    /// Share of the peak that is allowed, from 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub share: f32,
    /// Part of the duration in which the limit holds, from 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub part: f32,
}

/// A sample of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileSample {
    /// Time relative to the tile's start, in picoseconds; negative for the sample before the tile.
    pub time_ps: i64,
    /// The value from that time on.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub value: f64,
    /// Row number.
    pub row: u32,
}

/// The samples of a counter in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileRange {
    /// Cell of the tile, from 0.
    #[cfg_attr(feature = "schema", schemars(range(max = 511)))]
    pub cell: u32,
    /// Smallest value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub min: f64,
    /// Largest value.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max: f64,
    /// The last value, which holds until the next sample.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub last: f64,
}

/// Caches keep tiles, so their times stay on the clock of the rank.
impl Timed for Tile {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
