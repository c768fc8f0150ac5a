//! Blocks: the runs of a column that are encoded together.
//!
//! Invariant: a block holds rows of one track only, at most [`ROWS`] of them. Small blocks of
//! neighbouring tracks are encoded together, as a pack. The columns of a pack carry a zone map.

mod column;
pub mod list;
mod zone;

pub use column::{
    BlockColumn, BlockValues, Coding, ColumnType, ValuesRef, coding, encode_block, encoded_values, rate,
};
pub use zone::ZoneMap;

/// Most rows of a block. Two blocks answer a window of 2,000 rows. 16 KiB of `i64` stay in the
/// first-level cache.
pub const ROWS: usize = 2048;
