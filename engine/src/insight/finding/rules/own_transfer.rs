//! The part of operations that each rank moves itself. Devices with cores for collective
//! communication record it, and an operation lasts as long as the slowest of these parts.

use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use crate::base::Covered;
use crate::insight::RankGraph;
use crate::model::WorkNode;

/// The parts of some ranks, fewer than half of all, are slow if they take so many times as long as
/// that of any other rank.
const SLOW_PART: f64 = 1.5;

/// The steps of a rank that moved its own part of an operation.
#[derive(Debug, Clone)]
struct OwnPart {
    /// Position of the rank.
    rank: u32,
    own_ps: i64,
    /// Positions of the nodes.
    steps: Vec<u32>,
}

/// An operation that a rank made longer.
#[derive(Debug, Clone)]
pub(super) struct SlowPart {
    /// Position of the operation in the report.
    pub(super) operation: u32,
    /// Time in which the rank moved its part, in picoseconds.
    pub(super) own_ps: i64,
    /// Time by which this is longer than that of any rank that is not slow, in picoseconds.
    pub(super) longer_ps: i64,
    /// Time by which it is longer than that of any other rank, in picoseconds: 0 if another one is
    /// as slow.
    pub(super) alone_ps: i64,
    /// Positions of the nodes of the rank's part.
    pub(super) steps: Vec<u32>,
}

/// For each rank, by its position, the operations that it made longer. Only ranks with more than
/// half of their operations.
pub(super) fn slow_parts(facts: &Facts<'_>) -> Vec<(u32, Vec<SlowPart>)> {
    let mut of_operations: Vec<Vec<OwnPart>> = vec![Vec::new(); facts.report.operations.len()];
    for (rank, graph) in (0_u32..).zip(&facts.graph.ranks) {
        add_parts(facts, rank, graph, &mut of_operations);
    }
    let mut slow: FxHashMap<u32, Vec<SlowPart>> = FxHashMap::default();
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    for (operation, parts) in (0_u32..).zip(&mut of_operations) {
        parts.sort_by_key(|part| std::cmp::Reverse(part.own_ps));
        parts.iter().for_each(|part| *known.entry(part.rank).or_default() += 1);
        let Some(count) = slow_count(parts) else { continue };
        let (next_ps, sound_ps) = (parts[1].own_ps, parts[count].own_ps);
        for (place, part) in parts[..count].iter_mut().enumerate() {
            let alone_ps = if place == 0 { part.own_ps.saturating_sub(next_ps) } else { 0 };
            let longer_ps = part.own_ps.saturating_sub(sound_ps);
            let steps = std::mem::take(&mut part.steps);
            let slow = slow.entry(part.rank).or_default();
            slow.push(SlowPart { operation, own_ps: part.own_ps, longer_ps, alone_ps, steps });
        }
    }
    let mut slow: Vec<(u32, Vec<SlowPart>)> =
        slow.into_iter().filter(|(rank, of)| of.len() * 2 > known[rank]).collect();
    slow.sort_by_key(|(rank, _)| *rank);
    slow
}

/// Number of slow parts, of parts that descend. `None` if none is.
fn slow_count(parts: &[OwnPart]) -> Option<usize> {
    let most = (parts.len().saturating_sub(1) / 2).max(1);
    let pairs = parts.windows(2).take(most).enumerate();
    let slow = pairs.filter(|(_, pair)| pair[0].own_ps as f64 >= SLOW_PART * pair[1].own_ps as f64);
    slow.map(|(at, _)| at + 1).next_back()
}

/// Adds the parts of a rank. Operations that run at the same time are left out: nobody knows whose
/// steps the cores execute.
fn add_parts(facts: &Facts<'_>, rank: u32, graph: &RankGraph, of_operations: &mut [Vec<OwnPart>]) {
    let is_step = |(_, node): &(u32, &WorkNode)| {
        graph.is_of_core(node.class) && !graph.classes[node.class as usize].waits
    };
    let mut steps = (0_u32..).zip(&graph.work.nodes).filter(is_step).peekable();
    let mut ended_ps = i64::MIN;
    let calls = graph.calls.iter().filter(|call| !facts.graph.is_step(call));
    let mut calls = calls.peekable();
    while let Some(call) = calls.next() {
        let node = &graph.work.nodes[call.node as usize];
        let next = calls.peek().map(|next| graph.work.nodes[next.node as usize].start_ps);
        let is_alone = node.start_ps >= ended_ps && next.is_none_or(|next_ps| next_ps >= node.end_ps());
        ended_ps = ended_ps.max(node.end_ps());
        let last_ps = facts.report.operations[call.meeting as usize].span.last_ps.max(node.start_ps);
        while steps.next_if(|(_, step)| step.end_ps() <= last_ps).is_some() {}
        let mut own = Covered::after(last_ps);
        let mut own_steps = Vec::new();
        while let Some((at, step)) = steps.next_if(|(_, step)| step.start_ps < node.end_ps()) {
            own.add(step.start_ps, step.end_ps().min(node.end_ps()));
            own_steps.push(at);
        }
        if is_alone && own.total_ps() > 0 {
            let own_ps = i64::try_from(own.total_ps()).unwrap_or(i64::MAX);
            of_operations[call.meeting as usize].push(OwnPart { rank, own_ps, steps: own_steps });
        }
    }
}
