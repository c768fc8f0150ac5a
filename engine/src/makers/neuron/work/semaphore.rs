//! Edges for semaphores: from each wait to the change that fulfilled it, and to its author.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrow::WorkArrows;
use super::history::{SemaphoreHistories, SemaphoreKey, SemaphoreValue};
use super::instruction::{CompletedTransfer, InstructionWork, SemaphoreWait};
use super::packet::PacketWork;
use super::transfer::{ChangeAuthor, EndedNode, SemaphoreWrites};
use super::{history, order};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::makers::neuron::schema::METADATA;
use crate::makers::rows::{cell, named};
use crate::makers::work_reader::WorkReader;
use crate::model::stated_edge::{NO_SEMAPHORE, NOBODY};
use crate::model::{
    Certainty, EdgeList, EdgeReason, NodePoint, Role, StatedEdge, TrackId, WaitCounts, WorkQueue,
    WorkSemaphore,
};
use crate::segment::{Bytes, Segment};

/// Cycles after which the device's count of the time that an instruction waited begins again.
const COUNTED_CYCLES: f64 = 65_536.0;
/// An instruction starts at least this long after the change that it waited for, in picoseconds.
const DISPATCH_PS: i64 = 70_000;
/// Part of a turn of the count that its rounding can take.
const OF_A_TURN: f64 = 0.05;
/// Share of a core's waits that must have their change for the recording to state all of them,
/// as one of so many.
const ONE_IN: u64 = 100;

/// All that was read about a rank.
pub(super) struct WorkParts<'p, 's, B> {
    pub(super) segment: &'s Segment<B>,
    pub(super) cancel: Cancel<'s>,
    pub(super) arrows: &'p WorkArrows,
    pub(super) instructions: InstructionWork<'s, B>,
    pub(super) packets: PacketWork<'s, B>,
    /// Collective operations by the instructions that triggered them.
    pub(super) operations: FxHashMap<u32, EndedNode>,
}

/// Adds the edges of a rank: the order of engines, triggers of transfers, semaphores.
pub(super) fn add_edges<'s, B: Bytes>(
    work: &mut WorkReader<'s, B>,
    parts: WorkParts<'_, 's, B>,
) -> Result<()> {
    let WorkParts { segment, cancel, arrows, mut instructions, mut packets, operations } = parts;
    let mut edges = std::mem::take(&mut work.work.edges);
    let starts = instructions.waits.iter().filter(|wait| wait.at == NodePoint::Start);
    let mut before: FxHashMap<u32, i64> = starts.map(|wait| (wait.node, wait.start_ps)).collect();
    for of in instructions.order.values_mut() {
        cancel.check()?;
        before = order::add_edges(of, before, &mut edges);
    }
    let (writes, triggered) = transfers(&mut instructions, &mut packets, &mut edges);
    instructions.changes.sort();
    let completed = instructions.completed(arrows);
    let mut matching = WaitMatching {
        histories: &history::read(segment)?,
        writes: &writes,
        operations: &operations,
        completed,
        before,
        turn_ps: turn_ps(segment, cancel)?,
        semaphores: FxHashMap::default(),
        names: Vec::new(),
        of_cores: FxHashMap::default(),
    };
    let mut counts = WaitCounts::default();
    for wait in &instructions.waits {
        let edge = matching.edge(wait, &instructions);
        counts.stated += 1;
        counts.fulfilled += u64::from(edge.is_some());
        counts.charged += u64::from(edge.is_some_and(|edge| edge.from != NOBODY));
        edges.extend(edge);
    }
    edges.extend(matching.completions());
    let queues = &work.work.queues;
    let is_stated = |queue: &WorkQueue| {
        let spec = &segment.footer().tracks[queue.track.0 as usize].spec;
        let core = queue.identity.core.unwrap_or(0);
        match queue.identity.role {
            Role::Engine(_) => matching.states_all(core),
            Role::Queue => {
                matching.states_all(core) && triggered.contains(&spec.parent.unwrap_or(queue.track))
            }
            _ => false,
        }
    };
    work.work.is_stated = queues.iter().map(is_stated).collect();
    work.work.edges = edges;
    work.work.semaphores = matching.names;
    work.work.waits = counts;
    Ok(())
}

/// Adds the edges of all queues. Returns the writes of semaphores by core, and the queues whose
/// triggers are known.
fn transfers<B: Bytes>(
    instructions: &mut InstructionWork<'_, B>,
    packets: &mut PacketWork<'_, B>,
    edges: &mut EdgeList,
) -> (FxHashMap<u32, SemaphoreWrites>, FxHashSet<TrackId>) {
    for of in instructions.dynamic.values_mut() {
        of.sort_unstable_by_key(|trigger| (trigger.start_ps, trigger.node));
    }
    let mut dynamic_queues: FxHashMap<u32, u32> = FxHashMap::default();
    for queue in packets.queues.values().filter(|queue| queue.is_dynamic) {
        *dynamic_queues.entry(queue.core).or_default() += 1;
    }
    let mut groups: Vec<TrackId> = packets.queues.keys().copied().collect();
    groups.sort_unstable_by_key(|track| track.0);
    let (mut writes, mut triggered) = (FxHashMap::default(), FxHashSet::default());
    for group in groups {
        let Some(queue) = packets.queues.get_mut(&group) else { continue };
        let known = edges.len();
        let dynamic = instructions.dynamic.get(&queue.core).map_or(&[][..], Vec::as_slice);
        let is_only = dynamic_queues.get(&queue.core) == Some(&1);
        let of_core: &mut SemaphoreWrites = writes.entry(queue.core).or_default();
        queue.edges(dynamic, is_only, of_core, edges);
        if edges.len() > known {
            triggered.insert(group);
        }
    }
    writes.values_mut().for_each(SemaphoreWrites::sort);
    (writes, triggered)
}

/// Duration of a turn of the count of waited time, in picoseconds. `None` if the trace does not
/// state its clock.
fn turn_ps<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<f64>> {
    let rows = named(segment, METADATA.name, cancel)?;
    let clock_ghz = rows.first().and_then(|row| cell(row, "pe_clock_others").float());
    Ok(clock_ghz.filter(|clock| *clock > 0.0).map(|clock| COUNTED_CYCLES * 1000.0 / clock))
}

/// The matching of waits while it runs.
struct WaitMatching<'r> {
    histories: &'r SemaphoreHistories,
    /// By core.
    writes: &'r FxHashMap<u32, SemaphoreWrites>,
    operations: &'r FxHashMap<u32, EndedNode>,
    /// Row of the transfer for which each instruction waited, if an arrow says so.
    completed: FxHashMap<u32, CompletedTransfer>,
    /// Start of the instruction before each one that waits.
    before: FxHashMap<u32, i64>,
    turn_ps: Option<f64>,
    /// Positions in `names`.
    semaphores: FxHashMap<SemaphoreKey, u32>,
    names: Vec<WorkSemaphore>,
    of_cores: FxHashMap<u32, WaitCounts>,
}

impl WaitMatching<'_> {
    /// The edge of a wait. `None` if no change fulfilled it.
    fn edge<B>(&mut self, wait: &SemaphoreWait, of: &InstructionWork<'_, B>) -> Option<StatedEdge> {
        let key = SemaphoreKey { core: wait.engine.core, number: wait.number };
        let until_ps = if wait.at == NodePoint::Start { wait.start_ps } else { wait.end_ps };
        let counts = self.of_cores.entry(key.core).or_default();
        counts.stated += 1;
        let history = self.histories.get(&key)?;
        let change = history.fulfilling(wait.test, until_ps)?;
        counts.fulfilled += 1;
        let (author, reason) = match of.changes.author(key, &change).filter(|of| of.node != wait.node) {
            Some(author) => (Some(author), EdgeReason::Semaphore),
            None => (self.transfer(wait, key, &change, of), EdgeReason::Transfer),
        };
        let semaphore = *self.semaphores.entry(key).or_insert_with(|| {
            self.names.push(WorkSemaphore { number: key.number, name: history.name.clone() });
            narrow(self.names.len() - 1)
        });
        Some(StatedEdge {
            node: wait.node,
            at: wait.at,
            from: author.map_or(NOBODY, |author| author.node),
            from_point: NodePoint::End,
            reason,
            certainty: author.map_or(Certainty::Assumed, |author| author.certainty),
            semaphore,
            since_ps: self.since_ps(wait, &change),
            met_ps: change.time_ps,
        })
    }

    /// The transfer or the collective operation that made a change.
    fn transfer<B>(
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
        let before_ps = self.before.get(&wait.node).copied().unwrap_or(wait.start_ps);
        let most_ps = met_ps.saturating_sub(before_ps).saturating_sub(counted_ps);
        let turn_ps = self.turn_ps.filter(|turn_ps| counted_ps as f64 <= *turn_ps);
        let turned_ps =
            turn_ps.map_or(0.0, |turn_ps| (most_ps as f64 / turn_ps + OF_A_TURN).floor().max(0.0) * turn_ps);
        Some(met_ps.saturating_sub(counted_ps).saturating_sub(turned_ps.round() as i64))
    }

    /// The edges of instructions that waited for a transfer by an arrow alone.
    fn completions(&self) -> Vec<StatedEdge> {
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

    /// Whether the recording has the changes for which the instructions of a core waited.
    fn states_all(&self, core: u32) -> bool {
        let WaitCounts { stated, fulfilled, .. } = self.of_cores.get(&core).copied().unwrap_or_default();
        let has_changes = self.histories.keys().any(|key| key.core == core);
        has_changes && stated.saturating_sub(fulfilled) * ONE_IN <= stated
    }
}
