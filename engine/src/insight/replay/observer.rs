//! Observers of a replay: what each point of a node waited for.

use crate::insight::graph::{AwaitedCalls, MeetingCall};
use crate::model::NodePoint;

/// The start or the end of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insight) struct ReplayPoint {
    /// Position of the rank.
    pub(in crate::insight) rank: u32,
    pub(in crate::insight) node: u32,
    pub(in crate::insight) at: NodePoint,
}

/// The time of a point in the middle model of a replay, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::insight) struct PointTime {
    /// In the unchanged run.
    pub(in crate::insight) unchanged_ps: i64,
    /// Under the changes.
    pub(in crate::insight) changed_ps: i64,
}

/// Sees the middle model of a replay. All times of sources are those of the unchanged run, in
/// picoseconds.
pub(in crate::insight) trait ReplayObserver {
    /// The next point waits for another one. The source came at `time_ps`.
    fn awaits(&mut self, _source: ReplayPoint, _time_ps: i64) {}

    /// The next point, an end of a call, waits for calls of its operation.
    fn awaits_calls(&mut self, _meeting: u32, _calls: AwaitedCalls) {}

    /// A point has its time. Sources come before it.
    fn point(&mut self, _point: ReplayPoint, _time: PointTime) {}

    /// A call has come, and its start has its time.
    fn arrives(&mut self, _rank: u32, _call: MeetingCall, _is_root: bool) {}
}

/// Sees nothing.
#[derive(Debug)]
pub(super) struct Unobserved;

impl ReplayObserver for Unobserved {}
