//! Packets and transfers of DMA queues.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrow::WorkArrows;
use super::instruction::InstructionWork;
use super::transfer::{QueuePacket, SEMAPHORE_WRITE_BYTES, TransferQueue, TransferSpan};
use crate::base::Result;
use crate::makers::call_columns::{CallFields, FieldColumns};
use crate::makers::neuron::schema::DMA;
use crate::makers::work_reader::{EndedSlice, WorkReader};
use crate::model::{MachineSide, NameId, TableId, TrackId};
use crate::segment::{Bytes, Segment};

const FIELDS: [&str; 5] = ["aggregated", "transfer_size", "block_id", "semaphore_id", "queue_type"];
const AGGREGATED: usize = 0;
const SIZE: usize = 1;
const BLOCK: usize = 2;
const SEMAPHORE: usize = 3;
const TYPE: usize = 4;

/// Facts about a text of the table.
#[derive(Debug, Clone, Copy)]
struct TextFacts {
    is_yes: bool,
    is_dynamic: bool,
    semaphore: Option<u32>,
}

/// A row of a whole transfer.
#[derive(Debug, Clone, Copy)]
struct WholeTransfer {
    group: TrackId,
    track: TrackId,
    slice: EndedSlice,
    semaphore: Option<u32>,
}

/// All queues of a rank.
pub(super) struct PacketWork<'s, B> {
    segment: &'s Segment<B>,
    fields: FieldColumns<5>,
    texts: FxHashMap<u32, TextFacts>,
    /// By the track above the tracks of the queue's engines.
    pub(super) queues: FxHashMap<TrackId, TransferQueue>,
    /// Whole transfers, which are nodes themselves if their queue has no packets.
    whole: Vec<WholeTransfer>,
}

impl<'s, B: Bytes> PacketWork<'s, B> {
    pub(super) fn new(segment: &'s Segment<B>) -> Self {
        let table = segment.table(DMA.name).unwrap_or(TableId(0));
        Self {
            segment,
            fields: FieldColumns::of(segment, table, FIELDS),
            texts: FxHashMap::default(),
            queues: FxHashMap::default(),
            whole: Vec::new(),
        }
    }

    /// Reads a track of packets or of whole transfers.
    pub(super) fn track(
        &mut self,
        track: TrackId,
        table: TableId,
        work: &mut WorkReader<'s, B>,
    ) -> Result<()> {
        let spec = &self.segment.footer().tracks[track.0 as usize].spec;
        let group = spec.parent.unwrap_or(track);
        for block in self.segment.blocks_of(track)? {
            let fields = self.fields.block(self.segment, block)?;
            for slice in work.slices(table, block)? {
                let semaphore = self.text(&fields, SEMAPHORE, slice.at)?.and_then(|of| of.semaphore);
                let is_dynamic = self.text(&fields, TYPE, slice.at)?.is_some_and(|of| of.is_dynamic);
                let is_whole = self.text(&fields, AGGREGATED, slice.at)?.is_some_and(|of| of.is_yes);
                let queue = self.queues.entry(group).or_default();
                queue.core = spec.identity.core.unwrap_or(0);
                queue.is_dynamic |= is_dynamic;
                let EndedSlice { start_ps, end_ps, row, .. } = slice;
                let block = fields.int(BLOCK, slice.at);
                if is_whole {
                    queue.transfers.push(TransferSpan { start_ps, end_ps, block, row, trigger: None });
                    self.whole.push(WholeTransfer { group, track, slice, semaphore });
                    continue;
                }
                let size = fields.int(SIZE, slice.at);
                queue.packets.push(QueuePacket {
                    node: work.add(slice, track, MachineSide::Device),
                    start_ps,
                    end_ps,
                    ring: track.0,
                    block,
                    semaphore,
                    writes_semaphore: size.is_some_and(|size| size <= SEMAPHORE_WRITE_BYTES),
                });
            }
        }
        Ok(())
    }

    /// Counts all nodes so far from this one on, and finds the instructions that trigger transfers.
    pub(super) fn follow(
        &mut self,
        first_node: u32,
        arrows: &WorkArrows,
        instructions: &InstructionWork<'s, B>,
    ) {
        for queue in self.queues.values_mut() {
            queue.packets.iter_mut().for_each(|packet| packet.node += first_node);
            for transfer in &mut queue.transfers {
                let trigger = arrows.triggers.get(&transfer.row);
                transfer.trigger =
                    trigger.and_then(|row| instructions.by_row.get(row)).map(|linked| linked.of);
            }
        }
    }

    /// Makes nodes of the transfers of queues without packets, once all tracks are read.
    pub(super) fn finish(&mut self, work: &mut WorkReader<'s, B>) {
        let has_packets: FxHashSet<TrackId> =
            self.queues.iter().filter(|(_, queue)| !queue.packets.is_empty()).map(|(of, _)| *of).collect();
        for WholeTransfer { group, track, slice, semaphore } in std::mem::take(&mut self.whole) {
            if has_packets.contains(&group) {
                continue;
            }
            let packet = QueuePacket {
                node: work.add(slice, track, MachineSide::Device),
                start_ps: slice.start_ps,
                end_ps: slice.end_ps,
                ring: track.0,
                block: None,
                semaphore,
                writes_semaphore: true,
            };
            self.queues.entry(group).or_default().packets.push(packet);
        }
    }

    /// Facts about a text field of a row. The texts repeat.
    fn text(&mut self, fields: &CallFields<5>, field: usize, at: usize) -> Result<Option<TextFacts>> {
        let Some(code) = fields.code(field, at) else { return Ok(None) };
        if let Some(known) = self.texts.get(&code) {
            return Ok(Some(*known));
        }
        let text = self.segment.text(NameId(code))?;
        let digits = text.trim_start_matches("S[");
        let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
        let facts = TextFacts {
            is_yes: text == "yes",
            is_dynamic: text.ends_with("dynamic"),
            semaphore: digits[..end].parse().ok(),
        };
        self.texts.insert(code, facts);
        Ok(Some(facts))
    }
}
