//! The packets of a trace: state of sequences, clocks, descriptors and events.

use std::cell::Cell;
use std::io::Read;

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, WarningKind};
use nprof_engine::spill::Space;
use rustc_hash::FxHashMap;

use super::clock::{ClockId, Clocks};
use super::event::{self, Around};
use super::input::{Packets, Part};
use super::output::{Moment, Output, Stop};
use super::sequence::Sequence;
use super::source::Sources;
use super::{annotation, emit};
use crate::error::Error;
use crate::origin::Origin;
use crate::protobuf::{Damage, Fields};

/// Deepest packing of packets in packets.
const MAX_DEPTH: usize = 1;
/// Bytes to which a packed packet can always be unpacked.
const FREE_LEN: u64 = 1 << 20;
/// Most bytes that a packed packet unpacks to.
const MAX_UNPACKED_LEN: u64 = 256 << 20;
/// Most unpacked bytes for each packed one, a little more than deflate reaches.
const MAX_RATIO: u64 = 1_100;
/// Largest window of zstd, as a power of two: the memory of unpacking.
const MAX_WINDOW_LOG: u32 = 24;
/// Flags of a packet.
const CLEARED: u64 = 1;

/// The head of a packet.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u32>,
    pub(super) sequence: u32,
    is_cleared: bool,
    has_lost: bool,
    pub(super) defaults: Option<&'a [u8]>,
}

impl<'a> Head<'a> {
    /// Reads the head.
    ///
    /// # Errors
    /// If the packet is damaged.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Damage> {
        let mut head = Self::default();
        let mut fields = Fields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                8 => head.timestamp = Some(value.number()),
                10 => head.sequence = value.number_u32()?,
                13 => head.is_cleared |= value.number() & CLEARED != 0,
                41 => head.is_cleared |= value.number() != 0,
                42 => head.has_lost |= value.number() != 0,
                58 => head.clock = Some(value.number_u32()?),
                59 => head.defaults = Some(value.bytes()),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// State of reading.
pub(super) struct Reader<'s> {
    pub(super) out: Output<'s>,
    pub(super) clocks: Clocks,
    sequences: FxHashMap<u32, Sequence>,
    /// State of sequences that do not fit into memory; it lasts for one packet.
    spare: Sequence,
    sources: Sources,
    /// Packets so far.
    packets: u64,
}

impl<'s> Reader<'s> {
    /// A reader with this sink. `place` receives the offset of the packet of each event.
    ///
    /// # Errors
    /// If the sink fails.
    pub(super) fn new(
        space: &Space<'s>,
        sink: &'s mut dyn Sink,
        place: Option<&'s Cell<u64>>,
    ) -> Result<Self> {
        Ok(Self {
            out: Output { place, ..Output::new(space, sink)? },
            clocks: Clocks::default(),
            sequences: FxHashMap::default(),
            spare: Sequence::default(),
            sources: Sources::default(),
            packets: 0,
        })
    }

    /// Reads a trace to its end.
    ///
    /// # Errors
    /// If the input is no trace at all or cannot be read, or if the sink fails.
    pub(super) fn read(
        mut self,
        input: &mut dyn Read,
        progress: &mut dyn FnMut(u64),
        (space, origin): (&Space<'s>, Option<Origin>),
    ) -> Result<(), Error> {
        self.parts(&mut Packets::new(input, progress), 0)?;
        if self.packets == 0 {
            let what = "the file has no whole packet of a Perfetto trace";
            return Err(Error::format(what, "", "capture the trace again"));
        }
        if self.out.count == 0 {
            self.out.warn(WarningKind::MissingData, "the trace has no track events");
        }
        self.sources.finish(self.out.sink)?;
        Ok(emit::all(self.out, self.clocks, (space, origin))?)
    }

    /// Reads packets, those of the trace or those within a packed one.
    fn parts(&mut self, packets: &mut Packets<'_>, depth: usize) -> Result<(), Error> {
        loop {
            if depth == 0 {
                self.out.offset = packets.offset();
            }
            let what = match packets.next() {
                Ok(Part::Packet(bytes)) => {
                    self.packets += 1;
                    self.packet(bytes, depth)?;
                    continue;
                }
                Ok(Part::Skipped(what)) => {
                    self.out.warn(WarningKind::DamagedRecord, what);
                    continue;
                }
                Ok(Part::End) => return Ok(()),
                Ok(Part::Cut | Part::Damaged) | Err(_) if depth > 0 => {
                    let what = "packed packets that are damaged or too many; those before are kept";
                    self.out.warn(WarningKind::DamagedRecord, what);
                    return Ok(());
                }
                Ok(Part::Cut) => "the trace ends in the middle of a packet; all complete packets are kept",
                Ok(Part::Damaged) => "bytes that begin no packet; the rest of the trace is not read",
                Err(error) => return Err(error.into()),
            };
            self.out.warn(WarningKind::TruncatedInput, what);
            return Ok(());
        }
    }

    /// Takes a packet. Damage ends the packet and is counted.
    fn packet(&mut self, bytes: &[u8], depth: usize) -> Result<(), Error> {
        match self.contents(bytes, depth) {
            Ok(()) => Ok(()),
            Err(PacketStop::Within(Stop::Damage)) => {
                let what = "a packet whose content is damaged; skipped";
                self.out.warn(WarningKind::DamagedRecord, what);
                Ok(())
            }
            Err(PacketStop::Within(Stop::Engine(error))) => Err(error.into()),
            Err(PacketStop::Reader(error)) => Err(error),
        }
    }

    fn contents(&mut self, bytes: &[u8], depth: usize) -> Result<(), PacketStop> {
        let head = Head::parse(bytes)?;
        let moment = self.begin(&head, bytes)?;
        let mut fields = Fields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            let data = value.bytes();
            match number {
                2 => self.out.tracks.process_tree(data)?,
                6 => {
                    if !self.clocks.snapshot(head.sequence, data)? {
                        let what = "more snapshots of clocks than fit into memory; this one is not used";
                        self.out.warn(WarningKind::AdjustedValue, what);
                    }
                }
                11 => {
                    let sequence = self.sequences.get_mut(&head.sequence).unwrap_or(&mut self.spare);
                    let mut around = Around { clocks: &mut self.clocks, sequence, moment };
                    event::take(&mut self.out, &mut around, data)?;
                }
                43 => {
                    self.out.tracks.process_descriptor(data)?;
                }
                44 => {
                    let (thread, reference_us) = self.out.tracks.thread_descriptor(data)?;
                    let sequence = self.sequences.get_mut(&head.sequence).unwrap_or(&mut self.spare);
                    sequence.thread = Some(thread);
                    sequence.last_ns = reference_us.map(|us| us.saturating_mul(1_000)).or(sequence.last_ns);
                }
                50 => self.unpack(&mut flate2::read::ZlibDecoder::new(data), data.len(), depth)?,
                60 => self.out.tracks.describe(data)?,
                133 => {
                    let decoder = zstd::stream::read::Decoder::with_buffer(data);
                    let mut decoder = decoder.map_err(|error| PacketStop::Reader(error.into()))?;
                    let limited = decoder.window_log_max(MAX_WINDOW_LOG);
                    limited.map_err(|error| PacketStop::Reader(error.into()))?;
                    self.unpack(&mut decoder, data.len(), depth)?;
                }
                // Parts of the head, the ids of the writer, and the marker between packets.
                3 | 8 | 10 | 12 | 13 | 36 | 41 | 42 | 58 | 59 | 79 | 87 | 98 => {}
                _ => self.sources.count(number, data.len(), self.out.offset),
            }
        }
        Ok(())
    }

    /// Reads the packets within a packed one.
    fn unpack(&mut self, input: &mut dyn Read, packed_len: usize, depth: usize) -> Result<(), PacketStop> {
        if depth >= MAX_DEPTH {
            self.out.warn(WarningKind::DamagedRecord, "packed packets within packed packets; skipped");
            return Ok(());
        }
        let most =
            (packed_len as u64).saturating_mul(MAX_RATIO).saturating_add(FREE_LEN).min(MAX_UNPACKED_LEN);
        let mut input = input.take(most);
        let mut progress = |_: u64| {};
        self.parts(&mut Packets::new(&mut input, &mut progress), depth + 1).map_err(PacketStop::Reader)
    }

    /// Brings the state of the sequence up to date. Returns the time of the packet.
    fn begin(&mut self, head: &Head<'_>, bytes: &[u8]) -> Result<Option<Moment>, PacketStop> {
        if !self.sequences.contains_key(&head.sequence) {
            if self.out.memory.takes_sequence() {
                self.sequences.insert(head.sequence, Sequence::default());
            } else {
                self.spare = Sequence::default();
                let what = "more sequences than fit into memory; packets of this one stand alone";
                self.out.warn(WarningKind::AdjustedValue, what);
            }
        }
        let sequence = self.sequences.get_mut(&head.sequence).unwrap_or(&mut self.spare);
        if head.has_lost && sequence.has_begun {
            self.out.warn(WarningKind::MissingData, "packets before this one are lost");
            sequence.is_torn = true;
        }
        if head.is_cleared {
            sequence.clear(&mut self.out.memory);
        }
        sequence.has_begun = true;
        let mut fields = Fields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            if number == 12 && !sequence.intern(value.bytes(), &mut self.out.memory)? {
                let what = "more interned texts than fit into memory; names of later events are missing";
                self.out.warn(WarningKind::AdjustedValue, what);
            }
        }
        if let Some(defaults) = head.defaults {
            defaults_of(sequence, defaults)?;
        }
        let Some(timestamp) = head.timestamp else { return Ok(None) };
        let clock = match head.clock.or(sequence.clock).filter(|&id| id != 0) {
            Some(id) => ClockId::new(head.sequence, id),
            None => self.clocks.primary(),
        };
        let ns = self.clocks.read(clock, timestamp);
        if sequence.is_torn && self.clocks.is_incremental(clock) {
            return Ok(None);
        }
        Ok(Some(self.clocks.trace_ns(clock, ns).map_or(Moment::On(clock, ns), Moment::Known)))
    }
}

/// Takes the defaults of a sequence.
fn defaults_of(sequence: &mut Sequence, bytes: &[u8]) -> Result<(), Damage> {
    sequence.clock = None;
    sequence.track = None;
    sequence.extra_counters = Default::default();
    let mut fields = Fields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        match number {
            58 => sequence.clock = Some(value.number_u32()?),
            11 => {
                let mut fields = Fields::new(value.bytes());
                while let Some((number, value)) = fields.next()? {
                    let [whole, floats] = &mut sequence.extra_counters;
                    match number {
                        11 => sequence.track = Some(value.number()),
                        31 => annotation::each_number(value, |uuid| push_some(whole, uuid))?,
                        45 => annotation::each_number(value, |uuid| push_some(floats, uuid))?,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Most counters of the defaults of a sequence.
const MAX_EXTRA_COUNTERS: usize = 64;

fn push_some(counters: &mut Vec<u64>, uuid: u64) {
    if counters.len() < MAX_EXTRA_COUNTERS {
        counters.push(uuid);
    }
}

/// The reason why a packet was not read to its end: one of its own, or one of the reader.
enum PacketStop {
    Within(Stop),
    Reader(Error),
}

impl From<Stop> for PacketStop {
    fn from(stop: Stop) -> Self {
        Self::Within(stop)
    }
}

impl From<Damage> for PacketStop {
    fn from(damage: Damage) -> Self {
        Self::Within(damage.into())
    }
}
