//! Names of work.

use rustc_hash::FxHashMap;

use super::graph::JobGraph;

/// The names of work of devices, without the calls of operations, by the time that they take over
/// all ranks, the longest first.
pub(super) fn longest_names(graph: &JobGraph) -> Vec<&str> {
    let mut times: FxHashMap<&str, i64> = FxHashMap::default();
    for rank in &graph.ranks {
        for (_, node) in rank.device_work() {
            let time_ps = times.entry(rank.name(node)).or_default();
            *time_ps = time_ps.saturating_add(node.duration_ps);
        }
    }
    let mut names: Vec<(&str, i64)> = times.into_iter().collect();
    names.sort_unstable_by_key(|(name, time_ps)| (std::cmp::Reverse(*time_ps), *name));
    names.into_iter().map(|(name, _)| name).collect()
}
