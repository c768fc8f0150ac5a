//! Edges between pieces of work of one rank that a recording states: by semaphores, by triggers of
//! transfers, by the order of an engine.

use serde::{Deserialize, Serialize};

/// [`StatedEdge::from`] if nobody is known.
pub const NOBODY: u32 = u32::MAX;
/// [`StatedEdge::semaphore`] without an semaphore.
pub const NO_SEMAPHORE: u32 = u32::MAX;

/// A point of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodePoint {
    /// Its start.
    Start,
    /// Its end.
    End,
}

/// The reason of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeReason {
    /// Work of an engine changed a semaphore.
    Semaphore,
    /// A transfer changed a semaphore at its end.
    Transfer,
    /// An instruction triggered a transfer.
    Trigger,
    /// Order of an engine whose work stands on several lines.
    Order,
}

impl EdgeReason {
    /// Whether the time before the edge is a wait that the recording measured or states.
    #[must_use]
    pub fn is_wait(self) -> bool {
        matches!(self, Self::Semaphore | Self::Transfer)
    }
}

/// The origin of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The recording names both ends.
    Recorded,
    /// The recording names what was awaited, and times tell the work behind it.
    Derived,
    /// Times alone suggest it.
    Assumed,
}

/// An edge: a piece of work does not start, or does not end, before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedEdge {
    /// Position of the node that waits.
    pub node: u32,
    /// Its point that waits.
    pub at: NodePoint,
    /// Position of the awaited node, or [`NOBODY`].
    pub from: u32,
    /// The awaited point.
    pub from_point: NodePoint,
    /// The reason.
    pub reason: EdgeReason,
    /// The origin.
    pub certainty: Certainty,
    /// Position of the semaphore in [`super::RankWork::semaphores`], or [`NO_SEMAPHORE`].
    pub semaphore: u32,
    /// Time from which on the node waited, in picoseconds. `None` if the recording does not state
    /// it.
    pub since_ps: Option<i64>,
    /// Time at which the wait was over, in picoseconds.
    pub met_ps: i64,
}

/// Counts of waits that a recording states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitCounts {
    /// Waits that instructions name.
    pub stated: u64,
    /// Those with the change that fulfilled them.
    pub fulfilled: u64,
    /// Those whose change has a known author.
    pub charged: u64,
}

impl WaitCounts {
    /// The sums with other counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            stated: self.stated + other.stated,
            fulfilled: self.fulfilled + other.fulfilled,
            charged: self.charged + other.charged,
        }
    }
}
