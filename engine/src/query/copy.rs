//! Copies a part of a segment into a sink: the rows of some tracks in a span with their fields, and
//! the arrows between the rows.
//!
//! Slices are copied whole if any of their time lies in the span. A counter also keeps its last
//! sample before the span, because its value holds at the start. Side tables are copied whole.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::fields;
use super::rows::{RowContent, TimedRow, for_each_of_track};
use crate::base::{Error, Interval, Result};
use crate::exec::Cancel;
use crate::model::{
    FieldId, NameId, OwnedValue, Sink, SliceKey, SliceRecord, TableId, TableKind, TrackContent, TrackId,
    TrackSpec, Value,
};
use crate::segment::{ArrowEnd, Bytes, Segment, TrackMeta};

/// Number of rows between two checks for cancellation.
const CANCEL_EVERY: u32 = 4096;

/// The part of a segment that is copied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentCut {
    /// Time span; `None` for the whole trace.
    pub span: Option<Interval>,
    /// For each track by number, whether to copy it with the groups above it; `None` for all
    /// tracks.
    pub tracks: Option<Vec<bool>>,
}

/// Copies a part of this segment into a sink. Warnings keep the counts of the whole segment,
/// because a segment does not know which of them are about the part.
pub fn copy<B: Bytes>(
    segment: &Segment<B>,
    cut: &SegmentCut,
    sink: &mut dyn Sink,
    cancel: Cancel<'_>,
) -> Result<()> {
    let mut copy = Copy {
        segment,
        cut,
        sink,
        cancel,
        tables: Vec::new(),
        fields: Vec::new(),
        tracks: Vec::new(),
        names: FxHashMap::default(),
        rows: RoaringBitmap::new(),
    };
    copy.define()?;
    copy.copy_rows()?;
    copy.copy_side_tables()?;
    copy.copy_arrows()?;
    copy.copy_warnings();
    Ok(())
}

struct Copy<'a, B> {
    segment: &'a Segment<B>,
    cut: &'a SegmentCut,
    sink: &'a mut dyn Sink,
    cancel: Cancel<'a>,
    /// Tables in the sink, by table number of the segment.
    tables: Vec<TableId>,
    fields: Vec<FieldId>,
    tracks: Vec<Option<TrackId>>,
    names: FxHashMap<NameId, NameId>,
    /// Rows of the copied slices. An arrow needs the number of earlier copied slices on its track.
    rows: RoaringBitmap,
}

impl<B: Bytes> Copy<'_, B> {
    fn define(&mut self) -> Result<()> {
        let footer = self.segment.footer();
        self.sink.rank(footer.rank.clone());
        for table in &footer.tables {
            self.tables.push(self.sink.table(table.spec.clone())?);
        }
        for (table, field) in &footer.fields {
            let table = self.table(*table)?;
            self.fields.push(self.sink.field(table, field.clone())?);
        }
        let kept = self.tracks_with_parents();
        for (track, is_kept) in footer.tracks.iter().zip(kept) {
            let copied = if is_kept { Some(self.define_track(&track.spec)?) } else { None };
            self.tracks.push(copied);
        }
        Ok(())
    }

    /// The kept tracks and the groups above them. Parents come before their children.
    fn tracks_with_parents(&self) -> Vec<bool> {
        let tracks = &self.segment.footer().tracks;
        let Some(chosen) = &self.cut.tracks else { return vec![true; tracks.len()] };
        let is_kept =
            |(track, is_chosen): (&TrackMeta, &bool)| *is_chosen && track.spec.kind != TrackContent::Group;
        let mut kept: Vec<bool> = tracks.iter().zip(chosen).map(is_kept).collect();
        kept.resize(tracks.len(), false);
        for at in (0..tracks.len()).rev() {
            let parent = tracks[at].spec.parent.filter(|_| kept[at]);
            if let Some(place) = parent.and_then(|parent| kept.get_mut(parent.0 as usize)) {
                *place = true;
            }
        }
        kept
    }

    fn define_track(&mut self, spec: &TrackSpec) -> Result<TrackId> {
        let parent = spec.parent.and_then(|parent| self.tracks.get(parent.0 as usize).copied().flatten());
        let kind = match spec.kind {
            TrackContent::Group => TrackContent::Group,
            TrackContent::Slices(table, nesting) => TrackContent::Slices(self.table(table)?, nesting),
            TrackContent::Counter(table) => TrackContent::Counter(self.table(table)?),
        };
        let track = self.sink.track(TrackSpec { parent, kind, ..spec.clone() })?;
        if kind != TrackContent::Group {
            // A segment's rows are already in the order that a sink prefers.
            self.sink.in_order(track)?;
        }
        Ok(track)
    }

    fn copy_rows(&mut self) -> Result<()> {
        let mut count = 0_u32;
        for (id, place) in (0..).zip(self.tracks.clone()) {
            let of_segment = TrackId(id);
            let (Some(track), Some(table)) = (place, self.segment.table_of(of_segment)) else { continue };
            // The last sample before the span, until a later sample comes.
            let mut last_sample = None;
            for_each_of_track(self.segment, table, of_segment, |row| {
                count = count.wrapping_add(1);
                if count.is_multiple_of(CANCEL_EVERY) {
                    self.cancel.check()?;
                }
                self.copy_row(track, row, &mut last_sample)
            })?;
            self.put_sample(track, last_sample)?;
        }
        Ok(())
    }

    fn copy_row(&mut self, track: TrackId, row: TimedRow, last_sample: &mut Option<TimedRow>) -> Result<()> {
        let span = self.cut.span;
        match row.content {
            RowContent::Slice { duration_ps, .. } => {
                let end_ps = row.start_ps.saturating_add(duration_ps);
                // An instant at the start of the span is in the span.
                let is_in = span.is_none_or(|span| {
                    row.start_ps < span.end.0 && (end_ps > span.start.0 || row.start_ps >= span.start.0)
                });
                if is_in { self.put_slice(track, &row) } else { Ok(()) }
            }
            RowContent::Sample { .. } => {
                if span.is_some_and(|span| row.start_ps >= span.end.0) {
                    return Ok(());
                }
                if span.is_some_and(|span| row.start_ps < span.start.0) {
                    *last_sample = Some(row);
                    return Ok(());
                }
                self.put_sample(track, last_sample.take())?;
                self.put_sample(track, Some(row))
            }
        }
    }

    fn put_slice(&mut self, track: TrackId, row: &TimedRow) -> Result<()> {
        let RowContent::Slice { duration_ps, name, form, .. } = row.content else { return Ok(()) };
        let name = self.name(name)?;
        let fields = self.fields_of(&row.fields)?;
        let record = SliceRecord { track, start_ps: row.start_ps, duration_ps, name, form, fields: &fields };
        self.sink.slice(&record)?;
        self.rows.insert(row.row);
        Ok(())
    }

    fn put_sample(&mut self, track: TrackId, row: Option<TimedRow>) -> Result<()> {
        let Some(row) = row else { return Ok(()) };
        let RowContent::Sample { value } = row.content else { return Ok(()) };
        let fields = self.fields_of(&row.fields)?;
        self.sink.sample(track, row.start_ps, value, &fields)
    }

    fn copy_side_tables(&mut self) -> Result<()> {
        let tables = (0..).zip(&self.segment.footer().tables);
        for (id, _) in tables.filter(|(_, table)| table.spec.kind == TableKind::Side) {
            let table = self.table(TableId(id))?;
            fields::for_each_row(self.segment, TableId(id), |_, mut row| {
                self.cancel.check()?;
                if self.renumber_track(&mut row) {
                    let fields = self.fields_of(&row)?;
                    self.sink.row(table, &fields)?;
                }
                Ok::<_, Error>(())
            })?;
        }
        Ok(())
    }

    /// Renumbers the field `track` of a side row and returns whether that track is kept. Side
    /// tables name tracks by number in this field.
    fn renumber_track(&self, row: &mut [(FieldId, OwnedValue)]) -> bool {
        let fields = &self.segment.footer().fields;
        let names_track =
            |id: FieldId| fields.get(id.0 as usize).is_some_and(|(_, spec)| spec.name == "track");
        row.iter_mut().filter(|(id, _)| names_track(*id)).all(|(_, value)| match value {
            OwnedValue::Int(number) => {
                let track = u32::try_from(*number).ok().and_then(|number| self.track(TrackId(number)));
                track.inspect(|track| *number = i64::from(track.0)).is_some()
            }
            _ => true,
        })
    }

    fn copy_arrows(&mut self) -> Result<()> {
        for (_, piece) in self.segment.arrow_chunks(ArrowEnd::From)? {
            self.cancel.check()?;
            for arrow in self.segment.arrow_chunk(piece)? {
                if let (Some(from), Some(to)) = (self.key(arrow.from)?, self.key(arrow.to)?) {
                    let name = self.name(arrow.name)?;
                    self.sink.link(from, to, name)?;
                }
            }
        }
        Ok(())
    }

    fn copy_warnings(&mut self) {
        for warning in &self.segment.footer().warnings {
            let place = || warning.first_place.clone();
            self.sink.warn_times(warning.kind, &warning.what, warning.count, &place);
        }
    }

    /// The copy of a slice, if it was copied.
    fn key(&self, row: u32) -> Result<Option<SliceKey>> {
        if !self.rows.contains(row) {
            return Ok(None);
        }
        let Some(track) = self.segment.track_of(row) else { return Ok(None) };
        let first = self.segment.footer().tracks[track.0 as usize].first_row;
        let before = |row: u32| self.rows.rank(row) - u64::from(self.rows.contains(row));
        let arrival = u32::try_from(before(row) - before(first))
            .map_err(|_| Error::Invalid { what: "a track has more than 4,294,967,295 slices" })?;
        Ok(self.track(track).map(|track| SliceKey { track, arrival }))
    }

    fn table(&self, id: TableId) -> Result<TableId> {
        let unknown = Error::Inconsistent { what: "number of a missing table" };
        self.tables.get(usize::from(id.0)).copied().ok_or(unknown)
    }

    fn track(&self, id: TrackId) -> Option<TrackId> {
        self.tracks.get(id.0 as usize).copied().flatten()
    }

    fn fields_of<'v>(&self, values: &'v [(FieldId, OwnedValue)]) -> Result<Vec<(FieldId, Value<'v>)>> {
        let unknown = Error::Inconsistent { what: "number of a missing field" };
        let copied = |(id, value): &'v (FieldId, OwnedValue)| {
            Ok((*self.fields.get(id.0 as usize).ok_or(unknown)?, value.as_value()))
        };
        values.iter().map(copied).collect()
    }

    fn name(&mut self, id: NameId) -> Result<NameId> {
        if let Some(&known) = self.names.get(&id) {
            return Ok(known);
        }
        let copied = self.sink.name(self.segment.text(id)?)?;
        self.names.insert(id, copied);
        Ok(copied)
    }
}
