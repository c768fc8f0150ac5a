//! The way of events from packets to the sink: fields, tracks, and the sorter between them.

use std::cell::Cell;

use nprof_engine::base::{Error, Result};
use nprof_engine::model::{Sink, TableKind, TableSpec, Unit, Value, WarningKind};
use nprof_engine::spill::{Scratch, Sorter, Space};

use super::clock::ClockId;
use super::field::{AnnotationFields, PacketRow, RowTable};
use super::record::{EventPlace, EventRecord, SortKey, TrackEffect, WaitKey};
use super::sequence::SequenceMemory;
use super::track::PerfettoTracks;
use crate::origin::MAX_TIMESTAMPS;
use crate::protobuf::MessageDamage;

/// The reason why a packet was not read to its end.
#[derive(Debug)]
pub(super) enum ReadStop {
    /// The packet is damaged: the next one is read.
    Damage,
    /// The sink has failed: reading ends.
    Engine(Error),
}

impl From<MessageDamage> for ReadStop {
    fn from(_: MessageDamage) -> Self {
        Self::Damage
    }
}

impl From<Error> for ReadStop {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// A time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nanoseconds on the trace's clock.
    Known(i64),
    /// Nanoseconds on a clock that no snapshot so far relates to the trace's.
    On(ClockId, i64),
}

/// The output of the reader.
pub(super) struct PacketOutput<'s> {
    /// The receiver of all events.
    pub(super) sink: &'s mut dyn Sink,
    /// Fields of both tables.
    pub(super) keys: AnnotationFields,
    /// Fields of the current event.
    pub(super) row: PacketRow,
    /// Buffer for texts.
    pub(super) text: String,
    /// The tracks of the trace.
    pub(super) tracks: PerfettoTracks,
    /// Memory of sequences.
    pub(super) memory: SequenceMemory,
    /// Offset of the current packet.
    pub(super) offset: u64,
    /// Receives the offset of the packet of each event that is emitted.
    pub(super) place: Option<&'s Cell<u64>>,
    /// Events with a time on the trace's clock.
    pub(super) events: Sorter<SortKey, &'s dyn Scratch>,
    /// Events that wait for a snapshot of clocks.
    pub(super) waiting: Sorter<WaitKey, &'s dyn Scratch>,
    /// Number of events so far.
    pub(super) count: u64,
    /// First times, in picoseconds.
    pub(super) first_times: Vec<i128>,
}

/// One [`Space::sort_bytes`]' share of the sorter for events that wait for clocks.
const WAITING_SHARE: usize = 4;

impl<'s> PacketOutput<'s> {
    /// Defines the tables.
    pub(super) fn new(space: &Space<'s>, sink: &'s mut dyn Sink) -> Result<Self> {
        let mut table = |name: &str, kind, name_key: &str, doc: &str| {
            sink.table(TableSpec::new(name, kind, doc).named_by(name_key))
        };
        let slices = table("slice", TableKind::Slices, "name", "Slices and instants of tracks.")?;
        let samples = table("counter", TableKind::Samples, "name", "Samples of counters.")?;
        Ok(Self {
            sink,
            keys: AnnotationFields::new(slices, samples),
            row: PacketRow::default(),
            text: String::new(),
            tracks: PerfettoTracks::default(),
            memory: SequenceMemory::default(),
            offset: 0,
            place: None,
            events: space.sorter(1),
            waiting: space.sorter(WAITING_SHARE),
            count: 0,
            first_times: Vec::new(),
        })
    }

    /// Counts a warning about the current packet.
    pub(super) fn warn(&mut self, kind: WarningKind, what: &str) {
        let offset = self.offset;
        self.sink.warn(kind, what, &|| format!("byte {offset}"));
    }

    /// Adds a field to the row.
    pub(super) fn put(
        &mut self,
        of: RowTable,
        key: &str,
        unit: Unit,
        group: &str,
        value: Value<'_>,
    ) -> Result<()> {
        match self.keys.id(self.sink, of, key, unit, group)? {
            Some(id) => self.row.put(id, value),
            None => {
                let what = "more than 4,096 different keys of a table; the value is dropped";
                self.warn(WarningKind::AdjustedValue, what);
            }
        }
        Ok(())
    }

    /// Adds a field of nprof's own to the row.
    pub(super) fn put_own(&mut self, of: RowTable, key: &str, value: Value<'_>) -> Result<()> {
        self.put(of, key, Unit::None, "Event", value)
    }

    /// Passes an event with the fields of the row to the sorter.
    pub(super) fn push(&mut self, moment: Moment, place: EventPlace, record: &EventRecord<'_>) -> Result<()> {
        self.count += 1;
        let order = self.count;
        match moment {
            Moment::Known(ns) => {
                self.note(ns);
                self.tracks.reach(place.track, &record.act, ns);
                let (key, row) = (SortKey { place, ns, order }, &self.row);
                self.events.push_with(key, |bytes| {
                    record.encode(bytes, row);
                    Ok(())
                })
            }
            Moment::On(clock, ns) => {
                let (key, row) = (WaitKey { order, clock, ns, place }, &self.row);
                self.waiting.push_with(key, |bytes| {
                    record.encode(bytes, row);
                    Ok(())
                })
            }
        }
    }

    /// Passes an event that waited to the sorter.
    pub(super) fn push_late(&mut self, ns: i64, key: WaitKey, bytes: &[u8], act: &TrackEffect) -> Result<()> {
        self.note(ns);
        self.tracks.reach(key.place.track, act, ns);
        let key = SortKey { place: key.place, ns, order: key.order };
        self.events.push_with(key, |out| {
            out.extend_from_slice(bytes);
            Ok(())
        })
    }

    /// Remembers the first times, which decide about the origin.
    fn note(&mut self, ns: i64) {
        if self.first_times.len() < MAX_TIMESTAMPS {
            self.first_times.push(i128::from(ns) * 1_000);
        }
    }
}
