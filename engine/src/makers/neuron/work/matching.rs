//! Edges for semaphores: from each wait to the change that fulfilled it, and to its author. Waits
//! do not depend on each other, so many are matched at once.

use rustc_hash::FxHashMap;

use super::history::{SemaphoreHistories, SemaphoreKey, SemaphoreValue};
use super::instruction::{CompletedTransfer, InstructionWork, SemaphoreWait};
use super::order::StartsBefore;
use super::transfer::{ChangeAuthor, EndedNode, SemaphoreWrites};
use crate::base::{Result, narrow};
use crate::exec::{Cancel, Work};
use crate::makers::neuron::schema::METADATA;
use crate::makers::rows::{cell, named};
use crate::model::stated_edge::{NO_SEMAPHORE, NOBODY};
use crate::model::{Certainty, EdgeList, EdgeReason, NodePoint, StatedEdge, WaitCounts};
use crate::segment::{Bytes, Segment};

/// Cycles after which the device's count of the time that an instruction waited begins again.
const COUNTED_CYCLES: f64 = 65_536.0;
/// An instruction starts at least this long after the change that it waited for, in picoseconds.
const DISPATCH_PS: i64 = 70_000;
/// Part of a turn of the count that its rounding can take.
const OF_A_TURN: f64 = 0.05;

/// Duration of a turn of the count of waited time, in picoseconds. `None` if the trace does not
/// state its clock.
pub(super) fn turn_ps<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<f64>> {
    let rows = named(segment, METADATA.name, cancel)?;
    let clock_ghz = rows.first().and_then(|row| cell(row, "pe_clock_others").float());
    Ok(clock_ghz.filter(|clock| *clock > 0.0).map(|clock| COUNTED_CYCLES * 1000.0 / clock))
}

/// All that waits are matched with.
pub(super) struct WaitMatching<'r> {
    pub(super) histories: &'r SemaphoreHistories,
    /// By core.
    pub(super) writes: &'r FxHashMap<u32, SemaphoreWrites>,
    pub(super) operations: &'r FxHashMap<u32, EndedNode>,
    /// Row of the transfer for which each instruction waited, if an arrow says so.
    pub(super) completed: FxHashMap<u32, CompletedTransfer>,
    pub(super) before: StartsBefore,
    pub(super) turn_ps: Option<f64>,
}

/// Waits that were matched.
#[derive(Debug, Default)]
pub(super) struct MatchedWaits {
    /// The edges of those that a change fulfilled.
    pub(super) edges: EdgeList,
    /// The semaphores of edges by their numbers, in the order of their first edges.
    pub(super) semaphores: Vec<SemaphoreKey>,
    pub(super) counts: WaitCounts,
    pub(super) of_cores: FxHashMap<u32, WaitCounts>,
}

impl MatchedWaits {
    fn add(&mut self, core: u32, edge: Option<StatedEdge>) {
        let (is_fulfilled, is_charged) = (edge.is_some(), edge.is_some_and(|edge| edge.from != NOBODY));
        for counts in [&mut self.counts, self.of_cores.entry(core).or_default()] {
            counts.stated += 1;
            counts.fulfilled += u64::from(is_fulfilled);
            counts.charged += u64::from(is_charged);
        }
        self.edges.extend(edge);
    }

    /// Appends the waits that come next.
    fn append(&mut self, mut next: Self, numbers: &mut FxHashMap<SemaphoreKey, u32>) {
        let number = |key: &SemaphoreKey| {
            *numbers.entry(*key).or_insert_with(|| {
                self.semaphores.push(*key);
                narrow(self.semaphores.len() - 1)
            })
        };
        let of_next: Vec<u32> = next.semaphores.iter().map(number).collect();
        next.edges.change(|edge| StatedEdge { semaphore: of_next[edge.semaphore as usize], ..edge });
        self.edges.append(next.edges);
        self.counts = self.counts.plus(next.counts);
        for (core, counts) in next.of_cores {
            let known = self.of_cores.entry(core).or_default();
            *known = known.plus(counts);
        }
    }
}

/// Waits that are matched by one task. Small ranks of tests have several tasks, too.
const WAITS_AT_ONCE: usize = if cfg!(test) { 2 } else { 1 << 16 };

impl WaitMatching<'_> {
    /// Matches all waits, many at once.
    pub(super) fn all<B: Bytes>(&self, of: &InstructionWork<'_, B>, on: Work<'_>) -> Result<MatchedWaits> {
        let chunks: Vec<&[SemaphoreWait]> = of.waits.chunks(WAITS_AT_ONCE).collect();
        let matched = on.gather(chunks.len(), |at| Ok(self.matched(chunks[at], of)))?;
        let (mut all, mut numbers) = (MatchedWaits::default(), FxHashMap::default());
        matched.into_iter().for_each(|next| all.append(next, &mut numbers));
        Ok(all)
    }

    fn matched<B: Bytes>(&self, waits: &[SemaphoreWait], of: &InstructionWork<'_, B>) -> MatchedWaits {
        let (mut matched, mut numbers) = (MatchedWaits::default(), FxHashMap::default());
        for wait in waits {
            let key = SemaphoreKey { core: wait.engine.core, number: wait.number };
            let edge = self.edge(wait, key, of).map(|edge| {
                let number = *numbers.entry(key).or_insert_with(|| {
                    matched.semaphores.push(key);
                    narrow(matched.semaphores.len() - 1)
                });
                StatedEdge { semaphore: number, ..edge }
            });
            matched.add(key.core, edge);
        }
        matched
    }

    /// The edge of a wait, without the number of its semaphore. `None` if no change fulfilled it.
    fn edge<B: Bytes>(
        &self,
        wait: &SemaphoreWait,
        key: SemaphoreKey,
        of: &InstructionWork<'_, B>,
    ) -> Option<StatedEdge> {
        let until_ps = if wait.at == NodePoint::Start { wait.start_ps } else { wait.end_ps };
        let change = self.histories.get(&key)?.fulfilling(wait.test, until_ps)?;
        let (author, reason) = match of.changes.author(key, &change).filter(|of| of.node != wait.node) {
            Some(author) => (Some(author), EdgeReason::Semaphore),
            None => (self.transfer(wait, key, &change, of), EdgeReason::Transfer),
        };
        Some(StatedEdge {
            node: wait.node,
            at: wait.at,
            from: author.map_or(NOBODY, |author| author.node),
            from_point: NodePoint::End,
            reason,
            certainty: author.map_or(Certainty::Assumed, |author| author.certainty),
            semaphore: NO_SEMAPHORE,
            since_ps: self.since_ps(wait, &change),
            met_ps: change.time_ps,
        })
    }

    /// The transfer or the collective operation that made a change.
    fn transfer<B: Bytes>(
        &self,
        wait: &SemaphoreWait,
        key: SemaphoreKey,
        change: &SemaphoreValue,
        of: &InstructionWork<'_, B>,
    ) -> Option<ChangeAuthor> {
        if let Some(completed) = self.completed.get(&wait.node) {
            let node = self.writes.get(&key.core)?.last_packet(completed.row)?;
            return Some(ChangeAuthor { node, certainty: Certainty::Recorded });
        }
        let dynamic = of.dynamic.get(&key.core).map_or(&[][..], Vec::as_slice);
        let started = &dynamic[..dynamic.partition_point(|of| of.start_ps <= change.time_ps)];
        let trigger = started.iter().rev().find(|of| of.semaphore == Some(key.number));
        let operation = trigger.and_then(|of| self.operations.get(&of.node));
        if let Some(operation) = operation.filter(|of| of.end_ps <= change.time_ps) {
            return Some(ChangeAuthor { node: operation.node, certainty: Certainty::Recorded });
        }
        self.writes.get(&key.core)?.author(key.number, change.time_ps, trigger)
    }

    /// Time from which on an instruction waited for a change. The device counts the time up to the
    /// change with 16 bits, and the instruction before tells how often the count began again.
    fn since_ps(&self, wait: &SemaphoreWait, change: &SemaphoreValue) -> Option<i64> {
        let (counted_ps, met_ps) = (wait.counted_ps?, change.time_ps);
        if counted_ps.saturating_add(DISPATCH_PS) <= wait.start_ps.saturating_sub(met_ps) {
            // The instruction was ready after the change, and did not wait for it.
            return Some(met_ps);
        }
        let before_ps = self.before.of(wait.node).unwrap_or(wait.start_ps);
        let most_ps = met_ps.saturating_sub(before_ps).saturating_sub(counted_ps);
        let turn_ps = self.turn_ps.filter(|turn_ps| counted_ps as f64 <= *turn_ps);
        let turned_ps =
            turn_ps.map_or(0.0, |turn_ps| (most_ps as f64 / turn_ps + OF_A_TURN).floor().max(0.0) * turn_ps);
        Some(met_ps.saturating_sub(counted_ps).saturating_sub(turned_ps.round() as i64))
    }

    /// The edges of instructions that waited for a transfer by an arrow alone.
    pub(super) fn completions(&self) -> Vec<StatedEdge> {
        let edge = |(&node, completed): (&u32, &CompletedTransfer)| {
            let from = self.writes.values().find_map(|of| of.last_packet(completed.row))?;
            Some(StatedEdge {
                node,
                at: completed.at,
                from,
                from_point: NodePoint::End,
                reason: EdgeReason::Transfer,
                certainty: Certainty::Recorded,
                semaphore: NO_SEMAPHORE,
                since_ps: None,
                met_ps: completed.end_ps,
            })
        };
        let by_arrow = self.completed.iter().filter(|(_, completed)| !completed.is_stated);
        let mut edges: Vec<StatedEdge> = by_arrow.filter_map(edge).collect();
        edges.sort_unstable_by_key(|edge| edge.node);
        edges
    }
}
