//! Transfers: the packets that belong together, the instruction that triggered them, and the writes
//! of semaphores at their ends.
//!
//! The compiler sets up a static transfer; its row names its packets by block and time, and an
//! arrow leads to it from its instruction. The packets of a transfer that is set up during the run
//! have no row above them: each engine of the queue moves its data and then writes the semaphore,
//! in the order of the instructions.

use rustc_hash::FxHashMap;

use crate::model::stated_edge::NO_SEMAPHORE;
use crate::model::{Certainty, EdgeList, EdgeReason, NodePoint, StatedEdge};

/// Bytes of a packet that writes a semaphore. Larger packets carry data.
pub(super) const SEMAPHORE_WRITE_BYTES: i64 = 4;
/// The longest time from the end of a write to the change of its semaphore, in picoseconds.
const LONGEST_WRITE_PS: i64 = 1_000_000;
/// Times of transfers and packets are rounded apart by less than this, in picoseconds.
const ROUNDING_PS: i64 = 1_000;

/// A packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuePacket {
    pub(super) node: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// Number of its track: of the queue on one engine.
    pub(super) ring: u32,
    pub(super) block: Option<i64>,
    /// Number of the semaphore that the trace states for it.
    pub(super) semaphore: Option<u32>,
    pub(super) writes_semaphore: bool,
}

/// A row of a whole transfer.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransferSpan {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    pub(super) block: Option<i64>,
    /// Its row in the segment.
    pub(super) row: u32,
    /// Position of the instruction that triggered it.
    pub(super) trigger: Option<Trigger>,
}

/// An instruction that triggers a transfer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trigger {
    pub(super) node: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// The semaphore that its transfer changes, if its operands name it.
    pub(super) semaphore: Option<u32>,
}

/// A queue of a physical core on all its engines.
#[derive(Debug, Default)]
pub(super) struct TransferQueue {
    pub(super) core: u32,
    /// Whether its transfers are set up during the run.
    pub(super) is_dynamic: bool,
    pub(super) packets: Vec<QueuePacket>,
    pub(super) transfers: Vec<TransferSpan>,
}

/// A write of a semaphore at the end of a transfer.
#[derive(Debug, Clone, Copy)]
struct SemaphoreWrite {
    end_ps: i64,
    node: u32,
    /// Position of the dynamic instruction that set it up.
    trigger: Option<u32>,
    semaphore: Option<u32>,
}

/// The writes of the semaphores of a core, ascending by end.
#[derive(Debug, Default)]
pub(super) struct SemaphoreWrites {
    writes: Vec<SemaphoreWrite>,
    /// Positions in `writes` by semaphore, and by the instruction that set them up.
    by_semaphore: FxHashMap<u32, Vec<u32>>,
    by_trigger: FxHashMap<u32, Vec<u32>>,
    /// The packet of each transfer that ended last, by the transfer's row.
    last_packets: FxHashMap<u32, EndedNode>,
    /// The same packets, ascending by end.
    ends: Vec<EndedNode>,
}

/// A node by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EndedNode {
    pub(super) end_ps: i64,
    pub(super) node: u32,
}

/// The author of a change of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangeAuthor {
    pub(super) node: u32,
    pub(super) certainty: Certainty,
}

impl TransferQueue {
    /// Edges from the instructions to the first packets that they trigger on each engine. Notes the
    /// writes of semaphores. `dynamic` are the instructions of the core that set up transfers, in
    /// the order of starts; `is_only` says that no other queue of the core is theirs.
    pub(super) fn edges(
        &mut self,
        dynamic: &[Trigger],
        is_only: bool,
        writes: &mut SemaphoreWrites,
        edges: &mut EdgeList,
    ) {
        self.packets.sort_unstable_by_key(|packet| (packet.ring, packet.start_ps, packet.node));
        self.transfers.sort_unstable_by_key(|transfer| transfer.start_ps);
        let of_dynamic = self.is_dynamic && !dynamic.is_empty();
        // For each transfer the packet that ended last.
        let mut last_packets = vec![None; self.transfers.len()];
        for ring in self.packets.chunk_by(|a, b| a.ring == b.ring) {
            let groups: Vec<&[QueuePacket]> =
                ring.chunk_by(|before, _| !(of_dynamic && before.writes_semaphore)).collect();
            let is_counted = is_only && groups.len() == dynamic.len();
            for (number, group) in groups.into_iter().enumerate() {
                if of_dynamic {
                    dynamic_group(group, number, DynamicTriggers { all: dynamic, is_counted }, writes, edges);
                } else {
                    self.static_group(group, &mut last_packets, writes, edges);
                }
            }
        }
        let ended = self.transfers.iter().zip(last_packets);
        ended.for_each(|(transfer, last)| writes.end_of(transfer.row, last));
    }

    /// Takes the packets of an engine, in the order of starts.
    fn static_group(
        &self,
        ring: &[QueuePacket],
        last_packets: &mut [Option<EndedNode>],
        writes: &mut SemaphoreWrites,
        edges: &mut EdgeList,
    ) {
        let (mut last, mut started) = (None, 0);
        for packet in ring {
            let until_ps = packet.start_ps.saturating_add(ROUNDING_PS);
            started += self.transfers[started..].iter().take_while(|of| of.start_ps <= until_ps).count();
            let transfer = self.transfer_of(packet, started);
            if let Some(at) = transfer {
                let end = EndedNode { end_ps: packet.end_ps, node: packet.node };
                last_packets[at] = last_packets[at].max(Some(end));
            }
            if let Some(at) = transfer.filter(|at| last.replace(*at) != Some(*at))
                && let Some(trigger) = self.transfers[at].trigger
            {
                edges.extend(trigger.edge_to(packet.node, packet.start_ps, Certainty::Recorded));
            }
            if packet.writes_semaphore {
                writes.push(packet, None);
            }
        }
    }

    /// Position of the transfer that a packet is of. `started` have started when it starts.
    fn transfer_of(&self, packet: &QueuePacket, started: usize) -> Option<usize> {
        let is_it = |of: &TransferSpan| {
            of.end_ps.saturating_add(ROUNDING_PS) >= packet.end_ps
                && (of.block == packet.block || packet.block.is_none())
        };
        /// Transfers of one queue that are in flight at once.
        const MOST_IN_FLIGHT: usize = 64;
        let first = started.saturating_sub(MOST_IN_FLIGHT);
        (first..started).rev().find(|at| is_it(&self.transfers[*at]))
    }
}

/// Instructions that set up transfers.
#[derive(Debug, Clone, Copy)]
struct DynamicTriggers<'t> {
    all: &'t [Trigger],
    /// Whether the n-th group of packets is that of the n-th instruction.
    is_counted: bool,
}

impl<'t> DynamicTriggers<'t> {
    /// The instruction of the group with this number, whose first packet starts at this time.
    fn of(self, number: usize, start_ps: i64) -> Option<(&'t Trigger, Certainty)> {
        let counted = self.all.get(number).filter(|of| self.is_counted && of.start_ps <= start_ps);
        let last = || self.all[..self.all.partition_point(|of| of.start_ps <= start_ps)].last();
        counted.map(|of| (of, Certainty::Derived)).or_else(|| Some((last()?, Certainty::Assumed)))
    }
}

fn dynamic_group(
    group: &[QueuePacket],
    number: usize,
    triggers: DynamicTriggers<'_>,
    writes: &mut SemaphoreWrites,
    edges: &mut EdgeList,
) {
    let [first, ..] = group else { return };
    let trigger = triggers.of(number, first.start_ps);
    edges.extend(
        trigger.and_then(|(trigger, certainty)| trigger.edge_to(first.node, first.start_ps, certainty)),
    );
    for packet in group.iter().filter(|packet| packet.writes_semaphore) {
        writes.push(packet, trigger.map(|(trigger, _)| trigger));
    }
}

impl Trigger {
    /// The edge to the start of a node. `None` if the node started earlier.
    pub(super) fn edge_to(&self, node: u32, start_ps: i64, certainty: Certainty) -> Option<StatedEdge> {
        let from_point = if self.end_ps <= start_ps { NodePoint::End } else { NodePoint::Start };
        (self.start_ps <= start_ps).then_some(StatedEdge {
            node,
            at: NodePoint::Start,
            from: self.node,
            from_point,
            reason: EdgeReason::Trigger,
            certainty,
            semaphore: NO_SEMAPHORE,
            since_ps: None,
            met_ps: start_ps,
        })
    }
}

impl SemaphoreWrites {
    fn push(&mut self, packet: &QueuePacket, trigger: Option<&Trigger>) {
        self.writes.push(SemaphoreWrite {
            end_ps: packet.end_ps,
            node: packet.node,
            trigger: trigger.map(|trigger| trigger.node),
            semaphore: packet.semaphore.or_else(|| trigger?.semaphore),
        });
    }

    /// Notes the packet with which a transfer ended, by the transfer's row.
    fn end_of(&mut self, transfer: u32, last: Option<EndedNode>) {
        self.last_packets.extend(last.map(|last| (transfer, last)));
    }

    /// The packet with which a transfer ended, by the transfer's row.
    pub(super) fn last_packet(&self, transfer: u32) -> Option<u32> {
        self.last_packets.get(&transfer).map(|last| last.node)
    }

    /// Sorts the writes, once all are there.
    pub(super) fn sort(&mut self) {
        self.ends = self.last_packets.values().copied().collect();
        self.ends.sort_unstable();
        self.writes.sort_unstable_by_key(|write| (write.end_ps, write.node));
        for (at, write) in (0_u32..).zip(&self.writes) {
            if let Some(semaphore) = write.semaphore {
                self.by_semaphore.entry(semaphore).or_default().push(at);
            }
            if let Some(trigger) = write.trigger {
                self.by_trigger.entry(trigger).or_default().push(at);
            }
        }
    }

    /// The transfer that changed a semaphore at a time. `trigger` is the last instruction before
    /// that sets up a transfer for this semaphore.
    pub(super) fn author(
        &self,
        semaphore: u32,
        time_ps: i64,
        trigger: Option<&Trigger>,
    ) -> Option<ChangeAuthor> {
        let last = |of: &[u32]| {
            let known = of.partition_point(|at| self.writes[*at as usize].end_ps <= time_ps);
            known.checked_sub(1).map(|at| &self.writes[of[at] as usize])
        };
        let is_near = |write: &&SemaphoreWrite| time_ps.saturating_sub(write.end_ps) <= LONGEST_WRITE_PS;
        if let Some(trigger) = trigger {
            let write = self.by_trigger.get(&trigger.node).and_then(|of| last(of));
            // Without packets the instruction stands for its transfer.
            let node = write.map_or(trigger.node, |write| write.node);
            return Some(ChangeAuthor { node, certainty: Certainty::Derived });
        }
        if let Some(write) = self.by_semaphore.get(&semaphore).and_then(|of| last(of)).filter(is_near) {
            return Some(ChangeAuthor { node: write.node, certainty: Certainty::Recorded });
        }
        let ended = self.writes.partition_point(|write| write.end_ps <= time_ps);
        let mut unclaimed = self.writes[..ended].iter().rev().take_while(|write| is_near(write));
        let write = unclaimed.find(|write| write.semaphore.is_none()).map(|write| write.node);
        // A trace without writes of semaphores has the ends of transfers.
        let last = || {
            let ended = self.ends.partition_point(|of| of.end_ps <= time_ps);
            let last = self.ends.get(ended.checked_sub(1)?).filter(|_| self.writes.is_empty())?;
            (time_ps.saturating_sub(last.end_ps) <= LONGEST_WRITE_PS).then_some(last.node)
        };
        Some(ChangeAuthor { node: write.or_else(last)?, certainty: Certainty::Assumed })
    }
}
