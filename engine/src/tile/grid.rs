//! The grid: time in tiles of [`CELLS`] cells, at levels whose cells double in width.

use crate::base::{Interval, Time};

/// Cells of a tile. At one to two pixels a cell, a full-width view takes two to five tiles a group.
pub const CELLS: i64 = 512;

/// Width of a cell of level 0 in picoseconds: about a nanosecond, the tick of an accelerator.
pub const FINEST_CELL_PS: i64 = 1 << FINEST_CELL_BITS;
const FINEST_CELL_BITS: u32 = 10;

/// A level of detail. Level 0 is the finest; each next level doubles the width of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The coarsest level. A tile of it is as wide as the range of times.
    pub const COARSEST: Self = Self(43);

    /// The level with this number.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (number <= Self::COARSEST.0).then_some(Self(number))
    }

    /// Number of the level.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Width of a cell in picoseconds.
    #[must_use]
    pub fn cell_ps(self) -> i64 {
        FINEST_CELL_PS << self.0
    }

    /// Width of a tile in picoseconds.
    #[must_use]
    pub fn tile_ps(self) -> i64 {
        self.cell_ps().saturating_mul(CELLS)
    }

    /// The coarsest level whose cells are no wider than this many picoseconds.
    #[must_use]
    pub fn for_cell_ps(cell_ps: f64) -> Self {
        let mut level = Self(0);
        while level < Self::COARSEST && level.coarser().cell_ps() as f64 <= cell_ps {
            level = level.coarser();
        }
        level
    }

    /// The next coarser level. The coarsest level returns itself.
    #[must_use]
    pub fn coarser(self) -> Self {
        Self((self.0 + 1).min(Self::COARSEST.0))
    }

    /// Index of the cell that contains this time.
    #[must_use]
    pub fn cell_of(self, time: Time) -> i64 {
        time.0 >> (FINEST_CELL_BITS + u32::from(self.0))
    }

    /// Indexes of the tiles that show a window.
    #[must_use]
    pub fn tiles_of(self, window: Interval) -> std::ops::RangeInclusive<i64> {
        let first = self.cell_of(window.start).div_euclid(CELLS);
        let last = self.cell_of(Time(window.end.0.saturating_sub(1))).div_euclid(CELLS);
        first..=last.max(first)
    }
}

/// Identity of a tile: a group of tracks, a level, and the position in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileId {
    /// Number of the tile group, as in [`crate::wire::catalog::TileGroup`].
    pub group: u32,
    /// Level of detail.
    pub level: Level,
    /// Position in tiles from time zero; negative before it.
    pub index: i64,
}

impl TileId {
    /// Span of time that the tile covers.
    #[must_use]
    pub fn interval(self) -> Interval {
        let width = self.level.tile_ps();
        let start = self.index.saturating_mul(width);
        Interval::new(start, start.saturating_add(width))
    }

    /// The tile of the next coarser level that covers this one.
    #[must_use]
    pub fn parent(self) -> Self {
        let level = self.level.coarser();
        let index = if level == self.level { self.index } else { self.index.div_euclid(2) };
        Self { level, index, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_moment_lies_in_its_tile(time in -1_i64 << 60..1 << 60, level in 0_u8..=Level::COARSEST.0) {
            let level = Level::new(level).unwrap();
            let window = Interval::new(time, time + 1);
            let index = *level.tiles_of(window).start();
            let tile = TileId { group: 0, level, index };
            prop_assert!(tile.interval().overlaps(time, time + 1));
            let parent = tile.parent().interval();
            prop_assert!(parent.start <= tile.interval().start && tile.interval().end <= parent.end);
        }
    }

    #[test]
    fn level_for_a_pixel() {
        assert_eq!(Level::for_cell_ps(10.0).number(), 0);
        assert_eq!(Level::for_cell_ps(2048.0).number(), 1);
        assert_eq!(Level::for_cell_ps(4095.0).number(), 1);
    }
}
