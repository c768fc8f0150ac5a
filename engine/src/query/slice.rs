//! One slice by its row, and the slices of a window.

use crate::base::{Error, Interval, Result};
use crate::model::{NameId, TrackId};
use crate::segment::{Bytes, ColumnRole, Segment};
use crate::tile::LaneSlice;

/// A slice and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceAt {
    /// Its track.
    pub track: TrackId,
    /// Times, row, name, form, lane.
    pub slice: LaneSlice,
    /// How many slices of its track enclose it, where nesting means calls.
    pub depth: u32,
}

impl SliceAt {
    /// Number of its name.
    #[must_use]
    pub fn name(&self) -> NameId {
        NameId(self.slice.name)
    }

    /// When it ends.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.slice.start_ps.saturating_add(self.slice.duration_ps)
    }
}

impl<B: Bytes> Segment<B> {
    /// The slice in this row.
    ///
    /// # Errors
    /// `Invalid` where the row is no slice; else where bytes are missing or damaged.
    pub fn slice(&self, row: u32) -> Result<SliceAt> {
        let no_slice = Error::Invalid { what: "this row is no slice" };
        let place = self.place(row)?;
        let track = self.track_of(row).ok_or(no_slice)?;
        if self.column(place.table, ColumnRole::Lane).is_none() {
            return Err(no_slice);
        }
        let int = |role| -> Result<i64> { Ok(self.core_ints(place.table, role, place.block)?[place.at]) };
        let damaged = |_| Error::Corrupt { what: "core column", offset: 0 };
        let lane = u32::try_from(int(ColumnRole::Lane)?).map_err(damaged)?;
        let slice = LaneSlice {
            start_ps: int(ColumnRole::Start)?,
            duration_ps: int(ColumnRole::Duration)?,
            row,
            name: u32::try_from(int(ColumnRole::Name)?).map_err(damaged)?,
            form: u8::try_from(int(ColumnRole::Form)?).map_err(damaged)?,
            lane,
        };
        let depth =
            u32::try_from(i64::from(lane).wrapping_sub(int(ColumnRole::LaneShift)?)).map_err(damaged)?;
        Ok(SliceAt { track, slice, depth })
    }

    /// The slices of these tracks that overlap a window, by track, then start; at most `limit`, and whether there are
    /// more.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn window(
        &self,
        tracks: &[TrackId],
        window: Interval,
        limit: usize,
    ) -> Result<(Vec<LaneSlice>, bool)> {
        let mut found = Vec::new();
        for &track in tracks {
            let Some(table) = self.table_of(track) else { continue };
            let blocks = self.blocks_of(track)?;
            for block in self.blocks(table)?.overlapping(blocks, window) {
                self.block_slices(table, block, |slice| {
                    if window.overlaps(slice.start_ps, slice.start_ps.saturating_add(slice.duration_ps)) {
                        found.push(slice);
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

    /// The tracks that slices stand on, in display order; all of them, or those asked for.
    #[must_use]
    pub fn slice_tracks(&self, wanted: Option<&[TrackId]>) -> Vec<TrackId> {
        let (_, order) = crate::tile::groups(self.footer());
        let is_slices = |id: &TrackId| {
            let track = &self.footer().tracks[id.0 as usize];
            matches!(track.spec.kind, crate::model::TrackKind::Slices(..)) && track.rows > 0
        };
        order
            .into_iter()
            .filter(is_slices)
            .filter(|id| wanted.is_none_or(|wanted| wanted.contains(id)))
            .collect()
    }
}
