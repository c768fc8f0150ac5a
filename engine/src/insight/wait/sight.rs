//! The waits of a rank within a span, as a picture shows them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::walk::JobEdges;
use super::WaitKind;
use super::each::{SingleWait, each_wait};
use super::party::{Party, RankParties};
use crate::base::{Interval, Result};
use crate::exec::Cancel;

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

/// The waits of the rank at a position that overlap a span, if one is given: the longest `most`.
pub(super) fn waits_in_sight(
    edges: &JobEdges<'_>,
    at: u32,
    span: Option<Interval>,
    most: usize,
    cancel: Cancel<'_>,
) -> Result<WaitSight> {
    let parties = RankParties::of(edges.graph, at);
    let mut sight = WaitSight::default();
    // The shortest one is on top, with equally long ones in the order of time.
    let mut longest: BinaryHeap<Reverse<(i64, Reverse<SeenWait>)>> = BinaryHeap::new();
    let mut take = |wait: SingleWait| {
        let (start_ps, end_ps) = (wait.time_ps.start, wait.time_ps.end);
        if start_ps >= end_ps || span.is_some_and(|span| !span.overlaps(start_ps, end_ps)) {
            return;
        }
        let SingleWait { node, is_within, awaited, kind, .. } = wait;
        let seen = SeenWait { start_ps, end_ps, node, is_within, awaited, kind };
        longest.push(Reverse((seen.duration_ps(), Reverse(seen))));
        if longest.len() > most
            && let Some(Reverse((shortest_ps, _))) = longest.pop()
        {
            sight.left_out += 1;
            sight.left_out_ps = sight.left_out_ps.saturating_add(shortest_ps);
        }
    };
    each_wait(edges, &parties, cancel, &mut take)?;
    sight.waits = longest.into_iter().map(|Reverse((_, Reverse(wait)))| wait).collect();
    sight.waits.sort_unstable();
    Ok(sight)
}
