//! The lanes of a tile from rows: few slices of a lane stay slices, many become cells as they pass by.

use rustc_hash::FxHashMap;

use super::cascade::Cascade;
use super::cut::{LaneContent, LaneSlice, LaneTile};
use super::grid::{CELLS, TileId};
use super::summary::{Cell, SliceCell, SliceSummary};

/// A lane brings its slices themselves up to this many, one a cell; beyond, summaries are smaller.
pub const MAX_SLICES: usize = CELLS.unsigned_abs() as usize;

/// Takes the slices of a track that overlap a tile, in order of start.
#[derive(Debug)]
pub struct RowLanes {
    tile: TileId,
    lanes: Vec<(u32, LaneRows)>,
    known: FxHashMap<u32, usize>,
    /// The lane of the slice before: most slices are on the same.
    last: usize,
}

#[derive(Debug)]
enum LaneRows {
    Few(Vec<LaneSlice>),
    Many(Cells),
}

#[derive(Debug)]
struct Cells {
    cascade: Cascade<SliceSummary>,
    /// The tile's first cell.
    first: i64,
    closed: Vec<Cell<SliceCell>>,
}

impl RowLanes {
    /// For a tile.
    pub fn new(tile: TileId) -> Self {
        Self { tile, lanes: Vec::new(), known: FxHashMap::default(), last: 0 }
    }

    /// Takes the next slice.
    pub fn add(&mut self, slice: LaneSlice) {
        let Self { tile, lanes, known, last } = self;
        if lanes.get(*last).is_none_or(|(lane, _)| *lane != slice.lane) {
            *last = *known.entry(slice.lane).or_insert_with(|| {
                lanes.push((slice.lane, LaneRows::Few(Vec::new())));
                lanes.len() - 1
            });
        }
        let rows = &mut lanes[*last].1;
        match rows {
            LaneRows::Many(cells) => cells.add(&slice),
            LaneRows::Few(slices) if slices.len() < MAX_SLICES => slices.push(slice),
            LaneRows::Few(slices) => {
                let mut cells = Cells::new(*tile);
                slices.iter().for_each(|slice| cells.add(slice));
                cells.add(&slice);
                *rows = LaneRows::Many(cells);
            }
        }
    }

    /// The lanes, from the first on.
    pub fn finish(mut self) -> Vec<LaneTile> {
        self.lanes.sort_unstable_by_key(|(lane, _)| *lane);
        let lanes = self.lanes.into_iter().map(|(lane, rows)| {
            let content = match rows {
                LaneRows::Few(slices) => LaneContent::Slices(slices),
                LaneRows::Many(cells) => LaneContent::SliceCells(cells.finish()),
            };
            LaneTile { lane, content }
        });
        lanes.collect()
    }
}

impl Cells {
    fn new(tile: TileId) -> Self {
        let first = tile.level.cell_of(tile.interval().start);
        Self { cascade: Cascade::new(tile.level, tile.level), first, closed: Vec::new() }
    }

    fn add(&mut self, slice: &LaneSlice) {
        let span = (slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps));
        let closed = &mut self.closed;
        let within = self.first..=self.first + CELLS - 1;
        self.cascade.slice(span, (slice.row, slice.name), within, &mut |_, cell| closed.push(stored(&cell)));
    }

    fn finish(self) -> Vec<Cell<SliceCell>> {
        let mut closed = self.closed;
        self.cascade.finish(&mut |_, cell| closed.push(stored(&cell)));
        closed
    }
}

fn stored(cell: &Cell<SliceSummary>) -> Cell<SliceCell> {
    Cell { index: cell.index, content: cell.content.cell() }
}
