//! Flows: arrows between slices.
//!
//! Two ways in: [`super::Sink::link`] where a format names both slices, and [`FlowPoint`] where it only says "here, at
//! this moment, flow 17 passes", as Trace Event JSON does. Points are bound to slices once all slices are known.

use super::{NameId, TrackId};

/// Where a flow point stands in its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowPhase {
    /// The first point (`s`).
    Start,
    /// Between (`t`).
    Step,
    /// The last point (`f`). A flow may fan out to several.
    End,
}

/// Which slice a flow point belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bind {
    /// The innermost slice that contains the moment (both ends included).
    Enclosing,
    /// The first slice that starts at the moment or later.
    Next,
    /// The slice with this arrival number (see [`super::SliceKey`]) on the point's track.
    Own(u32),
}

/// One point of a flow on its way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowPoint {
    /// Which flow: points with the same key belong together, in the order of time.
    pub key: u64,
    /// Where.
    pub track: TrackId,
    /// When, in picoseconds since the profile's origin.
    pub time_ps: i64,
    /// Where in the flow.
    pub phase: FlowPhase,
    /// Which slice.
    pub bind: Bind,
    /// What the arrow is called, e.g. its category.
    pub name: NameId,
}
