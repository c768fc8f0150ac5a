//! Each wait of a rank, one after the other.

use std::ops::Range;

use super::super::edge::{EdgeKind, GraphEdge};
use super::super::graph::MeetingCall;
use super::super::walk::{JobEdges, WalkPlace};
use super::WaitKind;
use super::party::{Party, RankParties};
use crate::base::{Result, narrow};
use crate::exec::Work;
use crate::model::stated_edge::{NO_SEMAPHORE, NOBODY};
use crate::model::{MachineSide, NodePoint, StatedEdge};

/// A wait.
#[derive(Debug, Clone)]
pub(super) struct SingleWait {
    pub(super) waiter: Party,
    pub(super) awaited: Option<Party>,
    pub(super) kind: WaitKind,
    /// Position of the node that waited.
    pub(super) node: u32,
    /// Position of the awaited node of the same rank, if it is known.
    pub(super) awaited_node: Option<u32>,
    /// Position of the awaited semaphore.
    pub(super) semaphore: Option<u32>,
    /// Whether it is a part of the node's time, rather than before it.
    pub(super) is_within: bool,
    /// The place from which a walk leads back along what ran meanwhile.
    pub(super) place: Option<WalkPlace>,
    /// The time waited.
    pub(super) time_ps: Range<i64>,
}

/// A part of a rank. Its waits can be looked at beside those of other parts.
#[derive(Debug, Clone)]
pub(super) enum WaitPart {
    /// Nodes, and for each party the end of its work before them.
    Nodes { nodes: Range<usize>, ended: Vec<Option<i64>> },
    /// Positions of edges to ends of nodes.
    Ends(Range<usize>),
}

/// Nodes or edges of a part. Small runs of tests have several parts, too.
const AT_ONCE: usize = if cfg!(test) { 2 } else { 1 << 16 };

/// The parts of a rank.
pub(super) fn parts(
    edges: &JobEdges<'_>,
    parties: &RankParties<'_>,
    work: Work<'_>,
) -> Result<Vec<WaitPart>> {
    let runs = |count: usize| (0..count).step_by(AT_ONCE).map(move |from| from..count.min(from + AT_ONCE));
    let of_nodes: Vec<Range<usize>> = runs(parties.nodes.len()).collect();
    let last = work.gather(of_nodes.len(), |at| Ok(last_ends(parties, of_nodes[at].clone())))?;
    let mut parts = Vec::new();
    let mut ended: Vec<Option<i64>> = vec![None; parties.graph.work.queues.len()];
    for (nodes, last) in of_nodes.into_iter().zip(last) {
        parts.push(WaitPart::Nodes { nodes, ended: ended.clone() });
        ended.iter_mut().zip(last).for_each(|(ended, last)| *ended = last.max(*ended));
    }
    parts.extend(runs(edges.ranks[parties.rank as usize].ends.len()).map(WaitPart::Ends));
    Ok(parts)
}

/// For each party the last end of its work among some nodes.
fn last_ends(parties: &RankParties<'_>, nodes: Range<usize>) -> Vec<Option<i64>> {
    let mut ended = vec![None; parties.graph.work.queues.len()];
    for node in &parties.nodes[nodes] {
        let party = parties.of_class(node.class) as usize;
        ended[party] = ended[party].max(Some(node.end_ps()));
    }
    ended
}

/// Passes each wait of a part to `take`, in no order. Returns the idle time of the queues for which
/// nothing is known, in picoseconds.
pub(super) fn each_wait(
    edges: &JobEdges<'_>,
    parties: &RankParties<'_>,
    part: &WaitPart,
    take: &mut dyn FnMut(SingleWait),
) -> i64 {
    let (graph, at) = (parties.graph, parties.rank);
    let mut waits = WaitWalk { edges, parties, take, rest_ps: 0 };
    let (nodes, mut ended) = match part {
        WaitPart::Nodes { nodes, ended } => (nodes.clone(), ended.clone()),
        WaitPart::Ends(places) => {
            for (node, edge) in &edges.ranks[at as usize].ends[places.clone()] {
                let start_ps = parties.nodes[*node as usize].start_ps;
                if let Some(kind) = WaitKind::of(edge.kind) {
                    waits.within(*node, kind, edge, start_ps..edge.free_ps);
                }
            }
            return 0;
        }
    };
    for (node, of) in (narrow(nodes.start)..).zip(&parties.nodes[nodes]) {
        let class = graph.classes[of.class as usize];
        let party = parties.of_class(of.class) as usize;
        if class.side == MachineSide::Device && graph.is_recorded(of) {
            waits.before(node, ended[party]);
            if let Some(call) = edges.call(at, node) {
                waits.in_call(call);
            } else if class.waits && edges.ranks[at as usize].end(node).is_none() {
                waits.rest(of.duration_ps);
            }
            waits.unknown_author(node);
        }
        ended[party] = ended[party].max(Some(of.end_ps()));
    }
    waits.rest_ps
}

/// The edge up to the change that it states.
fn edge_of(stated: StatedEdge) -> GraphEdge {
    GraphEdge { from: stated.from, kind: EdgeKind::of(stated.reason), free_ps: stated.met_ps }
}

struct WaitWalk<'e, 'g, 't> {
    edges: &'e JobEdges<'g>,
    parties: &'e RankParties<'g>,
    take: &'t mut dyn FnMut(SingleWait),
    rest_ps: i64,
}

impl WaitWalk<'_, '_, '_> {
    /// The wait of a node at one of its ends, up to when an edge lets it go on.
    fn of_edge(&self, node: u32, at: NodePoint, kind: WaitKind, edge: &GraphEdge) -> SingleWait {
        let mut stated = self.parties.stated.to(node, at).filter(|stated| stated.from == edge.from);
        let semaphore = stated.find_map(|stated| Some(stated.semaphore).filter(|of| *of != NO_SEMAPHORE));
        let awaited_node = Some(edge.from).filter(|from| *from != NOBODY);
        let place = |from| WalkPlace { rank: self.parties.rank, node: from, time_ps: edge.free_ps };
        SingleWait {
            waiter: self.parties.of_node(node),
            awaited: awaited_node.map(|from| self.parties.of_node(from)),
            kind,
            node,
            awaited_node,
            semaphore,
            is_within: at == NodePoint::End,
            place: awaited_node.map(place),
            time_ps: edge.free_ps..edge.free_ps,
        }
    }

    /// Finds the waits before a node: those that the recording measured, and the idle time of its
    /// queue since the end of its work before.
    fn before(&mut self, node: u32, ended_ps: Option<i64>) {
        let start_ps = self.parties.nodes[node as usize].start_ps;
        let idle = ended_ps.map_or(start_ps, |ended_ps| ended_ps.min(start_ps))..start_ps;
        let edge = self.edges.ranks[self.parties.rank as usize].starts[node as usize];
        if let Some((stated, since_ps)) = self.measured(node) {
            let edge = edge_of(stated);
            let waited = since_ps..stated.met_ps.max(since_ps);
            // The queue can wait while it still works on what came before.
            let covered_ps = idle.end.min(waited.end).saturating_sub(idle.start.max(waited.start)).max(0);
            self.rest(idle.end.saturating_sub(idle.start).saturating_sub(covered_ps));
            if let Some(kind) = WaitKind::of(edge.kind) {
                let wait = self.of_edge(node, NodePoint::Start, kind, &edge);
                (self.take)(SingleWait { time_ps: waited, ..wait });
            }
            return;
        }
        let Some((edge, kind)) = edge.and_then(|edge| Some((edge, WaitKind::of(edge.kind)?))) else {
            self.rest(idle.end.saturating_sub(idle.start));
            return;
        };
        let free_ps = edge.free_ps.min(start_ps);
        self.rest(start_ps.saturating_sub(free_ps.max(idle.start)));
        let wait = self.of_edge(node, NodePoint::Start, kind, &GraphEdge { free_ps, ..edge });
        (self.take)(SingleWait { time_ps: idle.start..free_ps, ..wait });
    }

    /// The wait before a node that the recording measured, with its begin.
    fn measured(&self, node: u32) -> Option<(StatedEdge, i64)> {
        let stated = self.parties.stated.to(node, NodePoint::Start);
        let measured = stated.filter_map(|edge| Some((edge, edge.since_ps?)));
        measured.max_by_key(|(edge, _)| edge.met_ps)
    }

    /// Finds the wait of the end of a node for a change whose author is not known.
    fn unknown_author(&mut self, node: u32) {
        let start_ps = self.parties.nodes[node as usize].start_ps;
        let stated = self.parties.stated.to(node, NodePoint::End).filter(|edge| edge.from == NOBODY);
        for edge in stated.map(edge_of) {
            if let Some(kind) = WaitKind::of(edge.kind) {
                self.within(node, kind, &edge, start_ps..edge.free_ps);
            }
        }
    }

    /// Adds a wait of the end of a node.
    fn within(&mut self, node: u32, kind: WaitKind, edge: &GraphEdge, time_ps: Range<i64>) {
        let wait = self.of_edge(node, NodePoint::End, kind, edge);
        (self.take)(SingleWait { time_ps, ..wait });
    }

    fn rest(&mut self, ps: i64) {
        self.rest_ps = self.rest_ps.saturating_add(ps.max(0));
    }

    /// Finds the time that a call waited for another rank.
    fn in_call(&mut self, call: &MeetingCall) {
        let Some(awaited) = self.edges.awaited(self.parties.rank, call) else { return };
        let since_ps = self.parties.nodes[call.node as usize].start_ps;
        (self.take)(SingleWait {
            waiter: self.parties.of_node(call.node),
            awaited: Some(Party::Rank(awaited.rank)),
            kind: WaitKind::Operation,
            node: call.node,
            awaited_node: None,
            semaphore: None,
            is_within: true,
            place: Some(WalkPlace { rank: awaited.rank, node: awaited.node, time_ps: awaited.start_ps }),
            time_ps: since_ps..awaited.start_ps,
        });
    }
}
