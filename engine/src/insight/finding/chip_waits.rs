//! Engines or queues of a chip that wait for each other: a busy one idles until another one is
//! done. Idle ones wait for the busy ones by their nature, as an engine that only issues transfers,
//! and all wait for the one that computes most.

use rustc_hash::FxHashMap;

use crate::base::{Covered, Result, narrow};
use crate::exec::Work;
use crate::insight::RankGraph;
use crate::insight::edge::RankEdges;
use crate::insight::graph::communicating_classes;
use crate::insight::wait::{Party, WaitKind, WaitRow, first_of_parties, waits};
use crate::insight::walk::JobEdges;
use crate::model::{MachineSide, RankWork, Role};

/// The least time that an engine waits for another one, as a share of the run.
const LEAST_WAIT: f64 = 0.05;
/// The least time at work of the waiting one, as a share of that of the busiest one.
const LEAST_WORK: f64 = 0.5;

/// The waits of a party for another one of its device.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartyWait<'g> {
    pub(super) waiter: &'g str,
    pub(super) awaited: &'g str,
    /// Whether the awaited one moves data.
    pub(super) is_for_transfers: bool,
    /// Position of the rank that waited longest.
    pub(super) rank: u32,
    /// The wait on this rank.
    pub(super) wait_ps: i64,
    /// Number of ranks that waited long.
    pub(super) ranks: u64,
}

/// The time that queues of a rank waited for one of its queues.
#[derive(Debug, Clone, Copy)]
struct QueueWait {
    rank: u32,
    waiter: u32,
    awaited: u32,
    wait_ps: i64,
}

/// The waits of parties for parties of their device that do not communicate, the longest first, one
/// for each awaited party. `length_ps` is the length of the run.
pub(super) fn chip_waits<'g>(
    edges: &JobEdges<'g>,
    length_ps: i64,
    work: Work<'_>,
) -> Result<Vec<PartyWait<'g>>> {
    let graph = edges.graph;
    let of_rank = |at: usize| waits_of_rank(edges, length_ps, narrow(at), work);
    let mut longest: Vec<PartyWait<'g>> = Vec::new();
    for wait in work.gather(graph.ranks.len(), of_rank)?.into_iter().flatten() {
        let work = &graph.ranks[wait.rank as usize].work;
        let (waiter, awaited) = (work.party(wait.waiter), work.party(wait.awaited));
        let known = longest.iter_mut().find(|one| (one.waiter, one.awaited) == (waiter, awaited));
        let is_for_transfers = moves_data(work, wait.awaited);
        let of =
            PartyWait { waiter, awaited, is_for_transfers, rank: wait.rank, wait_ps: wait.wait_ps, ranks: 1 };
        match known {
            Some(known) if known.wait_ps >= of.wait_ps => known.ranks += 1,
            Some(known) => *known = PartyWait { ranks: known.ranks + 1, ..of },
            None => longest.push(of),
        }
    }
    longest.sort_by_key(|wait| (std::cmp::Reverse(wait.wait_ps), wait.rank, wait.waiter, wait.awaited));
    let mut seen: Vec<&str> = Vec::new();
    longest.retain(|wait| {
        let is_new = !seen.contains(&wait.awaited);
        seen.push(wait.awaited);
        is_new
    });
    Ok(longest)
}

/// Whether a queue is one of transfers.
fn moves_data(work: &RankWork, queue: u32) -> bool {
    work.queues[queue as usize].identity.role == Role::Queue
}

/// The long waits of the queues of a rank.
fn waits_of_rank(edges: &JobEdges<'_>, length_ps: i64, at: u32, work: Work<'_>) -> Result<Vec<QueueWait>> {
    let graph = &edges.graph.ranks[at as usize];
    let communicates = communicating_queues(graph);
    let busy_ps = busy_of_queues(graph, &edges.ranks[at as usize]);
    let most_ps = busy_ps.iter().copied().max().unwrap_or(0);
    let busy_ps = |queue: u32| busy_ps[queue as usize];
    let is_busy = |queue: u32| busy_ps(queue) as f64 >= LEAST_WORK * most_ps as f64;
    // An engine that computes most is awaited by its nature. A transfer is not.
    let can_be_late =
        |waiter: u32, awaited: u32| moves_data(&graph.work, awaited) || busy_ps(waiter) >= busy_ps(awaited);
    let mut sums: FxHashMap<(u32, u32), i64> = FxHashMap::default();
    for row in waits(edges, at, work)? {
        if let Some((waiter, awaited)) = queues_of(&row)
            && !communicates[waiter as usize]
            && !communicates[awaited as usize]
            && graph.work.queues[waiter as usize].side == MachineSide::Device
            && is_busy(waiter)
            && can_be_late(waiter, awaited)
        {
            *sums.entry((waiter, awaited)).or_default() += row.wait_ps;
        }
    }
    let wait = |((waiter, awaited), wait_ps)| QueueWait { rank: at, waiter, awaited, wait_ps };
    let is_long = |wait: &QueueWait| wait.wait_ps as f64 >= LEAST_WAIT * (length_ps as f64).max(1.0);
    Ok(sums.into_iter().map(wait).filter(is_long).collect())
}

/// For each queue the time in which its party was at work on its device, in picoseconds.
fn busy_of_queues(graph: &RankGraph, edges: &RankEdges) -> Vec<u64> {
    let parties = first_of_parties(graph);
    let mut busy = vec![Covered::after(i64::MIN); parties.len()];
    let mut worked_from = edges.worked_from();
    for (at, node) in graph.device_work() {
        let class = &graph.classes[node.class as usize];
        if !class.waits {
            let party = parties[class.queue as usize] as usize;
            busy[party].add(worked_from.next_ps(at, node), node.end_ps());
        }
    }
    parties.iter().map(|party| busy[*party as usize].total_ps()).collect()
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
