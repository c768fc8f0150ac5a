//! Waits of one rank: which of its engines, queues and threads waited, for whom, and where the wait
//! began.
//!
//! A queue waits from the end of its work to the start of the next, as long as something that the
//! next work waits for is not there. A call of an operation waits until the last awaited rank has
//! come. A thread waits in a call that returns behind work of its device. The root of a wait is
//! what ran meanwhile, found by a walk back along the edges.

use rustc_hash::FxHashMap;

use super::edge::EdgeKind;
use super::graph::MeetingCall;
use super::walk::{JobEdges, PathKind, PathPart, WalkPlace};
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::{MachineSide, RankWork, TrackId};

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
    /// For nothing that is known.
    Unknown,
}

impl WaitKind {
    /// Name for people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Launch => "launch",
            Self::Operation => "operation",
            Self::Synchronization => "synchronization",
            Self::Unknown => "unknown",
        }
    }
}

/// Part of a machine that waits or is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// The track of a queue of a rank, by the first queue of this track in the rank's work.
    Queue {
        /// Position of the rank.
        rank: u32,
        /// Position of the queue in [`crate::model::RankWork::queues`].
        queue: u32,
    },
    /// The rank at this position.
    Rank(u32),
}

/// Waits of one party for another.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

/// Key of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct WaitRowKey {
    waiter: Party,
    awaited: Option<Party>,
    kind: WaitKind,
    root: Option<Party>,
}

/// The waits of the rank at a position, the longest first. The waits for nothing known come last,
/// in one row.
pub fn waits(edges: &JobEdges<'_>, at: u32, cancel: Cancel<'_>) -> Result<Vec<WaitRow>> {
    let graph = &edges.graph.ranks[at as usize];
    let first_of_track = first_of_tracks(&graph.work);
    let mut sums = WaitSums { edges, rank: at, first_of_track, rows: FxHashMap::default(), rest_ps: 0 };
    let mut ended: Vec<Option<i64>> = vec![None; graph.work.queues.len()];
    for (node, of) in (0_u32..).zip(&graph.work.nodes) {
        cancel.check()?;
        let class = graph.classes[of.class as usize];
        if class.side == MachineSide::Device && graph.is_recorded(of) {
            if let Some(end_ps) = ended[class.queue as usize] {
                sums.before(node, end_ps);
            }
            if let Some(call) = edges.call(at, node) {
                sums.in_call(call);
            } else if class.waits && edges.ranks[at as usize].end(node).is_none() {
                sums.rest_ps = sums.rest_ps.saturating_add(of.duration_ps);
            }
        }
        ended[class.queue as usize] = ended[class.queue as usize].max(Some(of.end_ps()));
    }
    for (node, edge) in &edges.ranks[at as usize].ends {
        let start_ps = graph.work.nodes[*node as usize].start_ps;
        let waiter = sums.queue_of(*node);
        let from = WalkPlace { rank: at, node: edge.from, time_ps: edge.free_ps };
        sums.wait(waiter, Some(sums.queue_of(edge.from)), WaitKind::Synchronization, from, start_ps);
    }
    Ok(sums.finish())
}

fn first_of_tracks(work: &RankWork) -> Vec<u32> {
    let mut first: FxHashMap<TrackId, u32> = FxHashMap::default();
    (0..).zip(&work.queues).map(|(at, queue)| *first.entry(queue.track).or_insert(at)).collect()
}

struct WaitSums<'e, 'g> {
    edges: &'e JobEdges<'g>,
    rank: u32,
    /// For each queue the first one of its track: lanes of a track are one party.
    first_of_track: Vec<u32>,
    rows: FxHashMap<WaitRowKey, i64>,
    rest_ps: i64,
}

impl WaitSums<'_, '_> {
    fn queue_of(&self, node: u32) -> Party {
        let graph = &self.edges.graph.ranks[self.rank as usize];
        let queue = graph.classes[graph.work.nodes[node as usize].class as usize].queue;
        Party::Queue { rank: self.rank, queue: self.first_of_track[queue as usize] }
    }

    /// Adds the idle time of a queue before a node, since the end of its work before.
    fn before(&mut self, node: u32, since_ps: i64) {
        let graph = &self.edges.graph.ranks[self.rank as usize];
        let start_ps = graph.work.nodes[node as usize].start_ps;
        let idle_ps = start_ps.saturating_sub(since_ps).max(0);
        let edge = self.edges.ranks[self.rank as usize].starts[node as usize];
        let kind = edge.and_then(|edge| match edge.kind {
            EdgeKind::Stream => Some(WaitKind::Stream),
            EdgeKind::Launch => Some(WaitKind::Launch),
            _ => None,
        });
        let (Some(edge), Some(kind)) = (edge, kind) else {
            self.rest_ps = self.rest_ps.saturating_add(idle_ps);
            return;
        };
        let free_ps = edge.free_ps.min(start_ps);
        self.rest_ps = self.rest_ps.saturating_add(start_ps.saturating_sub(free_ps.max(since_ps)));
        let waiter = self.queue_of(node);
        let from = WalkPlace { rank: self.rank, node: edge.from, time_ps: free_ps };
        self.wait(waiter, Some(self.queue_of(edge.from)), kind, from, since_ps);
    }

    /// Adds the time that a call waited for another rank.
    fn in_call(&mut self, call: &MeetingCall) {
        let Some(awaited) = self.edges.awaited(self.rank, call) else { return };
        let graph = &self.edges.graph.ranks[self.rank as usize];
        let since_ps = graph.work.nodes[call.node as usize].start_ps;
        let from = WalkPlace { rank: awaited.rank, node: awaited.node, time_ps: awaited.start_ps };
        let waiter = self.queue_of(call.node);
        self.wait(waiter, Some(Party::Rank(awaited.rank)), WaitKind::Operation, from, since_ps);
    }

    /// Adds a wait from `since_ps` up to a place. Each part of the walk back from there is the root
    /// of as much of the wait as it lasts.
    fn wait(
        &mut self,
        waiter: Party,
        awaited: Option<Party>,
        kind: WaitKind,
        from: WalkPlace,
        since_ps: i64,
    ) {
        for part in self.edges.back(from, since_ps) {
            let root = self.root(&part, kind);
            let key = WaitRowKey { waiter: waiter.clone(), awaited: awaited.clone(), kind, root };
            let sum_ps = self.rows.entry(key).or_default();
            *sum_ps = sum_ps.saturating_add(part.duration_ps());
        }
    }

    /// The party that worked in a part: a rank if another one was awaited, else a queue.
    fn root(&self, part: &PathPart, kind: WaitKind) -> Option<Party> {
        if part.kind == PathKind::Gap {
            return None;
        }
        if kind == WaitKind::Operation || part.rank != self.rank {
            return Some(Party::Rank(part.rank));
        }
        Some(self.queue_of(part.node))
    }

    fn finish(self) -> Vec<WaitRow> {
        let row = |(key, wait_ps): (WaitRowKey, i64)| {
            let WaitRowKey { waiter, awaited, kind, root } = key;
            WaitRow { waiter: Some(waiter), awaited, kind, wait_ps, root }
        };
        let mut rows: Vec<WaitRow> = self.rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let order = |row: &WaitRow| (row.waiter.clone(), row.awaited.clone(), row.kind, row.root.clone());
            b.wait_ps.cmp(&a.wait_ps).then_with(|| order(a).cmp(&order(b)))
        });
        if self.rest_ps > 0 {
            let (waiter, awaited, root) = (None, None, None);
            rows.push(WaitRow { waiter, awaited, kind: WaitKind::Unknown, wait_ps: self.rest_ps, root });
        }
        rows
    }
}
