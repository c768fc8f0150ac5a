//! The changes that would make a rank as fast as the median rank.
//!
//! The n-th slice of a name on a rank corresponds to the n-th one of this name on the others, and a
//! call to the calls of the same operation. Durations of work and the gaps before work and calls
//! become the medians of what corresponds.

use rustc_hash::FxHashMap;

use super::edge::RankEdges;
use super::graph::{JobGraph, RankGraph};
use super::node_change::NodeChange;
use crate::base::upper_median;

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

/// The changes of all nodes of the rank at this position.
pub(super) fn of_median_rank(graph: &JobGraph, at: usize) -> Vec<NodeChange> {
    let gaps: Vec<Vec<i64>> = graph.ranks.iter().map(|rank| RankEdges::of(rank).gaps_ps).collect();
    let names: Vec<FxHashMap<&str, Vec<u32>>> = graph.ranks.iter().map(by_name).collect();
    let rank = &graph.ranks[at];
    let mut changes = vec![NodeChange::default(); rank.work.nodes.len()];
    for (name, nodes) in &names[at] {
        let others = names.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<(usize, &[u32])> =
            others.filter_map(|(other, names)| Some((other, names.get(name)?.as_slice()))).collect();
        for (place, &node) in nodes.iter().enumerate() {
            let like = corresponding(&others, nodes.len(), place);
            let duration_ps = |of: &(usize, u32)| graph.ranks[of.0].work.nodes[of.1 as usize].duration_ps;
            let gap_ps = |of: &(usize, u32)| gaps[of.0][of.1 as usize];
            let own = &rank.work.nodes[node as usize];
            let change = &mut changes[node as usize];
            if let Some(median_ps) = upper_median(like.iter().map(duration_ps).collect(), i64::cmp) {
                change.duration_ps = median_ps.saturating_sub(own.duration_ps);
            }
            if let Some(median_ps) = upper_median(like.iter().map(gap_ps).collect(), i64::cmp) {
                change.gap_ps = median_ps.saturating_sub(gaps[at][node as usize]);
            }
        }
    }
    let mut of_meetings: FxHashMap<u32, Vec<i64>> =
        rank.calls.iter().map(|call| (call.meeting, Vec::new())).collect();
    for (other, of) in graph.ranks.iter().enumerate().filter(|(other, _)| *other != at) {
        // A call that the trace lacks has no gap of its own.
        for call in of.calls.iter().filter(|call| of.row_of(call.node).is_some()) {
            if let Some(list) = of_meetings.get_mut(&call.meeting) {
                list.push(gaps[other][call.node as usize]);
            }
        }
    }
    for call in rank.calls.iter().filter(|call| rank.row_of(call.node).is_some()) {
        let of = of_meetings.remove(&call.meeting).unwrap_or_default();
        if let Some(median_ps) = upper_median(of, i64::cmp) {
            changes[call.node as usize].gap_ps = median_ps.saturating_sub(gaps[at][call.node as usize]);
        }
    }
    changes
}
