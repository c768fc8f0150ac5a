//! An operation that is being matched by the ends of its calls.

use super::tolerance;

/// A call on the shared clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EndedCall {
    pub(super) end_ps: i64,
    pub(super) rank: u16,
    pub(super) call: u32,
    pub(super) duration_ps: i64,
    pub(super) class: u32,
}

/// The end that a further call of an operation is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ComparedEnd {
    /// The first one: calls of one communicator end together.
    First,
    /// The last one: groups in lock-step that nobody can tell apart end one after the other.
    Last,
}

/// An operation that is being matched.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) class: u32,
    pub(super) first_end_ps: i64,
    pub(super) last_end_ps: i64,
    pub(super) shortest_ps: i64,
    pub(super) members: Vec<(u16, u32)>,
}

impl Cluster {
    pub(super) fn takes(&self, call: &EndedCall, reach: ComparedEnd) -> bool {
        let end_ps = match reach {
            ComparedEnd::First => self.first_end_ps,
            ComparedEnd::Last => self.last_end_ps,
        };
        let apart = call.end_ps.saturating_sub(end_ps) as f64;
        self.class == call.class && apart <= tolerance(self.shortest_ps.min(call.duration_ps))
    }
}
