//! DMA packets. This module pairs the start of a packet with the time at which its bytes were
//! written, and sorts by time.

use std::cmp::Reverse;
use std::collections::VecDeque;

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::model::WarningKind;
use nprof_engine::spill::{NoBytes, Ordered, Scratch, Space, SpillKey};

use super::clock::DMA_ENGINES;
use super::core::{CoreProgram, NtffOutput};
use super::finding::Findings;
use super::floor::{Floors, RecordBlock};
use super::queues::QUEUES;
use super::record::{DeviceRecord, SegmentKind};
use super::unknown_records::UnknownRecords;
use crate::error::Error;

/// Most starts without an end, besides one of each ring. No device has that many in flight. A trace
/// with more has lost the ends, and must not fill the memory.
const MAX_WAITING: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// Codes in the low four bits of a DMA record's payload.
mod kind {
    pub const START: u8 = 1;
    pub const WRITTEN: u8 = 5;
    pub const FINISHED: u8 = 6;
}

/// A packet with a row. Ordered like rows: by start, the longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet {
    /// Start since the origin.
    pub start_ps: i64,
    /// End since the origin; not before the start.
    pub end_ps: Reverse<i64>,
    /// DMA engine that moved the packet.
    pub engine: u8,
    /// Queue of the packet.
    pub queue: u8,
    /// Number of the packet in its ring.
    pub number: u64,
    /// Size of the packet.
    pub size_bytes: u32,
    /// Checksum over the data.
    pub crc: u16,
}

impl SpillKey for Packet {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 10 + 2 + 10 + 5 + 2;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start_ps.to_le_bytes());
        out.put_varint(self.end_ps.0.abs_diff(self.start_ps));
        out.push(self.engine);
        out.push(self.queue);
        out.put_varint(self.number);
        out.put_varint(u64::from(self.size_bytes));
        out.extend_from_slice(&self.crc.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let start_ps = cursor.u64()?.cast_signed();
        Ok(Self {
            start_ps,
            end_ps: Reverse(start_ps.saturating_add_unsigned(cursor.varint()?)),
            engine: cursor.u8()?,
            queue: cursor.u8()?,
            number: cursor.varint()?,
            size_bytes: cursor.varint_u32()?,
            crc: cursor.u16()?,
        })
    }
}

#[derive(Debug, Default)]
struct PacketRing {
    /// Starts whose data has not been written, on the clocks' axis, and the block of each.
    waiting: VecDeque<(i64, u32)>,
    /// Number of packets so far, including those before the run.
    packets: u64,
}

/// Reads DMA segments.
pub struct PacketReader<'c, 'a, 's> {
    core: &'c CoreProgram<'a>,
    blocks: Vec<RecordBlock<'c>>,
    /// Number of the next block.
    next: u32,
    floors: Floors,
    rings: Vec<PacketRing>,
    waiting: usize,
    packets: Ordered<Packet, &'s dyn Scratch>,
    /// Findings in the records so far.
    pub found: Findings<'s>,
}

impl<'c, 'a, 's> PacketReader<'c, 'a, 's> {
    /// A reader for the DMA segments of a core. Finds unknown records.
    pub fn new(
        core: &'c CoreProgram<'a>,
        segments: &[&'c [u8]],
        space: Space<'s>,
        unknown: &mut UnknownRecords,
        out: &mut NtffOutput<'_>,
    ) -> Result<Self, Error> {
        let mut rings = Vec::new();
        rings.resize_with(DMA_ENGINES * QUEUES, PacketRing::default);
        let blocks = RecordBlock::of(segments);
        let mut earliest = Vec::with_capacity(blocks.len());
        for block in &blocks {
            // Kept in ticks. Only the first one of each engine is converted to a time.
            let mut first = [u64::MAX; ENGINE_CODES];
            for (number, record) in block.records() {
                out.record_read();
                match code_and_queue(&record).0 {
                    kind::START => {
                        let first = &mut first[usize::from(record.kind())];
                        *first = record.ticks.min(*first);
                    }
                    kind::WRITTEN | kind::FINISHED => {}
                    _ => unknown.keep(out.sink, SegmentKind::Dma.title(), number, &record)?,
                }
            }
            let started = (0_u8..).zip(first).filter(|&(_, ticks)| ticks < u64::MAX);
            let starts = started.map(|(engine, ticks)| core.clocks.dma_ps(engine, ticks).unwrap_or(i64::MIN));
            earliest.push(starts.min().unwrap_or(i64::MAX));
        }
        let (floors, packets) = (Floors::new(earliest), Ordered::new(space.sorter(2)));
        let found = Findings::new(SegmentKind::Dma, space);
        Ok(Self { core, blocks, next: 0, floors, rings, waiting: 0, packets, found })
    }

    /// The next packet of the run, in order of time.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, Error> {
        loop {
            if let Some(&packet) = self.packets.next()? {
                return Ok(Some(packet));
            }
            let Some(&block) = self.blocks.get(self.next as usize) else { return Ok(None) };
            for (number, record) in block.records() {
                self.record(number, &record)?;
            }
            let floor_ps = self.floors.after(self.next).saturating_sub(self.core.origin_ps);
            self.next += 1;
            if self.next as usize == self.blocks.len() {
                self.finish()?;
            } else {
                self.packets.release(|packet| packet.start_ps < floor_ps)?;
            }
        }
    }

    /// Takes a record, with its number in its segment.
    fn record(&mut self, number: u64, record: &DeviceRecord) -> Result<(), Error> {
        let (code, queue) = code_and_queue(record);
        // When the queue's tail moves on, the packet is finished. The row ends with the write of
        // the data instead.
        if !matches!(code, kind::START | kind::WRITTEN) {
            return Ok(());
        }
        let engine = record.kind();
        let Some(ps) = self.core.clocks.dma_ps(engine, record.ticks) else {
            let what = "a DMA record of an engine without a clock, or with a time out of range";
            self.found.warn_of(WarningKind::DamagedRecord, what, number);
            return Ok(());
        };
        if code == kind::START {
            self.started(engine, queue, ps);
        } else if !self.written(engine, queue, ps, record)? {
            let what = "a DMA packet that was written and never started";
            self.found.warn_of(WarningKind::Unpaired, what, number);
        }
        Ok(())
    }

    fn started(&mut self, engine: u8, queue: u8, ps: i64) {
        let ring = &mut self.rings[usize::from(engine) * QUEUES + usize::from(queue)];
        if self.waiting >= MAX_WAITING
            && let Some((_, block)) = ring.waiting.pop_front()
        {
            self.waiting -= 1;
            self.floors.closed(block);
            let what = "a DMA packet that started and was not written for a long time";
            let place = || format!("queue {queue} on DMA engine {engine}");
            self.found.warn(WarningKind::Unpaired, what, place);
        }
        ring.waiting.push_back((ps, self.next));
        self.floors.opened(self.next);
        self.waiting += 1;
    }

    /// Ends a packet. Returns false if no packet of the ring had started.
    fn written(&mut self, engine: u8, queue: u8, end: i64, record: &DeviceRecord) -> Result<bool, Error> {
        let ring = &mut self.rings[usize::from(engine) * QUEUES + usize::from(queue)];
        let Some((start, block)) = ring.waiting.pop_front() else { return Ok(false) };
        self.waiting -= 1;
        self.floors.closed(block);
        let number = ring.packets;
        ring.packets += 1;
        let start_ps = start - self.core.origin_ps;
        if start_ps < 0 {
            return Ok(true);
        }
        if end < start {
            let place = || format!("packet {number} of queue {queue} on DMA engine {engine}");
            let what = "a DMA packet that ended before it started";
            self.found.warn(WarningKind::AdjustedValue, what, place);
        }
        let end_ps = Reverse((end - self.core.origin_ps).max(start_ps));
        let (size_bytes, crc) = (record.low24(), record.payload_high());
        self.packets.push(Packet { start_ps, end_ps, engine, queue, number, size_bytes, crc })?;
        Ok(true)
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.waiting > 0 {
            let unwritten = self.waiting;
            let place = || format!("{unwritten} packets at the end of the DMA segment");
            self.found.warn(WarningKind::Unpaired, "DMA packets that started and were never written", place);
        }
        Ok(self.packets.finish()?)
    }
}

/// Number of values of [`DeviceRecord::kind`].
const ENGINE_CODES: usize = 32;

/// Kind of a DMA record, and its queue.
fn code_and_queue(record: &DeviceRecord) -> (u8, u8) {
    let [low, ..] = record.payload.to_le_bytes();
    (low & 0xf, low >> 4)
}

/// Rate in bytes a second, rounded at each step like in the vendor's tool.
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
