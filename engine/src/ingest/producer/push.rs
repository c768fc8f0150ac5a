//! The way of a row through the builder: into the columns of its track, or to the sorter.

use super::builder::{Builder, TrackState};
use super::checks::check_field;
use super::next_field::NextField;
use crate::base::{Error, Result};
use crate::ingest::consumer::{EmptiedRows, GroupKey, GroupRest, NO_TRACK, TrackGroup};
use crate::ingest::rows::{
    GROUP_ROWS, NUMBER_BYTES, PackedValue, RowHead, RowSortKey, RowTimes, Template, VALUE_BYTES, ValuePacker,
    put_value,
};
use crate::model::{Filled, TableId, TrackId};

impl Builder<'_> {
    /// Keeps a row of a track for sorting, or sends it to the track's writer. `number` is the row's
    /// arrival number on its track, or in its side table. Inlined, because otherwise each row
    /// writes its arguments to memory and reads them back.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        table: TableId,
        track: u32,
        number: u32,
        row: RowHead,
        filled: Option<Filled<'_>>,
        mut fields: impl NextField,
    ) -> Result<()> {
        let state = self.tracks.get_mut(track as usize);
        let Some(TrackState { waiting: Some(rows), last, .. }) = state else {
            return self.push_unsorted(table, track, number, row, filled, fields);
        };
        let (start_ps, duration_ps) = row.span();
        let by_template = match &filled {
            Some(filled) => Some((filled, Template::of(&self.templates, table, filled)?)),
            None => None,
        };
        if number > 0 && (start_ps, -duration_ps) < (last.start_ps, -last.duration_ps) {
            return Err(Error::Invalid { what: "a row that breaks the order declared for its track" });
        }
        *last = RowTimes { start_ps, duration_ps };
        if rows.len() == 0 {
            rows.take(&mut self.pool);
        }
        // Sending the rows subtracts exactly this many bytes. An estimate per row would drift.
        let before = rows.bytes();
        if by_template.is_none() {
            rows.settle(&self.templates);
        }
        row.begin(rows);
        if let Some((filled, template)) = by_template {
            rows.fill(filled, template, &self.templates)?;
        }
        let limit = self.options.dictionary_bytes;
        let mut packer = ValuePacker { names: &mut self.names, limit, warnings: &mut self.warnings };
        while let Some((id, kind, packed)) = fields.next(&mut packer)? {
            // The fields of a template come first, also in the order of columns.
            rows.settle(&self.templates);
            if !rows.takes_as_before(id, kind, packed) {
                check_field(&self.fields, table, id)?;
                rows.odd_field(id, kind, packed);
            }
        }
        self.waiting_bytes += rows.bytes().saturating_sub(before);
        self.send_texts()?;
        self.hand_over_full(track as usize)
    }

    /// Sends the waiting rows of a track if they are a group, or those of another track if too much
    /// is waiting.
    #[inline(always)]
    pub(super) fn hand_over_full(&mut self, track: usize) -> Result<()> {
        let waiting = self.tracks.get(track).and_then(|state| state.waiting.as_ref());
        if waiting.is_some_and(|rows| rows.len() >= GROUP_ROWS) {
            self.hand_over(track)
        } else if self.waiting_bytes > self.options.group_bytes {
            self.hand_over_most()
        } else {
            Ok(())
        }
    }

    /// Keeps a row for sorting.
    fn push_unsorted(
        &mut self,
        table: TableId,
        track: u32,
        number: u32,
        row: RowHead,
        filled: Option<Filled<'_>>,
        mut fields: impl NextField,
    ) -> Result<()> {
        let template =
            filled.as_ref().map(|filled| Template::of(&self.templates, table, filled)).transpose()?;
        let limit = self.options.dictionary_bytes;
        let mut packer = ValuePacker { names: &mut self.names, limit, warnings: &mut self.warnings };
        // Rows of side tables have no order but that of their arrival, and they are few.
        if track != NO_TRACK
            && let Some(rows) = self.arrived.of(track)
        {
            let (mut bytes, before) = (row.column_bytes(), rows.own_bytes());
            row.begin(rows);
            for (id, kind, packed) in filled.iter().zip(template).flat_map(|(f, t)| t.fields(f.numbers)) {
                bytes += VALUE_BYTES;
                rows.field(id, kind, packed);
            }
            while let Some((id, kind, packed)) = fields.next(&mut packer)? {
                bytes += if rows.takes_as_before(id, kind, packed) {
                    NUMBER_BYTES
                } else {
                    check_field(&self.fields, table, id)?;
                    rows.odd_field(id, kind, packed);
                    VALUE_BYTES + if let PackedValue::Text(text) = packed { text.len() } else { 0 }
                }
            }
            bytes += rows.own_bytes() - before;
            return if self.arrived.count(bytes) { self.pack_arrived() } else { Ok(()) };
        }
        let (start_ps, duration_ps) = row.span();
        let place = GroupKey { table, track: (track != NO_TRACK).then_some(TrackId(track)) };
        let key = RowSortKey { place: place.key(), start_ps, duration_ps, arrival: number };
        self.sorter.push_with(key, |out| {
            row.put_head(out);
            if let Some((filled, template)) = filled.as_ref().zip(template) {
                let of_template = template.fields(filled.numbers);
                of_template.for_each(|(id, kind, packed)| put_value(id.0, kind, packed, out));
            }
            while let Some((id, kind, packed)) = fields.next(&mut packer)? {
                check_field(&self.fields, table, id)?;
                put_value(id.0, kind, packed, out);
            }
            Ok(())
        })
    }

    /// Passes all rows to the sorter, because they no longer fit into memory.
    #[cold]
    fn pack_arrived(&mut self) -> Result<()> {
        for (track, rows) in self.arrived.take() {
            let place = self.tracks.get(track as usize).and_then(|state| state.place(track));
            let place = place.ok_or(Error::Invalid { what: "rows of a track without a table" })?;
            rows.pack(place.key(), &mut self.sorter)?;
        }
        Ok(())
    }

    /// Sends the rows of the track that has the most bytes waiting. If there are very many tracks,
    /// sends the rows of all that have many, because looking for each one would take long.
    #[cold]
    fn hand_over_most(&mut self) -> Result<()> {
        const MANY: usize = 4096;
        let waiting = |track: &usize| self.tracks[*track].waiting.as_ref().map_or(0, |rows| rows.bytes());
        let half = self.waiting_bytes / self.tracks.len().max(1) / 2;
        let tracks: Vec<usize> = match self.tracks.len() {
            0..MANY => (0..self.tracks.len()).max_by_key(waiting).into_iter().collect(),
            all => (0..all).filter(|track| waiting(track) > half).collect(),
        };
        tracks.into_iter().try_for_each(|track| self.hand_over(track))
    }

    /// Sends the waiting rows of a track to the consumer.
    pub(super) fn hand_over(&mut self, track: usize) -> Result<()> {
        let state = &mut self.tracks[track];
        let place = u32::try_from(track).ok().and_then(|track| state.place(track));
        let Some(place) = place else { return Ok(()) };
        let Some(waiting) = state.waiting.as_mut().filter(|rows| rows.len() > 0) else { return Ok(()) };
        waiting.close(&self.templates);
        let empty = waiting.like();
        let rows = std::mem::replace(&mut **waiting, empty);
        self.waiting_bytes = self.waiting_bytes.saturating_sub(rows.bytes());
        let waits = self.names.waits();
        let group = TrackGroup { place, kind: Some(state.spec.kind), rows, waits, rest: GroupRest::Any };
        let EmptiedRows(mut rows) = self.line.send(group)?;
        rows.give(&mut self.pool);
        Ok(())
    }
}
