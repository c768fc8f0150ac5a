//! Tiles: the content of a group of tracks in one span of time, at one level of detail.
//!
//! A tile does not depend on pixels. The same tile serves every window and every screen, so it can
//! be cached by its id.
//!
//! For a lane with few slices in its span, a tile holds the slices. For a lane with many, it holds
//! a summary of each cell. Summaries of fine levels are computed from the rows; those of coarse
//! levels are read from the stored pyramid.

mod cascade;
mod cell_codec;
mod cut;
pub mod grid;
mod group;
mod lane_cells;
mod lane_tile;
mod name_sums;
mod name_times;
mod pyramid;
mod row_lanes;
mod slice_block;
mod summary;

pub use cascade::Cascade;
pub use cell_codec::{Stored, range_cells, slice_cells};
pub use cut::{cut, for_each_sample_in, samples_in};
pub use grid::{CELLS, FINEST_CELL_PS, Level, TileId};
pub use group::{TileTracks, groups};
pub use lane_tile::{LaneContent, LaneSample, LaneSlice, LaneTile};
pub use pyramid::{Base, ClosedPyramid, PyramidWriter, write_pyramids};
pub use slice_block::{block_slices, for_each_slice_in, slices_in};
pub use summary::{CellSummary, PlacedCell, Range, SliceCell, SliceSummary};
