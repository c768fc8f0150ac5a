//! Flow events: `s`, `t`, `f`. The newer kind is part of slices, see [`super::slice_flow`].
//!
//! Points go to the sink with their timestamps. The store binds them to slices when all are known.

use std::hash::{Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::model::{Bind, FieldSpec, FlowPhase, FlowPoint, Sink, Unit, Value};

use super::event::EventBytes;
use super::identity::{hash_id, identity_hasher};
use super::json;
use super::output::EventOutput;
use super::side_table::SideTable;
use super::track::TimeOnTrack;

/// Takes an event of phase `s`, `t` or `f`.
pub(super) fn take(
    out: &mut EventOutput<'_>,
    seen: EventBytes<'_>,
    phase: FlowPhase,
    TimeOnTrack { track, time_ps }: TimeOnTrack,
) -> Result<()> {
    let ends_next = phase == FlowPhase::End && seen.text(seen.event.bp) != "e";
    let bind = if ends_next { Bind::Next } else { Bind::Enclosing };
    let (cat, name) = (seen.cat(), seen.name());
    let mut hasher = identity_hasher();
    cat.hash(&mut hasher);
    name.hash(&mut hasher);
    hash_id(seen, &mut hasher);
    // Cycles count their arrows anew. Files whose points are kept share their arrows.
    if out.file > 0 && !out.keeps_points {
        out.file.hash(&mut hasher);
    }
    let key = hasher.finish();
    let name = out.sink.name(if name.is_empty() { &cat } else { &name })?;
    let track = out.tracks.id(out.sink, track)?;
    out.sink.flow_point(FlowPoint { key, track, time_ps, phase, bind, name })?;
    if out.keeps_points {
        keep_point(out, seen, time_ps)?;
    }
    keep_arguments(out, seen, time_ps)
}

/// Keeps a point as written. The store knows only the slices at the ends of an arrow.
fn keep_point(out: &mut EventOutput<'_>, seen: EventBytes<'_>, time_ps: i64) -> Result<()> {
    let (name, cat, event) = (seen.name(), seen.cat(), seen.event);
    let [phase, id, pid, tid] = [event.ph, event.id, event.pid, event.tid].map(|of| seen.text(of));
    let texts = [&phase, &name, &cat, &id, &pid, &tid].map(|text| Value::Text(text));
    let [phase, name, cat, id, pid, tid] = texts;
    let row = [Value::Int(time_ps), phase, name, cat, id, pid, tid];
    let table = match &mut out.points {
        Some(table) => table,
        none => none.insert(define_points(out.sink)?),
    };
    table.row(out.sink, row)
}

fn define_points(sink: &mut dyn Sink) -> Result<SideTable<7>> {
    let fields = [
        FieldSpec::new("time_ps", Unit::Picoseconds, "", "When."),
        FieldSpec::new("ph", Unit::None, "", "Phase: start, step or end."),
        FieldSpec::new("name", Unit::None, "", "Name of the flow."),
        FieldSpec::new("cat", Unit::None, "", "Categories of the flow."),
        FieldSpec::new("id", Unit::None, "", "Id of the flow."),
        FieldSpec::new("pid", Unit::None, "", "Process."),
        FieldSpec::new("tid", Unit::None, "", "Thread."),
    ];
    SideTable::define(sink, "flow_point", "Points of arrows as written.", fields)
}

/// Points have no fields. Other contents of flow events are rare, and kept as a row.
fn keep_arguments(out: &mut EventOutput<'_>, seen: EventBytes<'_>, time_ps: i64) -> Result<()> {
    let members = &seen.event.members;
    if members.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    json::object(members.iter().map(|member| (member.key, member.value)), seen.bytes, &mut text);
    let (name, id) = (seen.name(), seen.text(seen.event.id));
    let row = [Value::Int(time_ps), Value::Text(&name), Value::Text(&id), Value::Json(&text)];
    let table = match &mut out.flow_events {
        Some(table) => table,
        none => none.insert(define_arguments(out.sink)?),
    };
    table.row(out.sink, row)
}

fn define_arguments(sink: &mut dyn Sink) -> Result<SideTable<4>> {
    let fields = [
        FieldSpec::new("time_ps", Unit::Picoseconds, "", "When."),
        FieldSpec::new("name", Unit::None, "", "Name of the flow."),
        FieldSpec::new("id", Unit::None, "", "Id of the flow."),
        FieldSpec::new("args", Unit::None, "", "Arguments of the event."),
    ];
    SideTable::define(sink, "flow_event", "Arguments of flow events.", fields)
}
