//! Flow events: `s`, `t`, `f`, and the newer kind that rides on slices (`bind_id`).
//!
//! Points are handed over with the moment they stand at; the store binds them to slices when all are known.

use std::hash::{DefaultHasher, Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::model::{
    Bind, FieldSpec, FlowPhase, FlowPoint, SliceKey, TableKind, TableSpec, Unit, Value,
};

use super::asynchronous::hash_id;
use super::event::Seen;
use super::json;
use super::output::Output;
use super::tokens::Kind;
use super::track::{Id, TrackIndex};

/// `s`, `t` or `f`.
pub(super) fn take(
    out: &mut Output<'_>,
    seen: Seen<'_>,
    phase: FlowPhase,
    (track, time_ps): (TrackIndex, i64),
) -> Result<()> {
    let ends_next = phase == FlowPhase::End && seen.text(seen.event.bp) != "e";
    let bind = if ends_next { Bind::Next } else { Bind::Enclosing };
    let (cat, name) = (seen.cat(), seen.name());
    let mut hasher = DefaultHasher::new();
    cat.hash(&mut hasher);
    name.hash(&mut hasher);
    hash_id(seen, &mut hasher);
    let key = hasher.finish();
    let name = out.sink.name(if name.is_empty() { &cat } else { &name })?;
    let track = out.tracks.id(out.sink, track)?;
    out.sink.flow_point(FlowPoint { key, track, time_ps, phase, bind, name })?;
    keep_arguments(out, seen, time_ps)
}

/// The flow that an event with a `bind_id` joins to its own slice.
pub(super) fn of_slice(out: &mut Output<'_>, seen: Seen<'_>, slice: SliceKey, time_ps: i64) -> Result<()> {
    let event = seen.event;
    if !event.bind_id.is_present() {
        return Ok(());
    }
    let is_set = |kind: Kind| !matches!(kind, Kind::Absent | Kind::Null | Kind::False);
    let phase = match (is_set(event.flow_in.kind()), is_set(event.flow_out.kind())) {
        (false, false) => return Ok(()),
        (false, true) => FlowPhase::Start,
        (true, true) => FlowPhase::Step,
        (true, false) => FlowPhase::End,
    };
    let mut hasher = DefaultHasher::new();
    "bind_id".hash(&mut hasher);
    Id::new(event.bind_id, seen.bytes).hash(&mut hasher);
    let key = hasher.finish();
    let cat = seen.cat();
    let name = out.sink.name(if cat.is_empty() { "flow" } else { &cat })?;
    let bind = Bind::Own(slice.arrival);
    out.sink.flow_point(FlowPoint { key, track: slice.track, time_ps, phase, bind, name })
}

/// Points have no fields. What a flow event says besides is rare, and kept as a row.
fn keep_arguments(out: &mut Output<'_>, seen: Seen<'_>, time_ps: i64) -> Result<()> {
    let members = &seen.event.members;
    if members.is_empty() {
        return Ok(());
    }
    let doc = "Arguments of flow events.";
    let table = out.sink.table(TableSpec {
        name: "flow_event".to_owned(),
        kind: TableKind::Side,
        name_key: String::new(),
        doc: doc.to_owned(),
    })?;
    let time = out.sink.field(table, FieldSpec::new("time_ps", Unit::Picoseconds, "", "When."))?;
    let name = out.sink.field(table, FieldSpec::new("name", Unit::None, "", "The flow's name."))?;
    let id = out.sink.field(table, FieldSpec::new("id", Unit::None, "", "The flow's id."))?;
    let args = out.sink.field(table, FieldSpec::new("args", Unit::None, "", "Its arguments."))?;
    let mut text = String::new();
    json::object(members.iter().map(|member| (member.key, member.value)), seen.bytes, &mut text);
    out.sink.row(
        table,
        &[
            (time, Value::Int(time_ps)),
            (name, Value::Text(&seen.name())),
            (id, Value::Text(&seen.text(seen.event.id))),
            (args, Value::Json(&text)),
        ],
    )
}
