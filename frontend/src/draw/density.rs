//! The minimap's picture: how busy each part of the whole rank is. Each row stands for one or more
//! tracks.

use std::ops::Range;

use nprof_engine::base::Interval;
use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::{Content, Tile};

use crate::view::Axis;

/// Busy shares from 0 to 1, in columns (time) and rows (tracks).
#[derive(Debug, Clone, PartialEq)]
pub struct Density {
    whole: Interval,
    columns: usize,
    rows: usize,
    /// Shares, row after row.
    busy: Vec<f32>,
}

impl Density {
    /// Creates an idle picture of a span.
    #[must_use]
    pub fn new(whole: Interval, columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        Self { whole, columns, rows, busy: vec![0.0; columns * rows] }
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Busy share of a place. The busiest place of a row that is never idle has 1.
    #[must_use]
    pub fn busy(&self, column: usize, row: usize) -> f32 {
        self.busy.get(row * self.columns + column).copied().unwrap_or(0.0).min(1.0)
    }

    /// Busy share of the busiest place.
    #[must_use]
    pub fn peak(&self) -> f32 {
        self.busy.iter().copied().fold(0.0, f32::max).min(1.0)
    }

    /// Adds a tile of a rank with this axis. `row_of` returns the row of a track and the number of
    /// lanes that share the row, or `None` to skip the track.
    pub fn add(&mut self, tile: &Tile, axis: Axis, row_of: impl Fn(u32) -> Option<(usize, f32)>) {
        let places = Places::new(self, axis);
        // Lanes of many tracks have the same cells.
        let mut edges = Vec::new();
        for lane in &tile.lanes {
            let Some((row, shared_by)) = row_of(lane.track).filter(|(row, _)| *row < self.rows) else {
                continue;
            };
            let weight = 1.0 / shared_by.max(1.0);
            let is_wait = |name: u32| tile.waits.binary_search(&name).is_ok();
            match &lane.content {
                Content::Slices(slices) => {
                    for slice in slices.iter().filter(|slice| !is_wait(slice.name)) {
                        let start = slice.start_ps.max(0);
                        let end = slice.start_ps.saturating_add(slice.duration_ps);
                        let end = end.min(tile.cell_ps.saturating_mul(CELLS));
                        let start_ps = tile.start_ps.saturating_add(start);
                        let end_ps = start_ps.saturating_add(end.saturating_sub(start));
                        self.spread(row, places.of(start_ps)..places.of(end_ps), weight);
                    }
                }
                Content::Cells(cells) => {
                    if edges.is_empty() {
                        let start_ps = |cell| tile.start_ps.saturating_add(tile.cell_ps.saturating_mul(cell));
                        edges.extend((0..=CELLS).map(|cell| places.of(start_ps(cell))));
                    }
                    for cell in cells {
                        let at = cell.cell as usize;
                        let (Some(&from), Some(&to)) = (edges.get(at), edges.get(at + 1)) else { continue };
                        let work_ps = cell.busy_ps.saturating_sub(cell.wait_ps);
                        let share = work_ps as f32 / tile.cell_ps.max(1) as f32;
                        self.spread(row, from..to, share * weight);
                    }
                }
                Content::Samples(_) | Content::Ranges(_) | Content::Limits(_) => {}
            }
        }
    }

    /// Adds busy time to the columns that a span of places touches, to each its part of the span.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places are columns")]
    fn spread(&mut self, row: usize, places: Range<f64>, busy: f32) {
        for column in places.start as usize..(places.end.ceil() as usize).min(self.columns) {
            let end = places.end.min((column + 1) as f64);
            let inside = (end - places.start.max(column as f64)).max(0.0) as f32;
            self.busy[row * self.columns + column] += inside * busy;
        }
    }
}

/// Places of times of a rank in the picture, in columns.
#[derive(Debug, Clone, Copy)]
struct Places {
    axis: Axis,
    start_ps: i64,
    columns_per_ps: f64,
    columns: f64,
}

impl Places {
    fn new(density: &Density, axis: Axis) -> Self {
        let (whole, columns) = (density.whole, density.columns as f64);
        let columns_per_ps = columns / whole.duration_ps().max(1) as f64;
        Self { axis, start_ps: whole.start.0, columns_per_ps, columns }
    }

    /// A time before or after the picture has the place of its edge.
    fn of(&self, local_ps: i64) -> f64 {
        let since_ps = self.axis.shared(local_ps).saturating_sub(self.start_ps);
        (since_ps as f64 * self.columns_per_ps).clamp(0.0, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::tile::{TileCell, TileSlice};

    #[track_caller]
    fn check(content: Content, shared_by: f32, expected: &[f32]) {
        let tile = fixture::tile(20, &["x"], vec![fixture::lane(3, content)]);
        let mut density = Density::new(Interval::new(0, 100), 10, 2);
        density.add(&tile, Axis::default(), |track| (track == 3).then_some((1, shared_by)));
        let row: Vec<_> = (0..10).map(|column| density.busy(column, 1)).collect();
        assert_eq!(row, expected);
        assert!((0..10).all(|column| density.busy(column, 0) == 0.0));
        assert_eq!(density.peak(), expected.iter().copied().fold(0.0, f32::max));
    }

    #[test]
    fn slices_spread_over_their_columns() {
        let slice = |start_ps, duration_ps| TileSlice {
            start_ps,
            duration_ps,
            row: 0,
            name: 0,
            form: SliceForm::Complete,
        };
        check(
            Content::Slices(vec![slice(-5, 10), slice(15, 30)]),
            1.0,
            &[0.5, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        );
    }

    #[test]
    fn cells_spread_their_share() {
        let cell =
            TileCell { cell: 4, busy_ps: 10, wait_ps: 0, count: 3, name: 0, longest_row: 0, longest_ps: 4 };
        check(Content::Cells(vec![cell]), 1.0, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5]);
        check(Content::Cells(vec![cell]), 2.0, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.25]);
    }
}
