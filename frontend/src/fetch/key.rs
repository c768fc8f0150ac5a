//! Identifies a tile on the page: a tile id is unique within its source only.

use nprof_engine::base::Interval;
use nprof_engine::tile::{Level, TileId};

use crate::view::source_id::SourceId;

/// A tile of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileKey {
    /// The source.
    pub source: SourceId,
    /// The tile in it.
    pub tile: TileId,
}

impl TileKey {
    /// The span of the tile.
    #[must_use]
    pub fn interval(self) -> Interval {
        self.tile.interval()
    }

    /// The tile of the next coarser level that covers this one. The coarsest tile is its own
    /// parent.
    #[must_use]
    pub fn parent(self) -> Self {
        Self { tile: self.tile.parent(), ..self }
    }

    /// The two tiles of the next finer level that cover this tile. None at the finest level.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let TileId { group, level, index } = self.tile;
        let finer = level.number().checked_sub(1).and_then(Level::new);
        finer.zip(index.checked_mul(2)).into_iter().flat_map(move |(level, first)| {
            [first, first + 1].map(|index| Self { tile: TileId { group, level, index }, ..self })
        })
    }
}
