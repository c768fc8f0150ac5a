//! The stated edges of a rank: the order of engines, triggers of transfers, semaphores.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrow::WorkArrows;
use super::history::{SemaphoreHistories, SemaphoreKey};
use super::instruction::InstructionWork;
use super::matching::{WaitMatching, turn_ps};
use super::order::StartsBefore;
use super::packet::PacketWork;
use super::transfer::{EndedNode, SemaphoreWrites, TransferQueue, Trigger};
use super::{history, order};
use crate::base::Result;
use crate::exec::Work;
use crate::makers::work_reader::WorkReader;
use crate::model::{EdgeList, Role, TrackId, WaitCounts, WorkQueue, WorkSemaphore};
use crate::segment::{Bytes, Segment};

/// Share of a core's waits that must have their change for the recording to state all of them,
/// as one of so many.
const ONE_IN: u64 = 100;

/// All that was read about a rank.
pub(super) struct WorkParts<'p, 's, B> {
    pub(super) segment: &'s Segment<B>,
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
    on: Work<'_>,
) -> Result<()> {
    let WorkParts { segment, arrows, mut instructions, mut packets, operations } = parts;
    let mut edges = std::mem::take(&mut work.work.edges);
    let before = order_and_transfers(segment, &mut instructions, &mut packets, on)?;
    edges.append(before.edges);
    let matching = WaitMatching {
        histories: &before.histories,
        writes: &before.transfers.writes,
        operations: &operations,
        completed: instructions.completed(arrows),
        before: before.starts,
        turn_ps: turn_ps(segment, on.cancel)?,
    };
    let matched = matching.all(&instructions, on)?;
    edges.append(matched.edges);
    edges.extend(matching.completions());
    let states_all = |core: u32| {
        let WaitCounts { stated, fulfilled, .. } = matched.of_cores.get(&core).copied().unwrap_or_default();
        let has_changes = before.histories.keys().any(|key| key.core == core);
        has_changes && stated.saturating_sub(fulfilled) * ONE_IN <= stated
    };
    let triggered = &before.transfers.triggered;
    let is_stated = |queue: &WorkQueue| {
        let spec = &segment.footer().tracks[queue.track.0 as usize].spec;
        let core = queue.identity.core.unwrap_or(0);
        match queue.identity.role {
            Role::Engine(_) => states_all(core),
            Role::Queue => states_all(core) && triggered.contains(&spec.parent.unwrap_or(queue.track)),
            _ => false,
        }
    };
    work.work.is_stated = work.work.queues.iter().map(is_stated).collect();
    work.work.edges = edges;
    let name = |key: &SemaphoreKey| before.histories.get(key).map(|of| of.name.clone()).unwrap_or_default();
    let semaphore = |key: &SemaphoreKey| WorkSemaphore { number: key.number, name: name(key) };
    work.work.semaphores = matched.semaphores.iter().map(semaphore).collect();
    work.work.waits = matched.counts;
    Ok(())
}

/// Facts that waits are matched with.
struct BeforeMatching {
    /// Those of orders, then those of transfers.
    edges: EdgeList,
    starts: StartsBefore,
    transfers: KnownTransfers,
    histories: SemaphoreHistories,
}

/// Finds the edges of orders and of transfers, one beside the other, and reads the changes of
/// semaphores.
fn order_and_transfers<B: Bytes>(
    segment: &Segment<B>,
    instructions: &mut InstructionWork<'_, B>,
    packets: &mut PacketWork<'_, B>,
    on: Work<'_>,
) -> Result<BeforeMatching> {
    let InstructionWork { order, dynamic, changes, .. } = instructions;
    let (mut edges, mut starts) = (EdgeList::default(), StartsBefore::default());
    let mut of_transfers = None;
    on.exec.beside(
        &mut || {
            let mut edges = EdgeList::default();
            let transfers = transfers(dynamic, &mut packets.queues, &mut edges);
            of_transfers = Some(history::read(segment).map(|histories| (edges, transfers, histories)));
        },
        &mut || {
            order.values_mut().for_each(|of| order::add_edges(of, &mut starts, &mut edges));
            changes.sort();
        },
    );
    on.cancel.check()?;
    let (of_transfers, transfers, histories) = of_transfers.expect("both tasks are run")?;
    edges.append(of_transfers);
    Ok(BeforeMatching { edges, starts, transfers, histories })
}

/// The transfers of all queues.
struct KnownTransfers {
    /// The writes of semaphores by core.
    writes: FxHashMap<u32, SemaphoreWrites>,
    /// The queues whose triggers are known.
    triggered: FxHashSet<TrackId>,
}

/// Adds the edges of all queues. `dynamic` has the instructions of cores that set up transfers.
fn transfers(
    dynamic: &mut FxHashMap<u32, Vec<Trigger>>,
    queues: &mut FxHashMap<TrackId, TransferQueue>,
    edges: &mut EdgeList,
) -> KnownTransfers {
    for of in dynamic.values_mut() {
        of.sort_unstable_by_key(|trigger| (trigger.start_ps, trigger.node));
    }
    let mut dynamic_queues: FxHashMap<u32, u32> = FxHashMap::default();
    for queue in queues.values().filter(|queue| queue.is_dynamic) {
        *dynamic_queues.entry(queue.core).or_default() += 1;
    }
    let mut groups: Vec<TrackId> = queues.keys().copied().collect();
    groups.sort_unstable_by_key(|track| track.0);
    let (mut writes, mut triggered) = (FxHashMap::default(), FxHashSet::default());
    for group in groups {
        let Some(queue) = queues.get_mut(&group) else { continue };
        let known = edges.len();
        let dynamic = dynamic.get(&queue.core).map_or(&[][..], Vec::as_slice);
        let is_only = dynamic_queues.get(&queue.core) == Some(&1);
        let of_core: &mut SemaphoreWrites = writes.entry(queue.core).or_default();
        queue.edges(dynamic, is_only, of_core, edges);
        if edges.len() > known {
            triggered.insert(group);
        }
    }
    writes.values_mut().for_each(SemaphoreWrites::sort);
    KnownTransfers { writes, triggered }
}
