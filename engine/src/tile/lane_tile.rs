//! The answer for one lane of a tile.

use super::summary::{PlacedCell, Range, SliceCell};
use crate::model::SliceForm;

/// One lane of a track in a tile.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneTile {
    /// Number of the lane.
    pub lane: u32,
    /// Slices, samples or cells of the lane.
    pub content: LaneContent,
}

/// Content of a lane in a tile.
#[derive(Debug, Clone, PartialEq)]
pub enum LaneContent {
    /// All slices that overlap the tile.
    Slices(Vec<LaneSlice>),
    /// Cells that are not empty.
    SliceCells(Vec<PlacedCell<SliceCell>>),
    /// All samples in the tile, and the sample before it, if there is one.
    Samples(Vec<LaneSample>),
    /// Cells that are not empty. The first cell is always present if a value holds from before.
    Ranges(Vec<PlacedCell<Range>>),
}

/// A slice of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSlice {
    /// Start in picoseconds since the profile's origin.
    pub start_ps: i64,
    /// Duration in picoseconds.
    pub duration_ps: i64,
    /// Row number of the slice.
    pub row: u32,
    /// Number of the slice's name.
    pub name: u32,
    /// Form of the slice.
    pub form: SliceForm,
    /// Lane of the slice.
    pub lane: u32,
    /// Number of slices of the track that enclose this one, if nesting means calls.
    pub depth: u32,
}

/// A sample of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneSample {
    /// Time in picoseconds since the profile's origin.
    pub time_ps: i64,
    /// Value from this time on.
    pub value: f64,
    /// Row number of the sample.
    pub row: u32,
}
