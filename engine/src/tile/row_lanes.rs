//! Builds the lanes of a tile from rows. Few slices of a lane stay slices; many become cells as
//! they arrive.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::grid::{CELLS, TileId};
use super::lane_cells::LaneCells;
use super::lane_tile::{LaneContent, LaneSlice, LaneTile};
use super::slice_block::{SliceBlock, SlicePosition};
use crate::base::{Error, Result};
use crate::model::WaitNames;

/// Most slices of a lane that a tile holds as slices, on average one a cell. For more slices,
/// summaries are smaller.
pub const MAX_SLICES: usize = CELLS.unsigned_abs() as usize;
/// Number of lanes that are found without hashing.
const NEAR_LANES: usize = 64;
const UNKNOWN: u32 = u32::MAX;

/// Takes the slices of a track that overlap a tile, in order of start.
#[derive(Debug)]
pub struct RowLanes<'a> {
    tile: TileId,
    waits: &'a WaitNames,
    lanes: Vec<(u32, LaneRows<'a>)>,
    /// Number of lanes that the track has.
    most: usize,
    /// Positions in `lanes` of the lanes below [`NEAR_LANES`].
    near: [u32; NEAR_LANES],
    /// Positions of the other lanes.
    far: FxHashMap<u32, u32>,
}

#[derive(Debug)]
enum LaneRows<'a> {
    Few(Vec<LaneSlice>),
    Many(Box<LaneCells<'a>>),
}

impl<'a> RowLanes<'a> {
    /// Creates the lanes of a tile of a track with this many lanes.
    pub fn new(tile: TileId, lanes: u32, waits: &'a WaitNames) -> Self {
        let (near, far) = ([UNKNOWN; NEAR_LANES], FxHashMap::default());
        Self { tile, waits, lanes: Vec::new(), most: lanes as usize, near, far }
    }

    /// Takes the slices of the next block.
    pub fn add(&mut self, block: &SliceBlock) {
        if self.has_too_many() {
            return;
        }
        let (tile, waits) = (self.tile, self.waits);
        for (lane, run) in block.runs() {
            self.lane(lane).add(block, run, tile, waits);
        }
    }

    /// Whether the rows have more lanes than the track. A damaged column could have one for each
    /// row.
    fn has_too_many(&self) -> bool {
        self.lanes.len() > self.most
    }

    fn lane(&mut self, lane: u32) -> &mut LaneRows<'a> {
        let slot = match self.near.get_mut(lane as usize) {
            Some(slot) => slot,
            None => self.far.entry(lane).or_insert(UNKNOWN),
        };
        if *slot == UNKNOWN {
            *slot = u32::try_from(self.lanes.len()).unwrap_or(UNKNOWN);
            self.lanes.push((lane, LaneRows::Few(Vec::new())));
        }
        &mut self.lanes[*slot as usize].1
    }

    /// Returns the lanes, in order of their numbers.
    pub fn finish(mut self) -> Result<Vec<LaneTile>> {
        if self.has_too_many() {
            return Err(Error::Inconsistent { what: "more lanes than the track has" });
        }
        self.lanes.sort_unstable_by_key(|(lane, _)| *lane);
        let lanes = self.lanes.into_iter().map(|(lane, rows)| {
            let content = match rows {
                LaneRows::Few(slices) => LaneContent::Slices(slices),
                LaneRows::Many(cells) => LaneContent::SliceCells(cells.finish()),
            };
            LaneTile { lane, content }
        });
        Ok(lanes.collect())
    }
}

impl<'a> LaneRows<'a> {
    /// Takes the slices at these positions of a block.
    fn add(&mut self, block: &SliceBlock, mut run: Range<usize>, tile: TileId, waits: &'a WaitNames) {
        if let Self::Few(slices) = self {
            let room = MAX_SLICES - slices.len();
            let few = run.start..run.end.min(run.start + room);
            run.start = few.end;
            slices.extend(few.map(|at| block.slice(at)));
            if run.is_empty() {
                return;
            }
            let mut cells = Box::new(LaneCells::new(tile, waits));
            for &LaneSlice { start_ps, duration_ps, row, name, .. } in &*slices {
                cells.add(&SlicePosition {
                    start_ps,
                    end_ps: start_ps.saturating_add(duration_ps),
                    row,
                    name,
                });
            }
            *self = Self::Many(cells);
        }
        if let Self::Many(cells) = self {
            run.for_each(|at| cells.add(&block.placed(at)));
        }
    }
}
