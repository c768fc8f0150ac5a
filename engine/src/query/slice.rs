//! One slice by its row, and the slices of a window.

use rustc_hash::FxHashSet;

use crate::base::{Error, Interval, Result};
use crate::exec::Cancel;
use crate::model::{NameId, TrackId};
use crate::segment::{Bytes, ColumnRole, Segment};
use crate::tile::{LaneSlice, block_slices};

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
