//! Takes rows into the builder: slices, samples and rows of side tables, with fields from a reader
//! or a batch.

use super::builder::Builder;
use super::next_field::NextField;
use crate::base::{Error, Result};
use crate::ingest::consumer::NO_TRACK;
use crate::ingest::rows::RowHead;
use crate::model::{Filled, SliceKey, SliceRecord, TableId, TableKind, TrackContent, TrackId};

impl Builder<'_> {
    /// Takes a slice with `fields`. The fields inside `slice` are ignored.
    pub(in crate::ingest) fn take_slice(
        &mut self,
        slice: &SliceRecord<'_>,
        filled: Option<Filled<'_>>,
        fields: impl NextField,
    ) -> Result<SliceKey> {
        let track = slice.track;
        let kind = self.tracks.get(track.0 as usize).map(|track| track.spec.kind);
        let Some(TrackContent::Slices(table, _)) = kind else {
            return Err(Error::Invalid { what: "a slice needs a track of slices" });
        };
        if slice.duration_ps < 0 || !self.names.has(slice.name) {
            return Err(Error::Invalid { what: "a slice needs a name, and a duration of at least zero" });
        }
        let start_ps = self.limited(slice.start_ps);
        let end_ps = self.limited(slice.start_ps.saturating_add(slice.duration_ps));
        self.arrive()?;
        let arrival = self.count(track, start_ps, end_ps);
        let form = slice.form.code();
        let row = RowHead::Slice { name: slice.name.0, form, start_ps, duration_ps: end_ps - start_ps };
        self.push(table, track.0, arrival, row, filled, fields)?;
        Ok(SliceKey { track, arrival })
    }

    /// Takes a sample.
    pub(in crate::ingest) fn take_sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        filled: Option<Filled<'_>>,
        fields: impl NextField,
    ) -> Result<()> {
        let kind = self.tracks.get(track.0 as usize).map(|track| track.spec.kind);
        let Some(TrackContent::Counter(table)) = kind else {
            return Err(Error::Invalid { what: "a sample needs a counter track" });
        };
        let time_ps = self.limited(time_ps);
        self.arrive()?;
        let arrival = self.count(track, time_ps, time_ps);
        self.push(table, track.0, arrival, RowHead::Sample { time_ps, value }, filled, fields)
    }

    /// Takes a row of a side table.
    pub(in crate::ingest) fn take_row(&mut self, table: TableId, fields: impl NextField) -> Result<()> {
        if self.table_kind(table) != Some(TableKind::Side) {
            return Err(Error::Invalid { what: "a row needs a side table" });
        }
        let arrival = self.arrive()?;
        self.push(table, NO_TRACK, arrival, RowHead::Side, None, fields)
    }
}
