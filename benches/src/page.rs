//! The page's work on the store's bytes, with the same code for the machine and for wasm: unpacks a
//! tile and summarises a selection over a segment in memory.

use nprof_engine::base::{Interval, Result};
use nprof_engine::exec::Work;
use nprof_engine::rank::RankView;
use nprof_engine::segment::Segment;
use nprof_engine::wire::answer;
use nprof_engine::wire::tile::Tile;

/// Maximum size of a tile.
const LARGEST_TILE_BYTES: usize = 64 << 20;

/// A packed tile and a segment, in the form that the page holds.
#[derive(Debug)]
pub struct PageBytes {
    frame: Vec<u8>,
    segment: Segment<Vec<u8>>,
}

impl PageBytes {
    /// Opens the segment.
    pub fn new(frame: Vec<u8>, segment: Vec<u8>) -> Result<Self> {
        Ok(Self { frame, segment: Segment::open(segment)? })
    }

    /// Unpacks the tile. Returns the number of lanes, or `None` if it is damaged.
    #[must_use]
    pub fn unpack_tile(&self) -> Option<usize> {
        let bytes = zstd::bulk::decompress(&self.frame, LARGEST_TILE_BYTES.min(self.tile_bytes()?)).ok()?;
        let tile: Tile = postcard::from_bytes(&bytes).ok()?;
        Some(tile.lanes.len())
    }

    /// Bytes of the tile before it was packed.
    #[must_use]
    pub fn tile_bytes(&self) -> Option<usize> {
        let claimed = zstd::zstd_safe::get_frame_content_size(&self.frame).ok()??;
        usize::try_from(claimed).ok()
    }

    /// Summarises the whole segment. Returns the number of slices.
    pub fn select_all(&self) -> Result<u64> {
        Ok(answer::selection(
            RankView::of(&self.segment),
            Interval::new(i64::MIN / 4, i64::MAX / 4),
            None,
            None,
            Work::IN_PLACE,
        )?
        .count)
    }
}
