//! Tiles: what a group of tracks shows in one span of time, at one level of detail.
//!
//! A tile never looks at pixels. It is the same for every window and every screen, so it can be cached by its id.
//!
//! Where a lane has few slices in a tile's span, the tile brings the slices. Where it has many, it brings a summary of
//! each cell: computed from the rows at fine levels, read from the stored pyramid at coarse ones.

mod cascade;
mod cut;
pub mod grid;
mod group;
mod lane_cells;
mod name_sums;
mod name_times;
mod pyramid;
mod row_lanes;
mod slice_block;
mod summary;

pub use cascade::Cascade;
pub use cut::{LaneContent, LaneSlice, LaneTile, Sample, cut};
pub use grid::{CELLS, Level, TileId};
pub use group::{Group, groups};
pub use pyramid::{Base, ClosedPyramid, PyramidWriter, Stored, write_pyramids};
pub use summary::{Cell, Range, SliceCell, SliceSummary, Summary};
