//! Steps from slice to slice: along a lane, to the next lanes, and to the neighbouring tracks.
//!
//! A step up or down goes to the nearest slice of the next lane. Beyond the track's last lane it
//! goes to the nearest slice of the next track of slices. Repeated steps reach every lane of every
//! track that is not hidden. Counters have no slices and are skipped. A step decodes the blocks
//! around one time. Only a step to a rarely used lane scans further blocks.

use rustc_hash::FxHashSet;

use super::slice::{self, SliceAt};
use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{TableId, TrackId};
use crate::segment::{Bytes, ColumnRole, Segment};
use crate::tile::{LaneSlice, block_slices, slices_in};

/// Direction of a step from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepDirection {
    /// To the next slice of the lane.
    Next,
    /// To the previous slice of the lane.
    Previous,
    /// To the nearest slice of the lane above, or of the track above.
    Up,
    /// To the nearest slice of the lane below, or of the track below.
    Down,
}

/// Direction of a scan through the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

/// Lanes of a track that a slice can be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneChoice {
    One(u32),
    All,
}

impl LaneChoice {
    fn has(self, lane: i64) -> bool {
        match self {
            Self::One(only) => i64::from(only) == lane,
            Self::All => true,
        }
    }
}

/// A position in a track's table: row `at` of a block, or the end of the block.
#[derive(Debug, Clone, Copy)]
struct StepStart {
    block: usize,
    at: usize,
}

/// The slice in this direction; `None` at the end of the lane, or beyond the last track. Tracks
/// below the groups in `closed` are skipped.
///
/// # Errors
/// `Invalid` if the row is not a slice; `Cancelled` if the work was cancelled; otherwise if bytes
/// are missing or damaged.
pub fn step<B: Bytes>(
    segment: &Segment<B>,
    row: u32,
    direction: StepDirection,
    closed: &[TrackId],
    cancel: Cancel<'_>,
) -> Result<Option<SliceAt>> {
    let source = &StepSource { segment, cancel };
    let from = slice::read(segment, row)?;
    match direction {
        StepDirection::Next => along_lane(source, &from, Way::Forward),
        StepDirection::Previous => along_lane(source, &from, Way::Backward),
        StepDirection::Up => match from.slice.lane.checked_sub(1) {
            Some(lane) => nearest(source, &from, from.track, LaneChoice::One(lane), direction),
            None => in_next_track(source, &from, direction, closed),
        },
        StepDirection::Down => {
            let lane = from.slice.lane + 1;
            if lane < segment.footer().tracks[from.track.0 as usize].lanes {
                nearest(source, &from, from.track, LaneChoice::One(lane), direction)
            } else {
                in_next_track(source, &from, direction, closed)
            }
        }
    }
}

/// A segment, and whether the step is cancelled.
struct StepSource<'a, B> {
    segment: &'a Segment<B>,
    cancel: Cancel<'a>,
}

fn in_next_track<B: Bytes>(
    source: &StepSource<'_, B>,
    from: &SliceAt,
    direction: StepDirection,
    closed: &[TrackId],
) -> Result<Option<SliceAt>> {
    let segment = source.segment;
    let order = slice::tracks(segment, None);
    let Some(own) = order.iter().position(|track| *track == from.track) else { return Ok(None) };
    let closed = closed.iter().copied().collect();
    let is_shown = |track: &&TrackId| !is_below(segment, **track, &closed);
    let next = match direction {
        StepDirection::Up => order[..own].iter().rev().find(is_shown),
        _ => order[own + 1..].iter().find(is_shown),
    };
    next.map_or(Ok(None), |track| nearest(source, from, *track, LaneChoice::All, direction))
}

/// Whether a track is below one of these groups.
fn is_below<B: Bytes>(segment: &Segment<B>, track: TrackId, groups: &FxHashSet<TrackId>) -> bool {
    let tracks = &segment.footer().tracks;
    let parent = |track: TrackId| tracks.get(track.0 as usize)?.spec.parent;
    // A damaged list could contain cycles, so the path is limited to the length of the list.
    let mut above = std::iter::successors(parent(track), |group| parent(*group)).take(tracks.len());
    above.any(|group| groups.contains(&group))
}

/// The slice of a track that is nearest in time. If several lanes have one at the start of
/// `from`, the lane closest to the origin of the step wins.
fn nearest<B: Bytes>(
    source: &StepSource<'_, B>,
    from: &SliceAt,
    track: TrackId,
    lanes: LaneChoice,
    direction: StepDirection,
) -> Result<Option<SliceAt>> {
    let segment = source.segment;
    let moment = from.slice.start_ps;
    let covering = slices_in(segment, track, Interval::new(moment, moment.saturating_add(1)))?;
    let covering = covering.into_iter().filter(|slice| lanes.has(i64::from(slice.lane)));
    let beside = match direction {
        StepDirection::Up => covering.max_by_key(|slice| slice.lane),
        _ => covering.min_by_key(|slice| slice.lane),
    };
    if let Some(slice) = beside {
        return Ok(Some(SliceAt { track, slice }));
    }
    let Some(start) = first_from(segment, track, moment)? else { return Ok(None) };
    let after = scan(source, track, start, lanes, Way::Forward)?;
    let before = match lanes {
        LaneChoice::One(_) => scan(source, track, start, lanes, Way::Backward)?,
        LaneChoice::All => latest_end(source, track, moment)?,
    };
    let to_after = |slice: &SliceAt| slice.slice.start_ps.saturating_sub(from.end_ps()).max(0);
    let to_before = |slice: &SliceAt| moment.saturating_sub(slice.end_ps());
    Ok(match (before, after) {
        (Some(before), Some(after)) if to_before(&before) < to_after(&after) => Some(before),
        (before, after) => after.or(before),
    })
}

/// The first row of a track that starts at or after `moment`; the end of the last block if
/// there is none. `None` for a track without rows.
fn first_from<B: Bytes>(segment: &Segment<B>, track: TrackId, moment: i64) -> Result<Option<StepStart>> {
    let (Some(table), blocks) = (segment.table_of(track), segment.blocks_of(track)?) else { return Ok(None) };
    if blocks.is_empty() {
        return Ok(None);
    }
    let starts = &segment.blocks(table)?.starts()[blocks.clone()];
    // The block before the first one that starts late enough can have such rows at its end.
    let block = blocks.start + starts.partition_point(|&start| start < moment).saturating_sub(1);
    let starts = segment.core_ints(table, ColumnRole::Start, block)?;
    Ok(Some(StepStart { block, at: starts.partition_point(|&start| start < moment) }))
}

fn along_lane<B: Bytes>(source: &StepSource<'_, B>, from: &SliceAt, way: Way) -> Result<Option<SliceAt>> {
    let place = source.segment.place(from.slice.row)?;
    let at = match way {
        Way::Forward => place.at + 1,
        Way::Backward => place.at,
    };
    scan(source, from.track, StepStart { block: place.block, at }, LaneChoice::One(from.slice.lane), way)
}

/// The first slice on one of these lanes, searched forward or backward from `start`.
fn scan<B: Bytes>(
    source: &StepSource<'_, B>,
    track: TrackId,
    start: StepStart,
    lanes: LaneChoice,
    way: Way,
) -> Result<Option<SliceAt>> {
    let &StepSource { segment, cancel } = source;
    let (Some(table), blocks) = (segment.table_of(track), segment.blocks_of(track)?) else { return Ok(None) };
    let StepStart { mut block, at } = start;
    let mut at = Some(at);
    loop {
        cancel.check()?;
        let of_rows = segment.core_ints(table, ColumnRole::Lane, block)?;
        let found = match way {
            Way::Forward => {
                let first = at.unwrap_or(0).min(of_rows.len());
                of_rows[first..].iter().position(|lane| lanes.has(*lane)).map(|found| first + found)
            }
            Way::Backward => {
                let end = at.unwrap_or(of_rows.len()).min(of_rows.len());
                of_rows[..end].iter().rposition(|lane| lanes.has(*lane))
            }
        };
        if let Some(found) = found {
            return slice_in_block(segment, track, table, block, found);
        }
        at = None;
        let next = match way {
            Way::Forward => Some(block + 1),
            Way::Backward => block.checked_sub(1),
        };
        match next.filter(|next| blocks.contains(next)) {
            Some(next) => block = next,
            None => return Ok(None),
        }
    }
}

/// The slice that ends last, among the slices of a track that start before `moment`.
fn latest_end<B: Bytes>(source: &StepSource<'_, B>, track: TrackId, moment: i64) -> Result<Option<SliceAt>> {
    let &StepSource { segment, cancel } = source;
    let (Some(table), blocks) = (segment.table_of(track), segment.blocks_of(track)?) else { return Ok(None) };
    let list = segment.blocks(table)?;
    let end = blocks.start + list.starts()[blocks.clone()].partition_point(|&start| start < moment);
    let mut latest: Option<LaneSlice> = None;
    let end_of = |slice: &LaneSlice| slice.start_ps.saturating_add(slice.duration_ps);
    for block in (blocks.start..end).rev() {
        if latest.as_ref().is_some_and(|latest| list.end(block) <= end_of(latest)) {
            continue;
        }
        cancel.check()?;
        block_slices(segment, table, block, |slice| {
            let is_later = latest.as_ref().is_none_or(|latest| end_of(&slice) > end_of(latest));
            if slice.start_ps < moment && is_later {
                latest = Some(slice);
            }
        })?;
    }
    Ok(latest.map(|slice| SliceAt { track, slice }))
}

fn slice_in_block<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    table: TableId,
    block: usize,
    at: usize,
) -> Result<Option<SliceAt>> {
    let mut rows = 0;
    let mut found = None;
    block_slices(segment, table, block, |slice| {
        if rows == at {
            found = Some(SliceAt { track, slice });
        }
        rows += 1;
    })?;
    Ok(found)
}
