//! DMA packets: a start and the moment its bytes were written make a row; the packets that one trigger starts make a
//! transfer.

use std::collections::{BTreeMap, VecDeque};

use nprof_engine::model::{FieldId, Form, NameId, SliceKey, SliceRecord, TrackId, Value, WarningKind};

use super::clock::DMA_ENGINES;
use super::core::{Core, Output};
use super::landmark::TriggerStart;
use super::queues::{Filling, QUEUES, QueueRing, Queues};
use super::record::{Record, SegmentKind, records};
use super::throughput::Flight;
use super::unknown::UnknownRecords;
use crate::formats::Error;
use crate::formats::neuron::schema::{DMA_TRIGGER, Dma, Queue, dma_name};
use crate::formats::room::emptied;

/// Larger packets carry data; smaller ones write a semaphore.
const SEMAPHORE_WRITE_BYTES: u64 = 4;

/// Codes in the low four bits of a DMA record's payload.
mod kind {
    pub const START: u8 = 1;
    pub const WRITTEN: u8 = 5;
    pub const FINISHED: u8 = 6;
}

/// What the DMA segment leaves for the readers after it.
#[derive(Debug, Default)]
pub struct DmaResult {
    /// Every packet with a row.
    pub flights: Vec<Flight>,
    /// Every static transfer with a row, by time.
    pub transfers: Vec<Transfer>,
    /// Rows in table `dma`.
    pub rows: u64,
}

/// A static transfer: all packets of one trigger of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// First start, since the origin.
    pub start_ps: i64,
    /// Last byte written, since the origin.
    pub end_ps: i64,
    /// Bytes without semaphore writes.
    pub size_bytes: u64,
    /// The WRITE that set it off, where one ran before.
    pub trigger: Option<TriggerStart>,
    /// Its slice.
    pub key: SliceKey,
}

/// The launches of one block of one queue, by their number; those before the run have no transfer.
type Launches = Vec<Option<Aggregate>>;

#[derive(Debug, Clone, Copy)]
struct Aggregate {
    start_ps: i64,
    end_ps: i64,
    size_bytes: u64,
    /// Of the first packet: its ring knows the queue's name.
    first_engine: u8,
    engine: u8,
    /// Of the packet that was written last.
    crc: u16,
}

#[derive(Debug, Default)]
struct Ring {
    /// Starts whose data has not been written, on the clocks' axis.
    waiting: VecDeque<i64>,
    /// Packets so far.
    packets: u64,
    track: Option<TrackId>,
    /// Where the transfers stand whose first packet came through here.
    transfers: Option<TrackId>,
    subgroup: String,
}

/// Reads DMA segments.
#[derive(Debug)]
pub struct DmaReader<'c, 'a> {
    core: &'c Core<'a>,
    queues: Queues<'a>,
    writer: Writer,
    rings: Vec<Ring>,
    /// By queue and block.
    aggregates: BTreeMap<(u8, u32), Launches>,
    result: DmaResult,
}

impl<'c, 'a> DmaReader<'c, 'a> {
    /// For the DMA segments of a core.
    ///
    /// # Errors
    /// The sink's own.
    pub fn new(core: &'c Core<'a>, out: &mut Output<'_>) -> Result<Self, Error> {
        let mut rings = Vec::new();
        rings.resize_with(DMA_ENGINES * QUEUES, Ring::default);
        Ok(Self {
            core,
            queues: Queues::new(core),
            writer: Writer::new(out)?,
            rings,
            aggregates: BTreeMap::new(),
            result: DmaResult::default(),
        })
    }

    /// Reads a segment.
    ///
    /// # Errors
    /// The sink's own.
    pub fn read(
        &mut self,
        bytes: &[u8],
        unknown: &mut UnknownRecords,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let segment = SegmentKind::Dma.title();
        for (number, record) in records(bytes) {
            out.record_done();
            let [low, ..] = record.payload.to_le_bytes();
            let (code, queue) = (low & 0xf, low >> 4);
            if !matches!(code, kind::START | kind::WRITTEN | kind::FINISHED) {
                unknown.keep(out.sink, segment, number, &record)?;
                continue;
            }
            if code == kind::FINISHED {
                // Says that the queue's tail moved on; the row ends where the data was written.
                continue;
            }
            let engine = record.kind();
            let Some(ps) = self.core.clocks.dma_ps(engine, record.ticks) else {
                out.damaged("a DMA record of an engine without a clock, or out of time", segment, number);
                continue;
            };
            let ring = usize::from(engine) * QUEUES + usize::from(queue);
            if code == kind::START {
                self.rings[ring].waiting.push_back(ps);
                continue;
            }
            match self.rings[ring].waiting.pop_front() {
                Some(start) => self.packet(Span { start, end: ps }, engine, queue, &record, out)?,
                None => out.sink.warn(
                    WarningKind::Unpaired,
                    "a DMA packet was written that never started",
                    &|| format!("record {number} of the {segment} segment"),
                ),
            }
        }
        out.segment_done();
        Ok(())
    }

    fn packet(
        &mut self,
        span: Span,
        engine: u8,
        queue: u8,
        record: &Record,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let core = self.core;
        let ring = &mut self.rings[usize::from(engine) * QUEUES + usize::from(queue)];
        let packet = ring.packets;
        ring.packets += 1;
        let start_ps = span.start - core.origin_ps;
        if start_ps < 0 {
            return Ok(());
        }
        let end_ps = (span.end - core.origin_ps).max(start_ps);
        if span.end < span.start {
            out.sink.warn(WarningKind::AdjustedValue, "a DMA packet ended before it started", &|| {
                format!("packet {packet} of queue {queue} on DMA engine {engine}")
            });
        }
        let size = record.low24();
        let info = self.queues.ring(engine, queue);
        let filling = info.map_or(Filling::Instruction, |info| info.filling);
        let name = info.filter(|_| filling == Filling::Static).map_or("", |info| &info.name);
        let track = match ring.track {
            Some(track) => track,
            None => {
                let shown = info.map_or("", |info| &info.name);
                let number = Queue { name, number: Some(u32::from(queue)) };
                ring.subgroup = number.subgroup(Some(u32::from(engine)));
                *ring.track.insert(out.packets(core, shown, queue, engine)?)
            }
        };
        let block = info.and_then(|info| block_of(info, packet));
        let row = Row {
            track,
            start_ps,
            end_ps,
            size_bytes: u64::from(size),
            engine,
            queue,
            filling,
            crc: record.payload_high(),
            subgroup: &ring.subgroup,
            block: block.map(|(block, _)| block),
            part: Part::Packet(packet),
        };
        row.write(&self.writer, out)?;
        if let Some((block, launch)) = block {
            aggregate(self.aggregates.entry((queue, block)).or_default(), launch, &row);
        }
        self.result.rows += 1;
        self.result.flights.push(Flight { start_ps, end_ps, size_bytes: size });
        Ok(())
    }

    /// Writes the transfers, once all packets are read.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish(mut self, triggers: &[TriggerStart], out: &mut Output<'_>) -> Result<DmaResult, Error> {
        let unwritten: usize = self.rings.iter().map(|ring| ring.waiting.len()).sum();
        if unwritten > 0 {
            out.sink.warn(WarningKind::Unpaired, "DMA packets started that were never written", &|| {
                format!("{unwritten} packets at the end of the DMA segment")
            });
        }
        for ((queue, block), launches) in std::mem::take(&mut self.aggregates) {
            for transfer in launches.into_iter().flatten() {
                self.transfer((queue, block), transfer, triggers, out)?;
            }
        }
        self.result.transfers.sort_unstable_by_key(|transfer| transfer.start_ps);
        Ok(self.result)
    }

    fn transfer(
        &mut self,
        (queue, block): (u8, u32),
        transfer: Aggregate,
        triggers: &[TriggerStart],
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let origin_ps = self.core.origin_ps;
        let before = triggers.partition_point(|t| t.start_ps - origin_ps <= transfer.start_ps);
        let trigger = before.checked_sub(1).map(|last| triggers[last]);
        let name = self.queues.ring(transfer.first_engine, queue).map_or("", |ring| &ring.name);
        let ring = usize::from(transfer.first_engine) * QUEUES + usize::from(queue);
        let track = match self.rings[ring].transfers {
            Some(track) => track,
            None => {
                let queue = Queue { name: &self.core.own(name), number: Some(u32::from(queue)) };
                *self.rings[ring].transfers.insert(out.tracks.dma_transfers(out.sink, queue)?)
            }
        };
        let row = Row {
            track,
            start_ps: transfer.start_ps,
            end_ps: transfer.end_ps,
            size_bytes: transfer.size_bytes,
            engine: transfer.engine,
            queue,
            filling: Filling::Static,
            crc: transfer.crc,
            subgroup: name,
            block: Some(block),
            part: Part::Whole(trigger.map(|trigger| (trigger.start_ps - origin_ps).div_euclid(1000))),
        };
        let key = row.write(&self.writer, out)?;
        self.result.rows += 1;
        let Aggregate { start_ps, end_ps, size_bytes, .. } = transfer;
        self.result.transfers.push(Transfer { start_ps, end_ps, size_bytes, trigger, key });
        Ok(())
    }
}

/// Adds a packet to the transfer that it is part of. A launch has packets, so their number bounds the vector.
fn aggregate(launches: &mut Launches, launch: u64, packet: &Row<'_>) {
    let &Row { start_ps, end_ps, engine, crc, .. } = packet;
    let Ok(launch) = usize::try_from(launch) else { return };
    if launches.len() <= launch {
        launches.resize(launch + 1, None);
    }
    let fresh = Aggregate { start_ps, end_ps, size_bytes: 0, first_engine: engine, engine, crc };
    let transfer = launches[launch].get_or_insert(fresh);
    if end_ps >= transfer.end_ps {
        (transfer.end_ps, transfer.crc) = (end_ps, crc);
    }
    transfer.start_ps = transfer.start_ps.min(start_ps);
    transfer.engine = transfer.engine.max(engine);
    if packet.size_bytes > SEMAPHORE_WRITE_BYTES {
        transfer.size_bytes += packet.size_bytes;
    }
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: i64,
    end: i64,
}

/// Which block and which launch of it a ring's packet belongs to: each launch runs through all blocks.
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

/// What all rows share.
#[derive(Debug)]
struct Writer {
    handles: Dma,
    /// By [`Filling`].
    names: [NameId; Filling::ALL.len()],
}

impl Writer {
    fn new(out: &mut Output<'_>) -> Result<Self, Error> {
        let handles = Dma::define(out.sink)?;
        let mut names = [NameId(0); Filling::ALL.len()];
        for filling in Filling::ALL {
            names[filling as usize] = out.sink.name(dma_name("", filling.queue_type()))?;
        }
        Ok(Self { handles, names })
    }
}

enum Part {
    /// A packet, with its number in its ring.
    Packet(u64),
    /// A whole transfer, with the start of what set it off, in nanoseconds.
    Whole(Option<i64>),
}

/// A row of table `dma`.
struct Row<'r> {
    track: TrackId,
    start_ps: i64,
    end_ps: i64,
    size_bytes: u64,
    engine: u8,
    queue: u8,
    filling: Filling,
    crc: u16,
    subgroup: &'r str,
    block: Option<u32>,
    part: Part,
}

impl Row<'_> {
    fn write(&self, writer: &Writer, out: &mut Output<'_>) -> Result<SliceKey, Error> {
        let handles = &writer.handles;
        let size = Value::Int(i64::try_from(self.size_bytes).unwrap_or(i64::MAX));
        let queue_type = self.filling.queue_type();
        let duration_ps = self.end_ps - self.start_ps;
        let (engine, queue) = (decimal(&self.engine), decimal(&self.queue));
        let whole = matches!(self.part, Part::Whole(_));
        let mut fields: Vec<(FieldId, Value<'_>)> = std::mem::take(&mut out.room);
        fields.extend([
            (handles.transfer_size, size),
            (handles.read_size, size),
            (handles.write_size, size),
            (handles.transfer_rate, Value::Float(f64::from(transfer_rate(self.size_bytes, duration_ps)))),
            (handles.aggregated, Value::Text(if whole { "yes" } else { "no" })),
            (handles.duplicate, Value::Text("no")),
            (handles.is_cc_dma, Value::Text("no")),
            (handles.crc, Value::Int(i64::from(self.crc))),
            (handles.dma_engine, Value::Text(engine)),
            (handles.dma_queue, Value::Text(queue)),
            (handles.queue_type, Value::Text(queue_type)),
            (handles.subgroup, Value::Text(self.subgroup)),
        ]);
        match self.part {
            Part::Packet(number) => {
                fields.push((handles.packet_idx, Value::Int(i64::try_from(number).unwrap_or(i64::MAX))));
            }
            Part::Whole(Some(trigger_ns)) => fields.push((handles.trigger, Value::Int(trigger_ns))),
            Part::Whole(None) => {}
        }
        if let Some(block) = self.block {
            fields.push((handles.block_id, Value::Int(i64::from(block))));
        }
        if self.filling != Filling::Static {
            // What a transfer moves is in the NEFF for static ones, and nowhere for these.
            fields.extend([
                (handles.variable, Value::Text("unknown")),
                (handles.source, Value::Json(r#"[["unknown"]]"#)),
                (handles.dest, Value::Json(r#"["unknown"]"#)),
                (handles.op, Value::Text("")),
                (handles.semaphore_id, Value::Text("-1")),
            ]);
        }
        let key = out.sink.slice(&SliceRecord {
            track: self.track,
            start_ps: self.start_ps,
            duration_ps,
            name: writer.names[self.filling as usize],
            form: Form::Complete,
            fields: &fields,
        });
        out.room = emptied(fields);
        Ok(key?)
    }
}

/// Bytes a second, rounded at each step as the vendor's tool does.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the rounding is the definition"
)]
pub fn transfer_rate(size_bytes: u64, duration_ps: i64) -> f32 {
    let duration_s = (duration_ps as f64 / 1e12) as f32;
    if duration_s > 0.0 { size_bytes as f32 / duration_s } else { 0.0 }
}

/// Small numbers as text, without an allocation for each row.
fn decimal(number: &u8) -> &'static str {
    const TEXTS: [&str; 32] = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17",
        "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31",
    ];
    // Five bits of engine and four of queue never reach the end.
    TEXTS.get(usize::from(*number)).copied().unwrap_or("")
}

/// Draws arrows from the instructions that set transfers off.
///
/// # Errors
/// The sink's own.
pub fn link_triggers(links: &[(SliceKey, SliceKey)], out: &mut Output<'_>) -> Result<(), Error> {
    let name = out.sink.name(DMA_TRIGGER)?;
    for &(instruction, transfer) in links {
        out.sink.link(instruction, transfer, name)?;
    }
    Ok(())
}
