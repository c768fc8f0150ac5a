//! Fields of slices and samples: keys to field numbers, tokens to values.
//!
//! The keys of a trace repeat. A member's hint names the field that its key had last time. The key
//! is compared, and looked up only if it differs.

use nprof_engine::base::Result;
use nprof_engine::model::{FieldId, FieldSpec, Sink, TableId, Unit, Value};
use rustc_hash::FxHashMap;

use super::json;
use super::number::FieldNumber;
use super::shape::{NONE, begins_with};
use super::text::{self, Fidelity};
use super::tokens::{Raw, ValueKind};
use super::value::WrittenValue;
use crate::formats::room::FieldBuffer;

/// Most fields of a table. A trace with more has data in the place of keys.
const MAX_FIELDS: usize = 4096;

/// Origin of a key. Keys of the event itself and keys of its arguments are different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KeyLevel {
    /// Key of the event.
    Event,
    /// Key of its arguments.
    Argument,
    /// Key of the event that ends the slice, if its value differs from that of the begin.
    End,
    /// Key of an argument of the begin that the end states anew, with another value.
    Begin,
}

/// A key of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct HintedKey<'a> {
    pub(super) level: KeyLevel,
    /// Decoded text, as bytes.
    pub(super) text: &'a [u8],
    /// The place of the key in the shapes of events, or [`NONE`].
    pub(super) hint: u32,
}

impl<'a> HintedKey<'a> {
    /// A key without a hint.
    pub(super) fn new(level: KeyLevel, text: &'a [u8]) -> Self {
        Self { level, text, hint: NONE }
    }

    /// A key of the event itself.
    pub(super) fn of_event(text: &'a [u8]) -> Self {
        Self::new(KeyLevel::Event, text)
    }
}

/// Keys of events. Arguments with these names get a prefix.
const EVENT_KEYS: [&str; 23] = [
    "name", "cat", "ph", "ts", "dur", "pid", "tid", "id", "id2", "scope", "s", "bp", "bind_id", "flow_in",
    "flow_out", "args", "tts", "tdur", "cname", "sf", "esf", "stack", "estack",
];

/// Unit and description of the field.
fn spec(name: String, level: KeyLevel) -> FieldSpec {
    let (unit, doc) = match (level, name.as_str()) {
        (KeyLevel::Event, "cat") => (Unit::None, "Categories of the event."),
        (KeyLevel::Event, "ph") => (Unit::None, "Phase of the event, if nprof has no form for this phase."),
        (KeyLevel::Event, "tts") => (Unit::None, "Thread clock at the start, in microseconds."),
        (KeyLevel::Event, "tdur") => (Unit::None, "Time on the thread clock, in microseconds."),
        (KeyLevel::Event, "id") => {
            (Unit::None, "Id that distinguishes asynchronous slices of the same name.")
        }
        _ => (Unit::None, ""),
    };
    let group = if level == KeyLevel::Argument { "Arguments" } else { "Event" };
    FieldSpec { name, unit, group: group.to_owned(), doc: doc.to_owned() }
}

#[derive(Debug)]
struct FieldKey {
    key: Box<[u8]>,
    id: FieldId,
}

/// The fields of one table.
#[derive(Debug)]
pub(super) struct TableFields {
    table: TableId,
    known: Vec<FieldKey>,
    /// Index of the field, by level and key.
    by_key: [FxHashMap<Box<[u8]>, usize>; 4],
    /// Index of the field, by level and hint.
    by_hint: [Vec<usize>; 4],
    /// Fields of the values of an event in their order, by the number of the sequence of its keys.
    by_path: Vec<Option<Box<[FieldId]>>>,
}

/// Warning about a value whose key has no field.
pub(super) const TOO_MANY_KEYS: &str = "more than 4,096 different keys of a table; the value is dropped";

/// The fields of all side tables together.
#[derive(Debug, Default)]
pub(super) struct SideFields {
    by_key: FxHashMap<(TableId, Box<str>), FieldId>,
}

impl SideFields {
    /// The field of a key, or `None` if there are too many.
    pub(super) fn id(&mut self, sink: &mut dyn Sink, table: TableId, key: &str) -> Result<Option<FieldId>> {
        let of_key = (table, Box::from(key));
        if let Some(&id) = self.by_key.get(&of_key) {
            return Ok(Some(id));
        }
        if self.by_key.len() >= MAX_FIELDS {
            return Ok(None);
        }
        let id = sink.field(table, FieldSpec::new(key, Unit::None, "", ""))?;
        self.by_key.insert(of_key, id);
        Ok(Some(id))
    }
}

/// Number of hints that are kept.
const MAX_HINTS: usize = 4096;

impl TableFields {
    /// An empty set of fields for a table.
    pub(super) fn new(table: TableId) -> Self {
        Self {
            table,
            known: Vec::new(),
            by_key: Default::default(),
            by_hint: Default::default(),
            by_path: Vec::new(),
        }
    }

    /// Forgets the sequences of keys: another parser numbers them anew.
    pub(super) fn forget_paths(&mut self) {
        self.by_path.clear();
    }

    /// Fields of the values of events with this sequence of keys, if they are known. All of them
    /// are different.
    pub(super) fn of_path(&self, path: u32) -> Option<&[FieldId]> {
        self.by_path.get(path as usize)?.as_deref()
    }

    /// The field of a key (decoded text, as bytes), or `None` if there are too many. Equal keys of
    /// a level should have equal hints.
    pub(super) fn id(
        &mut self,
        sink: &mut dyn Sink,
        level: KeyLevel,
        key: &[u8],
        hint: u32,
    ) -> Result<Option<FieldId>> {
        let hint = hint as usize;
        if let Some(&at) = self.by_hint[level as usize].get(hint)
            && let Some(known) = self.known.get(at)
            && known.key.len() == key.len()
            && begins_with(key, &known.key)
        {
            return Ok(Some(known.id));
        }
        let found = self.by_key[level as usize].get(key).copied();
        let index = match found {
            Some(index) => index,
            None if self.known.len() >= MAX_FIELDS => return Ok(None),
            None => self.define(sink, level, key)?,
        };
        if hint < MAX_HINTS {
            let by_hint = &mut self.by_hint[level as usize];
            by_hint.resize(by_hint.len().max(hint + 1), usize::MAX);
            by_hint[hint] = index;
        }
        Ok(Some(self.known[index].id))
    }

    fn define(&mut self, sink: &mut dyn Sink, level: KeyLevel, key: &[u8]) -> Result<usize> {
        let taken = |level: KeyLevel| self.by_key[level as usize].contains_key(key);
        let shown = String::from_utf8_lossy(key);
        let name = match level {
            KeyLevel::Event if taken(KeyLevel::Argument) => format!("event.{shown}"),
            KeyLevel::Argument if EVENT_KEYS.contains(&&*shown) || taken(KeyLevel::Event) => {
                format!("args.{shown}")
            }
            KeyLevel::End => format!("end.{shown}"),
            KeyLevel::Begin => format!("begin.{shown}"),
            _ => shown.into_owned(),
        };
        let id = sink.field(self.table, spec(name, level))?;
        let index = self.known.len();
        self.known.push(FieldKey { key: key.into(), id });
        self.by_key[level as usize].insert(key.into(), index);
        Ok(index)
    }
}

/// A value whose text is in the scratch buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ScratchValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(usize, usize),
    Json(usize, usize),
}

/// Change that a value needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueChange {
    /// No change.
    Whole,
    /// Invalid characters were replaced.
    Replaced,
    /// A nested value that is no JSON became text.
    AsText,
    /// The table has too many fields, so the value was dropped.
    Dropped,
}

/// Fields of one event while they are collected. The last value of a repeated key counts.
#[derive(Debug, Default)]
pub(super) struct EventRow {
    entries: Vec<(FieldId, ScratchValue)>,
    scratch: String,
    /// Number of the event, from 1.
    number: u64,
    /// By field: the last event that has the field, and the field's position in its entries.
    last: Vec<(u64, u32)>,
    compacted: json::Compacted,
    /// Whether arguments are those of the event that ends the slice.
    is_end: bool,
}

impl EventRow {
    /// Starts the next event.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.scratch.clear();
        self.is_end = false;
        self.number += 1;
    }

    /// Adds or replaces a field from its token. `null` is a value, except for keys of events: there
    /// it means that the key is absent.
    pub(super) fn put(
        &mut self,
        sink: &mut dyn Sink,
        fields: &mut TableFields,
        HintedKey { level, text: key, hint }: HintedKey<'_>,
        WrittenValue { raw, bytes }: WrittenValue<'_>,
    ) -> Result<ValueChange> {
        let is_own = || level != KeyLevel::Argument && EVENT_KEYS.iter().any(|own| own.as_bytes() == key);
        if raw.kind() == ValueKind::Absent || raw.kind() == ValueKind::Null && is_own() {
            return Ok(ValueChange::Whole);
        }
        let Some(id) = fields.id(sink, level, key, hint)? else { return Ok(ValueChange::Dropped) };
        let is_of_end = self.is_end && level == KeyLevel::Argument;
        let before = if is_of_end { self.value_of(id) } else { None };
        let kept = self.push(id, bytes, raw);
        self.keep_last(id);
        if let (Some(before), Some(after)) = (before, self.value_of(id))
            && !self.is_same(before, after)
            && self.keep_begin(sink, fields, key, before)? == ValueChange::Dropped
        {
            return Ok(ValueChange::Dropped);
        }
        Ok(kept)
    }

    /// Later arguments are those of the event that ends the slice. They replace those of the begin.
    /// If the value of the begin is another one, it stays as a field of its own.
    pub(super) fn end(&mut self) {
        self.is_end = true;
    }

    /// Keeps the value of the begin that the row's last entry has replaced.
    fn keep_begin(
        &mut self,
        sink: &mut dyn Sink,
        fields: &mut TableFields,
        key: &[u8],
        before: ScratchValue,
    ) -> Result<ValueChange> {
        let Some(id) = fields.id(sink, KeyLevel::Begin, key, NONE)? else { return Ok(ValueChange::Dropped) };
        // An end that repeats a key has replaced the value of the begin already.
        if self.value_of(id).is_none() {
            self.entries.push((id, before));
            self.keep_last(id);
        }
        Ok(ValueChange::Whole)
    }

    /// The row's value of a field.
    fn value_of(&self, id: FieldId) -> Option<ScratchValue> {
        let &(_, at) = self.last.get(id.0 as usize).filter(|(number, _)| *number == self.number)?;
        self.entries.get(at as usize).map(|entry| entry.1)
    }

    fn is_same(&self, one: ScratchValue, other: ScratchValue) -> bool {
        match (one, other) {
            (ScratchValue::Text(start, end), ScratchValue::Text(from, to))
            | (ScratchValue::Json(start, end), ScratchValue::Json(from, to)) => {
                self.scratch[start..end] == self.scratch[from..to]
            }
            _ => one == other,
        }
    }

    /// Adds or replaces a text.
    pub(super) fn put_text(
        &mut self,
        sink: &mut dyn Sink,
        fields: &mut TableFields,
        level: KeyLevel,
        key: &[u8],
        value: &str,
    ) -> Result<()> {
        let start = self.scratch.len();
        self.scratch.push_str(value);
        if let Some(id) = fields.id(sink, level, key, NONE)? {
            self.entries.push((id, ScratchValue::Text(start, self.scratch.len())));
            self.keep_last(id);
        }
        Ok(())
    }

    /// Adds a value to a field that the row does not have yet.
    #[inline]
    pub(super) fn put_known(&mut self, id: FieldId, bytes: &[u8], raw: Raw) -> ValueChange {
        if raw.kind() == ValueKind::Absent {
            return ValueChange::Whole;
        }
        if let Some(last) = self.last.get_mut(id.0 as usize) {
            *last = (self.number, self.entries.len() as u32);
        }
        self.push(id, bytes, raw)
    }

    /// Remembers the fields of the row for events with the same sequence of keys, if each of the
    /// `values` of this event has a field of its own.
    pub(super) fn learn(&self, fields: &mut TableFields, path: u32, values: usize) {
        if path == NONE || self.entries.len() != values {
            return;
        }
        let path = path as usize;
        if path >= fields.by_path.len() {
            fields.by_path.resize(path + 1, None);
        }
        fields.by_path[path] = Some(self.entries.iter().map(|&(id, _)| id).collect());
    }

    /// Moves the last entry to that of the same field, if the row has one.
    fn keep_last(&mut self, id: FieldId) {
        let (field, added) = (id.0 as usize, self.entries.len() - 1);
        if field >= self.last.len() {
            self.last.resize(field + 1, (u64::MAX, 0));
        }
        let (number, at) = self.last[field];
        if number == self.number && (at as usize) < added {
            self.entries.swap_remove(at as usize);
        } else {
            self.last[field] = (self.number, added as u32);
        }
    }

    /// Adds an entry. Each kind of value is built in place: a copy of a value that was just built
    /// waits until all its parts are written.
    fn push(&mut self, id: FieldId, bytes: &[u8], raw: Raw) -> ValueChange {
        let inside = raw.of(bytes);
        let start = self.scratch.len();
        let entries = &mut self.entries;
        match raw.kind() {
            ValueKind::True => entries.push((id, ScratchValue::Bool(true))),
            ValueKind::False => entries.push((id, ScratchValue::Bool(false))),
            ValueKind::Number => match FieldNumber::parse(inside) {
                Some(FieldNumber::Int(int)) => entries.push((id, ScratchValue::Int(int))),
                Some(FieldNumber::Uint(uint)) => entries.push((id, ScratchValue::Uint(uint))),
                Some(FieldNumber::Float(float)) => entries.push((id, ScratchValue::Float(float))),
                Some(FieldNumber::Big) | None => return self.push_text(id, inside, ValueChange::Whole),
            },
            ValueKind::Text if let Ok(text) = std::str::from_utf8(inside) => {
                self.scratch.push_str(text);
                entries.push((id, ScratchValue::Text(start, self.scratch.len())));
            }
            ValueKind::Text | ValueKind::Escaped | ValueKind::Word => {
                return self.push_text(id, inside, ValueChange::Whole);
            }
            ValueKind::Absent | ValueKind::Null => {
                self.scratch.push_str("null");
                entries.push((id, ScratchValue::Json(start, self.scratch.len())));
            }
            ValueKind::Object | ValueKind::Array => match self.compacted.append(inside, &mut self.scratch) {
                Ok(()) => entries.push((id, ScratchValue::Json(start, self.scratch.len()))),
                Err(_) => return self.push_text(id, inside, ValueChange::AsText),
            },
        }
        ValueChange::Whole
    }

    fn push_text(&mut self, id: FieldId, inside: &[u8], kept: ValueChange) -> ValueChange {
        let start = self.scratch.len();
        let fidelity = text::decode(inside, &mut self.scratch);
        self.entries.push((id, ScratchValue::Text(start, self.scratch.len())));
        if fidelity == Fidelity::Adjusted && kept == ValueChange::Whole {
            ValueChange::Replaced
        } else {
            kept
        }
    }

    /// The fields, in `room`, whose memory is reused.
    pub(super) fn values<'a>(&'a self, room: FieldBuffer) -> Vec<(FieldId, Value<'a>)> {
        let mut values: Vec<(FieldId, Value<'a>)> = room;
        values.clear();
        values.extend(self.entries.iter().map(|&(id, value)| {
            let value = match value {
                ScratchValue::Int(int) => Value::Int(int),
                ScratchValue::Uint(uint) => Value::Uint(uint),
                ScratchValue::Float(float) => Value::Float(float),
                ScratchValue::Bool(bool) => Value::Bool(bool),
                ScratchValue::Text(start, end) => Value::Text(&self.scratch[start..end]),
                ScratchValue::Json(start, end) => Value::Json(&self.scratch[start..end]),
            };
            (id, value)
        }));
        values
    }
}
