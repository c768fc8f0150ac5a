//! Operations in which ranks meet.

use serde::{Deserialize, Serialize};

use crate::model::WaitingRanks;

/// A call of a rank in an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insight) struct MeetingCall {
    /// Position of the node.
    pub(in crate::insight) node: u32,
    /// Number of the operation.
    pub(in crate::insight) meeting: u32,
    /// Whether the others wait for it.
    pub(in crate::insight) arrives: bool,
}

/// An operation of several ranks, or a step of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::insight) struct Meeting {
    /// Number of calls that have a node.
    pub(in crate::insight) calls: u32,
    pub(in crate::insight) waiting: WaitingRanks,
    /// Position of the root's rank, if the operation has one.
    pub(in crate::insight) root: Option<u32>,
    /// Number of the operation's signature in the job.
    pub(in crate::insight) signature: u32,
    /// The longest part of a call behind the last known arrival that can be its transfer, in
    /// picoseconds. The rest is waiting for a rank that was not recorded.
    pub(in crate::insight) most_transfer_ps: i64,
    /// Whether this is only a step of an operation: ranks wait for data that one rank sends.
    pub(in crate::insight) is_step: bool,
}

/// The calls of an operation that an end of a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insight) enum AwaitedCalls {
    /// All that have come.
    All,
    /// That of the root.
    Root,
    /// None but its own.
    Own,
}

impl Meeting {
    /// The calls that a rank waits for. `awaits_root` tells whether that of the root has come or
    /// can come.
    pub(in crate::insight) fn awaited_calls(&self, rank: u32, awaits_root: bool) -> AwaitedCalls {
        match (self.waiting, self.root) {
            (WaitingRanks::ForAll, _) | (WaitingRanks::RootForAll, None) => AwaitedCalls::All,
            (WaitingRanks::RootForAll, Some(root)) if root == rank => AwaitedCalls::All,
            (WaitingRanks::ForRoot, Some(root)) if root != rank && awaits_root => AwaitedCalls::Root,
            (WaitingRanks::ForRoot | WaitingRanks::RootForAll, _) => AwaitedCalls::Own,
        }
    }
}
