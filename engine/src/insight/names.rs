//! Names of work.

use rustc_hash::FxHashMap;

use super::graph::JobGraph;
use crate::model::MachineSide;

/// The names of work of devices, without the calls of operations, by the time that they take over
/// all ranks, the longest first.
pub(super) fn longest_names(graph: &JobGraph) -> Vec<&str> {
    let mut times: FxHashMap<&str, i64> = FxHashMap::default();
    for rank in &graph.ranks {
        let mut calls = rank.calls.iter().map(|call| call.node).peekable();
        for (at, node) in (0_u32..).zip(&rank.work.nodes) {
            let class = rank.work.classes[node.class as usize];
            let is_call = calls.next_if_eq(&at).is_some();
            if is_call || rank.work.queue_of(node).side != MachineSide::Device {
                continue;
            }
            let time_ps = times.entry(rank.work.name(class.name).unwrap_or_default()).or_default();
            *time_ps = time_ps.saturating_add(node.duration_ps);
        }
    }
    let mut names: Vec<(&str, i64)> = times.into_iter().collect();
    names.sort_unstable_by_key(|(name, time_ps)| (std::cmp::Reverse(*time_ps), *name));
    names.into_iter().map(|(name, _)| name).collect()
}
