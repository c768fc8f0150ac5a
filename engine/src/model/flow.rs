//! Flows: arrows between slices.
//!
//! A format that names both slices of an arrow uses [`super::Sink::link`]. A format that only
//! states that flow 17 passes here at this time, as Trace Event JSON does, uses [`FlowPoint`].
//! Points are bound to slices once all slices are known.

use super::{NameId, TrackId};

/// Position of a flow point in its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowPhase {
    /// The first point (`s`).
    Start,
    /// A point between start and end (`t`).
    Step,
    /// The last point (`f`). A flow can fan out to several.
    End,
}

/// Rule that binds a flow point to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bind {
    /// The innermost slice that contains the point's time (both ends included).
    Enclosing,
    /// The first slice that starts at the point's time or later.
    Next,
    /// The slice with this arrival number (see [`super::SliceKey`]) on the point's track.
    Own(u32),
}

/// One point of a flow, as a reader passes it to the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowPoint {
    /// Key of the flow. Points with the same key belong together, in the order of time.
    pub key: u64,
    /// Track of the point.
    pub track: TrackId,
    /// Time in picoseconds since the profile's origin.
    pub time_ps: i64,
    /// Position in the flow.
    pub phase: FlowPhase,
    /// Rule that binds the point to a slice.
    pub bind: Bind,
    /// Name of the arrow, e.g. its category.
    pub name: NameId,
}
