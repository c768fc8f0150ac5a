//! Bands of closed groups: for each column of the screen, the number of a group's lanes that work.
//!
//! The lanes of a group can come from several tiles, which can be at different levels. Each tile
//! has its own sums. The frame adds the sums by column, so a band has the right height for any mix
//! of tiles.

use std::ops::Range;

use nprof_engine::base::Interval;
use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::Tile;

use super::instance::{Instance, Paint};
use super::palette::GROUP;
use super::strip::Strip;
use crate::view::{Axis, Sheet, TimeScale};

/// Least share of a lane that busy time counts as. Without it, very short work would vanish.
const LEAST_SHARE: f32 = 1e-4;
/// Number of distinct heights, each about half a pixel high. Neighbouring columns of equal height
/// are one rectangle.
const STEPS: f32 = 40.0;

/// Number of working lanes of one group, cell by cell of a tile.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Index of the group.
    pub group: usize,
    /// One number per cell: the sum over lanes of the busy share of the cell.
    pub lanes: Vec<f32>,
}

/// Adds a lane of a tile to the loads of all groups above its track. `track` is an index.
/// Annotations and states are no load.
pub fn add_lane(loads: &mut Vec<Load>, track: usize, strip: &Strip<'_>, tile: &Tile, sheet: &Sheet) {
    let is_work = sheet.tracks().get(track).is_none_or(|track| track.is_work);
    if !is_work || sheet.above(track).next().is_none() {
        return;
    }
    let own = lane_load(strip, tile);
    for group in sheet.above(track) {
        let at = loads.iter().position(|load| load.group == group).unwrap_or_else(|| {
            loads.push(Load { group, lanes: vec![0.0; CELLS as usize] });
            loads.len() - 1
        });
        loads[at].lanes.iter_mut().zip(&own).for_each(|(sum, share)| *sum += share);
    }
}

/// Busy share of each cell in a lane, from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the tile's cells")]
fn lane_load(strip: &Strip<'_>, tile: &Tile) -> Vec<f32> {
    let mut load = vec![0.0_f32; CELLS as usize];
    for share in &strip.shares {
        load[share.cell as usize] += share.work.max(LEAST_SHARE);
    }
    for bar in strip.bars.iter().filter(|bar| tile.waits.binary_search(&bar.name).is_err()) {
        let at = |ps: i64| (ps as f64 / tile.cell_ps.max(1) as f64).clamp(0.0, CELLS as f64);
        let (from, to) = (at(bar.start_ps), at(bar.start_ps.saturating_add(bar.duration_ps)));
        let touched = load.iter_mut().enumerate().take(to.ceil() as usize).skip(from as usize);
        for (cell, share) in touched {
            *share += (to.min((cell + 1) as f64) - from.max(cell as f64)) as f32;
        }
    }
    for point in strip.points.iter().filter(|point| (0.0..CELLS as f64).contains(&point.at)) {
        load[point.at as usize] += LEAST_SHARE;
    }
    load.iter_mut().for_each(|share| *share = share.min(1.0));
    load
}

/// Load of one group in the columns of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnLoad {
    /// Scale for the conversion of cells to columns, which are pixels of the screen.
    scale: TimeScale,
    lanes: Vec<f32>,
}

impl ColumnLoad {
    /// Creates idle columns, one per pixel of the screen.
    #[must_use]
    pub fn new(window: Interval, columns: usize) -> Self {
        let scale = TimeScale { window, width_px: columns.max(1) as f64 };
        Self { scale, lanes: vec![0.0; columns] }
    }

    /// Adds a tile's load to the columns in `clip`, which is in the tile's time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the columns")]
    pub fn add(&mut self, tile: &Tile, clip: Interval, load: &Load, axis: Axis) {
        let width = self.lanes.len() as f64;
        let px = |ps: i64| self.scale.px_from_time(ps).clamp(0.0, width);
        let (left, right) = (px(axis.shared(clip.start.0)), px(axis.shared(clip.end.0)));
        let origin = self.scale.px_from_time(axis.shared(tile.start_ps));
        let cell_px = tile.cell_ps as f64 * self.scale.px_per_ps() * axis.rate();
        let first = ((left - origin) / cell_px).floor().max(0.0) as usize;
        for (cell, &lanes) in load.lanes.iter().enumerate().skip(first).filter(|(_, lanes)| **lanes > 0.0) {
            let from = (origin + cell as f64 * cell_px).clamp(left, right);
            let to = (origin + (cell + 1) as f64 * cell_px).clamp(left, right);
            if from >= right {
                break;
            }
            for column in from as usize..(to.ceil() as usize).min(self.lanes.len()) {
                let inside = to.min((column + 1) as f64) - from.max(column as f64);
                self.lanes[column] += inside as f32 * lanes;
            }
        }
    }

    /// The band as rectangles in units of columns. `of` is the number of lanes in the group, `lane`
    /// the lane of the band.
    #[must_use]
    pub fn rectangles(&self, of: u32, lane: u32) -> Vec<Instance> {
        let step = |lanes: &f32| (lanes / of.max(1) as f32 * STEPS).min(STEPS).ceil();
        let mut out = Vec::new();
        let mut start = 0;
        for run in self.lanes.chunk_by(|a, b| step(a) == step(b)) {
            let columns: Range<usize> = start..start + run.len();
            start = columns.end;
            if step(&run[0]) > 0.0 {
                let share = run.iter().sum::<f32>() / run.len() as f32 / of.max(1) as f32;
                out.push(Instance {
                    start: columns.start as f32,
                    end: columns.end as f32,
                    low: 0.0,
                    high: share.min(1.0),
                    lane,
                    paint: Paint::Cell,
                    colour: GROUP,
                    alpha: u8::MAX,
                });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;
    use crate::view::rows::sheet::tests::sheet_of;
    use crate::view::source_id::SourceId;
    use nprof_engine::model::SliceForm;
    use nprof_engine::wire::tile::{Content, TileCell, TileLane, TileSlice};

    /// Loads as `group: cell=lanes …`, without idle cells.
    #[track_caller]
    fn check(lanes: Vec<TileLane>, expected: &str) {
        let sheet = sheet_of("DMA/\n  Q/\n    a\n    b\n  Power~\n  annotations\nlone");
        let tile = fixture::tile(100, &["x", "wait"], lanes);
        let mut loads = Vec::new();
        for lane in &tile.lanes {
            if let Some(track) = sheet.position(SourceId::of_first(0), lane.track) {
                let strip = Strip::new(&lane.content, &tile, CELLS as u32);
                add_lane(&mut loads, track, &strip, &tile, &sheet);
            }
        }
        let text = loads.iter().map(|load| {
            let busy = load.lanes.iter().enumerate().filter(|(_, lanes)| **lanes > 0.0);
            let cells = busy.map(|(cell, lanes)| format!("{cell}={lanes:.2}")).collect::<Vec<_>>();
            format!("{}: {}", sheet.tracks()[load.group].name, cells.join(" "))
        });
        assert_eq!(text.collect::<Vec<_>>().join(" | "), expected);
    }

    fn slice(start_ps: i64, duration_ps: i64, name: u32) -> TileSlice {
        TileSlice {
            start_ps,
            duration_ps,
            row: 0,
            name,
            form: if duration_ps == 0 { SliceForm::Instant } else { SliceForm::Complete },
        }
    }

    fn cell(cell: u32, busy_ps: u64, wait_ps: u64) -> TileCell {
        TileCell { cell, busy_ps, wait_ps, count: 1, name: 0, longest_row: 0, longest_ps: 1 }
    }

    #[test]
    fn a_group_has_the_load_of_its_lanes_together() {
        let a = TileLane { track: 102, lane: 0, content: Content::Slices(vec![slice(-50, 450, 0)]) };
        let cells = vec![cell(1, 100, 0), cell(9, 50, 30)];
        let b = TileLane { track: 103, lane: 0, content: Content::Cells(cells) };
        let busy = "0=1.00 1=2.00 2=1.00 3=1.00 9=0.20";
        check(vec![a, b], &format!("Q: {busy} | DMA: {busy}"));
    }

    #[test]
    fn waits_are_no_work_and_instants_are_seen() {
        let slices = vec![slice(0, 0, 0), slice(100, 1_000, 1), slice(1_200, 50, 1)];
        let a = TileLane { track: 102, lane: 0, content: Content::Slices(slices) };
        check(vec![a], "Q: 0=0.00 12=0.00 | DMA: 0=0.00 12=0.00");
    }

    #[test]
    fn annotations_and_tracks_without_a_group_have_no_load() {
        check(vec![TileLane { track: 105, lane: 0, content: Content::Slices(vec![slice(0, 100, 0)]) }], "");
        check(vec![TileLane { track: 106, lane: 0, content: Content::Slices(vec![slice(0, 100, 0)]) }], "");
        check(vec![TileLane { track: 999, lane: 0, content: Content::Slices(vec![slice(0, 100, 0)]) }], "");
    }

    #[test]
    fn hostile_cells_stay_inside() {
        let cells = vec![cell(u32::MAX, u64::MAX, 0), cell(2, u64::MAX, 0)];
        let a = TileLane { track: 102, lane: 0, content: Content::Cells(cells) };
        let slices = vec![slice(i64::MIN, i64::MAX, 0), slice(i64::MAX, 1, 0)];
        let b = TileLane { track: 103, lane: 0, content: Content::Slices(slices) };
        check(vec![a, b], "Q: 2=1.00 | DMA: 2=1.00");
    }

    #[test]
    fn tiles_of_different_levels_add_up_by_column() {
        let tile = |cell_ps| fixture::tile(cell_ps, &[], vec![]);
        let load = |lanes: f32| Load { group: 0, lanes: vec![lanes; CELLS as usize] };
        let whole = Interval::new(0, 51_200);
        let mut columns = ColumnLoad::new(whole, 100);
        columns.add(&tile(100), whole, &load(1.0), Axis::default());
        columns.add(&tile(200), Interval::new(0, 25_600), &load(0.5), Axis::default());
        let bands = columns.rectangles(4, 7);
        let text: Vec<_> =
            bands.iter().map(|one| format!("{}..{}@{:.3}", one.start, one.end, one.high)).collect();
        assert_eq!(text, ["0..50@0.375", "50..100@0.250"]);
    }
}
