//! Flow points that are part of slices (`bind_id`). Flow events are in [`super::flow`].

use std::hash::{Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::model::{Bind, FlowPhase, FlowPoint, Sink, SliceKey};

use super::event::EventBytes;
use super::identity::identity_hasher;
use super::tokens::ValueKind;
use super::track::Id;

/// Adds the flow point of an event with a `bind_id` to the event's own slice.
pub(super) fn of_slice(
    sink: &mut dyn Sink,
    seen: EventBytes<'_>,
    slice: SliceKey,
    time_ps: i64,
) -> Result<()> {
    let event = seen.event;
    if !event.bind_id.is_present() {
        return Ok(());
    }
    let is_set = |kind: ValueKind| !matches!(kind, ValueKind::Absent | ValueKind::Null | ValueKind::False);
    let phase = match (is_set(event.flow_in.kind()), is_set(event.flow_out.kind())) {
        (false, false) => return Ok(()),
        (false, true) => FlowPhase::Start,
        (true, true) => FlowPhase::Step,
        (true, false) => FlowPhase::End,
    };
    let mut hasher = identity_hasher();
    "bind_id".hash(&mut hasher);
    Id::new(event.bind_id, seen.bytes).hash(&mut hasher);
    let key = hasher.finish();
    let cat = seen.cat();
    let name = sink.name(if cat.is_empty() { "flow" } else { &cat })?;
    let bind = Bind::Own(slice.arrival);
    sink.flow_point(FlowPoint { key, track: slice.track, time_ps, phase, bind, name })
}
