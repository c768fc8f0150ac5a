//! Gaps of the critical path in which a device is idle, and what a run would save without them.

use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::idle_time::common;
use crate::base::{Interval, Result};
use crate::insight::node_change::NodeChange;
use crate::insight::walk::{PathKind, PathPart};
use crate::insight::{Bracket, Scenario};

/// A gap of the critical path, with the time in it in which no device of its rank works.
pub(super) struct IdleGap<'f> {
    pub(super) part: &'f PathPart,
    pub(super) idle_ps: i64,
    /// The longest time without work.
    pub(super) longest: Interval,
}

impl IdleGap<'_> {
    /// The rank and the node before which nothing works.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.part.rank, self.part.node)
    }
}

/// The gaps of the path in which a device is idle and its host makes no call, the longest first.
pub(super) fn host_gaps<'f>(facts: &'f Facts<'_>) -> Vec<IdleGap<'f>> {
    idle_gaps(facts, |part| part.kind == PathKind::Host)
}

/// The operator in which the host was in a gap, if the trace tells it.
pub(super) fn operator(facts: &Facts<'_>, gap: &IdleGap<'_>) -> Option<String> {
    let is_host = gap.part.kind == PathKind::Host;
    is_host.then(|| facts.operator(gap.part.rank, gap.part.node, gap.longest)).flatten()
}

/// The wanted parts of the path in which a device is idle, the longest first.
pub(super) fn idle_gaps<'f>(facts: &'f Facts<'_>, is_wanted: impl Fn(&PathPart) -> bool) -> Vec<IdleGap<'f>> {
    let begin_ps = facts.begin_ps();
    // Nothing is known about the time before the first work of a rank.
    let has_before =
        |part: &&PathPart| facts.edges.ranks[part.rank as usize].starts[part.node as usize].is_some();
    let parts = facts.path.parts.iter().filter(|part| is_wanted(part));
    let parts = parts.filter(has_before).filter(|part| part.end_ps > begin_ps);
    let idle = |part: &'f PathPart| {
        let span = Interval::new(part.start_ps, part.end_ps);
        let idle = facts.idle.within(&facts.edges, part.rank, span);
        let longest = idle.iter().copied().max_by_key(|idle| idle.duration_ps())?;
        let idle_ps = idle.iter().map(|idle| idle.duration_ps()).fold(0, i64::saturating_add);
        Some(IdleGap { part, idle_ps, longest })
    };
    let mut gaps: Vec<IdleGap<'_>> = parts.filter_map(idle).collect();
    gaps.sort_by_key(|gap| (std::cmp::Reverse(gap.idle_ps), gap.part.start_ps));
    gaps
}

/// The longest stretches of all gaps but the first one.
pub(super) fn other_stretches(gaps: &[IdleGap<'_>]) -> Vec<(i64, i64)> {
    /// Stretches that a reader can look at.
    const MOST: usize = 64;
    let others = gaps.iter().skip(1).take(MOST);
    others.map(|gap| (gap.longest.start.0, gap.longest.end.0)).collect()
}

/// The idle time of gaps together.
pub(super) fn idle_ps(gaps: &[IdleGap<'_>]) -> i64 {
    gaps.iter().map(|gap| gap.idle_ps).fold(0, i64::saturating_add)
}

/// The scenario without some gaps.
pub(super) fn scenario_without(facts: &Facts<'_>, gaps: &[IdleGap<'_>]) -> Scenario {
    let mut changes: FxHashMap<usize, Vec<NodeChange>> = FxHashMap::default();
    for IdleGap { part, .. } in gaps {
        let graph = &facts.graph.ranks[part.rank as usize];
        let nodes = graph.work.nodes.len();
        let of_rank = changes.entry(part.rank as usize).or_insert_with(|| vec![NodeChange::default(); nodes]);
        let node =
            if part.kind == PathKind::Gap { graph.held_back(part.node, part.start_ps) } else { part.node };
        let late_ps = graph.work.nodes[node as usize].start_ps.min(part.end_ps).saturating_sub(part.start_ps);
        let change = &mut of_rank[node as usize];
        change.gap_ps = change.gap_ps.saturating_sub(late_ps);
    }
    Scenario::with_changes(changes)
}

/// Time in some gaps in which nothing works on any rank of the job.
fn idle_everywhere_ps(facts: &Facts<'_>, gaps: &[IdleGap<'_>]) -> i64 {
    let idle = |gap: &IdleGap<'_>| {
        let span = Interval::new(gap.part.start_ps, gap.part.end_ps);
        let of_rank = |rank| facts.idle.within(&facts.edges, rank, span);
        let ranks = 0..crate::base::narrow(facts.graph.ranks.len());
        let idle = ranks.map(of_rank).reduce(|a, b| common(&a, &b)).unwrap_or_default();
        idle.iter().map(|idle| idle.duration_ps()).fold(0, i64::saturating_add)
    };
    gaps.iter().map(idle).fold(0, i64::saturating_add)
}

/// The saving without some gaps. In the replay, something beside a gap can take as long as it.
/// While nothing works on any rank of the job, that is not known to be needed, and at most this
/// time is saved.
pub(super) fn saving(facts: &Facts<'_>, gaps: &[IdleGap<'_>]) -> Result<Bracket> {
    let replayed = facts.saving(&scenario_without(facts, gaps))?;
    if facts.coverage.absent_ranks() > 0 {
        return Ok(replayed);
    }
    let idle_ps = idle_everywhere_ps(facts, gaps);
    Ok(match idle_ps > replayed.high_ps {
        true => Bracket::around(replayed.low_ps, idle_ps, idle_ps),
        false => replayed,
    })
}
