//! Rows: the tracks of all shown ranks as one list, their order from top to bottom, and steps
//! between them.

pub mod extent;
pub mod layout;
pub mod nearest_slice;
pub mod occupancy;
pub mod pins;
pub mod profile_sources;
pub mod row_step;
pub mod sheet;
pub mod sheet_content;
pub mod sheet_track;
pub mod track_path;
