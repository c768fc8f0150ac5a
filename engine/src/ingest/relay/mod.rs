//! Sends events from a reader to a builder on another thread. The relay keeps calls in batches,
//! which are played to the builder later. The relay answers the reader at once, because ids depend
//! only on the order of calls.

mod batch;
mod player;
mod recent_texts;

use batch::{HeldValue, RelayedCall, Slice, Texted};
use recent_texts::{PLACES, RecentTexts, Spot};
use rustc_hash::FxHashMap;

pub use batch::CallBatch;
pub use player::Player;

use super::limits::{MAX_NAMES, MORE_NAMES, TEXT_BYTES, TOO_MANY_NAMES};
use super::rows::RunRow;
use super::texts::TextNumbers;
use crate::base::{Error, Result};
use crate::model::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, NumberBits, RankInfo, Schedule, Sink, SliceForm, SliceKey,
    SliceRecord, TableId, TableSpec, TemplateId, TemplateValue, TrackContent, TrackId, TrackSpec, Value,
    WarningKind, Warnings,
};
use crate::spill::Scratch;

/// Number of calls of a full batch. Sending a batch costs as much as a few calls.
const BATCH_CALLS: usize = 4096;
/// Most rows of a run. The memory of a run is used again for other tracks, and stays.
const RUN_ROWS: usize = 1024;
/// Maximum bytes of texts in a batch.
const BATCH_TEXT_BYTES: usize = 1 << 20;
/// Bytes of names that stay in memory in the relay.
const NAME_BYTES: usize = 8 << 20;

/// Sends full batches. Returns an empty batch, with the memory of an earlier one if possible.
pub trait Carrier {
    /// Sends a batch.
    ///
    /// # Errors
    /// If the builder has failed, possibly on an earlier batch.
    fn carry(&mut self, batch: CallBatch) -> Result<CallBatch>;
}

/// Rows that a track takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum RunKind {
    #[default]
    Nothing,
    Slices,
    Samples,
}

/// State of a track in the relay.
#[derive(Debug, Clone, Copy, Default)]
struct RelayTrack {
    /// Number of slices and samples so far.
    rows: u32,
    /// Whether the rows are slices, samples, or neither.
    kind: RunKind,
    /// Whether the rows are promised to be in order.
    is_in_order: bool,
    /// Position of the track's run in the batch plus one; 0 if it has none.
    run: usize,
}

/// The reader's end: a sink that sends its calls to the builder.
pub struct Relay<'a> {
    carrier: &'a mut dyn Carrier,
    batch: CallBatch,
    /// Names by number. The builder numbers names differently, because its texts include field
    /// texts.
    names: TextNumbers<'a>,
    tables: FxHashMap<String, TableId>,
    fields: FxHashMap<(TableId, String), FieldId>,
    tracks: Vec<RelayTrack>,
    /// Count of numeric values that each template takes.
    templates: Vec<usize>,
    warnings: Warnings,
    /// Cached names, with their numbers by slot.
    recent_names: (RecentTexts, Vec<NameId>),
    /// Cached texts of fields. The player knows them by slot.
    recent_texts: RecentTexts,
    /// Bytes of texts that certainly fit in the builder's dictionary. Only such texts are cached.
    room_bytes: usize,
}

impl<'a> Relay<'a> {
    /// Creates a relay that sends calls through `carrier`. `scratch` stores names.
    /// `dictionary_bytes` must equal the limit in the builder's options.
    pub fn new(scratch: &'a dyn Scratch, carrier: &'a mut dyn Carrier, dictionary_bytes: usize) -> Self {
        Self {
            carrier,
            batch: CallBatch::default(),
            names: TextNumbers::new(scratch, NAME_BYTES),
            tables: FxHashMap::default(),
            fields: FxHashMap::default(),
            tracks: Vec::new(),
            templates: Vec::new(),
            warnings: Warnings::default(),
            recent_names: (RecentTexts::new(), vec![NameId(0); PLACES]),
            recent_texts: RecentTexts::new(),
            room_bytes: dictionary_bytes,
        }
    }

    /// Sends the last batch and returns the warnings, which the builder gets at the end.
    pub fn end(mut self) -> Result<Warnings> {
        self.carry()?;
        Ok(self.warnings)
    }

    #[cold]
    fn carry(&mut self) -> Result<()> {
        for at in 0..self.batch.used {
            self.end_run(self.batch.runs[at].track);
        }
        self.batch = self.carrier.carry(std::mem::take(&mut self.batch))?;
        Ok(())
    }

    /// Inlined, so that the call is built in place. A copy waits until all its parts are written.
    #[inline(always)]
    fn call(&mut self, call: RelayedCall) -> Result<()> {
        self.batch.calls.push(call);
        self.more()
    }

    /// Counts a call, and sends the batch if it is full.
    #[inline(always)]
    fn more(&mut self) -> Result<()> {
        self.batch.filled += 1;
        let is_full = self.batch.filled >= BATCH_CALLS || self.batch.texts.len() >= BATCH_TEXT_BYTES;
        if is_full { self.carry() } else { Ok(()) }
    }

    /// Adds a row to the run of its track, if the track's rows are in order. `None` if they are
    /// not.
    #[inline(always)]
    fn run(
        &mut self,
        track: TrackId,
        kind: RunKind,
        row: RunRow,
        numbers: &[NumberBits],
    ) -> Result<Option<SliceKey>> {
        let line = self.tracks.get_mut(track.0 as usize);
        let Some(line) = line.filter(|line| line.is_in_order && line.kind == kind) else { return Ok(None) };
        check_numbers(&self.templates, row.template, numbers)?;
        let arrival = line.rows;
        line.rows = arrival.checked_add(1).ok_or(TOO_MANY)?;
        if line.run == 0 {
            line.run = self.batch.begin_run(track);
        }
        let run = &mut self.batch.runs[line.run - 1];
        run.rows.push(row);
        run.numbers.extend_from_slice(numbers);
        if run.rows.len() == RUN_ROWS {
            self.end_run(track);
        }
        self.more()?;
        Ok(Some(SliceKey { track, arrival }))
    }

    /// Ends the run of a track, because the next row is none of a run.
    #[inline(always)]
    fn end_run(&mut self, track: TrackId) {
        if let Some(line) = self.tracks.get_mut(track.0 as usize)
            && line.run > 0
        {
            self.batch.calls.push(RelayedCall::Run(line.run - 1));
            line.run = 0;
        }
    }

    /// Each kind of value is built in place: a copy of a value that was just built waits until all
    /// its parts are written.
    fn hold(&mut self, fields: &[(FieldId, Value<'_>)]) -> usize {
        for &(id, value) in fields {
            let held = &mut self.batch.fields;
            match value {
                Value::Int(v) => held.push((id, HeldValue::Int(v))),
                Value::Uint(v) => held.push((id, HeldValue::Uint(v))),
                Value::Float(v) => held.push((id, HeldValue::Float(v))),
                Value::Bool(v) => held.push((id, HeldValue::Bool(v))),
                Value::Name(v) => held.push((id, HeldValue::Name(v))),
                Value::Text(text) => self.hold_text(id, text, Texted::Plain),
                Value::Json(text) => self.hold_text(id, text, Texted::Json),
            }
        }
        fields.len()
    }

    fn hold_text(&mut self, id: FieldId, text: &str, as_what: Texted) {
        let spot = self.recent_texts.find(text);
        if let Spot::Known(place) = spot {
            self.batch.fields.push((id, HeldValue::KnownText { place, as_what }));
            return;
        }
        self.push_text(text);
        match (spot, u32::try_from(text.len())) {
            (Spot::Other(place), Ok(len)) if self.room_bytes > 0 => {
                self.recent_texts.put(place, text);
                self.batch.fields.push((id, HeldValue::NewText { len, place, as_what }));
            }
            _ => self.batch.fields.push((id, HeldValue::Text { len: text.len(), as_what })),
        }
    }

    fn push_text(&mut self, text: &str) {
        self.batch.texts.push_str(text);
        self.room_bytes = self.room_bytes.saturating_sub(text.len() + TEXT_BYTES);
    }

    fn hold_numbers(&mut self, filled: Filled<'_>) -> Result<()> {
        let Filled { template, numbers } = filled;
        check_numbers(&self.templates, template, numbers)?;
        self.batch.numbers.extend_from_slice(numbers);
        Ok(())
    }

    /// Counts a slice and stores its fields. Returns its key and the number of fields.
    #[inline(always)]
    fn hold_slice(&mut self, slice: &SliceRecord<'_>) -> Result<(SliceKey, u32)> {
        let key = SliceKey { track: slice.track, arrival: self.count(slice.track)? };
        let fields = self.hold(slice.fields);
        Ok((key, u32::try_from(fields).map_err(|_| Error::Invalid { what: "too many fields" })?))
    }

    /// Counts an event on a track, which is none of a run, and returns its number there.
    #[inline(always)]
    fn count(&mut self, track: TrackId) -> Result<u32> {
        self.end_run(track);
        let line =
            self.tracks.get_mut(track.0 as usize).ok_or(Error::Invalid { what: "an unknown track" })?;
        let arrival = line.rows;
        line.rows = arrival.checked_add(1).ok_or(TOO_MANY)?;
        Ok(arrival)
    }
}

const TOO_MANY: Error = Error::Invalid { what: "too many events on a track" };

fn check_numbers(templates: &[usize], template: TemplateId, numbers: &[NumberBits]) -> Result<()> {
    if templates.get(template.0 as usize) == Some(&numbers.len()) {
        return Ok(());
    }
    Err(Error::Invalid { what: "other numbers than the template asks for" })
}

impl Sink for Relay<'_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        let spot = self.recent_names.0.find(text);
        if let Spot::Known(place) = spot {
            return Ok(self.recent_names.1[usize::from(place)]);
        }
        let known = self.names.len();
        let is_beyond = known >= MAX_NAMES && self.names.find(text)?.is_none();
        let text = if is_beyond { MORE_NAMES } else { text };
        if is_beyond {
            self.warnings.add(WarningKind::AdjustedValue, TOO_MANY_NAMES, String::new);
        }
        let id = self
            .names
            .intern(text)?
            .ok_or(Error::Invalid { what: "more than 4 GiB of names in one rank" })?;
        if id.0 == known {
            self.push_text(text);
            self.call(RelayedCall::Name { text_len: text.len() })?;
        }
        if let Spot::Other(place) = spot
            && !is_beyond
        {
            self.recent_names.0.put(place, text);
            self.recent_names.1[usize::from(place)] = id;
        }
        Ok(id)
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        if let Some(&id) = self.tables.get(&spec.name) {
            return Ok(id);
        }
        let id = u16::try_from(self.tables.len())
            .map_err(|_| Error::Invalid { what: "more than 65,535 tables" })?;
        self.tables.insert(spec.name.clone(), TableId(id));
        self.call(RelayedCall::Table(Box::new(spec)))?;
        Ok(TableId(id))
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let key = (table, spec.name.clone());
        if let Some(&id) = self.fields.get(&key) {
            return Ok(id);
        }
        let id = u32::try_from(self.fields.len()).map_err(|_| Error::Invalid { what: "too many fields" })?;
        self.fields.insert(key, FieldId(id));
        self.call(RelayedCall::Field(table, Box::new(spec)))?;
        Ok(FieldId(id))
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        let id = u32::try_from(self.tracks.len()).map_err(|_| Error::Invalid { what: "too many tracks" })?;
        let kind = match spec.kind {
            TrackContent::Group => RunKind::Nothing,
            TrackContent::Slices(..) => RunKind::Slices,
            TrackContent::Counter(_) => RunKind::Samples,
        };
        self.tracks.push(RelayTrack { kind, ..RelayTrack::default() });
        self.call(RelayedCall::Track(Box::new(spec)))?;
        Ok(TrackId(id))
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.call(RelayedCall::DescribeTrack(track, Box::new(spec)))
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        if let Some(line) = self.tracks.get_mut(track.0 as usize) {
            line.is_in_order = line.rows == 0;
        }
        self.call(RelayedCall::InOrder(track))
    }

    fn schedule(&mut self, table: TableId, schedule: Schedule) -> Result<()> {
        self.call(RelayedCall::Schedule(table, Box::new(schedule)))
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let (key, fields) = self.hold_slice(slice)?;
        let &SliceRecord { track, start_ps, duration_ps, name, form, .. } = slice;
        self.call(RelayedCall::Slice(Slice { track, start_ps, duration_ps, name, form, fields }))?;
        Ok(key)
    }

    fn template(&mut self, table: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        let id =
            u32::try_from(self.templates.len()).map_err(|_| Error::Invalid { what: "too many templates" })?;
        self.templates.push(TemplateValue::numbers(parts));
        for (_, part) in parts {
            if let TemplateValue::Fixed(Value::Text(text) | Value::Json(text)) = part {
                self.room_bytes = self.room_bytes.saturating_sub(text.len() + TEXT_BYTES);
            }
        }
        self.call(RelayedCall::Template(table, parts.into()))?;
        Ok(TemplateId(id))
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let &SliceRecord { track, start_ps, duration_ps, name, form, fields } = slice;
        if fields.is_empty() {
            let row = RunRow { start_ps, second: duration_ps, name, template: filled.template, form };
            if let Some(key) = self.run(track, RunKind::Slices, row, filled.numbers)? {
                return Ok(key);
            }
        }
        self.hold_numbers(filled)?;
        let (key, fields) = self.hold_slice(slice)?;
        let slice = Slice { track, start_ps, duration_ps, name, form, fields };
        self.call(RelayedCall::SliceBy(filled.template, slice))?;
        Ok(key)
    }

    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()> {
        let (second, name) = (value.to_bits().cast_signed(), NameId(0));
        let row =
            RunRow { start_ps: time_ps, second, name, template: filled.template, form: SliceForm::Complete };
        if self.run(track, RunKind::Samples, row, filled.numbers)?.is_some() {
            return Ok(());
        }
        self.count(track)?;
        self.hold_numbers(filled)?;
        self.call(RelayedCall::SampleBy { template: filled.template, track, time_ps, value })
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        self.count(track)?;
        let fields = self.hold(fields);
        self.call(RelayedCall::Sample { track, time_ps, value, fields })
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        let fields = self.hold(fields);
        self.call(RelayedCall::Row { table, fields })
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        self.batch.links.push((from, to, name));
        self.more()
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.call(RelayedCall::FlowPoint(point))
    }

    fn rank(&mut self, info: RankInfo) {
        // The next call sends the batch that this call fills.
        self.batch.calls.push(RelayedCall::Rank(Box::new(info)));
    }

    fn warn_times(&mut self, kind: WarningKind, what: &str, count: u64, place: &dyn Fn() -> String) {
        self.warnings.add_all(kind, what, count, place);
    }
}

#[cfg(test)]
mod tests;
