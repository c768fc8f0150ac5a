//! The changes that would make a rank as fast as the median rank.
//!
//! The n-th slice of a name on a rank corresponds to the n-th one of this name on the others, and a
//! call to the calls of the same operation. Durations of work and the gaps before work and calls
//! become the medians of what corresponds.

use rustc_hash::FxHashMap;

use super::edge::RankEdges;
use super::graph::{JobGraph, RankGraph};
use super::node_change::NodeChange;
use super::walk::JobEdges;
use crate::base::upper_median;
use crate::model::MachineSide;

/// The work of all ranks side by side.
#[derive(Debug)]
pub(super) struct MedianRank<'g> {
    graph: &'g JobGraph,
    /// For each rank and node the gap before it. That of the first work of a rank begins with the
    /// first work of all.
    gaps_ps: Vec<Vec<i64>>,
    /// For each rank its nodes by name, in the order of starts.
    names: Vec<FxHashMap<&'g str, Vec<u32>>>,
}

impl<'g> MedianRank<'g> {
    /// Finds the gaps of all ranks.
    pub(super) fn new(graph: &'g JobGraph) -> Self {
        Self::with_gaps(graph, graph.ranks.iter().map(|rank| RankEdges::of(rank).gaps_ps).collect())
    }

    /// The same from edges that are known.
    pub(super) fn of_edges(edges: &JobEdges<'g>) -> Self {
        Self::with_gaps(edges.graph, edges.ranks.iter().map(|rank| rank.gaps_ps.clone()).collect())
    }

    fn with_gaps(graph: &'g JobGraph, mut gaps_ps: Vec<Vec<i64>>) -> Self {
        let begin_ps = graph.ranks.iter().filter_map(first_work).map(|first| first.start_ps).min();
        for (rank, gaps_ps) in graph.ranks.iter().zip(&mut gaps_ps) {
            if let (Some(first), Some(begin_ps)) = (first_work(rank), begin_ps) {
                gaps_ps[first.node as usize] = first.start_ps.saturating_sub(begin_ps);
            }
        }
        Self { graph, gaps_ps, names: graph.ranks.iter().map(by_name).collect() }
    }

    /// The gap before a node, in picoseconds.
    pub(super) fn gap_ps(&self, rank: usize, node: u32) -> i64 {
        self.gaps_ps[rank][node as usize]
    }

    /// The nodes of each rank by name.
    pub(super) fn names(&self) -> &[FxHashMap<&'g str, Vec<u32>>] {
        &self.names
    }

    /// The gaps before the work of other ranks that corresponds to a node, which is no call.
    pub(super) fn usual_gaps_ps(&self, at: usize, node: u32) -> Vec<i64> {
        let rank = &self.graph.ranks[at];
        let name = rank.name(&rank.work.nodes[node as usize]);
        let nodes = self.names[at].get(name).map(Vec::as_slice).unwrap_or_default();
        let Ok(place) = nodes.binary_search(&node) else { return Vec::new() };
        let like = corresponding(&self.others(at, name), nodes.len(), place);
        like.iter().map(|of| self.gap_ps(of.0, of.1)).collect()
    }

    /// The changes of all nodes of the rank at this position.
    pub(super) fn changes(&self, at: usize) -> Vec<NodeChange> {
        let graph = self.graph;
        let rank = &graph.ranks[at];
        let mut changes = vec![NodeChange::default(); rank.work.nodes.len()];
        for (name, nodes) in &self.names[at] {
            let others = self.others(at, name);
            for (place, &node) in nodes.iter().enumerate() {
                let like = corresponding(&others, nodes.len(), place);
                let duration_ps = |of: &(usize, u32)| graph.ranks[of.0].work.nodes[of.1 as usize].duration_ps;
                let gap_ps = |of: &(usize, u32)| self.gap_ps(of.0, of.1);
                let own = &rank.work.nodes[node as usize];
                if let Some(median_ps) = upper_median(like.iter().map(duration_ps).collect(), i64::cmp) {
                    changes[node as usize].duration_ps = median_ps.saturating_sub(own.duration_ps);
                }
                if let Some(median_ps) = upper_median(like.iter().map(gap_ps).collect(), i64::cmp) {
                    self.change_gap(&mut changes, at, node, median_ps);
                }
            }
        }
        let mut of_meetings: FxHashMap<u32, Vec<i64>> =
            rank.calls.iter().map(|call| (call.meeting, Vec::new())).collect();
        for (other, of) in graph.ranks.iter().enumerate().filter(|(other, _)| *other != at) {
            // A call that the trace lacks has no gap of its own.
            for call in of.calls.iter().filter(|call| of.row_of(call.node).is_some()) {
                if let Some(list) = of_meetings.get_mut(&call.meeting) {
                    list.push(self.gap_ps(other, call.node));
                }
            }
        }
        let calls = rank.calls.iter().filter(|call| !graph.is_step(call));
        for call in calls.filter(|call| rank.row_of(call.node).is_some()) {
            let of = of_meetings.remove(&call.meeting).unwrap_or_default();
            if let Some(median_ps) = upper_median(of, i64::cmp) {
                self.change_gap(&mut changes, at, call.node, median_ps);
            }
        }
        changes
    }

    /// Makes the gap before a node as long as the median one. A launch in the gap comes earlier,
    /// too.
    fn change_gap(&self, changes: &mut [NodeChange], at: usize, node: u32, median_ps: i64) {
        let rank = &self.graph.ranks[at];
        let gap_ps = self.gap_ps(at, node);
        let from_ps = rank.work.nodes[node as usize].start_ps.saturating_sub(gap_ps);
        let late = rank.held_back(node, from_ps);
        let change_ps = median_ps.saturating_sub(gap_ps);
        let most_ps = rank.work.nodes[late as usize].start_ps.saturating_sub(from_ps);
        let of_launch_ps = if late == node { 0 } else { change_ps.max(-most_ps).min(0) };
        for (of, by_ps) in [(late, of_launch_ps), (node, change_ps.saturating_sub(of_launch_ps))] {
            let change = &mut changes[of as usize];
            change.gap_ps = change.gap_ps.saturating_add(by_ps);
        }
    }

    /// The nodes of a name on the other ranks, with the positions of these.
    fn others(&self, at: usize, name: &str) -> Vec<(usize, &[u32])> {
        let others = self.names.iter().enumerate().filter(|(other, _)| *other != at);
        others.filter_map(|(other, names)| Some((other, names.get(name)?.as_slice()))).collect()
    }
}

/// The first work of the devices of a rank.
#[derive(Debug, Clone, Copy)]
struct FirstWork {
    node: u32,
    start_ps: i64,
}

/// The first work of a rank. `None` if its recording began later than its work: calls before are
/// known that the trace lacks.
fn first_work(rank: &RankGraph) -> Option<FirstWork> {
    let mut nodes = (0_u32..).zip(&rank.work.nodes);
    let (node, first) =
        nodes.find(|(_, node)| rank.classes[node.class as usize].side == MachineSide::Device)?;
    rank.is_recorded(first).then_some(FirstWork { node, start_ps: first.start_ps })
}

/// Work of a rank by name, in the order of starts.
fn by_name(rank: &RankGraph) -> FxHashMap<&str, Vec<u32>> {
    let mut found: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (at, node) in rank.device_work() {
        found.entry(rank.name(node)).or_default().push(at);
    }
    found
}

/// The other ranks' slices that correspond to the n-th of `count` slices: the n-th of those that
/// have as many, else the n-th from the end, because a recording rather begins late.
fn corresponding(others: &[(usize, &[u32])], count: usize, at: usize) -> Vec<(usize, u32)> {
    let alike = others.iter().filter(|(_, nodes)| nodes.len() == count);
    let alike: Vec<(usize, u32)> = alike.map(|(rank, nodes)| (*rank, nodes[at])).collect();
    if alike.len() * 2 >= others.len() {
        return alike;
    }
    let from_end = |nodes: &[u32]| nodes.len().checked_sub(count - at).map(|place| nodes[place]);
    others.iter().filter_map(|(rank, nodes)| Some((*rank, from_end(nodes)?))).collect()
}
