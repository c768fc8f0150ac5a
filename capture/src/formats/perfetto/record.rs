//! Events as they wait in a sorter, until all tracks are known and the events of each track are in
//! the order of time.

use nprof_engine::base::Result;
use nprof_engine::base::bytes::{Cursor, Put};
use nprof_engine::model::{FlowPhase, NameId};
use nprof_engine::spill::{ByteSpan, NoBytes, SpillKey};

use super::clock::ClockId;
use super::field::PacketRow;

/// Place of an event: its track, and the stack of open slices on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventPlace {
    /// Index of the track.
    pub(super) track: u32,
    /// Number of the stack; 0 if the track has one.
    pub(super) stack: u64,
}

impl EventPlace {
    fn put(self, out: &mut Vec<u8>) {
        out.put_varint(u64::from(self.track));
        out.put_varint(self.stack);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { track: cursor.varint_u32()?, stack: cursor.varint()? })
    }
}

/// Order of events: stack by stack, then by time, then as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SortKey {
    pub(super) place: EventPlace,
    pub(super) ns: i64,
    pub(super) order: u64,
}

impl SpillKey for SortKey {
    type Span = ByteSpan;
    const MAX_LEN: usize = 5 + 3 * 10;

    fn put(&self, out: &mut Vec<u8>) {
        self.place.put(out);
        out.put_signed(self.ns);
        out.put_varint(self.order);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self { place: EventPlace::take(cursor)?, ns: cursor.signed()?, order: cursor.varint()? })
    }
}

/// An event whose clock is not related to the trace's clock yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitKey {
    pub(super) order: u64,
    pub(super) clock: ClockId,
    pub(super) ns: i64,
    pub(super) place: EventPlace,
}

impl SpillKey for WaitKey {
    type Span = ByteSpan;
    const MAX_LEN: usize = 3 * 5 + 3 * 10;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(self.order);
        out.put_varint(u64::from(self.clock.sequence));
        out.put_varint(u64::from(self.clock.id));
        out.put_signed(self.ns);
        self.place.put(out);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            order: cursor.varint()?,
            clock: ClockId { sequence: cursor.varint_u32()?, id: cursor.varint_u32()? },
            ns: cursor.signed()?,
            place: EventPlace::take(cursor)?,
        })
    }
}

/// A slice at which a flow begins, goes on or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FlowKey {
    /// Id of the flow.
    pub(super) flow: u64,
    pub(super) ns: i64,
    /// Whether the flow ends here.
    pub(super) ends: bool,
    /// Track and arrival of the slice.
    pub(super) track: u32,
    pub(super) arrival: u32,
}

impl SpillKey for FlowKey {
    type Span = NoBytes;
    const MAX_LEN: usize = 1 + 2 * 5 + 2 * 10;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(self.flow);
        out.put_signed(self.ns);
        out.push(u8::from(self.ends));
        out.put_varint(u64::from(self.track));
        out.put_varint(u64::from(self.arrival));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            flow: cursor.varint()?,
            ns: cursor.signed()?,
            ends: cursor.u8()? != 0,
            track: cursor.varint_u32()?,
            arrival: cursor.varint_u32()?,
        })
    }
}

/// Meaning of an event for a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowRole {
    /// The flow begins here, or goes on from the event before in time.
    Passes,
    /// The flow goes on from the event before in time, and ends here.
    Terminates,
    /// The event says of itself what it is to the flow, as an older event does.
    Stated(FlowPhase),
}

impl FlowRole {
    fn code(self) -> u8 {
        match self {
            Self::Passes => 0,
            Self::Terminates => 1,
            Self::Stated(FlowPhase::Start) => 2,
            Self::Stated(FlowPhase::Step) => 3,
            Self::Stated(FlowPhase::End) => 4,
        }
    }

    fn of_code(code: u8) -> Self {
        match code {
            0 => Self::Passes,
            1 => Self::Terminates,
            2 => Self::Stated(FlowPhase::Start),
            3 => Self::Stated(FlowPhase::Step),
            _ => Self::Stated(FlowPhase::End),
        }
    }
}

/// A flow at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowAt {
    pub(super) flow: u64,
    pub(super) role: FlowRole,
}

/// Effect of an event on its track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TrackEffect {
    /// A slice begins.
    Begin,
    /// The innermost slice ends.
    End,
    /// A moment.
    Instant,
    /// A slice with its duration in nanoseconds.
    Complete(i64),
    /// A state begins, which ends with the next one. A state without a name only ends.
    State,
    /// A counter has this value. If the counter states differences, the sum counts.
    Sample { value: f64, sum: f64 },
    /// A point of a flow, with the code of its phase.
    Flow { key: u64, phase: u8 },
}

/// An event without its place, time and fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventRecord<'f> {
    pub(super) act: TrackEffect,
    /// Offset of the packet.
    pub(super) offset: u64,
    pub(super) name: Option<NameId>,
    /// Flows at the event.
    pub(super) flows: &'f [FlowAt],
}

impl EventRecord<'_> {
    /// Appends the record with the fields of a row.
    pub(super) fn encode(&self, out: &mut Vec<u8>, row: &PacketRow) {
        match self.act {
            TrackEffect::Begin => out.push(0),
            TrackEffect::End => out.push(1),
            TrackEffect::Instant => out.push(2),
            TrackEffect::Complete(ns) => {
                out.push(3);
                out.put_signed(ns);
            }
            TrackEffect::State => out.push(4),
            TrackEffect::Sample { value, sum } => {
                out.push(5);
                out.extend_from_slice(&value.to_bits().to_le_bytes());
                out.extend_from_slice(&sum.to_bits().to_le_bytes());
            }
            TrackEffect::Flow { key, phase } => {
                out.push(6);
                out.extend_from_slice(&key.to_le_bytes());
                out.push(phase);
            }
        }
        out.put_varint(self.offset);
        out.put_varint(self.name.map_or(0, |name| u64::from(name.0) + 1));
        out.put_varint(self.flows.len() as u64);
        for at in self.flows {
            out.extend_from_slice(&at.flow.to_le_bytes());
            out.push(at.role.code());
        }
        row.encode(out);
    }

    /// Reads what the record does, from its encoding.
    pub(super) fn act(cursor: &mut Cursor<'_>) -> Result<TrackEffect> {
        Ok(match cursor.u8()? {
            0 => TrackEffect::Begin,
            1 => TrackEffect::End,
            2 => TrackEffect::Instant,
            3 => TrackEffect::Complete(cursor.signed()?),
            4 => TrackEffect::State,
            5 => {
                let (value, sum) = (cursor.u64()?, cursor.u64()?);
                TrackEffect::Sample { value: f64::from_bits(value), sum: f64::from_bits(sum) }
            }
            _ => TrackEffect::Flow { key: cursor.u64()?, phase: cursor.u8()? },
        })
    }
}

/// A record that was read back. The fields of its row follow in the cursor.
#[derive(Debug, Default)]
pub(super) struct RecordHeader {
    pub(super) offset: u64,
    pub(super) name: Option<NameId>,
    pub(super) flows: Vec<FlowAt>,
}

impl RecordHeader {
    /// Reads the part behind [`EventRecord::act`].
    pub(super) fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.offset = cursor.varint()?;
        let name = cursor.varint_u32()?;
        self.name = name.checked_sub(1).map(NameId);
        self.flows.clear();
        for _ in 0..cursor.count(9)? {
            let flow = cursor.u64()?;
            self.flows.push(FlowAt { flow, role: FlowRole::of_code(cursor.u8()?) });
        }
        Ok(())
    }
}
