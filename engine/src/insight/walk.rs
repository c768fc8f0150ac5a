//! A walk back in time along the edges: from a piece of work to what it waited for, and on.

use std::collections::BTreeMap;

use super::edge::{EdgeKind, GraphEdge, RankEdges};
use super::graph::{JobGraph, MeetingCall};
use crate::base::Result;
use crate::exec::Work;
use crate::model::{MachineSide, WaitingRanks, WorkNode};

/// The activity of a part of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathKind {
    /// Work of a device.
    Work,
    /// The transfer of an operation: from its last arrival on.
    Transfer,
    /// Calls of a host.
    Call,
    /// Time of a thread of a host between its calls.
    Host,
    /// Time between work and what it waited for last.
    Gap,
}

impl PathKind {
    /// All kinds, in display order.
    pub const ALL: [Self; 5] = [Self::Work, Self::Transfer, Self::Call, Self::Host, Self::Gap];

    /// Name for people and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Transfer => "transfer",
            Self::Call => "call",
            Self::Host => "host",
            Self::Gap => "gap",
        }
    }

    /// Word for a sum of such parts.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Transfer => "transfers",
            Self::Call => "calls of hosts",
            Self::Host => "hosts between calls",
            Self::Gap => "gaps",
        }
    }
}

/// A part of a walk. Parts follow each other without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// Position of the rank.
    pub rank: u32,
    /// Position of the node that ran, or that had not started yet.
    pub node: u32,
    /// The activity.
    pub kind: PathKind,
    /// Start in picoseconds of the shared clock.
    pub start_ps: i64,
    /// End in picoseconds of the shared clock.
    pub end_ps: i64,
}

impl PathPart {
    /// Length in picoseconds.
    #[must_use]
    pub fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }
}

/// A place of a walk: a node, and the time up to which the walk has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkPlace {
    pub(super) rank: u32,
    pub(super) node: u32,
    pub(super) time_ps: i64,
}

/// The edges of all ranks of a job.
#[derive(Debug)]
pub struct JobEdges<'g> {
    pub(super) graph: &'g JobGraph,
    pub(super) ranks: Vec<RankEdges>,
    /// For each rank its nodes: a walk reads one of them in each step.
    nodes: Vec<&'g [WorkNode]>,
    /// For each meeting its last arrival, and that of its root.
    arrivals: Vec<MeetingArrivals>,
    /// Most steps of a walk: clocks that are wrong can lead in a circle.
    most_steps: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct MeetingArrivals {
    last: Option<CallArrival>,
    root: Option<CallArrival>,
}

/// An arrival of a rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallArrival {
    pub(super) rank: u32,
    pub(super) node: u32,
    pub(super) start_ps: i64,
}

impl<'g> JobEdges<'g> {
    /// Finds all edges.
    pub fn of(graph: &'g JobGraph, work: Work<'_>) -> Result<Self> {
        let mut arrivals = vec![MeetingArrivals::default(); graph.meetings.len()];
        let ranks = work.gather(graph.ranks.len(), |at| Ok(RankEdges::of(&graph.ranks[at])))?;
        for (at, rank) in (0_u32..).zip(&graph.ranks) {
            for call in rank.calls.iter().filter(|call| call.arrives) {
                let start_ps = rank.work.nodes[call.node as usize].start_ps;
                let arrival = CallArrival { rank: at, node: call.node, start_ps };
                let of = &mut arrivals[call.meeting as usize];
                if of.last.is_none_or(|last| start_ps > last.start_ps) {
                    of.last = Some(arrival);
                }
                if graph.meetings[call.meeting as usize].root == Some(at) {
                    of.root = Some(arrival);
                }
            }
        }
        let most_steps = graph.len() + graph.meetings.len() + 1;
        let nodes = graph.ranks.iter().map(|rank| &rank.work.nodes[..]).collect();
        Ok(Self { graph, ranks, nodes, arrivals, most_steps })
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &'g JobGraph {
        self.graph
    }

    /// The call of a node, if the node is one of an operation of several ranks, or the wait of a
    /// core for them.
    pub(super) fn call(&self, rank: u32, node: u32) -> Option<&'g MeetingCall> {
        let graph = &self.graph.ranks[rank as usize];
        graph.call(node).or_else(|| graph.core_wait(node))
    }

    /// The arrival that a call waited for, if it came before another rank.
    pub(super) fn awaited(&self, rank: u32, call: &MeetingCall) -> Option<CallArrival> {
        let of = &self.graph.meetings[call.meeting as usize];
        let arrivals = self.arrivals[call.meeting as usize];
        let found = match of.waiting {
            WaitingRanks::ForAll => arrivals.last,
            WaitingRanks::ForRoot => arrivals.root,
            WaitingRanks::RootForAll if of.root.is_none_or(|root| root == rank) => arrivals.last,
            WaitingRanks::RootForAll => None,
        };
        let node = &self.nodes[rank as usize][call.node as usize];
        found.filter(|one| one.rank != rank && one.start_ps > node.start_ps && one.start_ps <= node.end_ps())
    }

    /// Walks back from a place to a time. The parts come in the order of the walk, the last one
    /// first.
    pub(super) fn each_back(&self, from: WalkPlace, until_ps: i64, take: impl FnMut(PathPart)) {
        let mut walk = PathWalk { edges: self, take, until_ps };
        let mut place = Some(from);
        for _ in 0..self.most_steps {
            let Some(at) = place.filter(|place| place.time_ps > until_ps) else { break };
            place = walk.step(at);
        }
    }

    /// The work of a device, or call of a host without any, that ended last.
    pub(super) fn last(&self) -> Option<WalkPlace> {
        let place = |side: MachineSide| {
            let ranks = (0_u32..).zip(&self.graph.ranks);
            let of_rank = |(rank, of): (u32, &'g super::RankGraph)| {
                let is_it = |node: &&u32| {
                    let node = &of.work.nodes[**node as usize];
                    of.is_recorded(node) && of.classes[node.class as usize].side == side
                };
                let node = *of.ends.iter().rev().find(is_it)?;
                Some(WalkPlace { rank, node, time_ps: of.work.nodes[node as usize].end_ps() })
            };
            ranks.filter_map(of_rank).max_by_key(|place| place.time_ps)
        };
        place(MachineSide::Device).or_else(|| place(MachineSide::Host))
    }
}

struct PathWalk<'e, 'g, F> {
    edges: &'e JobEdges<'g>,
    take: F,
    until_ps: i64,
}

impl<F: FnMut(PathPart)> PathWalk<'_, '_, F> {
    fn part(&mut self, place: WalkPlace, kind: PathKind, start_ps: i64) {
        let WalkPlace { rank, node, time_ps: end_ps } = place;
        let start_ps = start_ps.max(self.until_ps);
        if start_ps < end_ps {
            (self.take)(PathPart { rank, node, kind, start_ps, end_ps });
        }
    }

    /// Goes from the time of a place to what held its node back.
    fn step(&mut self, place: WalkPlace) -> Option<WalkPlace> {
        let WalkPlace { rank, node, time_ps } = place;
        let edges = self.edges;
        let (graph, nodes) = (&edges.graph.ranks[rank as usize], edges.nodes[rank as usize]);
        let of = &nodes[node as usize];
        let side = graph.classes[of.class as usize].side;
        if time_ps > of.start_ps {
            if let Some(call) = edges.call(rank, node)
                && let Some(awaited) = edges.awaited(rank, call).filter(|one| one.start_ps < time_ps)
            {
                self.part(place, PathKind::Transfer, awaited.start_ps);
                return Some(WalkPlace { rank: awaited.rank, node: awaited.node, time_ps: awaited.start_ps });
            }
            let awaited = edges.ranks[rank as usize].end(node).filter(|edge| edge.free_ps < time_ps);
            if let Some(GraphEdge { from, free_ps, kind }) = awaited {
                let kind = match side {
                    MachineSide::Host => PathKind::Call,
                    MachineSide::Device if kind.is_wait() => PathKind::Gap,
                    MachineSide::Device => PathKind::Work,
                };
                self.part(place, kind, free_ps);
                return Some(WalkPlace { rank, node: from, time_ps: free_ps });
            }
            let kind = match side {
                MachineSide::Host => PathKind::Call,
                MachineSide::Device if graph.classes[of.class as usize].waits => PathKind::Gap,
                MachineSide::Device if edges.call(rank, node).is_some() => PathKind::Transfer,
                MachineSide::Device => PathKind::Work,
            };
            self.part(place, kind, of.start_ps);
        }
        let place = WalkPlace { time_ps: time_ps.min(of.start_ps), ..place };
        let Some(GraphEdge { from, kind, free_ps }) = edges.ranks[rank as usize].starts[node as usize] else {
            // Nothing is known about the time before.
            self.part(place, PathKind::Gap, self.until_ps);
            return None;
        };
        let free_ps = free_ps.min(place.time_ps);
        let gap = if side == MachineSide::Host { PathKind::Host } else { PathKind::Gap };
        self.part(place, gap, free_ps);
        let place = WalkPlace { rank, node: from, time_ps: free_ps };
        if kind == EdgeKind::Launch {
            // From the start of the launch on, its own length does not count.
            let start_ps = nodes[from as usize].start_ps.min(free_ps);
            self.part(place, PathKind::Call, start_ps);
            return Some(WalkPlace { time_ps: start_ps, ..place });
        }
        Some(place)
    }
}

/// The path that made a run as long as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CriticalPath {
    /// First and last time of the run, in picoseconds of the shared clock.
    pub span_ps: (i64, i64),
    /// The parts of the path in the order of time. Together they cover the span.
    pub parts: Vec<PathPart>,
}

impl CriticalPath {
    /// The path to the last work of a job.
    #[must_use]
    pub fn of(edges: &JobEdges<'_>) -> Self {
        let Some(last) = edges.last() else { return Self::default() };
        let side_of_last = {
            let rank = &edges.graph.ranks[last.rank as usize];
            rank.classes[rank.work.nodes[last.node as usize].class as usize].side
        };
        let first = edges.graph.ranks.iter().filter_map(|rank| {
            let is_it = |node: &&WorkNode| {
                rank.is_recorded(node) && rank.classes[node.class as usize].side == side_of_last
            };
            rank.work.nodes.iter().find(is_it).map(|node| node.start_ps)
        });
        let first_ps = first.min().unwrap_or(last.time_ps);
        let mut parts = Vec::new();
        edges.each_back(last, first_ps, |part| parts.push(part));
        parts.reverse();
        Self { span_ps: (first_ps, last.time_ps), parts }
    }

    /// Whether the path leads through the work of a node, not only through a gap before it.
    #[must_use]
    pub fn leads_through(&self, rank: u32, node: u32) -> bool {
        let is_work = |kind: PathKind| !matches!(kind, PathKind::Gap | PathKind::Host);
        self.parts.iter().any(|part| (part.rank, part.node) == (rank, node) && is_work(part.kind))
    }

    /// Length of the run in picoseconds.
    #[must_use]
    pub fn length_ps(&self) -> i64 {
        self.span_ps.1.saturating_sub(self.span_ps.0)
    }

    /// The time of the parts with each key in picoseconds, the longest first. `None` leaves a part
    /// out.
    pub fn totals<K: Ord>(&self, key: impl Fn(&PathPart) -> Option<K>) -> Vec<(K, i64)> {
        let mut sums: BTreeMap<K, i64> = BTreeMap::new();
        for (key, part) in self.parts.iter().filter_map(|part| Some((key(part)?, part))) {
            *sums.entry(key).or_default() += part.duration_ps();
        }
        let mut totals: Vec<(K, i64)> = sums.into_iter().collect();
        // Equal times stay in the order of their keys.
        totals.sort_by_key(|(_, ps)| std::cmp::Reverse(*ps));
        totals
    }
}
