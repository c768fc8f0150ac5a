//! Engines or queues of a chip that wait for each other: a busy one idles until another one is
//! done. Idle ones wait for the busy ones by their nature, as an engine that only issues transfers.
//! The saving is the replay in which nothing waits for the awaited one.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::FindingRule;
use crate::base::{Covered, Result, narrow};
use crate::insight::edge::RankEdges;
use crate::insight::graph::communicating_classes;
use crate::insight::scenario::RankQueue;
use crate::insight::wait::{Party, WaitKind, WaitRow, waits};
use crate::insight::{RankGraph, Scenario};
use crate::model::MachineSide;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::ChipWait,
    id: "chip-wait",
    title: "do engines of a chip wait for each other?",
    advice: "issue the awaited work earlier, split it so that the waiting engine can begin with a part, or give \
             the waiting engine other work first",
    check,
    words,
};

/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.02;
/// The least time that an engine waits for another one, as a share of the run.
const LEAST_WAIT: f64 = 0.05;
/// The least time at work of the waiting one, as a share of that of the busiest one.
const LEAST_WORK: f64 = 0.5;
/// Pairs that are replayed.
const MOST: usize = 3;

/// The time that queues of a rank waited for one of its queues.
#[derive(Debug, Clone, Copy)]
struct QueueWait {
    rank: u32,
    waiter: u32,
    awaited: u32,
    wait_ps: i64,
}

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let has_several = |rank: &RankGraph| {
        rank.work.queues.iter().filter(|queue| queue.side == MachineSide::Device).count() > 1
    };
    if !facts.graph.ranks.iter().any(has_several) {
        return Ok(Judgement::Nothing);
    }
    let mut found = Vec::new();
    for wait in longest_waits(facts)?.into_iter().take(MOST) {
        let graph = &facts.graph.ranks[wait.rank as usize];
        let name = |queue: u32| graph.work.party(queue);
        let queues = 0..narrow(graph.work.queues.len());
        let of_party = queues.filter(|queue| name(*queue) == name(wait.awaited));
        let awaited = of_party.map(|queue| RankQueue { rank: wait.rank, queue }).collect();
        let saving = facts.saving(&Scenario::without_waits_for(awaited))?;
        if saving.middle_ps <= facts.part_ps(LEAST_SAVING) {
            continue;
        }
        let place = Place { track: Some(name(wait.waiter).to_owned()), ..Place::of_rank(graph.rank) };
        let mut finding = facts.finding(RuleName::ChipWait, place, Some(saving));
        finding.evidence = vec![FindingEvidence::about(
            EvidenceMeasure::Waited,
            name(wait.awaited),
            EvidenceValue::Time(wait.wait_ps),
        )];
        found.push(finding);
    }
    Ok(Judgement::of(found, None))
}

/// The waits of queues for queues of their device that do not communicate, the longest first.
fn longest_waits(facts: &Facts<'_>) -> Result<Vec<QueueWait>> {
    let of_rank = |at: usize| waits_of_rank(facts, narrow(at));
    let mut longest = facts.work.gather(facts.graph.ranks.len(), of_rank)?.concat();
    longest.sort_by_key(|wait| (std::cmp::Reverse(wait.wait_ps), wait.rank, wait.waiter, wait.awaited));
    let mut seen: Vec<(u32, u32)> = Vec::new();
    longest.retain(|wait| {
        let is_new = !seen.contains(&(wait.rank, wait.awaited));
        seen.push((wait.rank, wait.awaited));
        is_new
    });
    Ok(longest)
}

/// The long waits of the queues of a rank.
fn waits_of_rank(facts: &Facts<'_>, at: u32) -> Result<Vec<QueueWait>> {
    let graph = &facts.graph.ranks[at as usize];
    let communicates = communicating_queues(graph);
    let busy_ps = busy_of_parties(graph, &facts.edges.ranks[at as usize]);
    let most_ps = busy_ps.values().copied().max().unwrap_or(0);
    let is_busy = |queue: u32| {
        let busy_ps = busy_ps.get(graph.work.party(queue)).copied().unwrap_or(0);
        busy_ps as f64 >= LEAST_WORK * most_ps as f64
    };
    let mut sums: FxHashMap<(u32, u32), i64> = FxHashMap::default();
    for row in waits(&facts.edges, at, facts.work.cancel)? {
        if let Some((waiter, awaited)) = queues_of(&row)
            && !communicates[waiter as usize]
            && !communicates[awaited as usize]
            && graph.work.queues[waiter as usize].side == MachineSide::Device
            && is_busy(waiter)
        {
            *sums.entry((waiter, awaited)).or_default() += row.wait_ps;
        }
    }
    let wait = |((waiter, awaited), wait_ps)| QueueWait { rank: at, waiter, awaited, wait_ps };
    Ok(sums.into_iter().map(wait).filter(|wait| facts.share(wait.wait_ps) >= LEAST_WAIT).collect())
}

/// Time in which each party of a device was at work, in picoseconds.
fn busy_of_parties<'g>(graph: &'g RankGraph, edges: &RankEdges) -> FxHashMap<&'g str, u64> {
    let mut busy: FxHashMap<&str, Covered> = FxHashMap::default();
    for (at, node) in graph.device_work() {
        let class = &graph.classes[node.class as usize];
        if !class.waits {
            let party = busy.entry(graph.work.party(class.queue)).or_insert(Covered::after(i64::MIN));
            party.add(edges.worked_from_ps(at, node), node.end_ps());
        }
    }
    busy.into_iter().map(|(party, time)| (party, time.total_ps())).collect()
}

/// The waiting and the awaited queue of a wait inside a device.
fn queues_of(row: &WaitRow) -> Option<(u32, u32)> {
    let is_of_device = match row.kind {
        WaitKind::Stream | WaitKind::Synchronization => true,
        WaitKind::Semaphore | WaitKind::Transfer | WaitKind::Trigger => true,
        WaitKind::Launch | WaitKind::Operation | WaitKind::Unknown => false,
    };
    if !is_of_device {
        return None;
    }
    match (&row.waiter, &row.awaited) {
        (Some(Party::Queue { queue: waiter, .. }), Some(Party::Queue { queue: awaited, .. })) => {
            Some((*waiter, *awaited))
        }
        _ => None,
    }
}

/// For each queue whether it has calls of operations.
fn communicating_queues(graph: &RankGraph) -> Vec<bool> {
    let mut found = vec![false; graph.work.queues.len()];
    for (class, communicates) in communicating_classes(&graph.work, &graph.calls).into_iter().enumerate() {
        found[graph.classes[class].queue as usize] |= communicates;
    }
    found
}

fn words(of: &Finding) -> String {
    let awaited = of.measured(EvidenceMeasure::Waited).and_then(|one| one.of.clone()).unwrap_or_default();
    let waiter = of.place.track.as_deref().unwrap_or_default();
    let rank = of.place.rank.unwrap_or_default();
    format!("{waiter} of rank {rank} waits {} for {awaited}", of.words(EvidenceMeasure::Waited))
}
