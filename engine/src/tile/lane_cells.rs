//! Cells of one lane at one level, summed up from slices in order of start. [`super::cascade`]
//! computes all levels at once; a tile needs one of them now. The cost is a few nanoseconds a
//! slice.

use super::grid::{CELLS, TileId};
use super::name_sums::NameSums;
use super::slice_block::SlicePosition;
use super::summary::{PlacedCell, SliceCell};
use crate::base::Time;
use crate::model::WaitNames;

/// Sums up slices into cells.
#[derive(Debug)]
pub struct LaneCells<'a> {
    tile: TileId,
    /// First and last cell of the tile.
    first: i64,
    last: i64,
    open: Option<OpenCell>,
    times: NameSums<'a>,
    closed: Vec<PlacedCell<SliceCell>>,
}

/// The cell that slices are added to now.
#[derive(Debug, Clone, Copy)]
struct OpenCell {
    index: i64,
    start_ps: i64,
    end_ps: i64,
    busy_ps: u64,
    count: u32,
    longest_ps: u64,
    longest_row: u32,
    /// Name of the longest slice, for a cell without busy time.
    longest_name: u32,
}

impl<'a> LaneCells<'a> {
    /// Creates the cells of a tile.
    pub fn new(tile: TileId, waits: &'a WaitNames) -> Self {
        let first = tile.level.cell_of(tile.interval().start);
        let (last, times) = (first + CELLS - 1, NameSums::new(waits));
        Self { tile, first, last, open: None, times, closed: Vec::new() }
    }

    /// Adds a slice: a start in its first cell, and busy time in all cells that it overlaps.
    #[inline]
    pub fn add(&mut self, slice: &SlicePosition) {
        // Nearly all slices lie within the cell of the slice before.
        if let Some(open) = &mut self.open
            && slice.start_ps >= open.start_ps
            && slice.start_ps <= slice.end_ps
            && slice.end_ps < open.end_ps
        {
            let duration = slice.end_ps.abs_diff(slice.start_ps);
            open.busy_ps += duration;
            open.count += 1;
            open.see(duration, slice);
            self.times.add(slice.name, duration);
        } else {
            self.add_to_cells(slice);
        }
    }

    fn add_to_cells(&mut self, slice: &SlicePosition) {
        let (level, duration) = (self.tile.level, slice.end_ps.abs_diff(slice.start_ps));
        let starts_in = level.cell_of(Time(slice.start_ps));
        let last = level.cell_of(Time(slice.end_ps.saturating_sub(1).max(slice.start_ps)));
        // Slices of a crowded lane overlap. Closed cells stay closed, so that there are few.
        let from = starts_in.max(self.open.map_or(self.first, |open| open.index));
        for index in from..=last.min(self.last) {
            if self.open.is_some_and(|open| open.index != index) {
                self.close();
            }
            let open = self.open.get_or_insert_with(|| {
                let start_ps = index.saturating_mul(level.cell_ps());
                OpenCell {
                    index,
                    start_ps,
                    end_ps: start_ps.saturating_add(level.cell_ps()),
                    busy_ps: 0,
                    count: 0,
                    longest_ps: duration,
                    longest_row: slice.row,
                    longest_name: slice.name,
                }
            });
            let inside = slice.end_ps.min(open.end_ps) - slice.start_ps.max(open.start_ps);
            let busy = inside.max(0).unsigned_abs();
            open.busy_ps += busy;
            open.count += u32::from(index == from && starts_in >= self.first);
            open.see(duration, slice);
            self.times.add(slice.name, busy);
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let sum = self.times.take();
        let content = SliceCell {
            busy_ps: open.busy_ps,
            wait_ps: sum.wait_ps,
            count: open.count,
            name: sum.dominant.unwrap_or(open.longest_name),
            longest_row: open.longest_row,
            longest_ps: open.longest_ps,
        };
        self.closed.push(PlacedCell { index: open.index, content });
    }

    /// Returns the cells that are not empty.
    pub fn finish(mut self) -> Vec<PlacedCell<SliceCell>> {
        self.close();
        self.closed
    }
}

impl OpenCell {
    /// Keeps the slice if it is the longest. The first of equal slices stays.
    fn see(&mut self, duration_ps: u64, slice: &SlicePosition) {
        if duration_ps > self.longest_ps {
            (self.longest_ps, self.longest_row) = (duration_ps, slice.row);
            self.longest_name = slice.name;
        }
    }
}
