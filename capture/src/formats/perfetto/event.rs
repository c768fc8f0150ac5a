//! Track events: slices, instants, samples, and their fields.

use nprof_engine::base::Result;
use nprof_engine::model::{Value, WarningKind};

use super::clock::{MONOTONIC, TraceClocks};
use super::field::RowTable;
use super::legacy;
use super::output::{Moment, PacketOutput, ReadStop};
use super::packet_event::{CounterValue, Occurrence, PacketEvent, push};
use super::record::{EventRecord, TrackEffect};
use super::sequence::Sequence;
use super::track::TrackKey;

/// Type of an event, as `track_event.proto` numbers them.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
const STATE: u64 = 5;

/// Statements of a packet besides its event.
pub(super) struct EventContext<'r> {
    pub(super) clocks: &'r mut TraceClocks,
    pub(super) sequence: &'r mut Sequence,
    /// Time of the packet.
    pub(super) moment: Option<Moment>,
}

/// Takes a track event.
pub(super) fn take(
    out: &mut PacketOutput<'_>,
    around: &mut EventContext<'_>,
    bytes: &[u8],
) -> Result<(), ReadStop> {
    let seen = PacketEvent::parse(bytes)?;
    if seen.has_unread {
        let what = "parts of an event that nprof does not read (typed arguments, callstacks, thread clocks)";
        out.warn(WarningKind::UnknownRecord, what);
    }
    let Some(moment) = moment(&seen, around) else {
        let what = "an event without a time, or whose time counts from a lost packet; left out";
        out.warn(WarningKind::MissingData, what);
        return Ok(());
    };
    if let Some(legacy) = seen.legacy
        && legacy::take(out, around.sequence, &seen, moment, legacy)? == legacy::Completeness::Whole
    {
        return extra(out, around.sequence, &seen, moment);
    }
    match seen.kind {
        BEGIN | END | INSTANT | STATE => {
            let act = match seen.kind {
                BEGIN => TrackEffect::Begin,
                END => TrackEffect::End,
                STATE => TrackEffect::State,
                _ => TrackEffect::Instant,
            };
            let place = seen.place(out, around.sequence);
            slice(out, around.sequence, &seen, Occurrence { act, moment, place })?;
        }
        COUNTER => counter(out, around.sequence, &seen, moment)?,
        _ => {
            let place = seen.place(out, around.sequence);
            out.warn(WarningKind::UnknownRecord, "an event of an unknown type; kept as an instant");
            slice(out, around.sequence, &seen, Occurrence { act: TrackEffect::Instant, moment, place })?;
        }
    }
    extra(out, around.sequence, &seen, moment)
}

/// Passes a slice's begin or end, an instant, or a slice as a whole.
pub(super) fn slice(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    seen: &PacketEvent<'_>,
    occurrence: Occurrence,
) -> Result<(), ReadStop> {
    let cat = seen.cat(out, sequence);
    seen.fill(out, sequence, RowTable::Slices, &cat)?;
    let named = seen.named(out, sequence, 0)?;
    push(out, &seen.flows, occurrence, &cat, named)
}

fn counter(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    seen: &PacketEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    let Some(number) = seen.value else {
        out.warn(WarningKind::MissingData, "a counter event without a value; left out");
        return Ok(());
    };
    let cat = seen.cat(out, sequence);
    seen.fill(out, sequence, RowTable::Samples, &cat)?;
    let key = TrackKey::Uuid(seen.track.or(sequence.track).unwrap_or(0));
    sample(out, sequence, key, number, moment)
}

/// Passes a sample whose fields are in the row.
fn sample(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    key: TrackKey,
    number: CounterValue,
    moment: Moment,
) -> Result<(), ReadStop> {
    let TrackKey::Uuid(uuid) = key else { return Ok(()) };
    let place = out.tracks.place(key);
    let value = number.float();
    let is_plain = out.tracks.all[place.track as usize].counter.is_some_and(|facts| !facts.is_incremental);
    let sum = if is_plain {
        value
    } else if let Some(sum) = sequence.sum(uuid, value, &mut out.memory) {
        sum
    } else {
        let what = "more counters than fit into memory; differences of this one are kept as values";
        out.warn(WarningKind::AdjustedValue, what);
        value
    };
    if let Some(exact) = number.inexact() {
        out.put_own(RowTable::Samples, "exact_value", Value::Int(exact))?;
    }
    let act = TrackEffect::Sample { value, sum };
    let record = EventRecord { act, offset: out.offset, name: None, flows: &[] };
    Ok(out.push(moment, place, &record)?)
}

/// Passes the further counters of an event.
fn extra(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    seen: &PacketEvent<'_>,
    moment: Moment,
) -> Result<(), ReadStop> {
    for (kind, values) in seen.extra_values.iter().enumerate() {
        for (at, &number) in values.iter().enumerate() {
            let own = &seen.extra_counters[kind];
            let counters = if own.is_empty() { &sequence.extra_counters[kind] } else { own };
            let Some(&uuid) = counters.get(at) else {
                out.warn(WarningKind::MissingData, "a further value of an event without its counter");
                break;
            };
            out.row.clear();
            sample(out, sequence, TrackKey::Uuid(uuid), number, moment)?;
        }
    }
    Ok(())
}

/// The time of an event: its own, in older traces, or that of its packet.
fn moment(seen: &PacketEvent<'_>, around: &mut EventContext<'_>) -> Option<Moment> {
    let ns = match (seen.delta_us, seen.absolute_us) {
        (Some(delta_us), _) => {
            let last = around.sequence.last_ns.filter(|_| !around.sequence.is_torn)?;
            let ns = last.saturating_add(delta_us.saturating_mul(1_000));
            around.sequence.last_ns = Some(ns);
            ns
        }
        (None, Some(absolute_us)) => absolute_us.saturating_mul(1_000),
        (None, None) => return around.moment,
    };
    let known = around.clocks.trace_ns(MONOTONIC, ns).map(Moment::Known);
    Some(known.unwrap_or(Moment::On(MONOTONIC, ns)))
}
