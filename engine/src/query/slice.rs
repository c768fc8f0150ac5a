//! One slice by its row, and the slices of a window.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Error, Interval, Result};
use crate::exec::Cancel;
use crate::model::{NameId, TableId, TrackId};
use crate::segment::{Bytes, ColumnRole, Segment};
use crate::tile::{LaneSlice, block_slices};

/// Slices of a span that are looked at for [`within`].
const MOST_WITHIN: usize = 100_000;
/// The least part of the span that the slice covers, and how many times longer it may be.
const LEAST_COVERED: f64 = 0.8;
const MOST_LONGER: i64 = 2;

/// A slice and its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceAt {
    /// Track of the slice.
    pub track: TrackId,
    /// Times, row, name, form, lane, depth.
    pub slice: LaneSlice,
}

impl SliceAt {
    /// Number of its name.
    #[must_use]
    pub fn name(&self) -> NameId {
        NameId(self.slice.name)
    }

    /// End of the slice.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.slice.start_ps.saturating_add(self.slice.duration_ps)
    }
}

/// The slice in this row.
///
/// # Errors
/// `Invalid` if the row is not a slice; otherwise if bytes are missing or damaged.
pub fn read<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<SliceAt> {
    let no_slice = Error::Invalid { what: "this row is not a slice" };
    let place = segment.place(row)?;
    let track = segment.track_of(row).ok_or(no_slice)?;
    if segment.column(place.table, ColumnRole::Lane).is_none() {
        return Err(no_slice);
    }
    let mut found = None;
    block_slices(segment, place.table, place.block, |slice| {
        if slice.row == row {
            found = Some(slice);
        }
    })?;
    Ok(SliceAt { track, slice: found.ok_or(no_slice)? })
}

/// The slices in these rows, in the order of the rows. Each block is read once.
pub fn read_all<B: Bytes>(segment: &Segment<B>, rows: &[u32]) -> Result<Vec<SliceAt>> {
    let no_slice = Error::Invalid { what: "this row is not a slice" };
    let mut of_blocks: BTreeMap<(TableId, usize), FxHashSet<u32>> = BTreeMap::new();
    for &row in rows {
        let place = segment.place(row)?;
        segment.column(place.table, ColumnRole::Lane).ok_or(no_slice)?;
        of_blocks.entry((place.table, place.block)).or_default().insert(row);
    }
    let mut found: FxHashMap<u32, LaneSlice> = FxHashMap::default();
    for ((table, block), wanted) in of_blocks {
        block_slices(segment, table, block, |slice| {
            if wanted.contains(&slice.row) {
                found.insert(slice.row, slice);
            }
        })?;
    }
    let slice_at = |row: &u32| {
        let track = segment.track_of(*row).ok_or(no_slice)?;
        Ok(SliceAt { track, slice: *found.get(row).ok_or(no_slice)? })
    };
    rows.iter().map(slice_at).collect()
}

/// Separates the names of a track and of its groups in summaries.
pub const SUMMARY_SEPARATOR: &str = " / ";

/// Names of the groups of a track and of the track, joined by `/`.
pub fn track_path<B: Bytes>(segment: &Segment<B>, track: TrackId) -> String {
    names_to(segment, track).join("/")
}

/// The names of the groups above a track and its own, from the outermost on.
#[must_use]
pub fn names_to<B: Bytes>(segment: &Segment<B>, track: TrackId) -> Vec<&str> {
    let tracks = &segment.footer().tracks;
    let spec = |id: TrackId| tracks.get(id.0 as usize).map(|track| &track.spec);
    // A damaged footer can have a cycle of groups: no path is longer than the list.
    let above = std::iter::successors(Some(track), |id| spec(*id)?.parent).take(tracks.len());
    let mut names: Vec<&str> = above.filter_map(|id| Some(spec(id)?.name.as_str())).collect();
    names.reverse();
    names
}

/// The lanes of these rows; 0 for one that is not a slice. Each block is read once.
pub fn lanes<B: Bytes>(segment: &Segment<B>, rows: &[u32]) -> Result<Vec<u32>> {
    let mut of_blocks: BTreeMap<(TableId, usize), FxHashMap<u32, u32>> = BTreeMap::new();
    for &row in rows {
        let place = segment.place(row)?;
        if segment.column(place.table, ColumnRole::Lane).is_some() {
            of_blocks.entry((place.table, place.block)).or_default().insert(row, 0);
        }
    }
    let mut lanes: FxHashMap<u32, u32> = FxHashMap::default();
    for ((table, block), mut wanted) in of_blocks {
        block_slices(segment, table, block, |slice| {
            if let Some(lane) = wanted.get_mut(&slice.row) {
                *lane = slice.lane;
            }
        })?;
        lanes.extend(wanted);
    }
    Ok(rows.iter().map(|row| lanes.get(row).copied().unwrap_or_default()).collect())
}

/// The shortest slice of a track that covers most of a span, and that is not much longer: what went
/// on in the span. `None` if there is none.
pub fn within(
    segment: &Segment<impl Bytes>,
    track: TrackId,
    span: Interval,
    cancel: Cancel<'_>,
) -> Result<Option<SliceAt>> {
    let (slices, _) = window(segment, &[track], span, MOST_WITHIN, cancel)?;
    let covers = |of: &SliceAt| {
        let covered = of.end_ps().min(span.end.0).saturating_sub(of.slice.start_ps.max(span.start.0));
        covered as f64 >= span.duration_ps() as f64 * LEAST_COVERED
            && of.slice.duration_ps <= span.duration_ps().saturating_mul(MOST_LONGER)
    };
    Ok(slices.into_iter().filter(covers).min_by_key(|of| of.slice.duration_ps))
}

/// The slices of these tracks that overlap a window, by track, then start. Returns at most
/// `limit` slices, and whether there are more.
pub fn window<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[TrackId],
    window: Interval,
    limit: usize,
    cancel: Cancel<'_>,
) -> Result<(Vec<SliceAt>, bool)> {
    let mut found = Vec::new();
    for &track in tracks {
        let Some(table) = segment.table_of(track) else { continue };
        let blocks = segment.blocks_of(track)?;
        for block in segment.blocks(table)?.overlapping(blocks, window) {
            cancel.check()?;
            block_slices(segment, table, block, |slice| {
                if window.overlaps(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps)) {
                    found.push(SliceAt { track, slice });
                }
            })?;
            if found.len() > limit {
                found.truncate(limit);
                return Ok((found, true));
            }
        }
    }
    Ok((found, false))
}

/// Tracks that can have slices, in display order: all of them, or those in `wanted`.
#[must_use]
pub fn tracks<B: Bytes>(segment: &Segment<B>, wanted: Option<&[TrackId]>) -> Vec<TrackId> {
    let (_, order) = crate::tile::groups(segment.footer());
    let is_slices = |id: &TrackId| {
        let track = &segment.footer().tracks[id.0 as usize];
        matches!(track.spec.kind, crate::model::TrackContent::Slices(..)) && track.rows > 0
    };
    let wanted = wanted.map(|wanted| wanted.iter().copied().collect::<FxHashSet<TrackId>>());
    let is_wanted = |id: &TrackId| wanted.as_ref().is_none_or(|wanted| wanted.contains(id));
    order.into_iter().filter(is_slices).filter(is_wanted).collect()
}
