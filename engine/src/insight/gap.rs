//! Gaps: the recorded time between a piece of work and the last of what it can wait for.

use super::graph::RankGraph;
use crate::model::MachineSide;
use crate::model::rank_work::NO_LAUNCH;

/// For each node of a rank the gap before it in the middle model, in picoseconds. 0 for the first
/// one and for calls of the host.
pub(super) fn gaps_ps(rank: &RankGraph) -> Vec<i64> {
    let nodes = &rank.work.nodes;
    let mut ended_ps = vec![None::<i64>; rank.work.queues.len()];

    let mut ends = rank.ends.iter().map(|&at| at as usize).peekable();
    let mut host_ps = Vec::with_capacity(rank.host.len());
    let mut gaps = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        while let Some(end) = ends.next_if(|end| *end < at && nodes[*end].end_ps() <= node.start_ps) {
            let class = rank.classes[nodes[end].class as usize];
            ended_ps[class.queue as usize] = Some(nodes[end].end_ps());
        }
        let class = rank.classes[node.class as usize];
        if class.side == MachineSide::Host {
            host_ps.push(node.start_ps);
            gaps.push(0);
            continue;
        }
        let mut after_ps = ended_ps[class.queue as usize];
        for (other, _) in rank.awaited(&class) {
            after_ps = after_ps.max(ended_ps[other as usize]);
        }
        let launch = rank.launches[at];
        if launch != NO_LAUNCH {
            let latency_ps = rank.latencies_ps[class.queue as usize];
            after_ps = after_ps.max(Some(host_ps[launch as usize] + latency_ps));
        }
        gaps.push(after_ps.map_or(0, |after_ps| node.start_ps.saturating_sub(after_ps).max(0)));
    }
    gaps
}
