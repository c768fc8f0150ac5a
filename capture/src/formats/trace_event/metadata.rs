//! Facts of a trace about itself: metadata events (`M`) and the keys beside `traceEvents`.

use nprof_engine::base::Result;
use nprof_engine::model::{FieldSpec, Nesting, RankInfo, TableId, TableSpec, Unit, Value, WarningKind};

use super::allowance::TrackAllowance;
use super::description::Description;
use super::event::EventBytes;
use super::field::TOO_MANY_KEYS;
use super::json;
use super::number::FieldNumber;
use super::output::EventOutput;
use super::text;
use super::tokens::{Raw, Tail, Tokens, ValueKind};
use super::value::WrittenValue;
use crate::origin::Sharing;
use rustc_hash::FxHashMap;

/// Metadata found so far.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    rank: Option<u32>,
    title: String,
    base_ns: Option<i64>,
    /// The base of the first file, once that has ended: times of all files count from there.
    first_base_ns: Option<Option<i64>>,
    is_kineto: bool,
}

impl Metadata {
    /// Takes an event of phase `M`.
    pub(super) fn event(&mut self, out: &mut EventOutput<'_>, seen: EventBytes<'_>) -> Result<()> {
        let what = seen.name();
        match &*what {
            "process_name" | "process_labels" | "process_sort_index" => {
                let process = out.tracks.process(&EventOutput::pid(seen));
                let is_named = describe(out.tracks.describe_process(process), &what, seen);
                out.check_named(is_named, seen.offset);
            }
            "thread_name" | "thread_sort_index" => {
                let track = out.tracks.thread(EventOutput::pid(seen), EventOutput::tid(seen), Nesting::Calls);
                let is_named = describe(out.tracks.describe(track), &what, seen);
                out.check_named(is_named, seen.offset);
            }
            _ => {}
        }
        let table = side_table(out, "metadata_event", "Metadata events, unchanged.")?;
        let mut arguments = String::new();
        json::object(seen.event.members.iter().map(|m| (m.key, m.value)), seen.bytes, &mut arguments);
        let (pid, tid) = (seen.text(seen.event.pid), seen.text(seen.event.tid));
        let values = [
            ("name", Value::Text(&what)),
            ("pid", Value::Text(&pid)),
            ("tid", Value::Text(&tid)),
            ("args", Value::Json(&arguments)),
        ];
        row(out, table, &values)
    }

    /// Takes a key beside `traceEvents`.
    pub(super) fn key(
        &mut self,
        out: &mut EventOutput<'_>,
        key: &str,
        value: WrittenValue<'_>,
        offset: u64,
    ) -> Result<()> {
        match key {
            "schemaVersion" | "deviceProperties" => self.is_kineto = true,
            "traceName" => self.title = value.text().into_owned(),
            "baseTimeNanoseconds" => {
                self.is_kineto = true;
                self.base_ns = integer(value.raw, value.bytes);
                if self.base_ns.is_none() {
                    out.warn(WarningKind::DamagedRecord, "`baseTimeNanoseconds` is not a number", offset);
                }
            }
            "distributedInfo" => {
                self.is_kineto = true;
                self.rank = member(value, "rank")
                    .and_then(|rank| integer(rank.raw, rank.bytes))
                    .and_then(|rank| u32::try_from(rank).ok());
            }
            _ => {}
        }
        let table = side_table(out, "metadata", "Properties that the trace states about itself.")?;
        let value = TypedValue::new(value);
        row(out, table, &[("key", Value::Text(key)), ("value", value.value())])
    }

    /// Takes one stack frame, with its id.
    pub(super) fn stack_frame(out: &mut EventOutput<'_>, id: &str, value: WrittenValue<'_>) -> Result<()> {
        let table = side_table(out, "stack_frame", "Stack frames that slices refer to with `sf`.")?;
        let mut members = vec![("id".to_owned(), TypedValue::Text(id.to_owned()))];
        collect(value, &mut members);
        member_row(out, table, &members)
    }

    /// Takes one sample of a sampling profiler.
    pub(super) fn sample(out: &mut EventOutput<'_>, value: WrittenValue<'_>) -> Result<()> {
        let table = side_table(out, "sample", "Samples of a sampling profiler.")?;
        let mut members = Vec::new();
        collect(value, &mut members);
        member_row(out, table, &members)
    }

    /// Ends a file of the rank.
    pub(super) fn end_file(&mut self) {
        self.base_ns = *self.first_base_ns.get_or_insert(self.base_ns);
    }

    /// All known facts about the rank.
    pub(super) fn rank(&self, out: &EventOutput<'_>) -> RankInfo {
        RankInfo {
            rank: self.rank,
            device: None,
            core: None,
            origin_unix_ns: out.clock.origin_unix_ns(self.base_ns),
            source: if self.is_kineto { "kineto" } else { "trace-event" }.to_owned(),
            title: self.title.clone(),
        }
    }
}

/// Keeps a property of a process or a track. `false` if there is no memory for its name.
fn describe(of: Option<(&mut Description, &mut TrackAllowance)>, what: &str, seen: EventBytes<'_>) -> bool {
    let Some((described, allowance)) = of else { return true };
    match what {
        "process_labels" => allowance.renames(&mut described.labels, &seen.text(seen.argument("labels"))),
        "process_name" | "thread_name" => {
            allowance.renames(&mut described.name, &seen.text(seen.argument("name")))
        }
        _ => {
            described.sort = integer(seen.argument("sort_index"), seen.bytes).or(described.sort);
            true
        }
    }
}

/// An integer, also if written as text or with a point.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
pub(super) fn integer(raw: Raw, bytes: &[u8]) -> Option<i64> {
    match (raw.kind(), FieldNumber::parse(raw.of(bytes).trim_ascii())?) {
        (ValueKind::Number | ValueKind::Text, FieldNumber::Int(int)) => Some(int),
        (ValueKind::Number | ValueKind::Text, FieldNumber::Float(float)) if float.is_finite() => {
            Some(float as i64)
        }
        _ => None,
    }
}

/// A member of an object.
fn member<'a>(object: WrittenValue<'a>, wanted: &str) -> Option<WrittenValue<'a>> {
    let mut found = None;
    each_member(object, |key, value| {
        if key.text() == wanted {
            found = Some(value);
        }
    });
    found
}

/// Calls `visit` for each key and value of an object.
fn each_member<'a>(object: WrittenValue<'a>, mut visit: impl FnMut(WrittenValue<'a>, WrittenValue<'a>)) {
    if object.kind() != ValueKind::Object {
        return;
    }
    let inside = object.written();
    let of = |raw: Raw| WrittenValue { raw, bytes: inside };
    let mut tokens = Tokens::new(inside, Tail::Closed);
    tokens.advance();
    while let Ok((byte, _)) = tokens.peek_item()
        && byte != b'}'
        && let Ok(key) = tokens.key()
        && let Ok(value) = tokens.value()
    {
        visit(of(key), of(value));
    }
}

/// A value of the trace with a type of its own.
#[derive(Debug, PartialEq)]
enum TypedValue {
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// Compact JSON.
    Json(String),
}

impl TypedValue {
    fn new(value: WrittenValue<'_>) -> Self {
        let WrittenValue { raw, bytes } = value;
        let number = FieldNumber::parse(raw.of(bytes)).filter(|_| raw.kind() == ValueKind::Number);
        match (raw.kind(), number) {
            (ValueKind::True, _) => Self::Bool(true),
            (ValueKind::False, _) => Self::Bool(false),
            (_, Some(FieldNumber::Int(int))) => Self::Int(int),
            (_, Some(FieldNumber::Uint(uint))) => Self::Uint(uint),
            (_, Some(FieldNumber::Float(float))) => Self::Float(float),
            (ValueKind::Object | ValueKind::Array | ValueKind::Null | ValueKind::Absent, _) => {
                let mut json = String::new();
                json::any(raw, bytes, &mut json);
                Self::Json(json)
            }
            _ => {
                let mut decoded = String::new();
                text::decode(raw.of(bytes), &mut decoded);
                Self::Text(decoded)
            }
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Int(int) => Value::Int(*int),
            Self::Uint(uint) => Value::Uint(*uint),
            Self::Float(float) => Value::Float(*float),
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Text(text) => Value::Text(text),
            Self::Json(json) => Value::Json(json),
        }
    }
}

/// Adds the members of an object by name. Another value gets the name `value`. The last of equal
/// names counts.
fn collect(object: WrittenValue<'_>, members: &mut Vec<(String, TypedValue)>) {
    let mut places: FxHashMap<String, usize> =
        members.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
    let mut put = |key: String, value: TypedValue| match places.get(&key) {
        Some(&known) => members[known].1 = value,
        None => {
            places.insert(key.clone(), members.len());
            members.push((key, value));
        }
    };
    if object.kind() != ValueKind::Object {
        put("value".to_owned(), TypedValue::new(object));
        return;
    }
    each_member(object, |key, value| put(key.text().into_owned(), TypedValue::new(value)));
}

fn member_row(out: &mut EventOutput<'_>, table: TableId, members: &[(String, TypedValue)]) -> Result<()> {
    let values: Vec<_> = members.iter().map(|(key, value)| (key.as_str(), value.value())).collect();
    row(out, table, &values)
}

fn side_table(out: &mut EventOutput<'_>, name: &str, doc: &str) -> Result<TableId> {
    out.sink.table(TableSpec::side(name, doc))
}

fn row(out: &mut EventOutput<'_>, table: TableId, values: &[(&str, Value<'_>)]) -> Result<()> {
    let mut fields = Vec::new();
    for (key, value) in values {
        match out.side_fields.id(out.sink, table, key)? {
            Some(field) => fields.push((field, *value)),
            None => out.sink.warn(WarningKind::AdjustedValue, TOO_MANY_KEYS, &|| {
                format!("key {:?}", key.chars().take(80).collect::<String>())
            }),
        }
    }
    out.sink.row(table, &fields)
}

/// Writes the processes, threads and counters of the tracks, because a track's name is for display
/// only. A key that the trace does not state has no value.
pub(super) fn track_rows(out: &mut EventOutput<'_>) -> Result<()> {
    let table = side_table(out, "track", "Process, and thread or counter, of each track.")?;
    // Taken apart and put back, so that a million tracks need no list of their texts.
    let tracks = out.tracks.take();
    let written = tracks.iter().try_for_each(|(track, origin)| {
        let mut values = vec![("track", Value::Int(i64::from(track.0)))];
        values.extend(origin.iter().map(|(key, text)| (*key, Value::Text(text.as_str()))));
        row(out, table, &values)
    });
    out.tracks = tracks;
    written
}

/// Writes the trace's own time at the profile's time zero, unless the two are the same.
pub(super) fn clock_row(out: &mut EventOutput<'_>) -> Result<()> {
    let Some(origin) = out.clock.origin() else { return Ok(()) };
    if origin.sharing() == Sharing::Alone {
        let what = "the clock of this rank differs by more than 26 days from the clocks of the other \
            ranks; times of this rank start at its own first event";
        out.warn(WarningKind::AdjustedValue, what, 0);
    }
    if origin.ps() == 0 {
        return Ok(());
    }
    let doc = "Clock of the trace at time zero of the profile.";
    let table = side_table(out, "clock", doc)?;
    let doc = "Nanoseconds on the clock of the trace. The sum of this number and a time is the timestamp \
        in the trace.";
    let field = out.sink.field(table, FieldSpec::new("origin_ns", Unit::Nanoseconds, "", doc))?;
    let ns = origin.ps().div_euclid(1000);
    let text = ns.to_string();
    let value = i64::try_from(ns).map_or(Value::Text(&text), Value::Int);
    out.sink.row(table, &[(field, value)])
}
