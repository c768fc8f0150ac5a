//! Load of a closed group at a timestamp: how many of its lanes work, and on which names.

use nprof_engine::base::order::sort_by;
use nprof_engine::base::{Interval, clamped};
use nprof_engine::wire::tile::{Content, Tile, TileLane};

use super::hover::Hovered;

/// Limit of reported names.
const MOST_NAMES: usize = 3;

/// The sum over the lanes of a group in the cell around a timestamp. Lanes are added one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLoad {
    time_ps: i64,
    span: Option<Interval>,
    busy_lanes: f64,
    names: Vec<(String, f64)>,
}

impl GroupLoad {
    /// An empty sum.
    #[must_use]
    pub fn new(time_ps: i64) -> Self {
        Self { time_ps, span: None, busy_lanes: 0.0, names: Vec::new() }
    }

    /// Adds a lane of a tile that covers the timestamp.
    pub fn add(&mut self, tile: &Tile, lane: &TileLane) {
        let cell_ps = tile.cell_ps.max(1);
        let cell = self.time_ps.saturating_sub(tile.start_ps).div_euclid(cell_ps);
        let (from, to) = (cell.saturating_mul(cell_ps), cell.saturating_add(1).saturating_mul(cell_ps));
        let span = Interval::new(tile.start_ps.saturating_add(from), tile.start_ps.saturating_add(to));
        self.span.get_or_insert(span);
        match &lane.content {
            Content::Slices(slices) => {
                for slice in slices {
                    let end = slice.start_ps.saturating_add(slice.duration_ps).min(to);
                    self.time(tile, slice.name, end.saturating_sub(slice.start_ps.max(from)));
                }
            }
            Content::Cells(cells) => {
                for here in cells.iter().filter(|here| i64::from(here.cell) == cell) {
                    let work_ps = here.busy_ps.saturating_sub(here.wait_ps);
                    self.time(tile, here.name, clamped(work_ps).min(cell_ps));
                }
            }
            Content::Samples(_) | Content::Ranges(_) | Content::Limits(_) => {}
        }
    }

    /// Adds the time of a name. Waits do not count as work.
    fn time(&mut self, tile: &Tile, name: u32, ps: i64) {
        if ps <= 0 || tile.waits.binary_search(&name).is_ok() {
            return;
        }
        let lanes = ps as f64 / tile.cell_ps.max(1) as f64;
        self.busy_lanes += lanes;
        let Some(name) = tile.names.get(name as usize) else { return };
        match self.names.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += lanes,
            None => self.names.push((name.clone(), lanes)),
        }
    }

    /// The result for a group with this many lanes. `None` if no tile is present.
    #[must_use]
    pub fn finish(mut self, lanes: u32) -> Option<Hovered> {
        sort_by(&mut self.names, |a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.names.truncate(MOST_NAMES);
        let (span, busy_lanes, names) = (self.span?, self.busy_lanes, self.names);
        Some(Hovered::Group { span, busy_lanes, lanes, names })
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::tile::{TileCell, TileSlice};

    use super::*;
    use crate::view::fixture;

    #[test]
    fn lanes_add_up_by_name_without_waits() {
        let slice = |start_ps, duration_ps, name| TileSlice {
            start_ps,
            duration_ps,
            row: 0,
            name,
            form: SliceForm::Complete,
        };
        let cell = |cell| TileCell {
            cell,
            busy_ps: 80,
            wait_ps: 20,
            count: 2,
            name: 0,
            longest_row: 0,
            longest_ps: 50,
        };
        let slices = Content::Slices(vec![slice(-50, 300, 0), slice(260, 20, 1), slice(280, 20, 2)]);
        let cells = Content::Cells(vec![cell(1), cell(2), cell(3)]);
        let lanes = [slices, cells].map(|content| fixture::lane(0, content)).to_vec();
        let tile = Tile { start_ps: 1_000, ..fixture::tile(100, &["copy", "wait", "load"], lanes) };
        let mut load = GroupLoad::new(1_255);
        tile.lanes.iter().for_each(|lane| load.add(&tile, lane));
        let Some(Hovered::Group { span, busy_lanes, lanes, names, .. }) = load.finish(16) else {
            panic!("a tile is here")
        };
        assert_eq!((span, lanes), (Interval::new(1_200, 1_300), 16));
        assert!((busy_lanes - 1.3).abs() < 1e-9, "{busy_lanes}");
        let names: Vec<_> = names.iter().map(|(name, lanes)| format!("{name} {lanes:.1}")).collect();
        assert_eq!(names, ["copy 1.1", "load 0.2"]);
        assert_eq!(GroupLoad::new(0).finish(16), None);
    }
}
