//! Waits of one rank: which of its engines, queues and threads waited, for whom, and where the wait
//! began.
//!
//! A queue waits from the end of its work to the start of the next, as long as something that the
//! next work waits for is not there. An instruction waits for a semaphore as long as the recording
//! states it. A call of an operation waits until the last awaited rank has come. A thread waits in
//! a call that returns behind work of its device. The root of a wait is what ran meanwhile, found
//! by a walk back along the edges.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::edge::{EdgeKind, GraphEdge};
use super::graph::{MeetingCall, RankGraph};
use super::walk::{JobEdges, PathKind, PathPart, WalkPlace};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::model::stated_edge::{NO_SEMAPHORE, NOBODY};
use crate::model::{MachineSide, NodePoint, RankWork, StatedEdge};

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

/// Part of a machine that waits or is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// A track or engine, or a queue on all its engines, by its first queue in the rank's work.
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
    /// Position of the semaphore in [`RankWork::semaphores`], if one was awaited.
    pub semaphore: Option<u32>,
    /// Its part of the row, in picoseconds.
    pub wait_ps: i64,
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
    let parties = parties(&graph.work);
    let mut sums = WaitSums { edges, rank: at, parties, rows: FxHashMap::default(), rest_ps: 0 };
    // The end of each party's work so far.
    let mut ended: Vec<Option<i64>> = vec![None; graph.work.queues.len()];
    for (node, of) in (0_u32..).zip(&graph.work.nodes) {
        cancel.check()?;
        let class = graph.classes[of.class as usize];
        let party = sums.parties[class.queue as usize] as usize;
        if class.side == MachineSide::Device && graph.is_recorded(of) {
            sums.before(node, ended[party]);
            if let Some(call) = edges.call(at, node) {
                sums.in_call(call);
            } else if class.waits && edges.ranks[at as usize].end(node).is_none() {
                sums.rest_ps = sums.rest_ps.saturating_add(of.duration_ps);
            }
            sums.unknown_author(node);
        }
        ended[party] = ended[party].max(Some(of.end_ps()));
    }
    for (node, edge) in &edges.ranks[at as usize].ends {
        let start_ps = graph.work.nodes[*node as usize].start_ps;
        if let Some(kind) = WaitKind::of(edge.kind) {
            let of = sums.of_edge(*node, NodePoint::End, kind, edge);
            sums.wait(of, sums.place(edge), start_ps..edge.free_ps);
        }
    }
    Ok(sums.finish())
}

/// For each queue the first one of its party.
fn parties(work: &RankWork) -> Vec<u32> {
    let mut first: FxHashMap<&str, u32> = FxHashMap::default();
    (0..narrow(work.queues.len())).map(|at| *first.entry(work.party(at)).or_insert(at)).collect()
}

/// The edge up to the change that it states.
fn edge_of(stated: &StatedEdge) -> GraphEdge {
    GraphEdge { from: stated.from, kind: EdgeKind::of(stated.reason), free_ps: stated.met_ps }
}

/// A wait, without its time.
#[derive(Debug, Clone)]
struct WaitOf {
    waiter: Party,
    awaited: Option<Party>,
    kind: WaitKind,
    node: u32,
    awaited_node: Option<u32>,
    semaphore: Option<u32>,
}

struct WaitSums<'e, 'g> {
    edges: &'e JobEdges<'g>,
    rank: u32,
    /// For each queue the first one of its party.
    parties: Vec<u32>,
    rows: FxHashMap<WaitRowKey, (i64, LongestWait)>,
    rest_ps: i64,
}

impl<'g> WaitSums<'_, 'g> {
    fn graph(&self) -> &'g RankGraph {
        &self.edges.graph.ranks[self.rank as usize]
    }

    fn queue_of(&self, node: u32) -> Party {
        let graph = self.graph();
        let queue = graph.classes[graph.work.nodes[node as usize].class as usize].queue;
        Party::Queue { rank: self.rank, queue: self.parties[queue as usize] }
    }

    /// The place from which a walk leads on behind an edge, if somebody is known there.
    fn place(&self, edge: &GraphEdge) -> Option<WalkPlace> {
        let place = WalkPlace { rank: self.rank, node: edge.from, time_ps: edge.free_ps };
        Some(place).filter(|_| edge.from != NOBODY)
    }

    fn of_edge(&self, node: u32, at: NodePoint, kind: WaitKind, edge: &GraphEdge) -> WaitOf {
        let mut stated = self.graph().stated.to(node, at).filter(|stated| stated.from == edge.from);
        let semaphore = stated.find_map(|stated| Some(stated.semaphore).filter(|of| *of != NO_SEMAPHORE));
        let awaited_node = Some(edge.from).filter(|from| *from != NOBODY);
        let awaited = awaited_node.map(|from| self.queue_of(from));
        WaitOf { waiter: self.queue_of(node), awaited, kind, node, awaited_node, semaphore }
    }

    /// Adds the waits before a node: those that the recording measured, and the idle time of its
    /// queue since the end of its work before.
    fn before(&mut self, node: u32, ended_ps: Option<i64>) {
        let start_ps = self.graph().work.nodes[node as usize].start_ps;
        let idle = ended_ps.map_or(start_ps, |ended_ps| ended_ps.min(start_ps))..start_ps;
        let edge = self.edges.ranks[self.rank as usize].starts[node as usize];
        if let Some((stated, since_ps)) = self.measured(node) {
            let edge = edge_of(stated);
            let waited = since_ps..stated.met_ps.max(since_ps);
            // The queue can wait while it still works on what came before.
            let covered_ps = idle.end.min(waited.end).saturating_sub(idle.start.max(waited.start)).max(0);
            self.rest(idle.end.saturating_sub(idle.start).saturating_sub(covered_ps));
            if let Some(kind) = WaitKind::of(edge.kind) {
                let of = self.of_edge(node, NodePoint::Start, kind, &edge);
                self.wait(of, self.place(&edge), waited);
            }
            return;
        }
        let Some((edge, kind)) = edge.and_then(|edge| Some((edge, WaitKind::of(edge.kind)?))) else {
            self.rest(idle.end.saturating_sub(idle.start));
            return;
        };
        let free_ps = edge.free_ps.min(start_ps);
        self.rest(start_ps.saturating_sub(free_ps.max(idle.start)));
        let of = self.of_edge(node, NodePoint::Start, kind, &edge);
        self.wait(of, self.place(&GraphEdge { free_ps, ..edge }), idle.start..free_ps);
    }

    /// The wait before a node that the recording measured, with its begin.
    fn measured(&self, node: u32) -> Option<(&'g StatedEdge, i64)> {
        let stated = self.graph().stated.to(node, NodePoint::Start);
        let measured = stated.filter_map(|edge| Some((edge, edge.since_ps?)));
        measured.max_by_key(|(edge, _)| edge.met_ps)
    }

    /// Adds the wait of the end of a node for a change whose author is not known.
    fn unknown_author(&mut self, node: u32) {
        let start_ps = self.graph().work.nodes[node as usize].start_ps;
        let stated = self.graph().stated.to(node, NodePoint::End).filter(|edge| edge.from == NOBODY);
        for edge in stated.map(edge_of) {
            if let Some(kind) = WaitKind::of(edge.kind) {
                let of = self.of_edge(node, NodePoint::End, kind, &edge);
                self.wait(of, None, start_ps..edge.free_ps);
            }
        }
    }

    fn rest(&mut self, ps: i64) {
        self.rest_ps = self.rest_ps.saturating_add(ps.max(0));
    }

    /// Adds the time that a call waited for another rank.
    fn in_call(&mut self, call: &MeetingCall) {
        let Some(awaited) = self.edges.awaited(self.rank, call) else { return };
        let since_ps = self.graph().work.nodes[call.node as usize].start_ps;
        let from = WalkPlace { rank: awaited.rank, node: awaited.node, time_ps: awaited.start_ps };
        let of = WaitOf {
            waiter: self.queue_of(call.node),
            awaited: Some(Party::Rank(awaited.rank)),
            kind: WaitKind::Operation,
            node: call.node,
            awaited_node: None,
            semaphore: None,
        };
        self.wait(of, Some(from), since_ps..awaited.start_ps);
    }

    /// Adds a wait. Each part of the walk back from the place is the root of as much of the wait as
    /// it lasts.
    fn wait(&mut self, of: WaitOf, place: Option<WalkPlace>, time_ps: Range<i64>) {
        let Some(place) = place else {
            self.part(&of, None, time_ps.end.saturating_sub(time_ps.start));
            return;
        };
        for part in self.edges.back(place, time_ps.start) {
            let root = self.root(&part, of.kind);
            self.part(&of, root, part.duration_ps());
        }
    }

    fn part(&mut self, of: &WaitOf, root: Option<Party>, wait_ps: i64) {
        if wait_ps <= 0 {
            return;
        }
        let WaitOf { waiter, awaited, kind, node, awaited_node, semaphore } = of.clone();
        let key = WaitRowKey { waiter, awaited, kind, root };
        let longest = LongestWait { node, awaited: awaited_node, semaphore, wait_ps };
        let (sum_ps, known) = self.rows.entry(key).or_insert((0, longest));
        *sum_ps = sum_ps.saturating_add(wait_ps);
        if known.wait_ps < wait_ps {
            *known = longest;
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
        let row = |(key, (wait_ps, longest)): (WaitRowKey, (i64, LongestWait))| {
            let WaitRowKey { waiter, awaited, kind, root } = key;
            WaitRow { waiter: Some(waiter), awaited, kind, wait_ps, root, longest: Some(longest) }
        };
        let mut rows: Vec<WaitRow> = self.rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let order = |row: &WaitRow| (row.waiter.clone(), row.awaited.clone(), row.kind, row.root.clone());
            b.wait_ps.cmp(&a.wait_ps).then_with(|| order(a).cmp(&order(b)))
        });
        if self.rest_ps > 0 {
            let (waiter, awaited, root, longest) = (None, None, None, None);
            let (kind, wait_ps) = (WaitKind::Unknown, self.rest_ps);
            rows.push(WaitRow { waiter, awaited, kind, wait_ps, root, longest });
        }
        rows
    }
}
