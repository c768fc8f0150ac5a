//! Sends events from a reader to a builder on another thread. The relay keeps calls in batches,
//! which are played to the builder later. The relay answers the reader at once, because ids depend
//! only on the order of calls.

use rustc_hash::FxHashMap;

use super::numbers::Numbers;
use super::recent::{PLACES, RecentTexts, Spot};
use crate::base::{Error, Result};
use crate::model::{
    FieldId, FieldSpec, Filled, FlowPoint, Form, NameId, Number, Part, RankInfo, Sink, SliceKey, SliceRecord,
    TableId, TableSpec, TemplateId, TrackId, TrackSpec, Value, WarningKind, Warnings,
};
use crate::spill::Scratch;

/// Number of calls of a full batch. Sending a batch costs as much as a few calls.
const BATCH_CALLS: usize = 4096;
/// Maximum bytes of texts in a batch.
const BATCH_TEXT_BYTES: usize = 1 << 20;
/// Bytes of names that stay in memory in the relay.
const NAME_BYTES: usize = 8 << 20;

/// Some calls of a reader, in order.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) calls: Vec<Call>,
    /// Fields of the calls, in the order of calls.
    pub(super) fields: Vec<(FieldId, Held)>,
    /// Numeric values of the calls with a template, in the order of calls.
    pub(super) numbers: Vec<Number>,
    /// Texts of calls and fields, in order.
    pub(super) texts: String,
}

/// A call without its fields and texts, which it only counts.
#[derive(Debug)]
pub(super) enum Call {
    Name { text_len: usize },
    Table(Box<TableSpec>),
    Field(TableId, Box<FieldSpec>),
    Track(Box<TrackSpec>),
    DescribeTrack(TrackId, Box<TrackSpec>),
    InOrder(TrackId),
    Template(TableId, Box<[(FieldId, Part)]>),
    Slice(Slice),
    SliceBy(TemplateId, Slice),
    Sample { track: TrackId, time_ps: i64, value: f64, fields: usize },
    SampleBy { template: TemplateId, track: TrackId, time_ps: i64, value: f64 },
    Row { table: TableId, fields: usize },
    Link { from: SliceKey, to: SliceKey, name: NameId },
    FlowPoint(FlowPoint),
    Rank(Box<RankInfo>),
}

/// A slice without its fields.
#[derive(Debug)]
pub(super) struct Slice {
    pub track: TrackId,
    pub start_ps: i64,
    pub duration_ps: i64,
    pub name: NameId,
    pub form: Form,
    /// Number of fields, without those of a template.
    pub fields: u32,
}

/// A value without its text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Held {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Name(NameId),
    Text {
        len: usize,
        as_what: Texted,
    },
    /// A text that the player stores in this cache slot.
    NewText {
        len: u32,
        place: u16,
        as_what: Texted,
    },
    KnownText {
        place: u16,
        as_what: Texted,
    },
}

/// Plain text or JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Texted {
    Plain,
    Json,
}

/// Sends full batches. Returns an empty batch, with the memory of an earlier one if possible.
pub trait Carrier {
    /// Sends a batch.
    ///
    /// # Errors
    /// If the builder has failed, possibly on an earlier batch.
    fn carry(&mut self, batch: Batch) -> Result<Batch>;
}

/// The reader's end: a sink that sends its calls to the builder.
pub struct Relay<'a> {
    carrier: &'a mut dyn Carrier,
    batch: Batch,
    /// Names by number. The builder numbers names differently, because its texts include field
    /// texts.
    names: Numbers<'a>,
    tables: FxHashMap<String, TableId>,
    fields: FxHashMap<(TableId, String), FieldId>,
    /// Number of slices and samples of each track so far.
    tracks: Vec<u32>,
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
            batch: Batch::default(),
            names: Numbers::new(scratch, NAME_BYTES),
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
    ///
    /// # Errors
    /// If the builder fails.
    pub fn end(mut self) -> Result<Warnings> {
        self.carry()?;
        Ok(self.warnings)
    }

    #[cold]
    fn carry(&mut self) -> Result<()> {
        self.batch = self.carrier.carry(std::mem::take(&mut self.batch))?;
        Ok(())
    }

    /// Inlined, so that the call is built in place. A copy waits until all its parts are written.
    #[inline(always)]
    fn call(&mut self, call: Call) -> Result<()> {
        self.batch.calls.push(call);
        let is_full = self.batch.calls.len() == BATCH_CALLS || self.batch.texts.len() >= BATCH_TEXT_BYTES;
        if is_full { self.carry() } else { Ok(()) }
    }

    fn hold(&mut self, fields: &[(FieldId, Value<'_>)]) -> usize {
        for &(id, value) in fields {
            let value = match value {
                Value::Int(v) => Held::Int(v),
                Value::Uint(v) => Held::Uint(v),
                Value::Float(v) => Held::Float(v),
                Value::Bool(v) => Held::Bool(v),
                Value::Name(v) => Held::Name(v),
                Value::Text(text) => self.hold_text(text, Texted::Plain),
                Value::Json(text) => self.hold_text(text, Texted::Json),
            };
            self.batch.fields.push((id, value));
        }
        fields.len()
    }

    fn hold_text(&mut self, text: &str, as_what: Texted) -> Held {
        let spot = self.recent_texts.find(text);
        if let Spot::Known(place) = spot {
            return Held::KnownText { place, as_what };
        }
        self.push_text(text);
        match (spot, u32::try_from(text.len())) {
            (Spot::Other(place), Ok(len)) if self.room_bytes > 0 => {
                self.recent_texts.put(place, text);
                Held::NewText { len, place, as_what }
            }
            _ => Held::Text { len: text.len(), as_what },
        }
    }

    fn push_text(&mut self, text: &str) {
        self.batch.texts.push_str(text);
        self.room_bytes = self.room_bytes.saturating_sub(text.len());
    }

    fn hold_numbers(&mut self, filled: Filled<'_>) -> Result<()> {
        let Filled { template, numbers } = filled;
        if self.templates.get(template.0 as usize) != Some(&numbers.len()) {
            return Err(Error::Invalid { what: "other numbers than the template asks for" });
        }
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

    /// Counts an event on a track and returns its number there.
    #[inline(always)]
    fn count(&mut self, track: TrackId) -> Result<u32> {
        let rows =
            self.tracks.get_mut(track.0 as usize).ok_or(Error::Invalid { what: "an unknown track" })?;
        let arrival = *rows;
        *rows = rows.checked_add(1).ok_or(Error::Invalid { what: "too many events on a track" })?;
        Ok(arrival)
    }
}

impl Sink for Relay<'_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        let spot = self.recent_names.0.find(text);
        if let Spot::Known(place) = spot {
            return Ok(self.recent_names.1[usize::from(place)]);
        }
        let known = self.names.len();
        let id = self
            .names
            .intern(text)?
            .ok_or(Error::Invalid { what: "more than 4 GiB of names in one rank" })?;
        if id.0 == known {
            self.push_text(text);
            self.call(Call::Name { text_len: text.len() })?;
        }
        if let Spot::Other(place) = spot {
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
        self.call(Call::Table(Box::new(spec)))?;
        Ok(TableId(id))
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        let key = (table, spec.name.clone());
        if let Some(&id) = self.fields.get(&key) {
            return Ok(id);
        }
        let id = u32::try_from(self.fields.len()).map_err(|_| Error::Invalid { what: "too many fields" })?;
        self.fields.insert(key, FieldId(id));
        self.call(Call::Field(table, Box::new(spec)))?;
        Ok(FieldId(id))
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        let id = u32::try_from(self.tracks.len()).map_err(|_| Error::Invalid { what: "too many tracks" })?;
        self.tracks.push(0);
        self.call(Call::Track(Box::new(spec)))?;
        Ok(TrackId(id))
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.call(Call::DescribeTrack(track, Box::new(spec)))
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        self.call(Call::InOrder(track))
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        let (key, fields) = self.hold_slice(slice)?;
        let &SliceRecord { track, start_ps, duration_ps, name, form, .. } = slice;
        self.call(Call::Slice(Slice { track, start_ps, duration_ps, name, form, fields }))?;
        Ok(key)
    }

    fn template(&mut self, table: TableId, parts: &[(FieldId, Part)]) -> Result<TemplateId> {
        let id =
            u32::try_from(self.templates.len()).map_err(|_| Error::Invalid { what: "too many templates" })?;
        self.templates.push(Part::numbers(parts));
        for (_, part) in parts {
            if let Part::Fixed(Value::Text(text) | Value::Json(text)) = part {
                self.room_bytes = self.room_bytes.saturating_sub(text.len());
            }
        }
        self.call(Call::Template(table, parts.into()))?;
        Ok(TemplateId(id))
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.hold_numbers(filled)?;
        let (key, fields) = self.hold_slice(slice)?;
        let &SliceRecord { track, start_ps, duration_ps, name, form, .. } = slice;
        let slice = Slice { track, start_ps, duration_ps, name, form, fields };
        self.call(Call::SliceBy(filled.template, slice))?;
        Ok(key)
    }

    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()> {
        self.count(track)?;
        self.hold_numbers(filled)?;
        self.call(Call::SampleBy { template: filled.template, track, time_ps, value })
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
        self.call(Call::Sample { track, time_ps, value, fields })
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        let fields = self.hold(fields);
        self.call(Call::Row { table, fields })
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        self.call(Call::Link { from, to, name })
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.call(Call::FlowPoint(point))
    }

    fn rank(&mut self, info: RankInfo) {
        // The next call sends the batch that this call fills.
        self.batch.calls.push(Call::Rank(Box::new(info)));
    }

    fn warn(&mut self, kind: WarningKind, what: &str, place: &dyn Fn() -> String) {
        self.warnings.add(kind, what, place);
    }
}

#[cfg(test)]
mod tests;
