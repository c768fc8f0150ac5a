//! Older events within track events: the phases of Trace Event JSON, with its ids.

use std::hash::{Hash, Hasher};

use nprof_engine::model::{FlowPhase, Value, WarningKind};
use rustc_hash::FxHasher;

use super::annotation::TraceAnnotation;
use super::field::RowTable;
use super::output::{Moment, PacketOutput, ReadStop};
use super::packet_event::{Occurrence, PacketEvent, push};
use super::record::{EventPlace, EventRecord, FlowAt, FlowRole, TrackEffect};
use super::sequence::Sequence;
use super::track::{ThreadIds, TrackKey};
use crate::protobuf::{MessageDamage, MessageFields};

/// Whether an event is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completeness {
    /// The event is read.
    Whole,
    /// The type of the event says what it is.
    No,
}

/// Id of an older event.
#[derive(Debug, Clone, Copy, Hash)]
enum LegacyId {
    None,
    Unscoped(u64),
    Local(u64),
    Global(u64),
}

/// The older part of an event.
#[derive(Debug)]
struct Older<'a> {
    name_iid: u64,
    phase: u8,
    duration_us: Option<i64>,
    id: LegacyId,
    scope: &'a [u8],
    bind_id: Option<u64>,
    binds_enclosing: bool,
    flow_direction: u64,
    instant_scope: u64,
    pid: Option<i64>,
    tid: Option<i64>,
}

impl<'a> Older<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, MessageDamage> {
        let mut older = Self {
            name_iid: 0,
            phase: 0,
            duration_us: None,
            id: LegacyId::None,
            scope: b"",
            bind_id: None,
            binds_enclosing: false,
            flow_direction: 0,
            instant_scope: 0,
            pid: None,
            tid: None,
        };
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => older.name_iid = value.number(),
                2 => older.phase = u8::try_from(value.number()).unwrap_or(b'?'),
                3 => older.duration_us = Some(value.signed()),
                6 => older.id = LegacyId::Unscoped(value.number()),
                7 => older.scope = value.bytes(),
                8 => older.bind_id = Some(value.number()),
                10 => older.id = LegacyId::Local(value.number()),
                11 => older.id = LegacyId::Global(value.number()),
                12 => older.binds_enclosing = value.number() != 0,
                13 => older.flow_direction = value.number(),
                14 => older.instant_scope = value.number(),
                18 => older.pid = Some(value.signed()),
                19 => older.tid = Some(value.signed()),
                _ => {}
            }
        }
        Ok(older)
    }

    /// Process and thread, if the event states another than its sequence.
    fn thread(&self, sequence: &Sequence) -> Option<ThreadIds> {
        if self.pid.is_none() && self.tid.is_none() {
            return None;
        }
        let ThreadIds { pid, tid } = sequence.thread.unwrap_or_default();
        Some(ThreadIds { pid: self.pid.unwrap_or(pid), tid: self.tid.unwrap_or(tid) })
    }

    fn place(&self, out: &mut PacketOutput<'_>, sequence: &Sequence, seen: &PacketEvent<'_>) -> EventPlace {
        match self.thread(sequence) {
            Some(thread) => out.tracks.place(TrackKey::Thread(thread)),
            None => seen.place(out, sequence),
        }
    }

    fn process(&self, out: &PacketOutput<'_>, sequence: &Sequence, seen: &PacketEvent<'_>) -> Option<i64> {
        self.pid.or_else(|| seen.process(out, sequence))
    }
}

/// An event with its older part.
#[derive(Clone, Copy)]
struct OlderEvent<'a> {
    seen: &'a PacketEvent<'a>,
    older: &'a Older<'a>,
}

/// Codes of the phases of flows in [`TrackEffect::Flow`].
pub(super) const FLOW_START: u8 = 0;
pub(super) const FLOW_STEP: u8 = 1;
pub(super) const FLOW_END: u8 = 2;
/// An end that binds to the next slice.
pub(super) const FLOW_END_NEXT: u8 = 3;

/// Takes the older part of an event.
pub(super) fn take(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    seen: &PacketEvent<'_>,
    moment: Moment,
    bytes: &[u8],
) -> Result<Completeness, ReadStop> {
    let older = &Older::parse(bytes)?;
    let event = OlderEvent { seen, older };
    match older.phase {
        // A newer event, with some of the older keys.
        0 => return Ok(Completeness::No),
        b'C' => counters(out, sequence, event, moment)?,
        b's' | b't' | b'f' => flow(out, sequence, event, moment)?,
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' => {
            asynchronous(out, sequence, event, moment)?;
        }
        b'M' => metadata(out, sequence, event)?,
        _ => plain(out, sequence, event, moment)?,
    }
    Ok(Completeness::Whole)
}

/// Slices and instants of threads and processes.
fn plain(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    OlderEvent { seen, older }: OlderEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    let is_instant = matches!(older.phase, b'i' | b'I' | b'R');
    let act = match older.phase {
        b'B' => TrackEffect::Begin,
        b'E' => TrackEffect::End,
        b'X' => match older.duration_us {
            Some(us) if us >= 0 => TrackEffect::Complete(us.saturating_mul(1_000)),
            _ => {
                out.warn(WarningKind::Unpaired, "a slice without a duration; kept as an instant");
                TrackEffect::Instant
            }
        },
        _ => TrackEffect::Instant,
    };
    let place = match (is_instant, older.instant_scope) {
        (true, 1) => out.tracks.place(TrackKey::Uuid(0)),
        (true, 2) => match older.process(out, sequence, seen) {
            Some(pid) => out.tracks.place(TrackKey::Process(pid)),
            None => older.place(out, sequence, seen),
        },
        _ => older.place(out, sequence, seen),
    };
    let cat = seen.cat(out, sequence);
    seen.fill(out, sequence, RowTable::Slices, &cat)?;
    if !is_instant && !matches!(older.phase, b'B' | b'E' | b'X') {
        let shown = char::from(older.phase).to_string();
        out.put_own(RowTable::Slices, "ph", Value::Text(&shown))?;
        if !matches!(older.phase, b'P' | b'N' | b'O' | b'D' | b'v' | b'V' | b'c' | b'(' | b')' | b'a' | b'=')
        {
            out.warn(WarningKind::UnknownRecord, "an event of an unknown phase; kept as an instant");
        }
    }
    let named = seen.named(out, sequence, older.name_iid)?;
    let bound = bound(older);
    let flows: Vec<_> = seen.flows.iter().copied().chain(bound).collect();
    push(out, &flows, Occurrence { act, moment, place }, &cat, named)
}

/// The flow that a slice itself states. An end leaves the flow open, as in JSON.
fn bound(older: &Older<'_>) -> Option<FlowAt> {
    let phase = match older.flow_direction {
        1 => FlowPhase::End,
        2 => FlowPhase::Start,
        3 => FlowPhase::Step,
        _ => return None,
    };
    Some(FlowAt { flow: hash(&("bind_id", older.bind_id?)), role: FlowRole::Stated(phase) })
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Slices that can begin on one thread and end on another, matched by their id.
fn asynchronous(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    OlderEvent { seen, older }: OlderEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    let cat = seen.cat(out, sequence);
    let named = seen.named(out, sequence, older.name_iid)?;
    let text = named.as_ref().map_or("", |(_, text)| text.as_str());
    let process = older.process(out, sequence, seen);
    let is_nestable = matches!(older.phase, b'b' | b'n' | b'e');
    let label = match (cat.is_empty(), text.is_empty()) {
        (true, true) => "Unnamed".to_owned(),
        (true, false) => text.to_owned(),
        (false, true) => cat.clone(),
        (false, false) if is_nestable => cat.clone(),
        (false, false) => format!("{text} · {cat}"),
    };
    // An id is of all processes, unless it is local.
    let owner = process.filter(|_| !matches!(older.id, LegacyId::Global(_)));
    let stack = hash(&(is_nestable, &cat, older.id, older.scope, owner, if is_nestable { "" } else { text }));
    let place = EventPlace { stack, ..out.tracks.place(TrackKey::Async(process, label.into())) };
    seen.fill(out, sequence, RowTable::Slices, &cat)?;
    if let LegacyId::Unscoped(id) | LegacyId::Local(id) | LegacyId::Global(id) = older.id {
        out.put_own(RowTable::Slices, "id", Value::Text(&format!("{id:#x}")))?;
    }
    let act = match older.phase {
        b'b' | b'S' => TrackEffect::Begin,
        b'e' | b'F' => TrackEffect::End,
        _ => TrackEffect::Instant,
    };
    push(out, &seen.flows, Occurrence { act, moment, place }, &cat, named)
}

/// A point of a flow, which binds to a slice of its thread.
fn flow(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    OlderEvent { seen, older }: OlderEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    let cat = seen.cat(out, sequence);
    let named = seen.named(out, sequence, older.name_iid)?;
    let text = named.as_ref().map_or("", |(_, text)| text.as_str());
    let key = hash(&(&cat, text, older.bind_id, older.id, older.scope));
    let phase = match (older.phase, older.binds_enclosing) {
        (b's', _) => FLOW_START,
        (b't', _) => FLOW_STEP,
        (_, true) => FLOW_END,
        (_, false) => FLOW_END_NEXT,
    };
    let name = match named {
        Some((name, _)) => name,
        None => out.sink.name(if cat.is_empty() { "flow" } else { &cat })?,
    };
    let place = older.place(out, sequence, seen);
    out.row.clear();
    let act = TrackEffect::Flow { key, phase };
    let record = EventRecord { act, offset: out.offset, name: Some(name), flows: &[] };
    Ok(out.push(moment, place, &record)?)
}

/// Each annotation of a counter event is a sample of one series.
fn counters(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    OlderEvent { seen, older }: OlderEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    let process = older.process(out, sequence, seen);
    let named = seen.named(out, sequence, older.name_iid)?;
    let mut counter = named.map(|(_, text)| text).unwrap_or_default();
    if let LegacyId::Unscoped(id) | LegacyId::Local(id) | LegacyId::Global(id) = older.id {
        counter.push_str(&format!(" [{id:#x}]"));
    }
    let cat = seen.cat(out, sequence);
    let mut is_whole = !seen.annotations.is_empty();
    for bytes in &seen.annotations {
        let annotation = TraceAnnotation::parse(bytes)?;
        let Some(value) = annotation.number() else {
            is_whole = false;
            continue;
        };
        let series = annotation.name(sequence).unwrap_or_default();
        let label = match series.is_empty() || seen.annotations.len() == 1 && series == "value" {
            true => counter.clone(),
            false => format!("{counter} · {series}"),
        };
        let place = out.tracks.place(TrackKey::Counter(process, label.into()));
        seen.fill_own(out, sequence, RowTable::Samples, &cat)?;
        let act = TrackEffect::Sample { value, sum: value };
        let record = EventRecord { act, offset: out.offset, name: None, flows: &[] };
        out.push(moment, place, &record)?;
    }
    if !is_whole {
        out.warn(
            WarningKind::DamagedRecord,
            "a counter event with a value that is not a number, or with none",
        );
    }
    Ok(())
}

/// Names of processes and threads.
fn metadata(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    OlderEvent { seen, older }: OlderEvent<'_>,
) -> Result<(), ReadStop> {
    let what = seen.named(out, sequence, older.name_iid)?.map(|(_, text)| text).unwrap_or_default();
    let thread = older.thread(sequence).or(sequence.thread);
    let mut name = String::new();
    for bytes in &seen.annotations {
        let annotation = TraceAnnotation::parse(bytes)?;
        if let Some(text) = annotation.text(sequence) {
            name = text.into_owned();
        }
    }
    match (what.as_str(), thread) {
        ("thread_name", Some(thread)) => out.tracks.name_thread(thread, &name, None),
        ("process_name", Some(ThreadIds { pid, .. })) => out.tracks.name_process(pid, &name, "", None),
        ("process_labels", Some(ThreadIds { pid, .. })) => out.tracks.name_process(pid, "", &name, None),
        _ => out.warn(WarningKind::UnknownRecord, "an event with metadata that nprof does not read"),
    }
    Ok(())
}
