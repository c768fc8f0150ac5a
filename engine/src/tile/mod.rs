//! Tiles: what a group of tracks shows in one span of time, at one level of detail.
//!
//! A tile never looks at pixels. It is the same for every window and every screen, so it can be cached by its id.

pub mod grid;

pub use grid::{CELLS, Level, TileId};
