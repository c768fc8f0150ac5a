//! Rows of table `dma`: packets, and the transfers that they add up to.

use std::cmp::Reverse;

use nprof_engine::base::clamped;
use nprof_engine::model::{
    FieldId, Filled, NameId, NumberBits, SliceForm, SliceKey, SliceRecord, TemplateId, TemplateValue,
    TrackId, Value,
};
use nprof_engine::spill::{Scratch, Sorted, Space};
use rustc_hash::FxHashMap;

use super::clock::DMA_ENGINES;
use super::core::{CoreProgram, NtffOutput};
use super::landmark::TriggerStart;
use super::lookahead;
use super::packet::{Packet, PacketReader, transfer_rate};
use super::queues::{Filling, QUEUES, QueueRing, Queues};
use super::throughput::Throughput;
use super::transfer::{Adder, BlockLaunch, StaticTransfer, TransferRow, Transfers};
use crate::error::Error;
use nprof_engine::makers::neuron::schema::{Dma, Queue, dma_name};

/// Track and subgroup of a ring's rows.
#[derive(Debug, Clone, Copy)]
struct RingHandles {
    track: TrackId,
    subgroup: NameId,
}

/// Writes the rows of packets and transfers, both ordered by time.
pub struct DmaWriter<'c, 'a> {
    core: &'c CoreProgram<'a>,
    queues: Queues<'a>,
    writer: DmaHandles,
    /// Rings of packets.
    rings: Vec<Option<RingHandles>>,
    /// Templates of packets by ring: outside blocks, and in a block.
    templates: Vec<[Option<TemplateId>; 2]>,
    /// Rings of transfers, by the ring of the first packet.
    transfer_rings: Vec<Option<RingHandles>>,
    /// Templates of transfers: by track, by engine, and by whether the trigger is known.
    transfer_templates: FxHashMap<(TrackId, u8, bool), Option<TemplateId>>,
    /// Number of rows in table `dma`.
    pub rows: u64,
}

/// Records of a packet that has a row: its start and its end. The record that the queue moved on is
/// not always there.
const PACKET_RECORDS: u64 = 2;

impl<'c, 'a> DmaWriter<'c, 'a> {
    /// A writer for a core.
    pub fn new(core: &'c CoreProgram<'a>, out: &mut NtffOutput<'_>) -> Result<Self, Error> {
        Ok(Self {
            core,
            queues: Queues::new(core),
            writer: DmaHandles::new(out)?,
            rings: vec![None; DMA_ENGINES * QUEUES],
            templates: vec![[None; 2]; DMA_ENGINES * QUEUES],
            transfer_rings: vec![None; DMA_ENGINES * QUEUES],
            transfer_templates: FxHashMap::default(),
            rows: 0,
        })
    }

    /// Writes all packets and the data rate, and adds the packets up to transfers.
    pub fn packets<'s>(
        &mut self,
        packets: &mut PacketReader<'_, '_, 's>,
        space: Space<'s>,
        out: &mut NtffOutput<'_>,
    ) -> Result<Sorted<StaticTransfer, &'s dyn Scratch>, Error> {
        let mut adder = Adder::new(space);
        let mut throughput = None;
        let mut next = || packets.next_packet();
        lookahead::for_each(space.work.exec, &mut next, &mut |packet: &Packet| {
            if let Some(launch) = self.packet(packet, out)? {
                adder.add(launch, packet)?;
            }
            let throughput = match &mut throughput {
                Some(throughput) => throughput,
                None => throughput.insert(Throughput::new(self.core, out)?),
            };
            throughput.packet(packet, out)?;
            out.row_written(PACKET_RECORDS);
            Ok(())
        })?;
        throughput.map_or(Ok(()), |throughput| throughput.finish(out))?;
        adder.finish()
    }

    /// Writes a packet. Returns the launch that it belongs to.
    fn packet(&mut self, packet: &Packet, out: &mut NtffOutput<'_>) -> Result<Option<BlockLaunch>, Error> {
        let Packet { start_ps, end_ps: Reverse(end_ps), engine, queue, number, size_bytes, crc } = *packet;
        let info = self.queues.ring(engine, queue);
        let filling = info.map_or(Filling::Instruction, |info| info.filling);
        let slot = &mut self.rings[usize::from(engine) * QUEUES + usize::from(queue)];
        let ring = match *slot {
            Some(ring) => ring,
            None => {
                // neuron-profile tells the other queues by number: their names are in the table
                // of queues.
                let is_named = filling == Filling::Static;
                let name = info.filter(|_| is_named).map_or("", |info| &info.name);
                let subgroup =
                    Queue { name, number: Some(u32::from(queue)) }.subgroup(Some(u32::from(engine)));
                let track = out.packets(self.core, name, queue, engine)?;
                *slot.insert(RingHandles { track, subgroup: out.sink.name(&subgroup)? })
            }
        };
        let launch = info.and_then(|info| block_of(info, number));
        let launch = launch.map(|(block, launch)| BlockLaunch { queue, block, launch });
        let row = DmaRow {
            ring,
            start_ps,
            end_ps,
            size_bytes: u64::from(size_bytes),
            engine,
            queue,
            filling,
            crc,
            block: launch.map(|launch| launch.block),
            part: RowOf::Packet(number),
        };
        let templates = &mut self.templates[usize::from(engine) * QUEUES + usize::from(queue)];
        row.write(&mut templates[usize::from(launch.is_some())], &self.writer, out)?;
        self.rows += 1;
        Ok(launch)
    }

    /// Writes all transfers, each with the WRITE before it.
    pub fn transfers<'s>(
        &mut self,
        mut transfers: Sorted<StaticTransfer, &'s dyn Scratch>,
        mut triggers: Sorted<TriggerStart, &'s dyn Scratch>,
        space: Space<'s>,
        out: &mut NtffOutput<'_>,
    ) -> Result<Transfers<'s>, Error> {
        let origin_ps = self.core.origin_ps;
        let mut written = space.pile();
        let (mut before, mut next) = (None, triggers.next()?.copied());
        while let Some(transfer) = transfers.next()? {
            while let Some(trigger) = next.take_if(|next| next.start_ps - origin_ps <= transfer.start_ps) {
                before = Some(trigger);
                next = triggers.next()?.copied();
            }
            let key = self.transfer(transfer, before, out)?;
            let StaticTransfer { start_ps, end_ps: Reverse(end_ps), size_bytes, .. } = *transfer;
            written.push(TransferRow { start_ps, end_ps, size_bytes, trigger: before, key })?;
        }
        Ok(written)
    }

    fn transfer(
        &mut self,
        transfer: &StaticTransfer,
        trigger: Option<TriggerStart>,
        out: &mut NtffOutput<'_>,
    ) -> Result<SliceKey, Error> {
        let BlockLaunch { queue, block, .. } = transfer.launch;
        let slot = &mut self.transfer_rings[usize::from(transfer.first_engine) * QUEUES + usize::from(queue)];
        let ring = match *slot {
            Some(ring) => ring,
            None => {
                let name = self.queues.ring(transfer.first_engine, queue).map_or("", |ring| &ring.name);
                let track = out.transfers(self.core, name, queue)?;
                *slot.insert(RingHandles { track, subgroup: out.sink.name(name)? })
            }
        };
        let row = DmaRow {
            ring,
            start_ps: transfer.start_ps,
            end_ps: transfer.end_ps.0,
            size_bytes: transfer.size_bytes,
            engine: transfer.engine,
            queue,
            filling: Filling::Static,
            crc: transfer.crc,
            block: Some(block),
            part: RowOf::Transfer(
                trigger.map(|trigger| (trigger.start_ps - self.core.origin_ps).div_euclid(1000)),
            ),
        };
        self.rows += 1;
        let key = (ring.track, transfer.engine, trigger.is_some());
        row.write(self.transfer_templates.entry(key).or_default(), &self.writer, out)
    }
}

/// Block and launch of a ring's packet, by the packet's number. Each launch runs through all
/// blocks.
fn block_of(ring: &QueueRing<'_>, packet: u64) -> Option<(u32, u64)> {
    let per_launch = ring.blocks.iter().try_fold(0_u64, |sum, block| sum.checked_add(block.packets))?;
    let launch = packet.checked_div(per_launch)?;
    let mut within = packet % per_launch;
    for block in ring.blocks {
        if within < block.packets {
            return Some((block.id, launch));
        }
        within -= block.packets;
    }
    None
}

/// Handles and names that all rows share.
#[derive(Debug)]
struct DmaHandles {
    handles: Dma,
    /// Slice name and queue type, by [`Filling`].
    names: [(NameId, NameId); Filling::ALL.len()],
    /// Small numbers as text, for engines (five bits) and queues (four bits).
    decimals: Vec<NameId>,
    yes: NameId,
    no: NameId,
    unknown: NameId,
    nothing: NameId,
    no_semaphore: NameId,
}

impl DmaHandles {
    fn new(out: &mut NtffOutput<'_>) -> Result<Self, Error> {
        let handles = Dma::define(out.sink)?;
        let mut names = [(NameId(0), NameId(0)); Filling::ALL.len()];
        for filling in Filling::ALL {
            let queue_type = filling.queue_type();
            names[filling as usize] = (out.sink.name(dma_name("", queue_type))?, out.sink.name(queue_type)?);
        }
        let mut decimals = Vec::new();
        for number in 0..32 {
            decimals.push(out.sink.name(&number.to_string())?);
        }
        Ok(Self {
            handles,
            names,
            decimals,
            yes: out.sink.name("yes")?,
            no: out.sink.name("no")?,
            unknown: out.sink.name("unknown")?,
            nothing: out.sink.name("")?,
            no_semaphore: out.sink.name("-1")?,
        })
    }

    fn decimal(&self, number: u8) -> NameId {
        self.decimals.get(usize::from(number)).copied().unwrap_or(self.nothing)
    }
}

enum RowOf {
    /// A packet, with its number in its ring.
    Packet(u64),
    /// A whole transfer, with the start of its trigger in nanoseconds.
    Transfer(Option<i64>),
}

/// Positions of a row's numbers in the template.
mod place {
    pub const SIZE: u8 = 0;
    pub const RATE: u8 = 1;
    pub const CRC: u8 = 2;
    /// A packet's number in its ring, or the start of a transfer's trigger.
    pub const INDEX: u8 = 3;
    /// Present only if the row belongs to a block.
    pub const BLOCK: u8 = 4;
}

/// A row of table `dma`.
struct DmaRow {
    ring: RingHandles,
    start_ps: i64,
    end_ps: i64,
    size_bytes: u64,
    engine: u8,
    queue: u8,
    filling: Filling,
    crc: u16,
    block: Option<u32>,
    part: RowOf,
}

impl DmaRow {
    /// Writes the row. `template` belongs to rows that have the same fields and differ in numbers
    /// only.
    fn write(
        &self,
        template: &mut Option<TemplateId>,
        writer: &DmaHandles,
        out: &mut NtffOutput<'_>,
    ) -> Result<SliceKey, Error> {
        let template = match *template {
            Some(template) => template,
            None => *template.insert(out.sink.template(writer.handles.table, &self.parts(writer))?),
        };
        let duration_ps = self.end_ps - self.start_ps;
        let index = match self.part {
            RowOf::Packet(number) => clamped(number),
            RowOf::Transfer(trigger_ns) => trigger_ns.unwrap_or_default(),
        };
        let mut numbers = [NumberBits::from(0_i64); 5];
        numbers[usize::from(place::SIZE)] = clamped(self.size_bytes).into();
        numbers[usize::from(place::RATE)] = f64::from(transfer_rate(self.size_bytes, duration_ps)).into();
        numbers[usize::from(place::CRC)] = i64::from(self.crc).into();
        numbers[usize::from(place::INDEX)] = index.into();
        numbers[usize::from(place::BLOCK)] = self.block.map_or(0, i64::from).into();
        let slice = SliceRecord {
            track: self.ring.track,
            start_ps: self.start_ps,
            duration_ps,
            name: writer.names[self.filling as usize].0,
            form: SliceForm::Complete,
            fields: &[],
        };
        let numbers = &numbers[..if self.block.is_some() { 5 } else { 4 }];
        Ok(out.sink.slice_by(Filled { template, numbers }, &slice)?)
    }

    /// The fields of the row, for the template.
    fn parts(&self, writer: &DmaHandles) -> Vec<(FieldId, TemplateValue)> {
        let handles = &writer.handles;
        let (_, queue_type) = writer.names[self.filling as usize];
        let whole = matches!(self.part, RowOf::Transfer(_));
        let name = |name: NameId| TemplateValue::Fixed(Value::Name(name));
        let mut parts = vec![
            (handles.transfer_size, TemplateValue::Int(place::SIZE)),
            (handles.read_size, TemplateValue::Int(place::SIZE)),
            (handles.write_size, TemplateValue::Int(place::SIZE)),
            (handles.transfer_rate, TemplateValue::Float(place::RATE)),
            (handles.aggregated, name(if whole { writer.yes } else { writer.no })),
            (handles.duplicate, name(writer.no)),
            (handles.is_cc_dma, name(writer.no)),
            (handles.crc, TemplateValue::Int(place::CRC)),
            (handles.dma_engine, name(writer.decimal(self.engine))),
            (handles.dma_queue, name(writer.decimal(self.queue))),
            (handles.queue_type, name(queue_type)),
            (handles.subgroup, name(self.ring.subgroup)),
        ];
        match self.part {
            RowOf::Packet(_) => parts.push((handles.packet_idx, TemplateValue::Int(place::INDEX))),
            RowOf::Transfer(Some(_)) => parts.push((handles.trigger, TemplateValue::Int(place::INDEX))),
            RowOf::Transfer(None) => {}
        }
        if self.block.is_some() {
            parts.push((handles.block_id, TemplateValue::Int(place::BLOCK)));
        }
        if self.filling != Filling::Static {
            // Only the contents of static transfers are in the NEFF. The contents of these are in
            // no file.
            parts.extend([
                (handles.variable, name(writer.unknown)),
                (handles.source, TemplateValue::Fixed(Value::Json(r#"[["unknown"]]"#))),
                (handles.dest, TemplateValue::Fixed(Value::Json(r#"["unknown"]"#))),
                (handles.op, name(writer.nothing)),
                (handles.semaphore_id, name(writer.no_semaphore)),
            ]);
        }
        parts
    }
}
