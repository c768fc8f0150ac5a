//! Cuts a tile: the content of one track in one tile's span.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::cell_codec::{range_cells, slice_cells};
use super::grid::{Level, TileId};
use super::lane_tile::{LaneContent, LaneSample, LaneTile};
use super::row_lanes::{MAX_SLICES, RowLanes};
use super::slice_block::for_each_slice_block_in;
use super::summary::{CellSummary, PlacedCell, Range, SliceCell};
use crate::base::{Interval, Result, Time};
use crate::exec::Cancel;
use crate::model::{TrackContent, TrackId};
use crate::segment::{Bytes, ColumnRole, PyramidPage, Segment};

/// Content of a track in a tile. Empty lanes are left out.
pub fn cut<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    tile: TileId,
    cancel: Cancel<'_>,
) -> Result<Vec<LaneTile>> {
    cancel.check()?;
    let meta = &segment.footer().tracks[track.0 as usize];
    let window = tile.interval();
    if meta.rows == 0 || meta.end_ps < window.start.0 || meta.start_ps >= window.end.0 {
        // The last value of a counter holds on.
        if !matches!(meta.spec.kind, TrackContent::Counter(_))
            || meta.rows == 0
            || meta.start_ps >= window.end.0
        {
            return Ok(Vec::new());
        }
    }
    let pages = segment.pages(track)?;
    let stored = pages.first().is_some_and(|page| tile.level.number() >= page.level);
    match (meta.spec.kind, stored) {
        (TrackContent::Group, _) => Ok(Vec::new()),
        (TrackContent::Slices(..), false) => {
            let mut lanes = RowLanes::new(tile, meta.lanes, &segment.footer().waits);
            for_each_slice_block_in(segment, track, window, |block| {
                lanes.add(block);
                cancel.check()
            })?;
            lanes.finish()
        }
        (TrackContent::Slices(..), true) => {
            let (of, cells) = stored_cells(pages, tile, |page| slice_cells(segment, page, meta.first_row))?;
            let lanes = cells.into_iter().map(|(lane, cells)| {
                let cells = coarsen(cells, of, tile.level, merge_slice_cells);
                LaneTile { lane, content: LaneContent::SliceCells(cells) }
            });
            Ok(lanes.collect())
        }
        (TrackContent::Counter(_), false) => {
            let mut samples = Vec::new();
            for_each_sample_in(segment, track, window, cancel, |sample| samples.push(sample))?;
            Ok(counter_lane(samples, tile))
        }
        (TrackContent::Counter(_), true) => {
            let (of, cells) = stored_cells(pages, tile, |page| range_cells(segment, page))?;
            let cells = cells.into_values().flatten().collect();
            let mut cells = coarsen(cells, of, tile.level, |into: &mut Range, from| into.merge(from));
            if begins_empty(&cells, tile) {
                let before = held_before(segment, pages, of, of.cell_of(window.start))?;
                hold_from_before(before, tile, &mut cells);
            }
            Ok(vec![LaneTile { lane: 0, content: LaneContent::Ranges(cells) }])
        }
    }
}

/// Cells by lane.
type CellsByLane<C> = BTreeMap<u32, Vec<PlacedCell<C>>>;

/// The stored cells of a tile, and their level: the tile's level, or the coarsest stored one.
fn stored_cells<C>(
    pages: &[PyramidPage],
    tile: TileId,
    read: impl Fn(&PyramidPage) -> Result<Vec<PlacedCell<C>>>,
) -> Result<(Level, CellsByLane<C>)> {
    let window = tile.interval();
    let mut lanes = CellsByLane::new();
    let coarsest = pages.last().and_then(|page| Level::new(page.level));
    let level = coarsest.map_or(tile.level, |coarsest| coarsest.min(tile.level));
    let first = level.cell_of(window.start);
    let last = level.cell_of(Time(window.end.0 - 1));
    for page in pages.iter().filter(|p| p.level == level.number() && p.first <= last && p.last >= first) {
        let mut cells = read(page)?;
        cells.retain(|cell| (first..=last).contains(&cell.index));
        match lanes.entry(page.lane) {
            Entry::Vacant(lane) => {
                lane.insert(cells);
            }
            Entry::Occupied(mut lane) => lane.get_mut().append(&mut cells),
        }
    }
    Ok((level, lanes))
}

/// Merges cells of level `of` into cells of the coarser `level`.
fn coarsen<C: Copy>(
    cells: Vec<PlacedCell<C>>,
    of: Level,
    level: Level,
    merge: impl Fn(&mut C, &C),
) -> Vec<PlacedCell<C>> {
    if of == level {
        return cells;
    }
    let mut joined: Vec<PlacedCell<C>> = Vec::new();
    for cell in cells {
        let index = cell.index >> (level.number() - of.number());
        match joined.last_mut() {
            Some(last) if last.index == index => merge(&mut last.content, &cell.content),
            _ => joined.push(PlacedCell { index, content: cell.content }),
        }
    }
    joined
}

/// Merges cells, which have no times by name any more. Used only beyond the coarsest stored level,
/// at which the whole trace takes a few cells. The name of the busier cell stands for both.
fn merge_slice_cells(into: &mut SliceCell, later: &SliceCell) {
    if later.busy_ps > into.busy_ps {
        into.name = later.name;
    }
    into.busy_ps += later.busy_ps;
    into.wait_ps += later.wait_ps;
    into.count += later.count;
    if later.longest_ps > into.longest_ps {
        (into.longest_ps, into.longest_row) = (later.longest_ps, later.longest_row);
    }
}

fn counter_lane(samples: Vec<LaneSample>, tile: TileId) -> Vec<LaneTile> {
    if samples.is_empty() {
        return Vec::new();
    }
    if samples.len() <= MAX_SLICES {
        return vec![LaneTile { lane: 0, content: LaneContent::Samples(samples) }];
    }
    let mut cells: Vec<PlacedCell<Range>> = Vec::new();
    let window = tile.interval();
    let before = samples.first().filter(|sample| sample.time_ps < window.start.0).map(|sample| sample.value);
    for sample in samples.iter().filter(|sample| sample.time_ps >= window.start.0) {
        let index = tile.level.cell_of(Time(sample.time_ps));
        match cells.last_mut() {
            Some(last) if last.index == index => last.content.merge(&Range::of(sample.value)),
            _ => cells.push(PlacedCell { index, content: Range::of(sample.value) }),
        }
    }
    hold_from_before(before, tile, &mut cells);
    vec![LaneTile { lane: 0, content: LaneContent::Ranges(cells) }]
}

/// Last value of the stored cells before cell `first`.
fn held_before<B: Bytes>(
    segment: &Segment<B>,
    pages: &[PyramidPage],
    level: Level,
    first: i64,
) -> Result<Option<f64>> {
    let page = pages.iter().rev().find(|page| page.level == level.number() && page.first < first);
    let Some(page) = page else { return Ok(None) };
    let cells = range_cells(segment, page)?;
    Ok(cells.iter().rev().find(|cell| cell.index < first).map(|cell| cell.content.last))
}

/// Whether the first cell of a tile is empty.
fn begins_empty(cells: &[PlacedCell<Range>], tile: TileId) -> bool {
    let first = tile.level.cell_of(tile.interval().start);
    cells.first().is_none_or(|cell| cell.index > first)
}

/// Fills the first cell of a tile with the value that holds when the tile begins, if that cell is
/// empty.
fn hold_from_before(value: Option<f64>, tile: TileId, cells: &mut Vec<PlacedCell<Range>>) {
    let first = tile.level.cell_of(tile.interval().start);
    if let Some(value) = value
        && begins_empty(cells, tile)
    {
        cells.insert(0, PlacedCell { index: first, content: Range { count: 0, ..Range::of(value) } });
    }
}

/// Samples of a counter in a window. Before them stands the sample whose value holds when the
/// window begins.
pub fn samples_in<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    window: Interval,
) -> Result<Vec<LaneSample>> {
    let mut found = Vec::new();
    for_each_sample_in(segment, track, window, Cancel::NEVER, |sample| found.push(sample))?;
    Ok(found)
}

/// Calls `each` with the samples of a counter in a window, in order. The first one is the sample
/// whose value holds when the window begins, if there is one. Memory holds one block.
pub fn for_each_sample_in<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    window: Interval,
    cancel: Cancel<'_>,
    mut each: impl FnMut(LaneSample),
) -> Result<()> {
    let Some(table) = segment.table_of(track) else { return Ok(()) };
    let blocks = segment.blocks_of(track)?;
    let list = segment.blocks(table)?;
    let starts = &list.starts()[blocks.clone()];
    // The sample before the window is in the last block that starts before it.
    let from = blocks.start + starts.partition_point(|&start| start < window.start.0).saturating_sub(1);
    let to = blocks.start + starts.partition_point(|&start| start < window.end.0.max(window.start.0 + 1));
    let mut before = None;
    for block in from..to {
        cancel.check()?;
        let first_row = segment.footer().tables[usize::from(table.0)].first_row + list.first_row(block);
        let times = segment.core_ints(table, ColumnRole::Start, block)?;
        let values = segment.core_floats(table, block)?;
        for ((row, &time_ps), &value) in (first_row..).zip(&times).zip(&values) {
            let sample = LaneSample { time_ps, value, row };
            if time_ps < window.start.0 {
                before = Some(sample);
            } else if time_ps < window.end.0 {
                before.take().into_iter().for_each(&mut each);
                each(sample);
            }
        }
    }
    before.into_iter().for_each(each);
    Ok(())
}
