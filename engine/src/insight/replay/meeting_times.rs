//! An operation in a replay.

use super::time::ReplayTime;
use crate::insight::graph::{AwaitedCalls, Meeting};

/// The arrivals of an operation so far.
#[derive(Debug, Clone)]
pub(super) struct MeetingTimes {
    /// Calls that have not come.
    pub(super) missing: u32,
    /// The last arrival.
    last: ReplayTime,
    /// The arrival of the root.
    pub(super) root: Option<ReplayTime>,
    /// Whether its ranks go on although calls are missing.
    pub(super) is_cut: bool,
    /// Positions of ranks that wait.
    pub(super) waiting: Vec<u32>,
}

impl MeetingTimes {
    pub(super) fn new(of: &Meeting) -> Self {
        Self { missing: of.calls, last: ReplayTime::NEVER, root: None, is_cut: false, waiting: Vec::new() }
    }

    /// Notes an arrival. In the new run nobody waits for a rank that is never awaited.
    pub(super) fn arrive(&mut self, time: ReplayTime, is_root: bool, is_never_awaited: bool) {
        self.missing = self.missing.saturating_sub(1);
        let last = self.last.later(time);
        self.last = if is_never_awaited { ReplayTime { new: self.last.new, ..last } } else { last };
        if is_root {
            self.root = Some(time);
        }
    }

    /// The arrivals that a rank waits for. `None` as long as some are missing.
    pub(super) fn awaited(&self, of: &Meeting, rank: u32, own: ReplayTime) -> Option<ReplayTime> {
        let is_complete = self.missing == 0 || self.is_cut;
        match of.awaited_calls(rank, self.root.is_some() || !is_complete) {
            AwaitedCalls::All => is_complete.then_some(self.last),
            AwaitedCalls::Root => self.root,
            AwaitedCalls::Own => Some(own),
        }
    }
}
