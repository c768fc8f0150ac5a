//! Edges of the dependency graph, one for each piece of work: the last of what it waited for.

use std::cmp::Reverse;

use super::graph::{ClassFacts, LEAST_UNDER_PS, PointOrder, RankGraph, StatedView};
use crate::model::stated_edge::NOBODY;
use crate::model::{EdgeReason, MachineSide, NodePoint, StatedEdge, WorkNode};

/// The reason why work waits for other work of its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Order on one queue.
    Queue,
    /// The work of another queue of the device.
    Stream,
    /// A call of the host launched it.
    Launch,
    /// Order of the calls of a thread of the host.
    Thread,
    /// A call of the host, or an instruction, waited for work of a device.
    Wait,
    /// An instruction waited for a semaphore that another engine changed.
    Semaphore,
    /// An instruction waited for a semaphore that a transfer changed.
    Transfer,
    /// An instruction triggered a transfer.
    Trigger,
}

impl EdgeKind {
    /// The kind of an edge that the recording states.
    #[must_use]
    pub fn of(reason: EdgeReason) -> Self {
        match reason {
            EdgeReason::Semaphore => Self::Semaphore,
            EdgeReason::Transfer => Self::Transfer,
            EdgeReason::Trigger => Self::Trigger,
            EdgeReason::Order => Self::Queue,
        }
    }

    /// Whether work that has started can wait for such an edge to go on.
    #[must_use]
    pub fn is_wait(self) -> bool {
        matches!(self, Self::Wait | Self::Semaphore | Self::Transfer)
    }
}

/// An edge between two nodes of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphEdge {
    /// Position of the node that was awaited.
    pub from: u32,
    /// The reason.
    pub kind: EdgeKind,
    /// The time from which on nothing of it held the other node back, in picoseconds.
    pub free_ps: i64,
}

/// The edges of a rank. A node without one is the first of its queue, and waited for nothing known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankEdges {
    /// For each node the edge to its start.
    pub starts: Vec<Option<GraphEdge>>,
    /// For each node the gap between the end of the work of its device that it waited for and its
    /// start, in picoseconds. 0 without such work, and for calls of the host.
    pub gaps_ps: Vec<i64>,
    /// For each slice whose end waits the edges to its end, by node, ascending. The one that held
    /// it back for longest comes first.
    pub ends: Vec<(u32, GraphEdge)>,
}

impl RankEdges {
    /// The edges of the middle model, by the recorded times.
    #[must_use]
    pub fn of(rank: &RankGraph) -> Self {
        let nodes = &rank.work.nodes[..];
        let mut sweep = EdgeSweep {
            rank,
            nodes,
            edges: rank.stated.view(),
            ended: vec![None; rank.work.queues.len()],
            started: vec![None; rank.work.queues.len()],
            last: None,
            last_call: None,
            calls: 0,
            found: Self {
                starts: Vec::with_capacity(nodes.len()),
                gaps_ps: Vec::with_capacity(nodes.len()),
                ends: Vec::new(),
            },
        };
        for (at, point) in PointOrder::new(nodes, &rank.ends) {
            if point == NodePoint::End {
                sweep.end(at);
                continue;
            }
            let node = &nodes[at as usize];
            let edge = sweep.edge(at, node);
            sweep.found.starts.push(edge);
            sweep.started[rank.classes[node.class as usize].queue as usize] = Some(at);
        }
        sweep.found.ends.sort_by_key(|(node, edge)| (*node, Reverse(edge.free_ps)));
        sweep.found
    }

    /// The edge to the end of a node that only waits.
    #[must_use]
    pub fn end(&self, node: u32) -> Option<GraphEdge> {
        let first = self.ends.partition_point(|(of, _)| *of < node);
        self.ends.get(first).filter(|(of, _)| *of == node).map(|(_, edge)| *edge)
    }

    /// A pass over the times from which on nodes work: an instruction that waits begins behind what
    /// it waited for.
    #[must_use]
    pub fn worked_from(&self) -> WorkedFrom<'_> {
        WorkedFrom { ends: &self.ends, next: 0 }
    }
}

/// Tells from which time on nodes work that ascend, without a search for each.
#[derive(Debug, Clone)]
pub struct WorkedFrom<'e> {
    ends: &'e [(u32, GraphEdge)],
    next: usize,
}

impl WorkedFrom<'_> {
    /// The time from which on the next node works, in picoseconds.
    pub fn next_ps(&mut self, node: u32, of: &WorkNode) -> i64 {
        while self.ends.get(self.next).is_some_and(|(before, _)| *before < node) {
            self.next += 1;
        }
        let edge = self.ends.get(self.next).filter(|(waiting, _)| *waiting == node);
        edge.map_or(of.start_ps, |(_, edge)| edge.free_ps.max(of.start_ps))
    }
}

/// A pass over the starts and ends of a rank.
struct EdgeSweep<'g> {
    rank: &'g RankGraph,
    nodes: &'g [WorkNode],
    edges: StatedView<'g>,
    /// For each queue its node that ended last.
    ended: Vec<Option<u32>>,
    /// For each queue its node that started last.
    started: Vec<Option<u32>>,
    /// The node of a device that ended last.
    last: Option<u32>,
    /// The call of the host that ended last.
    last_call: Option<u32>,
    /// Number of calls of the host so far.
    calls: usize,
    found: RankEdges,
}

impl<'g> EdgeSweep<'g> {
    fn end_ps(&self, node: u32) -> i64 {
        self.nodes[node as usize].end_ps()
    }

    fn end(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let class = self.rank.classes[node.class as usize];
        self.ended[class.queue as usize] = Some(at);
        if class.side == MachineSide::Host {
            self.last_call = Some(at);
        }
        let awaited = self.stated(at, NodePoint::End).filter(|edge| edge.free_ps > node.start_ps);
        self.found.ends.extend(awaited.max_by_key(|edge| edge.free_ps).map(|edge| (at, edge)));
        if class.side == MachineSide::Device && !class.waits {
            self.last = Some(at);
        } else if class.waits && self.rank.core_wait(at).is_none() {
            let awaited = self.last.filter(|last| self.end_ps(*last) > node.start_ps);
            if let Some(from) = awaited {
                let edge = GraphEdge { from, kind: EdgeKind::Wait, free_ps: self.end_ps(from) };
                self.found.ends.push((at, edge));
            }
        }
    }

    /// The last of what a call of the host waited for, as in the replay.
    fn edge_of_call(&mut self, own: Option<u32>) -> Option<GraphEdge> {
        let call = self.rank.host_call(self.calls);
        self.calls += 1;
        self.found.gaps_ps.push(0);
        let thread = |from: u32| GraphEdge { from, kind: EdgeKind::Thread, free_ps: self.end_ps(from) };
        let own_free_ps = own.map_or(i64::MIN, |own| self.end_ps(own).saturating_add(call.busy_ps));
        let was_ahead = own.is_none_or(|own| self.rank.call_of(own).is_some_and(|of| of.is_ahead));
        let device = self.last.filter(|_| !call.is_ahead && (was_ahead || call.is_idle));
        let device = device.map(|from| GraphEdge { from, kind: EdgeKind::Wait, free_ps: self.end_ps(from) });
        let other = self.last_call.filter(|_| !call.is_ahead && call.is_idle).map(thread);
        let later = [device, other].into_iter().flatten().max_by_key(|edge| edge.free_ps);
        later.filter(|edge| edge.free_ps > own_free_ps).or(own.map(thread))
    }

    fn edge(&mut self, at: u32, node: &WorkNode) -> Option<GraphEdge> {
        let class = self.rank.classes[node.class as usize];
        let own = self.ended[class.queue as usize];
        if class.side == MachineSide::Host {
            return self.edge_of_call(own);
        }
        let ended = |from: u32, kind| GraphEdge { from, kind, free_ps: self.end_ps(from) };
        let others = self.rank.awaited(&class).filter(|(queue, _)| *queue != class.queue);
        let others = others.filter_map(|(queue, _)| self.ended[queue as usize]);
        let last = others.max_by_key(|from| self.end_ps(*from));
        // A launch that came long before its work held it back as little as any before it.
        let launch = self.rank.launch(at).filter(|call| !self.rank.host_call(*call).is_ahead);
        let launch = launch.map(|call| {
            let from = self.rank.work.host[call].node();
            let delay_ps = self.rank.launch_delay_ps(call, node);
            let free_ps = self.nodes[from as usize].start_ps.saturating_add(delay_ps);
            GraphEdge { from, kind: EdgeKind::Launch, free_ps }
        });
        let own = own.map(|from| ended(from, EdgeKind::Queue));
        let other = last.map(|from| ended(from, EdgeKind::Stream));
        let stated = self.stated(at, NodePoint::Start).max_by_key(|edge| edge.free_ps);
        let of_device = [other, own, stated].into_iter().flatten().map(|edge| edge.free_ps);
        let free_ps = of_device.max().unwrap_or(node.start_ps);
        let gap_ps = node.start_ps.saturating_sub(free_ps).max(0);
        self.found.gaps_ps.push(if self.ends_at_start(&class, node) { 0 } else { gap_ps });
        // The more certain edge counts of equal times: the last one of the maximum.
        [other, launch, own, stated].into_iter().flatten().max_by_key(|edge| edge.free_ps)
    }

    /// Whether work that a node waits for ends with its start: clocks make such work overlap.
    fn ends_at_start(&self, class: &ClassFacts, node: &WorkNode) -> bool {
        let mut running = self.rank.awaited(class).filter_map(|(queue, _)| self.started[queue as usize]);
        running.any(|other| (1..=LEAST_UNDER_PS).contains(&self.end_ps(other).saturating_sub(node.start_ps)))
    }

    /// The edges that the recording states to a point of a node.
    fn stated(&self, at: u32, point: NodePoint) -> impl Iterator<Item = GraphEdge> + use<'g> {
        let nodes = self.nodes;
        let of = &nodes[at as usize];
        let until_ps = if point == NodePoint::Start { of.start_ps } else { of.end_ps() };
        let known = self.edges.to(at, point).filter(|edge| edge.from != NOBODY);
        known.map(move |edge| {
            let free_ps = free_ps(&edge, &nodes[edge.from as usize]).min(until_ps);
            GraphEdge { from: edge.from, kind: EdgeKind::of(edge.reason), free_ps }
        })
    }
}

/// The time from which on a stated edge holds nothing back. A change of a semaphore is seen later
/// than the work behind it ended, and this delay is part of that work.
fn free_ps(edge: &StatedEdge, from: &WorkNode) -> i64 {
    let source_ps = if edge.from_point == NodePoint::Start { from.start_ps } else { from.end_ps() };
    if edge.reason.is_wait() { source_ps.max(edge.met_ps) } else { source_ps }
}
