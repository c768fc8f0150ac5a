//! Waits of one rank: which of its engines, queues and threads waited, for whom, and where the wait
//! began.
//!
//! A queue waits from the end of its work to the start of the next, as long as something that the
//! next work waits for is not there. An instruction waits for a semaphore as long as the recording
//! states it. A call of an operation waits until the last awaited rank has come. A thread waits in
//! a call that returns behind work of its device. The root of a wait is what ran meanwhile, found
//! by a walk back along the edges.

mod each;
mod party;
mod ranks;
pub mod sentence;
pub mod sight;
mod sums;
#[cfg(test)]
mod tests;

pub use party::Party;
pub(super) use party::first_of_parties;
pub use ranks::{AskedWaits, WaitsOfRank};
pub use sums::waits;

use super::edge::EdgeKind;
use super::{JobGraph, RankGraph};

/// The reason of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    /// For the work of another queue of the device.
    Stream,
    /// For a launch by the host.
    Launch,
    /// For another rank in an operation.
    Operation,
    /// A thread, or an instruction that only waits, for work of a device.
    Synchronization,
    /// An instruction for a semaphore that another engine changes.
    Semaphore,
    /// An instruction for a semaphore that a transfer changes.
    Transfer,
    /// A queue of transfers for an instruction that triggers them.
    Trigger,
    /// For nothing that is known.
    Unknown,
}

impl WaitKind {
    /// The kind of the time before an edge to the start of work. `None` for edges whose gaps are no
    /// waits.
    fn of(edge: EdgeKind) -> Option<Self> {
        match edge {
            EdgeKind::Stream => Some(Self::Stream),
            EdgeKind::Launch => Some(Self::Launch),
            EdgeKind::Semaphore => Some(Self::Semaphore),
            EdgeKind::Transfer => Some(Self::Transfer),
            EdgeKind::Trigger => Some(Self::Trigger),
            EdgeKind::Wait => Some(Self::Synchronization),
            EdgeKind::Queue | EdgeKind::Thread => None,
        }
    }

    /// Name for people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Launch => "launch",
            Self::Operation => "operation",
            Self::Synchronization => "synchronization",
            Self::Semaphore => "semaphore",
            Self::Transfer => "dma",
            Self::Trigger => "trigger",
            Self::Unknown => "unknown",
        }
    }
}

/// Waits of one party for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitRow {
    /// Queue or thread that waited; `None` for the rest.
    pub waiter: Option<Party>,
    /// The awaited one; `None` if nobody is known.
    pub awaited: Option<Party>,
    /// The reason.
    pub kind: WaitKind,
    /// Time waited, in picoseconds.
    pub wait_ps: i64,
    /// The party that worked meanwhile; `None` if nobody did.
    pub root: Option<Party>,
    /// The longest one of the waits.
    pub longest: Option<LongestWait>,
}

/// The longest wait of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestWait {
    /// Position of the node that waited.
    pub node: u32,
    /// Position of the awaited node, if it is known.
    pub awaited: Option<u32>,
    /// Position of the semaphore in [`crate::model::RankWork::semaphores`], if one was awaited.
    pub semaphore: Option<u32>,
    /// Its part of the row, in picoseconds.
    pub wait_ps: i64,
}

impl WaitRow {
    /// The rank of the waiter.
    pub(crate) fn rank<'g>(&self, graph: &'g JobGraph) -> Option<&'g RankGraph> {
        match self.waiter? {
            Party::Queue { rank, .. } | Party::Rank(rank) => graph.ranks.get(rank as usize),
        }
    }

    /// The name of the semaphore that the longest wait was for.
    #[must_use]
    pub fn semaphore<'g>(&self, graph: &'g JobGraph) -> Option<&'g str> {
        let semaphores = &self.rank(graph)?.work.semaphores;
        semaphores.get(self.longest?.semaphore? as usize).map(|of| of.name.as_str())
    }
}
