//! Counter events: each argument is a sample of one series.

use std::borrow::Cow;

use nprof_engine::base::Result;
use nprof_engine::model::{Nesting, WarningKind};

use super::event::EventBytes;
use super::field::HintedKey;
use super::identity::{IdReach, id_of};
use super::number::FieldNumber;
use super::output::{EventOutput, EventTable};
use super::text::{bytes_of, text_of};
use super::tokens::{Raw, ValueKind};
use super::track::TrackRole;

/// Takes an event of phase `C`.
pub(super) fn take(out: &mut EventOutput<'_>, seen: EventBytes<'_>, time_ps: i64) -> Result<()> {
    if seen.event.members.is_empty() {
        return out.keep_unread(
            WarningKind::MissingData,
            "a counter event without values",
            seen.bytes,
            seen.offset,
        );
    }
    let process = out.tracks.process(&EventOutput::pid(seen));
    let mut is_whole = true;
    for member in &seen.event.members {
        let Some((value, is_exact)) = number(member.value, seen.bytes) else {
            is_whole = false;
            continue;
        };
        let (name, own_id, series) = (seen.name(), own_id(seen), seen.text(member.key));
        let role =
            TrackRole::Counter { name: (&*name).into(), id: (&*own_id).into(), series: (&*series).into() };
        let track = out.tracks.track(process, role, Nesting::Concurrent);
        out.start_row();
        if out.tracks.is_shared(track) {
            let texts = [("counter", name), ("counter_id", own_id), ("series", series)];
            for (key, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
                out.add_text(EventTable::Samples, key, text)?;
            }
        }
        if seen.event.cat.is_present() {
            out.add(EventTable::Samples, HintedKey::of_event(b"cat"), seen.event.cat, seen)?;
        }
        if seen.event.id2.is_present() && seen.event.id.is_present() {
            out.add(EventTable::Samples, HintedKey::of_event(b"id"), seen.event.id, seen)?;
        }
        out.add_place(EventTable::Samples, seen, track)?;
        for extra in &seen.event.extras {
            let key = bytes_of(seen.bytes, extra.key);
            out.add(EventTable::Samples, HintedKey::of_event(&key), extra.value, seen)?;
        }
        if !is_exact {
            out.add(EventTable::Samples, HintedKey::of_event(b"exact_value"), member.value, seen)?;
        }
        out.emit_sample(track, time_ps, value)?;
    }
    if is_whole {
        return Ok(());
    }
    out.keep_unread(
        WarningKind::DamagedRecord,
        "a counter value that is not a number",
        seen.bytes,
        seen.offset,
    )
}

/// The id of a counter with its reach: a local and a global id of one value are two counters.
fn own_id(seen: EventBytes<'_>) -> Cow<'_, str> {
    let (id, bytes, reach) = id_of(seen);
    let text = text_of(bytes, id);
    match reach {
        IdReach::Unsaid => text,
        IdReach::Local => format!("local {text}").into(),
        IdReach::Global => format!("global {text}").into(),
    }
}

/// The value as a float, and whether it is exact.
fn number(raw: Raw, bytes: &[u8]) -> Option<(f64, bool)> {
    let text = raw.of(bytes);
    match raw.kind() {
        ValueKind::True => Some((1.0, true)),
        ValueKind::False => Some((0.0, true)),
        ValueKind::Number => FieldNumber::parse(text).map(|number| number.as_f64(text)),
        ValueKind::Text => FieldNumber::parse(text.trim_ascii()).map(|number| number.as_f64(text)),
        _ => None,
    }
}
