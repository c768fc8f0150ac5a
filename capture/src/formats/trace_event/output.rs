//! The way to the sink: tables, rows and warnings, for every kind of event.

use nprof_engine::base::{Result, clamped};
use nprof_engine::model::{FieldSpec, Sink, TableId, TableKind, TableSpec, Unit, Value, WarningKind};

use super::Context;
use super::clock::TraceClock;
use super::event::{EventBytes, EventParts};
use super::field::{EventRow, HintedKey, KeyLevel, SideFields, TOO_MANY_KEYS, TableFields, ValueChange};
use super::shape::MAX_STEPS;
use super::side_table::SideTable;
use super::text::bytes_of;
use super::time::NoTime;
use super::tokens::{Raw, Tail, Tokens, ValueKind};
use super::track::{Id, TraceTracks, TrackIndex, TrackTables};
use super::value::WrittenValue;
use crate::formats::room::FieldBuffer;

mod emission;

/// Table of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventTable {
    /// Slices and instants of threads and processes.
    Slices,
    /// Asynchronous slices and their instants.
    Asyncs,
    /// Samples of counters.
    Samples,
}

/// The output of the reader.
pub(super) struct EventOutput<'s> {
    /// The receiver of all events.
    pub(super) sink: &'s mut dyn Sink,
    /// The clock with time zero.
    pub(super) clock: TraceClock,
    /// Byte and line of the current event's begin, if lines are counted.
    pub(super) line: Option<(u64, u64)>,
    /// The tracks of the trace.
    pub(super) tracks: TraceTracks,
    slices: TableFields,
    asyncs: TableFields,
    samples: TableFields,
    /// Fields of the tables of metadata.
    pub(super) side_fields: SideFields,
    unread: SideTable<3>,
    /// Other contents of flow events. The table is defined with the first such event.
    pub(super) flow_events: Option<SideTable<4>>,
    /// Whether points of arrows are kept as written, too.
    pub(super) keeps_points: bool,
    /// Points of arrows as written. The table is defined with the first one.
    pub(super) points: Option<SideTable<7>>,
    /// Number of the file that is read, from 0.
    pub(super) file: usize,
    /// Times of the first and last event of the file in picoseconds.
    pub(super) span_ps: Option<(i64, i64)>,
    row: EventRow,
    room: FieldBuffer,
    /// Further arguments of the next event: JSON without the brackets.
    more: Vec<u8>,
}

/// Keys of an event that are fields, if the event has them.
const OWN_KEYS: [&[u8]; 8] = [b"cat", b"id", b"id2", b"scope", b"bind_id", b"flow_in", b"flow_out", b"bp"];

/// Values of [`OWN_KEYS`].
fn own(event: &EventParts) -> [Raw; OWN_KEYS.len()] {
    let EventParts { cat, id, id2, scope, bind_id, flow_in, flow_out, bp, .. } = *event;
    [cat, id, id2, scope, bind_id, flow_in, flow_out, bp]
}

/// Field with the number of the file that a slice comes from.
const FILE_NUMBER: &str = "file_number";

/// Most bytes of an unreadable event that are kept.
const MAX_UNREAD_LEN: usize = 64 << 10;

impl<'s> EventOutput<'s> {
    /// Defines the tables.
    pub(super) fn new(context: Context<'_>, sink: &'s mut dyn Sink) -> Result<Self> {
        let slices = TableKind::Slices;
        let slice = define(sink, "slice", slices, "name", "Slices and instants of threads and processes.")?;
        let asynchronous =
            define(sink, "async", slices, "name", "Slices that can begin on one thread and end on another.")?;
        let counter = define(sink, "counter", TableKind::Samples, "name", "Samples of counters.")?;
        let doc = "Unchanged events that have no place on the timeline.";
        let unread = SideTable::define(
            sink,
            "unread_event",
            doc,
            [
                FieldSpec::new("byte", Unit::Bytes, "", "Offset of the event in the unpacked trace."),
                FieldSpec::new(
                    "reason",
                    Unit::None,
                    "",
                    "Reason why the event has no place on the timeline.",
                ),
                FieldSpec::new("event", Unit::None, "", "Text of the event."),
            ],
        )?;
        Ok(Self {
            sink,
            clock: TraceClock::new(context.origin),
            line: None,
            tracks: TraceTracks::new(TrackTables { slice, asynchronous, counter }),
            slices: TableFields::new(slice),
            asyncs: TableFields::new(asynchronous),
            samples: TableFields::new(counter),
            side_fields: SideFields::default(),
            unread,
            flow_events: None,
            keeps_points: false,
            points: None,
            file: 0,
            span_ps: None,
            row: EventRow::default(),
            room: FieldBuffer::new(),
            more: Vec::new(),
        })
    }

    /// Counts a warning.
    pub(super) fn warn(&mut self, kind: WarningKind, what: &str, offset: u64) {
        self.sink.warn(kind, what, &|| match self.line {
            Some((at, line)) if at == offset => format!("line {line} (byte {offset})"),
            _ => format!("byte {offset}"),
        });
    }

    /// Counts a name of a process or a track that is not kept.
    pub(super) fn check_named(&mut self, is_named: bool, offset: u64) {
        if !is_named {
            let what = "names of processes and tracks take too much memory; this one is only in the table \
                of metadata events";
            self.warn(WarningKind::AdjustedValue, what, offset);
        }
    }

    /// Keeps the text of an event that has no place on the timeline, and counts the reason.
    pub(super) fn keep_unread(
        &mut self,
        kind: WarningKind,
        what: &str,
        bytes: &[u8],
        offset: u64,
    ) -> Result<()> {
        self.warn(kind, what, offset);
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_UNREAD_LEN)]);
        self.unread.row(self.sink, [Value::Int(clamped(offset)), Value::Text(what), Value::Text(text.trim())])
    }

    /// Time of an event. An event without a time is kept as unread.
    pub(super) fn time(&mut self, seen: EventBytes<'_>) -> Result<Option<i64>> {
        match self.clock.time(seen.event.ts, seen.bytes) {
            Ok(ps) => Ok(Some(ps)),
            Err(no_time) => {
                let kind = match no_time {
                    NoTime::Missing => WarningKind::MissingData,
                    NoTime::NotANumber | NoTime::OutOfRange => WarningKind::DamagedRecord,
                };
                self.keep_unread(kind, no_time.of_ts(), seen.bytes, seen.offset)?;
                Ok(None)
            }
        }
    }

    /// The process of an event.
    pub(super) fn pid(seen: EventBytes<'_>) -> Id {
        Id::new(seen.event.pid, seen.bytes)
    }

    /// The thread of an event.
    pub(super) fn tid(seen: EventBytes<'_>) -> Id {
        Id::new(seen.event.tid, seen.bytes)
    }

    /// Starts a row.
    pub(super) fn start_row(&mut self) {
        self.row.clear();
    }

    /// Gives the next event a further argument: its key, and its value as JSON.
    pub(super) fn add_argument(&mut self, key: &str, value: &str) {
        self.more.extend_from_slice(if self.more.is_empty() { b"\"" } else { b",\"" });
        self.more.extend_from_slice(key.as_bytes());
        self.more.extend_from_slice(b"\":");
        self.more.extend_from_slice(value.as_bytes());
    }

    /// Forgets further arguments that no event has taken.
    pub(super) fn drop_arguments(&mut self) {
        self.more.clear();
    }

    /// Adds all parts of an event besides its name, place and time, and for slices the number of
    /// the file, unless it is the first one. The row is empty before.
    pub(super) fn add_event(&mut self, of: EventTable, seen: EventBytes<'_>) -> Result<()> {
        self.add_parts(of, seen)?;
        if self.file > 0 && of == EventTable::Slices {
            let number = self.file.to_string();
            self.add_text(of, FILE_NUMBER, &number)?;
        }
        if self.more.is_empty() {
            return Ok(());
        }
        let inside = [b"{", &*std::mem::take(&mut self.more), b"}"].concat();
        let more = EventBytes { bytes: &inside, ..seen };
        let mut tokens = Tokens::new(&inside, Tail::Closed);
        tokens.advance();
        while let Ok((byte, _)) = tokens.peek_item()
            && byte != b'}'
            && let Ok(key) = tokens.key()
            && let Ok(value) = tokens.value()
        {
            self.add(of, HintedKey::new(KeyLevel::Argument, key.of(&inside)), value, more)?;
        }
        Ok(())
    }

    fn add_parts(&mut self, of: EventTable, seen: EventBytes<'_>) -> Result<()> {
        let event = seen.event;
        let phase = event.ph.of(seen.bytes);
        // These keys have a form of their own only with the right phase.
        let has_odd_dur = event.dur.is_present() && phase != b"X";
        let has_odd_scope = event.s.is_present() && !matches!(phase, b"i" | b"I" | b"R");
        let has_plain_args =
            matches!(event.args.kind(), ValueKind::Object | ValueKind::Absent | ValueKind::Null);
        let is_plain = has_plain_args && !has_odd_dur && !has_odd_scope;
        if is_plain && self.add_by_path(of, seen) {
            return Ok(());
        }
        // These hints follow the ones from the shapes of events.
        for ((key, value), hint) in OWN_KEYS.into_iter().zip(own(event)).zip(MAX_STEPS as u32..) {
            if value.is_present() {
                self.add(of, HintedKey { level: KeyLevel::Event, text: key, hint }, value, seen)?;
            }
        }
        if has_odd_dur {
            self.add(of, HintedKey::of_event(b"dur"), event.dur, seen)?;
        }
        if has_odd_scope {
            self.add(of, HintedKey::of_event(b"s"), event.s, seen)?;
        }
        for member in &event.extras {
            let key = bytes_of(seen.bytes, member.key);
            let key = HintedKey { level: KeyLevel::Event, text: &key, hint: member.hint };
            self.add(of, key, member.value, seen)?;
        }
        self.add_arguments(of, seen)?;
        if is_plain {
            let values = own(event).iter().filter(|value| value.is_present()).count();
            let values = values + event.extras.len() + event.members.len();
            let (row, fields) = self.row_of(of);
            row.learn(fields, event.path, values);
        }
        Ok(())
    }

    /// Adds the parts of an event whose keys are those of an earlier one: the fields are known, and
    /// no two of them are the same. `false` without a change if they are not.
    fn add_by_path(&mut self, of: EventTable, seen: EventBytes<'_>) -> bool {
        let event = seen.event;
        let own = own(event);
        // A key of the event that is `null` counts as absent.
        let is_null = |value: Raw| value.kind() == ValueKind::Null;
        let has_null = own.into_iter().any(is_null) || event.extras.iter().any(|extra| is_null(extra.value));
        let (row, fields) = self.row_of(of);
        let Some(path) = fields.of_path(event.path).filter(|_| !has_null) else { return false };
        let own = own.into_iter().filter(|value| value.is_present());
        let others = event.extras.iter().chain(&event.members).map(|member| member.value);
        let mut changes = Vec::new();
        let mut ids = path.iter();
        let mut put = |value: Raw| {
            let kept = ids.next().map_or(ValueChange::Whole, |&id| row.put_known(id, seen.bytes, value));
            if kept != ValueChange::Whole {
                changes.push(kept);
            }
        };
        own.for_each(&mut put);
        others.for_each(&mut put);
        changes.into_iter().for_each(|kept| self.note(kept, seen.offset));
        true
    }

    /// The row that is collected, and the fields of its table.
    fn row_of(&mut self, of: EventTable) -> (&mut EventRow, &mut TableFields) {
        let fields = match of {
            EventTable::Slices => &mut self.slices,
            EventTable::Asyncs => &mut self.asyncs,
            EventTable::Samples => &mut self.samples,
        };
        (&mut self.row, fields)
    }

    /// Forgets the sequences of keys that events of the document before had.
    pub(super) fn forget_paths(&mut self) {
        for fields in [&mut self.slices, &mut self.asyncs, &mut self.samples] {
            fields.forget_paths();
        }
    }

    /// Adds the process and the thread of an event, if its track does not tell them.
    pub(super) fn add_place(
        &mut self,
        of: EventTable,
        seen: EventBytes<'_>,
        track: TrackIndex,
    ) -> Result<()> {
        let (process, thread) = self.tracks.owner(track);
        let (same_process, same_thread) =
            (process == Some(&Self::pid(seen)), thread == Some(&Self::tid(seen)));
        let places: [(&[u8], Raw, bool); 2] =
            [(b"pid", seen.event.pid, same_process), (b"tid", seen.event.tid, same_thread)];
        for (key, value, is_told) in places {
            if !is_told && !matches!(value.kind(), ValueKind::Absent | ValueKind::Null) {
                self.add(of, HintedKey::of_event(key), value, seen)?;
            }
        }
        Ok(())
    }

    /// Adds the parts of a slice's end that differ from its begin. Arguments of the end replace
    /// those of the begin. A value of the begin that differs stays as a field of its own.
    pub(super) fn add_end(
        &mut self,
        of: EventTable,
        begin: EventBytes<'_>,
        end: EventBytes<'_>,
    ) -> Result<()> {
        let (first, last) = (begin.event, end.event);
        let is_same = |before, after| begin.is_written_like(before, end, after);
        let own: [(&[u8], Raw, Raw); 2] = [(b"name", first.name, last.name), (b"cat", first.cat, last.cat)];
        for (key, before, after) in own {
            if after.is_present() && !is_same(before, after) && begin.text(before) != end.text(after) {
                self.add(of, HintedKey::new(KeyLevel::End, key), after, end)?;
            }
        }
        let places: [(&[u8], Raw, Raw); 2] = [(b"pid", first.pid, last.pid), (b"tid", first.tid, last.tid)];
        for (key, before, after) in places {
            let is_given = !matches!(after.kind(), ValueKind::Absent | ValueKind::Null);
            let is_other =
                || !is_same(before, after) && Id::new(before, begin.bytes) != Id::new(after, end.bytes);
            if is_given && is_other() {
                self.add(of, HintedKey::new(KeyLevel::End, key), after, end)?;
            }
        }
        for member in &last.extras {
            let key = bytes_of(end.bytes, member.key);
            let same = first.extras.iter().any(|other| {
                bytes_of(begin.bytes, other.key) == key
                    && other.value.of(begin.bytes) == member.value.of(end.bytes)
            });
            if !same {
                self.add(of, HintedKey::new(KeyLevel::End, &key), member.value, end)?;
            }
        }
        self.row.end();
        self.add_arguments(of, end)
    }

    fn add_arguments(&mut self, of: EventTable, seen: EventBytes<'_>) -> Result<()> {
        match seen.event.args.kind() {
            ValueKind::Absent | ValueKind::Null => {}
            ValueKind::Object => {
                for member in &seen.event.members {
                    let key = bytes_of(seen.bytes, member.key);
                    let key = HintedKey { level: KeyLevel::Argument, text: &key, hint: member.hint };
                    self.add(of, key, member.value, seen)?;
                }
            }
            _ => {
                self.warn(
                    WarningKind::AdjustedValue,
                    "`args` is not an object; kept as one value",
                    seen.offset,
                );
                self.add(of, HintedKey::of_event(b"args"), seen.event.args, seen)?;
            }
        }
        Ok(())
    }

    /// Adds one field of an event.
    pub(super) fn add(
        &mut self,
        of: EventTable,
        key: HintedKey<'_>,
        value: Raw,
        seen: EventBytes<'_>,
    ) -> Result<()> {
        let fields = match of {
            EventTable::Slices => &mut self.slices,
            EventTable::Asyncs => &mut self.asyncs,
            EventTable::Samples => &mut self.samples,
        };
        let value = WrittenValue { raw: value, bytes: seen.bytes };
        let kept = self.row.put(self.sink, fields, key, value)?;
        self.note(kept, seen.offset);
        Ok(())
    }

    /// Counts a change of a value.
    fn note(&mut self, kept: ValueChange, offset: u64) {
        let what = match kept {
            ValueChange::Whole => return,
            ValueChange::Replaced => "text that is not UTF-8 or is half a surrogate pair; replaced by U+FFFD",
            ValueChange::AsText => "a nested value that is not JSON; kept as text",
            ValueChange::Dropped => TOO_MANY_KEYS,
        };
        self.warn(WarningKind::AdjustedValue, what, offset);
    }

    /// Adds a text field that has no token of its own.
    pub(super) fn add_text(&mut self, of: EventTable, key: &str, value: &str) -> Result<()> {
        let fields = match of {
            EventTable::Slices => &mut self.slices,
            EventTable::Asyncs => &mut self.asyncs,
            EventTable::Samples => &mut self.samples,
        };
        self.row.put_text(self.sink, fields, KeyLevel::Event, key.as_bytes(), value)
    }
}

fn define(sink: &mut dyn Sink, name: &str, kind: TableKind, name_key: &str, doc: &str) -> Result<TableId> {
    sink.table(TableSpec::new(name, kind, doc).named_by(name_key))
}
