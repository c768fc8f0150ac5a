//! A tile as rectangles for the graphics card. They are computed once and drawn for every window.
//!
//! Times are in cells from the tile's start, so an `f32` resolves far less than a pixel. Vertical
//! extents are shares of the lane. The position of a lane and the colour of a number are looked up
//! at drawing time.

use std::ops::Range;

use nprof_engine::base::order::sort_by;
use nprof_engine::model::SliceForm;
use nprof_engine::tile::CELLS;
use nprof_engine::wire::tile::{Content, Tile, TileCell, TileLane, TileLimit, TileSlice};

use super::band::{self, Load};
use super::instance::{Instance, Paint};
use super::names::NameColours;
use super::palette;
use super::shape::Shape;
use super::strip::{Share, Strip, StripInstant};
use super::values::Values;
use crate::view::rows::layout::RankLook;
use crate::view::source_id::SourceId;
use crate::view::{Extent, Sheet};

/// The instances of one lane.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneSpan {
    /// Index of the track.
    pub track: usize,
    /// Number of the lane in its track.
    pub lane: u32,
    /// Range of the lane's instances in the batch.
    pub instances: Range<u32>,
}

/// Neighbouring cells that one slice fills in a tile that has cells for this lane. The slice can go
/// on in the next tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index of the track.
    pub track: usize,
    /// Number of the lane in its track.
    pub lane: u32,
    /// Start, in picoseconds since the tile's start.
    pub start_ps: i64,
    /// Duration in picoseconds.
    pub duration_ps: i64,
    /// Index into the tile's texts.
    pub name: u32,
    /// Row of the slice.
    pub row: u32,
}

/// All rectangles of a tile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Instances, lane by lane.
    pub instances: Vec<Instance>,
    /// The lanes of the instances, in the same order.
    pub lanes: Vec<LaneSpan>,
    /// Slices in cells that have room for a text, perhaps with their part in the next tile.
    pub runs: Vec<Run>,
    /// The diamonds, by their position in the tile.
    pub diamonds: Vec<Instance>,
    /// Number of working lanes of each group.
    pub loads: Vec<Load>,
}

/// Shortest run with room for a text. Cells are at most a few pixels wide.
const LEAST_RUN_CELLS: usize = 8;

/// Distance outside of the tile at which times are clamped, in cells. An `f32` would be imprecise
/// for the end of a long slice.
const OUTSIDE: f64 = 64.0;
/// Lower and upper edge of a tick in its lane. Ticks are centred because the heights of cells start
/// at the bottom.
const TICK: (f32, f32) = (0.3, 0.7);
/// Lower and upper edge of a wait in its lane. A thin band at half height cannot be taken for work.
const WAIT: (f32, f32) = (0.3125, 0.6875);
/// Least height of a limit, so that a device that may do nothing is seen.
const LEAST_LIMIT: f32 = 0.1;
/// Opacity of a limit that holds for next to no time.
const PALEST: f32 = 0.35;

impl Batch {
    /// The rectangles of a source's tile. Lanes of unknown tracks are left out.
    #[must_use]
    pub fn new(tile: &Tile, source: SourceId, sheet: &Sheet, shape: &Shape, names: &NameColours) -> Self {
        Self::looking(RankLook::Bars, tile, source, sheet, shape, names)
    }

    /// Like [`Batch::new`], with this look of the rows of ranks.
    #[must_use]
    pub fn looking(
        look: RankLook,
        tile: &Tile,
        source: SourceId,
        sheet: &Sheet,
        shape: &Shape,
        names: &NameColours,
    ) -> Self {
        let colours = names.of_tile(tile);
        let items = tile.lanes.iter().map(|lane| items(&lane.content)).sum();
        let mut batch = Self { instances: Vec::with_capacity(items), ..Self::default() };
        for lane in &tile.lanes {
            let Some(track) = sheet.position(source, lane.track) else { continue };
            let Some(number) = shape.lane(track, lane.lane) else { continue };
            let first = batch.instances.len();
            let cells = Cells { tile, lane: number, colours: &colours };
            let strip = Strip::new(&lane.content, tile, CELLS as u32);
            match sheet.tracks()[track].rank.map(|_| look) {
                Some(RankLook::Heat) => cells.heat(&strip, &mut batch.instances),
                Some(RankLook::Bars) | None => cells.strip(&strip, &mut batch.instances),
            }
            if let Content::Limits(limits) = &lane.content {
                batch.instances.extend(limits.iter().map(|limit| cells.limit(limit)));
            }
            let of = &sheet.tracks()[track];
            let (least, most) = of.value_range.unwrap_or((0.0, 0.0));
            let extent = Extent::of_values(least, most);
            for values in Values::of(&lane.content, tile) {
                match of.is_load() {
                    true => cells.load(&values, &mut batch.instances),
                    false => cells.values(&values, &extent, &mut batch.instances),
                }
            }
            let instances = first as u32..batch.instances.len() as u32;
            batch.lanes.push(LaneSpan { track, lane: lane.lane, instances });
            band::add_lane(&mut batch.loads, track, &strip, tile, sheet);
            batch.runs.extend(runs(lane, track, tile.cell_ps));
        }
        batch.diamonds = batch.instances.iter().filter(|one| one.paint == Paint::Instant).copied().collect();
        sort_by(&mut batch.diamonds, |a, b| a.start.total_cmp(&b.start));
        batch
    }
}

/// The band of a wait in a lane, from `start` to `end`.
pub(super) fn wait_band(start: f32, end: f32, lane: u32) -> Instance {
    let (low, high) = WAIT;
    Instance { start, end, low, high, lane, paint: Paint::Wait, colour: palette::WAIT, alpha: u8::MAX }
}

/// Number of items of a lane. Most are one rectangle.
fn items(content: &Content) -> usize {
    match content {
        Content::Slices(slices) => slices.len(),
        Content::Cells(cells) => cells.len(),
        Content::Samples(samples) => samples.len(),
        Content::Ranges(ranges) => ranges.len(),
        Content::Limits(limits) => limits.len(),
    }
}

/// Slices in cells that have room for a text. At the edges of the tile the rest of the slice can
/// have it.
fn runs(lane: &TileLane, track: usize, cell_ps: i64) -> impl Iterator<Item = Run> {
    let cells = match &lane.content {
        Content::Cells(cells) => cells.as_slice(),
        _ => &[],
    };
    let all = cells.chunk_by(|a, b| a.longest_row == b.longest_row && a.cell.checked_add(1) == Some(b.cell));
    let is_at_edge = |cells: &[TileCell]| {
        cells[0].cell == 0 || cells.last().is_some_and(|last| last.cell + 1 == CELLS as u32)
    };
    let has_room = move |cells: &&[TileCell]| cells.len() >= LEAST_RUN_CELLS || is_at_edge(cells);
    all.filter(has_room).map(move |cells| Run {
        track,
        lane: lane.lane,
        start_ps: i64::from(cells[0].cell).saturating_mul(cell_ps),
        duration_ps: (cells.len() as i64).saturating_mul(cell_ps),
        // The first and last cell can be shared with neighbours that fill more of them.
        name: cells[cells.len() / 2].name,
        row: cells[0].longest_row,
    })
}

/// Values that all rectangles of a lane share.
pub(super) struct Cells<'a> {
    tile: &'a Tile,
    pub(super) lane: u32,
    colours: &'a [u8],
}

impl Cells<'_> {
    /// Appends the cells first, then bars, which are exact and drawn above cells. Points are above
    /// both.
    fn strip(&self, strip: &Strip<'_>, out: &mut Vec<Instance>) {
        for share in &strip.shares {
            self.share(share, out);
        }
        out.extend(strip.bars.iter().map(|bar| self.bar(bar)));
        out.extend(strip.points.iter().map(|point| self.point(point)));
    }

    fn cells_from_ps(&self, ps: i64) -> f32 {
        self.clamped(ps as f64 / self.tile.cell_ps.max(1) as f64)
    }

    pub(super) fn clamped(&self, cells: f64) -> f32 {
        cells.clamp(-OUTSIDE, CELLS as f64 + OUTSIDE) as f32
    }

    fn colour(&self, name: u32) -> u16 {
        self.colours.get(name as usize).map_or(palette::COUNTER, |colour| u16::from(*colour))
    }

    pub(super) fn bar(&self, slice: &TileSlice) -> Instance {
        let is_wait = self.tile.waits.binary_search(&slice.name).is_ok();
        let (low, high) = if is_wait { WAIT } else { (0.0, 1.0) };
        let (paint, colour) = match slice.form {
            _ if is_wait => (Paint::Wait, palette::WAIT),
            SliceForm::Unfinished => (Paint::Unfinished, self.colour(slice.name)),
            _ => (Paint::Slice, self.colour(slice.name)),
        };
        Instance {
            start: self.cells_from_ps(slice.start_ps),
            end: self.cells_from_ps(slice.start_ps.saturating_add(slice.duration_ps)),
            low,
            high,
            lane: self.lane,
            paint,
            colour,
            alpha: u8::MAX,
        }
    }

    /// The work from the bottom up. The wait is a band at half height, like that of a long wait, or
    /// above the work if that reaches higher.
    fn share(&self, share: &Share, out: &mut Vec<Instance>) {
        let part = |low: f32, high: f32, paint, colour| Instance {
            start: share.cell as f32,
            end: share.cell as f32 + 1.0,
            low,
            high,
            lane: self.lane,
            paint,
            colour,
            alpha: u8::MAX,
        };
        if share.wait > 0.0 {
            let low = share.work.max(WAIT.0);
            let high = (low + share.wait.min(1.0) * (WAIT.1 - WAIT.0)).min(1.0);
            out.push(part(low, high, Paint::WaitCell, palette::WAIT));
        }
        if share.work > 0.0 || share.wait <= 0.0 {
            out.push(part(0.0, share.work, Paint::Cell, self.colour(share.name)));
        }
    }

    /// A bar as high as the share of the peak that is allowed. It is paler if the limit holds in a
    /// part of the time only.
    fn limit(&self, of: &TileLimit) -> Instance {
        let part = PALEST + (1.0 - PALEST) * of.part.clamp(0.0, 1.0);
        Instance {
            start: self.cells_from_ps(of.start_ps),
            end: self.cells_from_ps(of.start_ps.saturating_add(of.duration_ps)),
            low: 0.0,
            high: of.share.clamp(LEAST_LIMIT, 1.0),
            lane: self.lane,
            paint: if of.part < 1.0 { Paint::Heat } else { Paint::Slice },
            colour: palette::HEAT,
            alpha: (part * f32::from(u8::MAX)).round() as u8,
        }
    }

    fn point(&self, point: &StripInstant) -> Instance {
        let at = self.clamped(point.at);
        let (paint, (low, high)) =
            if point.is_dense { (Paint::Tick, TICK) } else { (Paint::Instant, (0.0, 1.0)) };
        let (lane, colour) = (self.lane, self.colour(point.name));
        Instance { start: at, end: at, low, high, lane, paint, colour, alpha: u8::MAX }
    }

    fn value(&self, start: f32, end: f32, shares: Range<f32>, paint: Paint) -> Instance {
        let (low, high, lane) = (shares.start, shares.end, self.lane);
        Instance { start, end, low, high, lane, paint, colour: palette::COUNTER, alpha: u8::MAX }
    }

    /// The area below the largest value, and the range of the values if there are several.
    fn values(&self, of: &Values, extent: &Extent, out: &mut Vec<Instance>) {
        let (start, end) = (self.clamped(of.start), self.clamped(of.end));
        out.push(self.value(start, end, area(extent, of.max), Paint::Value));
        if of.min < of.max {
            let range = extent.share(of.min) as f32..extent.share(of.max) as f32;
            out.push(self.value(start, end, range, Paint::Range));
        }
    }
}

/// A value's area as lower and upper share of its lane. The area starts at zero, or at the edge
/// nearest to zero.
fn area(extent: &Extent, value: f64) -> Range<f32> {
    let (zero, value) = (extent.share(0.0) as f32, extent.share(value) as f32);
    zero.min(value)..zero.max(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;
    use crate::view::rows::sheet::tests::sheet_of;
    use nprof_engine::wire::tile::{TileRange, TileSample};

    const TRACKS: &str = "
Tensor*2
Power~";

    /// The instances of a lane's content: paint, extent in cells, extent in the lane.
    #[track_caller]
    fn check(track: u32, lane: u32, content: Content, expected: &str) {
        let sheet = sheet_of(TRACKS);
        let lane = TileLane { track, lane, content };
        let tile = fixture::tile(1_024, &["x"], vec![lane]);
        let batch =
            Batch::new(&tile, SourceId::of_first(0), &sheet, &Shape::new(&sheet), &NameColours::default());
        let text: Vec<_> = batch
            .instances
            .iter()
            .map(|i| {
                format!("{:?} {}..{} {:.2}..{:.2} lane {}", i.paint, i.start, i.end, i.low, i.high, i.lane)
            })
            .collect();
        assert_eq!(text.join(" | "), expected);
    }

    fn slice(start_ps: i64, duration_ps: i64, form: SliceForm) -> TileSlice {
        TileSlice { start_ps, duration_ps, row: 0, name: 0, form }
    }

    #[test]
    fn limits_are_as_high_as_what_they_allow() {
        let limit =
            |start_ps, part| TileLimit { start_ps, duration_ps: 2_048, row: 0, name: 0, share: 0.875, part };
        check(
            100,
            0,
            Content::Limits(vec![limit(0, 1.0), limit(4_096, 0.5)]),
            "Slice 0..2 0.00..0.88 lane 0 | Heat 4..6 0.00..0.88 lane 0",
        );
        let colours = {
            let sheet = sheet_of(TRACKS);
            let lane = fixture::lane(100, Content::Limits(vec![limit(0, 1.0)]));
            let tile = fixture::tile(1_024, &["x"], vec![lane]);
            Batch::new(&tile, SourceId::of_first(0), &sheet, &Shape::new(&sheet), &NameColours::default())
        };
        assert_eq!(colours.instances[0].colour, palette::HEAT);
    }

    #[test]
    fn slices_lie_in_cells_of_their_tile() {
        check(
            100,
            1,
            Content::Slices(vec![
                slice(512, 4_096, SliceForm::Complete),
                slice(600, 0, SliceForm::Instant),
                slice(10_240, 5_120, SliceForm::Unfinished),
            ]),
            "Slice 0.5..4.5 0.00..1.00 lane 1 | Unfinished 10..15 0.00..1.00 lane 1 | Instant 0.5859375..0.5859375 \
             0.00..1.00 lane 1",
        );
    }

    #[test]
    fn long_slices_are_cut_off_outside_of_the_tile() {
        check(
            100,
            0,
            Content::Slices(vec![slice(-1 << 60, 1 << 61, SliceForm::Complete)]),
            "Slice -64..576 0.00..1.00 lane 0",
        );
    }

    #[test]
    fn cells_are_as_high_as_they_are_busy() {
        let cell = |cell, busy_ps, wait_ps| TileCell {
            cell,
            busy_ps,
            wait_ps,
            count: 9,
            name: 0,
            longest_row: 0,
            longest_ps: 1,
        };
        check(
            100,
            0,
            Content::Cells(vec![cell(0, 1_024, 0), cell(4, 10, 0), cell(5, 768, 512), cell(20, 0, 0)]),
            "Cell 0..1 0.00..1.00 lane 0 | Cell 4..5 0.00..0.01 lane 0 | WaitCell 5..6 0.31..0.50 lane 0 | \
             Cell 5..6 0.00..0.25 lane 0 | Tick 20.5..20.5 0.30..0.70 lane 0",
        );
    }

    #[test]
    fn waits_are_thin_hatched_bands() {
        let sheet = sheet_of(TRACKS);
        let slices = vec![slice(0, 5_000, SliceForm::Complete), slice(6_000, 6_000, SliceForm::Unfinished)];
        let lane = fixture::lane(100, Content::Slices(slices));
        let tile = fixture::tile(1_000, &["wait for an event"], vec![lane]);
        let batch =
            Batch::new(&tile, SourceId::of_first(0), &sheet, &Shape::new(&sheet), &NameColours::default());
        let looks: Vec<_> =
            batch.instances.iter().map(|one| (one.paint, one.colour, (one.low, one.high))).collect();
        assert_eq!(looks, [(Paint::Wait, palette::WAIT, WAIT); 2]);
    }

    #[test]
    fn counters_hold_their_value_until_the_next_sample() {
        let sample = |time_ps, value| TileSample { time_ps, value, row: 0 };
        check(
            101,
            0,
            Content::Samples(vec![sample(-1_024, 50.0), sample(2_048, 100.0)]),
            "Value -1..2 0.00..0.50 lane 2 | Value 2..512 0.00..1.00 lane 2",
        );
        let range = |cell, min, max, last| TileRange { cell, min, max, last };
        check(
            101,
            0,
            Content::Ranges(vec![range(1, 25.0, 75.0, 50.0), range(4, 0.0, 0.0, 0.0)]),
            "Value 1..2 0.00..0.75 lane 2 | Range 1..2 0.25..0.75 lane 2 | Value 2..4 0.00..0.50 lane 2 | \
             Value 4..5 0.00..0.00 lane 2 | Value 5..512 0.00..0.00 lane 2",
        );
    }

    #[test]
    fn a_slice_that_fills_many_cells_is_a_run() {
        let cell = |(cell, longest_row)| TileCell {
            cell,
            busy_ps: 1,
            wait_ps: 0,
            count: 0,
            name: 0,
            longest_row,
            longest_ps: 1,
        };
        let rows =
            (0..4).map(|at| (at, 1)).chain((4..20).map(|at| (at, 2))).chain((30..36).map(|at| (at, 2)));
        let lane = TileLane { track: 100, lane: 1, content: Content::Cells(rows.map(cell).collect()) };
        let tile = fixture::tile(10, &["x"], vec![lane]);
        let sheet = sheet_of(TRACKS);
        let runs =
            Batch::new(&tile, SourceId::of_first(0), &sheet, &Shape::new(&sheet), &NameColours::default())
                .runs;
        // The first run can have its other part in the tile before.
        let run = |start_ps, duration_ps, row| Run { track: 0, lane: 1, start_ps, duration_ps, name: 0, row };
        assert_eq!(runs, [run(0, 40, 1), run(40, 160, 2)]);
    }

    #[test]
    fn unknown_tracks_and_lanes_are_left_out() {
        check(7, 0, Content::Slices(vec![slice(0, 1, SliceForm::Complete)]), "");
        check(100, 2, Content::Slices(vec![slice(0, 1, SliceForm::Complete)]), "");
    }

    #[test]
    fn areas_reach_to_zero_or_to_the_nearest_edge() {
        assert_eq!(area(&Extent::of_values(0.0, 0.0), 0.0), 0.0..0.0);
        assert_eq!(area(&Extent::of_values(f64::NAN, f64::INFINITY), f64::NAN), 0.0..0.0);
        assert_eq!(area(&Extent::of_values(-50.0, 50.0), -50.0), 0.0..0.5);
        assert_eq!(area(&Extent::of_values(96.0, 100.0), 97.5), 0.0..0.5);
        assert_eq!(area(&Extent::of_values(-100.0, -96.0), -97.5), 0.5..1.0);
    }
}
