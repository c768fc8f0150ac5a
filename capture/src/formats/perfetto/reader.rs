//! The packets of a trace: state of sequences, clocks, descriptors and events.

use std::cell::Cell;
use std::io::{self, Read};

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, WarningKind};
use rustc_hash::FxHashMap;
use zstd::zstd_safe::DCtx;

use super::clock::{ClockId, TraceClocks};
use super::event::{self, EventContext};
use super::input::{InputPart, PacketInput};
use super::output::{Moment, PacketOutput, ReadStop};
use super::sequence::Sequence;
use super::source::Sources;
use super::{PacketContext, annotation, emit};
use crate::error::Error;
use crate::protobuf::{MessageDamage, MessageFields};

/// Deepest packing of packets in packets.
const MAX_DEPTH: usize = 1;
/// Largest window of zstd, as a power of two: the memory of unpacking.
const MAX_WINDOW_LOG: u32 = 24;
/// Warning about packets beyond the allowance of all packed packets.
const TOO_MANY: &str =
    "packed packets that unpack to more bytes than a file of this length may hold; the rest is not read";
/// Flags of a packet.
const CLEARED: u64 = 1;

/// The head of a packet.
#[derive(Debug, Default)]
pub(super) struct PacketHead<'a> {
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u32>,
    pub(super) sequence: u32,
    is_cleared: bool,
    has_lost: bool,
    pub(super) defaults: Option<&'a [u8]>,
}

impl<'a> PacketHead<'a> {
    /// Reads the head.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, MessageDamage> {
        let mut head = Self::default();
        let mut fields = MessageFields::new(bytes);
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

/// End of a list of packets.
enum ListEnd {
    /// After a packet.
    Whole,
    /// In the middle of a packet.
    Cut,
    /// At bytes that begin no packet.
    Damaged,
    /// At bytes that cannot be read or unpacked.
    Unreadable(io::Error),
}

/// State of reading.
pub(super) struct PerfettoReader<'s> {
    pub(super) out: PacketOutput<'s>,
    pub(super) clocks: TraceClocks,
    sequences: FxHashMap<u32, Sequence>,
    /// State of sequences that do not fit into memory; it lasts for one packet.
    spare: Sequence,
    sources: Sources,
    /// Packets so far.
    packets: u64,
    /// Bytes to which packed packets can still be unpacked.
    unpacked_left: u64,
    /// Memory of unpacking with zstd, which all packed packets use.
    zstd: Option<DCtx<'static>>,
    context: PacketContext<'s>,
}

impl<'s> PerfettoReader<'s> {
    /// A reader with this sink. `place` receives the offset of the packet of each event.
    pub(super) fn new(
        context: PacketContext<'s>,
        sink: &'s mut dyn Sink,
        place: Option<&'s Cell<u64>>,
    ) -> Result<Self> {
        Ok(Self {
            out: PacketOutput { place, ..PacketOutput::new(&context.space, sink)? },
            clocks: TraceClocks::default(),
            sequences: FxHashMap::default(),
            spare: Sequence::default(),
            sources: Sources::default(),
            packets: 0,
            unpacked_left: context.most_unpacked,
            zstd: None,
            context,
        })
    }

    /// Reads a trace to its end.
    ///
    /// # Errors
    /// If the input is no trace at all or cannot be read, if the sink fails, or if the reading is
    /// cancelled.
    pub(super) fn read(mut self, input: &mut dyn Read, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        let early = match self.parts(&mut PacketInput::new(input, progress), 0)? {
            ListEnd::Whole => None,
            ListEnd::Cut => Some("the trace ends in the middle of a packet; all complete packets are kept"),
            ListEnd::Damaged => Some("bytes that begin no packet; the rest of the trace is not read"),
            ListEnd::Unreadable(error) => return Err(error.into()),
        };
        if let Some(what) = early {
            self.out.warn(WarningKind::TruncatedInput, what);
        }
        if self.packets == 0 {
            let what = "the file has no whole packet of a Perfetto trace";
            return Err(Error::format(what, "", "capture the trace again"));
        }
        if let Some(what) = self.sources.listed().filter(|_| self.out.count == 0) {
            let what = format!("the trace has no track events, and nprof reads no other ones; it has {what}");
            let hint = "record the data source `track_event` as well, or open the trace at ui.perfetto.dev";
            return Err(Error::format(what, "", hint));
        }
        if self.out.count == 0 {
            self.out.warn(WarningKind::MissingData, "the trace has no track events");
        }
        self.sources.finish(self.out.sink)?;
        Ok(emit::all(self.out, self.clocks, &self.context)?)
    }

    /// Reads packets, those of the trace or those within a packed one. Returns how they end.
    fn parts(&mut self, packets: &mut PacketInput<'_>, depth: usize) -> Result<ListEnd, Error> {
        loop {
            // A packet that says nothing never reaches the sink.
            self.context.space.work.cancel.check()?;
            if depth == 0 {
                self.out.offset = packets.offset();
            }
            match packets.next() {
                Ok(InputPart::Packet(bytes)) => {
                    self.packets += 1;
                    self.packet(bytes, depth)?;
                }
                Ok(InputPart::Skipped(what)) => self.out.warn(WarningKind::DamagedRecord, what),
                Ok(InputPart::End) => return Ok(ListEnd::Whole),
                Ok(InputPart::Cut) => return Ok(ListEnd::Cut),
                Ok(InputPart::Damaged) => return Ok(ListEnd::Damaged),
                Err(error) => return Ok(ListEnd::Unreadable(error)),
            }
        }
    }

    /// Takes a packet. Damage ends the packet and is counted.
    fn packet(&mut self, bytes: &[u8], depth: usize) -> Result<(), Error> {
        match self.contents(bytes, depth) {
            Ok(()) => Ok(()),
            Err(PacketStop::Within(ReadStop::Damage)) => {
                let what = "a packet whose content is damaged; skipped";
                self.out.warn(WarningKind::DamagedRecord, what);
                Ok(())
            }
            Err(PacketStop::Within(ReadStop::Engine(error))) => Err(error.into()),
            Err(PacketStop::Reader(error)) => Err(error),
        }
    }

    fn contents(&mut self, bytes: &[u8], depth: usize) -> Result<(), PacketStop> {
        let head = PacketHead::parse(bytes)?;
        let moment = self.begin(&head, bytes)?;
        let mut fields = MessageFields::new(bytes);
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
                    let mut around = EventContext { clocks: &mut self.clocks, sequence, moment };
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
                50 => self.unpack(&mut flate2::read::ZlibDecoder::new(data), depth)?,
                60 => self.out.tracks.describe(data)?,
                133 => self.unpack_zstd(data, depth)?,
                // Parts of the head, the ids of the writer, and the marker between packets.
                3 | 8 | 10 | 12 | 13 | 36 | 41 | 42 | 58 | 59 | 79 | 87 | 98 => {}
                _ => self.sources.count(number, data.len(), self.out.offset),
            }
        }
        Ok(())
    }

    /// Reads the packets within one that zstd has packed. Making the memory of a decoder, and its
    /// window, takes longer than unpacking a short packet.
    fn unpack_zstd(&mut self, data: &[u8], depth: usize) -> Result<(), PacketStop> {
        let mut memory = self.zstd.take().unwrap_or_default();
        let mut decoder = zstd::stream::read::Decoder::with_context(data, &mut memory);
        let limited = decoder.window_log_max(MAX_WINDOW_LOG);
        limited.map_err(|error| PacketStop::Reader(error.into()))?;
        let unpacked = self.unpack(&mut decoder, depth);
        drop(decoder);
        self.zstd = Some(memory);
        unpacked
    }

    /// Reads the packets within a packed one, as far as all packed packets together may unpack.
    fn unpack(&mut self, input: &mut dyn Read, depth: usize) -> Result<(), PacketStop> {
        if depth >= MAX_DEPTH {
            self.out.warn(WarningKind::DamagedRecord, "packed packets within packed packets; skipped");
            return Ok(());
        }
        if self.unpacked_left == 0 {
            self.out.warn(WarningKind::MissingData, TOO_MANY);
            return Ok(());
        }
        let mut input = input.take(self.unpacked_left);
        let mut progress = |_: u64| {};
        let ended = self.parts(&mut PacketInput::new(&mut input, &mut progress), depth + 1);
        self.unpacked_left = input.limit();
        let ended = ended.map_err(PacketStop::Reader)?;
        // The allowance can also end between two packets.
        let has_more = |mut input: io::Take<_>| {
            input.set_limit(1);
            input.read(&mut [0]).is_ok_and(|len| len > 0)
        };
        if self.unpacked_left == 0 && has_more(input) {
            self.out.warn(WarningKind::MissingData, TOO_MANY);
        } else if !matches!(ended, ListEnd::Whole) {
            let what = "packed packets that are damaged; those before the damage are kept";
            self.out.warn(WarningKind::DamagedRecord, what);
        }
        Ok(())
    }

    /// Brings the state of the sequence up to date. Returns the time of the packet.
    fn begin(&mut self, head: &PacketHead<'_>, bytes: &[u8]) -> Result<Option<Moment>, PacketStop> {
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
        let mut fields = MessageFields::new(bytes);
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
fn defaults_of(sequence: &mut Sequence, bytes: &[u8]) -> Result<(), MessageDamage> {
    sequence.clock = None;
    sequence.track = None;
    sequence.extra_counters = Default::default();
    let mut fields = MessageFields::new(bytes);
    while let Some((number, value)) = fields.next()? {
        match number {
            58 => sequence.clock = Some(value.number_u32()?),
            11 => {
                let mut fields = MessageFields::new(value.bytes());
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
    Within(ReadStop),
    Reader(Error),
}

impl From<ReadStop> for PacketStop {
    fn from(stop: ReadStop) -> Self {
        Self::Within(stop)
    }
}

impl From<MessageDamage> for PacketStop {
    fn from(damage: MessageDamage) -> Self {
        Self::Within(damage.into())
    }
}
