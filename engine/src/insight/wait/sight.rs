//! The waits of a rank within a span, as a picture shows them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::WaitKind;
use super::each::SingleWait;
use super::party::Party;
use crate::base::Interval;

/// A wait in sight. The order is that of its time, then of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenWait {
    /// Start in picoseconds of the shared clock.
    pub start_ps: i64,
    /// End in picoseconds of the shared clock.
    pub end_ps: i64,
    /// Position of the node that waited.
    pub node: u32,
    /// Whether the wait is a part of the node's time, rather than before it.
    pub is_within: bool,
    /// The awaited one; `None` if nobody is known.
    pub awaited: Option<Party>,
    /// The reason.
    pub kind: WaitKind,
}

impl SeenWait {
    /// Length in picoseconds.
    #[must_use]
    pub fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }
}

/// The waits of a rank within a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaitSight {
    /// The longest ones, in the order of time.
    pub waits: Vec<SeenWait>,
    /// Number of the others.
    pub left_out: u64,
    /// The sum of the others, in picoseconds.
    pub left_out_ps: i64,
}

/// The longest waits that overlap a span, of those that are added.
pub(super) struct LongestWaits {
    span: Option<Interval>,
    most: usize,
    /// The shortest one is on top, with equally long ones in the order of time.
    longest: BinaryHeap<Reverse<(i64, Reverse<SeenWait>)>>,
    sight: WaitSight,
}

impl LongestWaits {
    /// At most `most` waits; without a span, those of the whole run.
    pub(super) fn of(span: Option<Interval>, most: usize) -> Self {
        Self { span, most, longest: BinaryHeap::new(), sight: WaitSight::default() }
    }

    pub(super) fn add(&mut self, wait: &SingleWait) {
        let (start_ps, end_ps) = (wait.time_ps.start, wait.time_ps.end);
        if start_ps >= end_ps || self.span.is_some_and(|span| !span.overlaps(start_ps, end_ps)) {
            return;
        }
        let SingleWait { node, is_within, awaited, kind, .. } = *wait;
        let seen = SeenWait { start_ps, end_ps, node, is_within, awaited, kind };
        self.longest.push(Reverse((seen.duration_ps(), Reverse(seen))));
        if self.longest.len() > self.most
            && let Some(Reverse((shortest_ps, _))) = self.longest.pop()
        {
            self.sight.left_out += 1;
            self.sight.left_out_ps = self.sight.left_out_ps.saturating_add(shortest_ps);
        }
    }

    pub(super) fn finish(mut self) -> WaitSight {
        self.sight.waits = self.longest.into_iter().map(|Reverse((_, Reverse(wait)))| wait).collect();
        self.sight.waits.sort_unstable();
        self.sight
    }
}
