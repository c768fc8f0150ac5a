//! Static transfers. All packets that one trigger of one block starts, on all DMA engines, make a
//! transfer.

use std::cmp::Reverse;

use nprof_engine::base;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::model::{SliceKey, TrackId};
use nprof_engine::spill::{NoBytes, Pile, PileReader, Scratch, Sorted, Sorter, Space, SpillKey};

use super::landmark::TriggerStart;
use super::packet::Packet;
use crate::error::Error;

/// Size of a packet that writes a semaphore. Larger packets carry data.
const SEMAPHORE_WRITE_BYTES: u32 = 4;
/// Transfers that are added up in memory. Each has one place, and the sum of another one there goes
/// aside, to be joined at the end. Packets of a transfer are close together, and launches of a
/// block follow each other.
const PLACES: usize = 1 << 10;

/// One launch of a block of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockLaunch {
    /// Number of the queue.
    pub queue: u8,
    /// The compiler's number for the block.
    pub block: u32,
    /// Number of the launch. Each launch of a queue runs through all its blocks.
    pub launch: u64,
}

/// Sum of packets of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PacketSum {
    start_ps: i64,
    end_ps: i64,
    size_bytes: u64,
    /// Engine of the first packet, whose ring knows the queue's name.
    first_engine: u8,
    /// Highest engine.
    engine: u8,
    /// Checksum of the packet that was written last.
    crc: u16,
}

impl BlockLaunch {
    /// Place among [`PLACES`].
    #[inline]
    fn place(&self) -> usize {
        const SPREAD: u64 = 257;
        let apart = self.launch.wrapping_add(u64::from(self.block) * SPREAD);
        (apart.wrapping_add(u64::from(self.queue) * SPREAD / 3) % PLACES as u64) as usize
    }
}

impl PacketSum {
    /// Adds a later part.
    fn add(&mut self, later: &Self) {
        if later.end_ps >= self.end_ps {
            (self.end_ps, self.crc) = (later.end_ps, later.crc);
        }
        self.start_ps = self.start_ps.min(later.start_ps);
        self.engine = self.engine.max(later.engine);
        self.size_bytes += later.size_bytes;
    }
}

/// A part in the scratch space. Ordered by launch, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SpilledPart {
    launch: BlockLaunch,
    number: u64,
    part: PacketSum,
}

impl SpillKey for SpilledPart {
    type Span = NoBytes;
    const MAX_LEN: usize = 1 + 5 + 10 + 10 + 8 + 8 + 10 + 2 + 2;

    fn put(&self, out: &mut Vec<u8>) {
        let Self { launch, number, part } = self;
        out.push(launch.queue);
        out.put_varint(u64::from(launch.block));
        out.put_varint(launch.launch);
        out.put_varint(*number);
        out.extend_from_slice(&part.start_ps.to_le_bytes());
        out.extend_from_slice(&part.end_ps.to_le_bytes());
        out.put_varint(part.size_bytes);
        out.push(part.first_engine);
        out.push(part.engine);
        out.extend_from_slice(&part.crc.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        let launch =
            BlockLaunch { queue: cursor.u8()?, block: cursor.varint_u32()?, launch: cursor.varint()? };
        let number = cursor.varint()?;
        let part = PacketSum {
            start_ps: cursor.u64()?.cast_signed(),
            end_ps: cursor.u64()?.cast_signed(),
            size_bytes: cursor.varint()?,
            first_engine: cursor.u8()?,
            engine: cursor.u8()?,
            crc: cursor.u16()?,
        };
        Ok(Self { launch, number, part })
    }
}

/// A static transfer: all packets of one launch of one block. Ordered like rows: by start, the
/// longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StaticTransfer {
    /// First start, since the origin.
    pub start_ps: i64,
    /// Time of the last written byte, since the origin.
    pub end_ps: Reverse<i64>,
    /// Launch of the transfer.
    pub launch: BlockLaunch,
    /// Bytes without semaphore writes.
    pub size_bytes: u64,
    /// Engine of the first packet, whose ring knows the queue's name.
    pub first_engine: u8,
    /// Highest engine.
    pub engine: u8,
    /// Checksum of the packet that was written last.
    pub crc: u16,
}

impl From<SpilledPart> for StaticTransfer {
    fn from(SpilledPart { launch, part, .. }: SpilledPart) -> Self {
        let PacketSum { start_ps, end_ps, size_bytes, first_engine, engine, crc } = part;
        Self { start_ps, end_ps: Reverse(end_ps), launch, size_bytes, first_engine, engine, crc }
    }
}

impl From<StaticTransfer> for SpilledPart {
    fn from(whole: StaticTransfer) -> Self {
        let StaticTransfer {
            start_ps,
            end_ps: Reverse(end_ps),
            launch,
            size_bytes,
            first_engine,
            engine,
            crc,
        } = whole;
        Self {
            launch,
            number: 0,
            part: PacketSum { start_ps, end_ps, size_bytes, first_engine, engine, crc },
        }
    }
}

impl SpillKey for StaticTransfer {
    type Span = NoBytes;
    const MAX_LEN: usize = SpilledPart::MAX_LEN;

    fn put(&self, out: &mut Vec<u8>) {
        SpilledPart::from(*self).put(out);
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        SpilledPart::take(cursor).map(Self::from)
    }
}

/// Adds packets up.
pub struct Adder<'s> {
    space: Space<'s>,
    /// Sums so far.
    open: Vec<Option<(BlockLaunch, PacketSum)>>,
    aside: Sorter<SpilledPart, &'s dyn Scratch>,
    /// Number of sums that went aside.
    times_aside: u64,
}

impl<'s> Adder<'s> {
    /// An adder without packets.
    #[must_use]
    pub fn new(space: Space<'s>) -> Self {
        Self { space, open: vec![None; PLACES], aside: space.sorter(4), times_aside: 0 }
    }

    /// Adds a packet of a launch.
    pub fn add(&mut self, launch: BlockLaunch, packet: &Packet) -> Result<(), Error> {
        let &Packet { start_ps, end_ps: Reverse(end_ps), engine, crc, .. } = packet;
        let size_bytes = if packet.size_bytes > SEMAPHORE_WRITE_BYTES { packet.size_bytes } else { 0 };
        let size_bytes = u64::from(size_bytes);
        let part = PacketSum { start_ps, end_ps, size_bytes, first_engine: engine, engine, crc };
        match &mut self.open[launch.place()] {
            Some((known, sum)) if *known == launch => {
                sum.add(&part);
                Ok(())
            }
            place => {
                let before = place.replace((launch, part));
                before.map_or(Ok(()), |(launch, part)| self.put_aside(launch, part))
            }
        }
    }

    fn put_aside(&mut self, launch: BlockLaunch, part: PacketSum) -> Result<(), Error> {
        let number = self.times_aside;
        self.times_aside += 1;
        Ok(self.aside.push(SpilledPart { launch, number, part })?)
    }

    /// All transfers, sorted by time.
    pub fn finish(mut self) -> Result<Sorted<StaticTransfer, &'s dyn Scratch>, Error> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().flatten().try_for_each(|(launch, part)| self.put_aside(launch, part))?;
        let mut parts = self.aside.finish()?;
        let mut transfers = self.space.sorter(4);
        let mut sum: Option<SpilledPart> = None;
        while let Some(&next) = parts.next()? {
            match &mut sum {
                Some(sum) if sum.launch == next.launch => sum.part.add(&next.part),
                _ => sum.replace(next).map_or(Ok(()), |done| transfers.push(done.into()))?,
            }
        }
        sum.map_or(Ok(()), |done| transfers.push(done.into()))?;
        Ok(transfers.finish()?)
    }
}

/// A transfer that has a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferRow {
    /// First start, since the origin.
    pub start_ps: i64,
    /// Time of the last written byte, since the origin.
    pub end_ps: i64,
    /// Bytes without semaphore writes.
    pub size_bytes: u64,
    /// The WRITE that triggered the transfer, if one ran before.
    pub trigger: Option<TriggerStart>,
    /// Key of the slice.
    pub key: SliceKey,
}

impl SpillKey for TransferRow {
    type Span = NoBytes;
    const MAX_LEN: usize = 8 + 8 + 10 + 1 + TriggerStart::MAX_LEN + 5 + 4;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start_ps.to_le_bytes());
        out.extend_from_slice(&self.end_ps.to_le_bytes());
        out.put_varint(self.size_bytes);
        out.push(u8::from(self.trigger.is_some()));
        if let Some(trigger) = &self.trigger {
            trigger.put(out);
        }
        out.put_varint(u64::from(self.key.track.0));
        out.extend_from_slice(&self.key.arrival.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> base::Result<Self> {
        Ok(Self {
            start_ps: cursor.u64()?.cast_signed(),
            end_ps: cursor.u64()?.cast_signed(),
            size_bytes: cursor.varint()?,
            trigger: if cursor.u8()? == 0 { None } else { Some(TriggerStart::take(cursor)?) },
            key: SliceKey { track: TrackId(cursor.varint_u32()?), arrival: cursor.u32()? },
        })
    }
}

/// All transfers of a core, ordered by start. Their triggers are therefore ordered by time, too.
pub type Transfers<'s> = Pile<TransferRow, &'s dyn Scratch>;

/// Steps through transfers in parallel with other data that is ordered by time.
pub struct TransferCursor<'p, 's> {
    reader: PileReader<'p, TransferRow, &'s dyn Scratch>,
    next: Option<TransferRow>,
}

impl<'p, 's> TransferCursor<'p, 's> {
    /// A cursor at the first transfer.
    pub fn new(transfers: &'p Transfers<'s>) -> Result<Self, Error> {
        let mut reader = transfers.read();
        Ok(Self { next: reader.next()?.copied(), reader })
    }

    /// The next transfer, if `wanted` accepts it.
    pub fn next_if(
        &mut self,
        wanted: impl FnOnce(&TransferRow) -> bool,
    ) -> Result<Option<TransferRow>, Error> {
        let Some(next) = self.next.take_if(|next| wanted(next)) else { return Ok(None) };
        self.next = self.reader.next()?.copied();
        Ok(Some(next))
    }
}

/// Look-up of the transfers that WRITEs triggered. Callers ask in the order of time.
pub struct SetOff<'p, 's> {
    cursor: TransferCursor<'p, 's>,
    /// The last transfer whose trigger is not later than the last one asked for.
    last: Option<TransferRow>,
}

impl<'p, 's> SetOff<'p, 's> {
    /// A look-up in all transfers.
    pub fn new(transfers: &'p Transfers<'s>) -> Result<Self, Error> {
        Ok(Self { cursor: TransferCursor::new(transfers)?, last: None })
    }

    /// The last transfer that this WRITE triggered.
    pub fn by(&mut self, trigger: &TriggerStart) -> Result<Option<TransferRow>, Error> {
        // A transfer without a trigger comes before all others, and `None` is less. Only one of the
        // triggers at the same time is ever named by a transfer, so no other transfer is skipped.
        let not_later = |transfer: &TransferRow| {
            transfer.trigger.map(|trigger| trigger.start_ps) <= Some(trigger.start_ps)
        };
        while let Some(next) = self.cursor.next_if(not_later)? {
            self.last = Some(next);
        }
        Ok(self.last.filter(|transfer| transfer.trigger == Some(*trigger)))
    }
}
