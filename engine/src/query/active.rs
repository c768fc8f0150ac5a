//! The active span of a rank: the stretch of a trace that is worth looking at first.
//!
//! A trace can begin long before its work and end long after it. Two microseconds of set-up and
//! twelve of work are invisible in a capture of two milliseconds. Instants can mark the begin and
//! the end of a recording around all work.

use super::{extent, slice};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{Nesting, TrackContent, TrackId};
use crate::segment::{Bytes, Segment};
use crate::tile::{LaneContent, Level, TileId, cut};

/// Minimum number of cells that divide the trace.
const CELLS: f64 = 1024.0;
/// Work further apart than this share of the trace belongs to different stretches.
const GAP: f64 = 0.1;
/// A stretch longer than this share of the trace is no better as a view than the whole trace.
const LONGEST: f64 = 0.25;
/// An extent of slices longer than this share of the trace is no better as a view than the whole.
const LONGEST_EXTENT: f64 = 0.95;
/// More instants than this outside of all slices are worth a look.
const MOST_LONE: usize = 64;
/// A stretch with less than this share of all work is one of several, such as one of three jobs.
const LEAST_WORK: f64 = 0.5;

/// Work in one cell, over all lanes.
#[derive(Debug, Clone, Copy, Default)]
struct CellWork {
    work_ps: u64,
    /// First and last time of the work; exact if the tile contains slices.
    span: Option<Interval>,
}

/// The stretch with the most work between long gaps, if it is a small part of the trace and has
/// most of its work. Else the extent of slices, if instants or samples stand far outside. `None` if
/// the whole is the best view. Waits, instants, annotations and states are not work.
pub fn active_span<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<Interval>> {
    let tracks = slice::tracks(segment, None);
    let spans = tracks.iter().map(|id| &segment.footer().tracks[id.0 as usize]);
    let whole = spans.map(|track| Interval::new(track.start_ps, track.end_ps)).reduce(Interval::cover);
    let Some(whole) = whole.filter(|whole| whole.duration_ps() > 0) else { return Ok(None) };
    let level = Level::for_cell_ps(whole.duration_ps() as f64 / CELLS);
    let mut cells = ActiveCells::new(level, whole);
    let is_work = |track: &TrackId| segment.footer().tracks[track.0 as usize].spec.identity.role.is_work();
    for track in tracks.into_iter().filter(is_work) {
        cancel.check()?;
        cells.add_track(segment, track, cancel)?;
    }
    let is_small = |stretch: &Interval| share(*stretch, whole) < LONGEST;
    if let Some(stretch) = cells.stretch().filter(is_small) {
        return Ok(Some(stretch));
    }
    let extent = extent(segment, |role| !role.is_state(), cancel)?;
    let shown = extent.map_or(Ok(None), |extent| with_crowds(segment, extent).map(Some))?;
    Ok(shown.filter(|shown| is_better_view(*shown, whole)))
}

/// The extent with the tracks that have many instants outside: they are content, and no marks of a
/// recording. Only blocks that lie outside as a whole count.
fn with_crowds<B: Bytes>(segment: &Segment<B>, extent: Interval) -> Result<Interval> {
    let mut shown = extent;
    for track in slice::tracks(segment, None) {
        let meta = &segment.footer().tracks[track.0 as usize];
        let span = Interval::new(meta.start_ps, meta.end_ps);
        let Some(table) = segment.table_of(track) else { continue };
        if meta.spec.identity.role.is_state() || extent.cover(span) == extent {
            continue;
        }
        let list = segment.blocks(table)?;
        let is_outside =
            |block: &usize| list.starts()[*block] >= extent.end.0 || list.end(*block) <= extent.start.0;
        let outside: usize = segment.blocks_of(track)?.filter(is_outside).map(|block| list.rows(block)).sum();
        if outside > MOST_LONE {
            shown = shown.cover(span);
        }
    }
    Ok(shown)
}

/// Whether a view of a part that leaves out no work shows clearly more than a view of the whole.
#[must_use]
pub fn is_better_view(part: Interval, whole: Interval) -> bool {
    share(part, whole) < LONGEST_EXTENT
}

fn share(part: Interval, whole: Interval) -> f64 {
    part.duration_ps() as f64 / (whole.duration_ps() as f64).max(1.0)
}

/// Cells with no long gap between them.
#[derive(Debug, Clone, Copy)]
struct ActiveStretch {
    work_ps: u64,
    span: Interval,
}

struct ActiveCells {
    level: Level,
    whole: Interval,
    /// Number of the first cell.
    first: i64,
    work: Vec<CellWork>,
}

impl ActiveCells {
    fn new(level: Level, whole: Interval) -> Self {
        let (first, last) = (level.cell_of(whole.start), level.cell_of(whole.end));
        let count = usize::try_from(last.saturating_sub(first)).unwrap_or_default() + 1;
        Self { level, whole, first, work: vec![CellWork::default(); count] }
    }

    fn add_track<B: Bytes>(
        &mut self,
        segment: &Segment<B>,
        track: TrackId,
        cancel: Cancel<'_>,
    ) -> Result<()> {
        let waits = &segment.footer().waits;
        let kind = &segment.footer().tracks[track.0 as usize].spec.kind;
        // A call is the work of those that it calls: depth makes no more of it.
        let lanes = if matches!(kind, TrackContent::Slices(_, Nesting::Calls)) { 1 } else { u32::MAX };
        for index in self.level.tiles_of(self.whole) {
            let tile = TileId { group: 0, level: self.level, index };
            for lane in cut(segment, track, tile, cancel)?.into_iter().filter(|lane| lane.lane < lanes) {
                match lane.content {
                    LaneContent::Slices(slices) => {
                        for slice in slices.iter().filter(|slice| !waits.contains(slice.name)) {
                            let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
                            let inside = tile.interval().intersection(Interval::new(slice.start_ps, end_ps));
                            self.add_slice(inside);
                        }
                    }
                    LaneContent::SliceCells(cells) => {
                        for cell in cells {
                            let start_ps = cell.index.saturating_mul(self.level.cell_ps());
                            let span = Interval::new(start_ps, start_ps.saturating_add(self.level.cell_ps()));
                            self.add(cell.index, cell.content.busy_ps - cell.content.wait_ps, span);
                        }
                    }
                    LaneContent::Samples(_) | LaneContent::Ranges(_) => {}
                }
            }
        }
        Ok(())
    }

    fn add_slice(&mut self, inside: Interval) {
        if inside.duration_ps() <= 0 {
            return;
        }
        let last = self.level.cell_of(crate::base::Time(inside.end.0 - 1));
        for cell in self.level.cell_of(inside.start)..=last {
            let start_ps = cell.saturating_mul(self.level.cell_ps());
            let part =
                Interval::new(start_ps, start_ps.saturating_add(self.level.cell_ps())).intersection(inside);
            self.add(cell, part.duration_ps().unsigned_abs(), part);
        }
    }

    fn add(&mut self, cell: i64, work_ps: u64, span: Interval) {
        let at = usize::try_from(cell.saturating_sub(self.first)).ok();
        if let Some(cell) = at.and_then(|at| self.work.get_mut(at)).filter(|_| work_ps > 0) {
            cell.work_ps = cell.work_ps.saturating_add(work_ps);
            cell.span = Some(cell.span.map_or(span, |known| known.cover(span)));
        }
    }

    /// The stretch of cells between two long gaps that has most of the work.
    fn stretch(&self) -> Option<Interval> {
        let gap_ps = self.whole.duration_ps() as f64 * GAP;
        let (mut best, mut current): (Option<ActiveStretch>, Option<ActiveStretch>) = (None, None);
        for cell in &self.work {
            let Some(span) = cell.span else { continue };
            current = match current {
                Some(known) if ((span.start.0 - known.span.end.0) as f64) < gap_ps => Some(ActiveStretch {
                    work_ps: known.work_ps.saturating_add(cell.work_ps),
                    span: known.span.cover(span),
                }),
                done => {
                    best = with_more_work(best, done);
                    Some(ActiveStretch { work_ps: cell.work_ps, span })
                }
            };
        }
        let all_ps: f64 = self.work.iter().map(|cell| cell.work_ps as f64).sum();
        let most = with_more_work(best, current)?;
        (most.work_ps as f64 >= all_ps * LEAST_WORK).then_some(most.span)
    }
}

/// The stretch with more work, the first of equals.
fn with_more_work(one: Option<ActiveStretch>, two: Option<ActiveStretch>) -> Option<ActiveStretch> {
    match (one, two) {
        (Some(one), Some(two)) => Some(if two.work_ps > one.work_ps { two } else { one }),
        (one, two) => one.or(two),
    }
}
