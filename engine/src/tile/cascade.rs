//! Computes cells of all levels from slices in one pass. A cell that closes is merged into the cell
//! above it.

use super::grid::Level;
use super::summary::{CellSummary, PlacedCell};
use crate::base::{Interval, Time};

/// The open cells of one lane, one a level. Values come in order of time.
#[derive(Debug)]
pub struct Cascade<T> {
    base: Level,
    /// Number of levels from the base on.
    levels: usize,
    /// Open cell of each level from the base on. A level is added when a cell below it has closed,
    /// so that a lane of few slices takes little memory.
    open: Vec<Option<PlacedCell<T>>>,
}

impl<T: CellSummary> Cascade<T> {
    /// Creates a cascade from the finest to the coarsest wanted level.
    #[must_use]
    pub fn new(base: Level, top: Level) -> Self {
        let levels = usize::from(top.number().saturating_sub(base.number())) + 1;
        Self { base, levels, open: vec![None] }
    }

    /// Returns the finest open cell at this time. Passes the cells before it to `out` and closes
    /// them.
    pub fn at(&mut self, time: Time, out: &mut impl FnMut(Level, PlacedCell<T>)) -> &mut T {
        self.at_cell(self.base.cell_of(time), out)
    }

    /// Returns the finest open cell with this index.
    pub fn at_cell(&mut self, index: i64, out: &mut impl FnMut(Level, PlacedCell<T>)) -> &mut T {
        if self.open[0].as_ref().is_some_and(|open| open.index != index) {
            self.close(0, out);
        }
        &mut self.open[0].get_or_insert_with(|| PlacedCell { index, content: T::default() }).content
    }

    fn close(&mut self, at: usize, out: &mut impl FnMut(Level, PlacedCell<T>)) {
        let Some(cell) = self.open[at].take() else { return };
        if at + 1 < self.levels {
            if at + 1 == self.open.len() {
                self.open.push(None);
            }
            let above = cell.index >> 1;
            if self.open[at + 1].as_ref().is_some_and(|open| open.index != above) {
                self.close(at + 1, out);
            }
            let parent =
                self.open[at + 1].get_or_insert_with(|| PlacedCell { index: above, content: T::default() });
            parent.content.merge(&cell.content);
        }
        let number = self.base.number() + u8::try_from(at).unwrap_or(u8::MAX);
        out(Level::new(number).unwrap_or(Level::COARSEST), cell);
    }

    /// Closes the open cell of the finest level. The next level becomes the finest, also if it is
    /// above the coarsest wanted level.
    pub fn drop_finest(&mut self, out: &mut impl FnMut(Level, PlacedCell<T>)) {
        if self.base < Level::COARSEST {
            self.levels = self.levels.max(2);
            self.close(0, out);
            self.open.remove(0);
            if self.open.is_empty() {
                self.open.push(None);
            }
            self.levels -= 1;
            self.base = self.base.coarser();
        }
    }

    /// Closes all cells up to the level `top`.
    pub fn finish(mut self, top: Level, out: &mut impl FnMut(Level, PlacedCell<T>)) {
        let wanted = usize::from((top.number() + 1).saturating_sub(self.base.number()));
        self.levels = self.levels.min(wanted.max(1));
        let mut at = 0;
        // Closing a cell can add a level.
        while at < self.open.len().min(wanted) {
            self.close(at, out);
            at += 1;
        }
    }

    /// The contents of all open cells.
    pub fn contents(&mut self) -> impl Iterator<Item = &mut T> {
        self.open.iter_mut().flatten().map(|cell| &mut cell.content)
    }
}

impl Cascade<super::summary::SliceSummary> {
    /// Adds a slice: a start in its first cell, and busy time in all cells that it overlaps.
    pub fn slice(
        &mut self,
        slice: Interval,
        row: u32,
        name: u32,
        is_wait: bool,
        out: &mut impl FnMut(Level, PlacedCell<super::summary::SliceSummary>),
    ) {
        let (cell_ps, start_ps, end_ps) = (self.base.cell_ps(), slice.start.0, slice.end.0);
        let duration = end_ps.abs_diff(start_ps);
        let starts_in = self.base.cell_of(Time(start_ps));
        let last = self.base.cell_of(Time(end_ps.saturating_sub(1).max(start_ps)));
        for index in starts_in..=last {
            let from = index.saturating_mul(cell_ps);
            let busy = (end_ps.min(from.saturating_add(cell_ps)) - start_ps.max(from)).max(0).unsigned_abs();
            let cell = self.at_cell(index, out);
            cell.busy_ps += busy;
            cell.wait_ps += if is_wait { busy } else { 0 };
            cell.count += u32::from(index == starts_in);
            cell.see(duration, row, name);
            // Waits do not compete for the name of a cell.
            if !is_wait {
                cell.names.add(name, busy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::summary::SliceSummary;

    #[test]
    fn a_lane_keeps_as_many_cells_as_it_has_closed_levels() {
        let mut cascade: Cascade<SliceSummary> = Cascade::new(Level::for_cell_ps(0.0), Level::COARSEST);
        let mut closed = Vec::new();
        let mut out =
            |level: Level, cell: PlacedCell<SliceSummary>| closed.push((level.number(), cell.index));
        cascade.slice(Interval::new(0, 10), 0, 0, false, &mut out);
        assert_eq!(cascade.open.len(), 1);
        cascade.slice(Interval::new(2_000, 2_010), 1, 0, false, &mut out);
        assert_eq!(cascade.open.len(), 2);
        cascade.drop_finest(&mut out);
        cascade.finish(Level::COARSEST, &mut out);
        let levels: Vec<u8> = closed.iter().map(|(level, _)| *level).collect();
        let above: Vec<u8> = (1..=Level::COARSEST.number()).collect();
        assert_eq!(levels[..2], [0, 0]);
        assert_eq!(levels[2..], above, "every level is closed at the end");
    }

    #[test]
    fn no_cell_above_the_coarsest_wanted_level_is_closed() {
        let closed_levels = |top: Level, until: Level| {
            let mut cascade: Cascade<SliceSummary> = Cascade::new(Level::for_cell_ps(0.0), top);
            let mut closed = Vec::new();
            let mut out = |level: Level, _: PlacedCell<SliceSummary>| closed.push(level.number());
            cascade.slice(Interval::new(0, 10), 0, 0, false, &mut out);
            cascade.slice(Interval::new(2_000, 2_010), 1, 0, false, &mut out);
            cascade.finish(until, &mut out);
            closed
        };
        let third = Level::for_cell_ps(0.0).coarser().coarser();
        assert_eq!(closed_levels(third, Level::COARSEST), [0, 0, 1, 2]);
        assert_eq!(closed_levels(Level::COARSEST, third), [0, 0, 1, 2]);
    }

    #[test]
    fn the_finest_level_can_rise_above_the_coarsest_wanted_one() {
        let level = Level::for_cell_ps(0.0);
        let mut cascade: Cascade<SliceSummary> = Cascade::new(level, level);
        cascade.slice(Interval::new(0, 10), 0, 0, false, &mut |_, _| {});
        cascade.drop_finest(&mut |_, _| {});
        let mut closed = Vec::new();
        cascade.finish(level.coarser(), &mut |level, cell| closed.push((level.number(), cell.content.count)));
        assert_eq!(closed, [(1, 1)]);
    }
}
