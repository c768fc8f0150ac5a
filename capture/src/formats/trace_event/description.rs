//! Processes and tracks as the trace describes them.

use nprof_engine::model::{Nesting, TrackId, Unit};

use super::role::{Id, TrackRole};

/// A process of the trace, as its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ProcessIndex(pub(super) usize);

/// Properties of a process or a thread from metadata events.
#[derive(Debug, Clone, Default)]
pub(super) struct Description {
    pub(super) name: String,
    /// Other names, such as `GPU 0`.
    pub(super) labels: String,
    /// Position among its siblings.
    pub(super) sort: Option<i64>,
}

/// A process of the trace.
#[derive(Debug)]
pub(super) struct TraceProcess {
    pub(super) id: Id,
    pub(super) described: Description,
    /// Heading tracks, once there is a track below them.
    pub(super) group: Option<TrackId>,
    pub(super) counters: Option<TrackId>,
    pub(super) asyncs: Option<TrackId>,
}

/// A track of the trace.
#[derive(Debug)]
pub(super) struct TraceTrack {
    pub(super) process: ProcessIndex,
    pub(super) role: TrackRole,
    pub(super) described: Description,
    /// The sink's id; `None` until the sink knows the track.
    pub(super) id: Option<TrackId>,
    pub(super) nesting: Nesting,
    /// The unit of a counter's values.
    pub(super) unit: Unit,
    /// Whether the track has work of a device.
    pub(super) on_device: bool,
    /// Whether the track has work of the host.
    pub(super) on_host: bool,
    /// Latest time of an event on the track.
    pub(super) last_ps: i64,
}

impl TraceProcess {
    /// A process without a name.
    pub(super) fn new(id: Id) -> Self {
        Self { id, described: Description::default(), group: None, counters: None, asyncs: None }
    }
}

impl TraceTrack {
    /// A track without a name that the sink does not know.
    pub(super) fn new(process: ProcessIndex, role: TrackRole, nesting: Nesting) -> Self {
        let described = Description::default();
        Self {
            process,
            role,
            described,
            id: None,
            nesting,
            unit: Unit::None,
            on_device: false,
            on_host: false,
            last_ps: i64::MIN,
        }
    }

    /// Kind of the track, and its name in the trace. A counter also has its id. Tracks of one
    /// process with all three in common need more to be told apart.
    pub(super) fn given_name(&self) -> (std::mem::Discriminant<TrackRole>, &str, &str) {
        let (name, id) = match &self.role {
            TrackRole::Counter { name, id, .. } => (&**name, &**id),
            _ => (self.described.name.trim(), ""),
        };
        (std::mem::discriminant(&self.role), name, id)
    }
}

/// Number of the device that a label such as `GPU 0` names. A CPU has none.
pub(super) fn device_number(label: &str) -> Option<i64> {
    let (kind, number) = label.trim().rsplit_once(' ')?;
    let is_kind = !kind.is_empty() && kind != "CPU" && kind.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_kind { number.parse().ok().filter(|number| *number >= 0) } else { None }
}
