//! An event as its packet states it, with its fields.

use std::borrow::Cow;

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Value, WarningKind};

use super::annotation::{self, MISSING_TEXT, each_fixed, each_number};
use super::field::RowTable;
use super::output::{Moment, PacketOutput, ReadStop};
use super::record::FlowRole::{Passes, Terminates};
use super::record::{EventPlace, EventRecord, FlowAt, TrackEffect};
use super::sequence::{InternedKind, Sequence, source};
use super::track::TrackKey;
use crate::formats::trace_event::kineto::{self, SliceSide};
use crate::protobuf::{MessageDamage, MessageFields};

/// Most letters of an event's name that name a track.
const MAX_LABEL_CHARS: usize = 1_024;

#[derive(Debug, Clone, Copy)]
pub(super) enum Correlation<'a> {
    Number(u64),
    Text(&'a [u8]),
    Interned(u64),
}

/// Most bytes of the categories of an event, as they are joined.
const MAX_CATEGORIES_LEN: usize = 64 << 10;

/// Value of a counter.
#[derive(Debug, Clone, Copy)]
pub(super) enum CounterValue {
    Int(i64),
    Float(f64),
}

impl CounterValue {
    #[expect(clippy::cast_precision_loss, reason = "what a float cannot express is kept as a field")]
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// The number, if a float cannot express it.
    #[expect(clippy::cast_possible_truncation, reason = "the cast back is the question")]
    pub(super) fn inexact(self) -> Option<i64> {
        match self {
            Self::Int(int) if self.float() as i128 != i128::from(int) => Some(int),
            _ => None,
        }
    }
}

/// The parts of an event.
#[derive(Debug, Default)]
pub(super) struct PacketEvent<'a> {
    pub(super) kind: u64,
    pub(super) name_iid: u64,
    pub(super) name: Option<&'a [u8]>,
    pub(super) track: Option<u64>,
    pub(super) category_iids: Vec<u64>,
    pub(super) categories: Vec<&'a [u8]>,
    pub(super) annotations: Vec<&'a [u8]>,
    pub(super) value: Option<CounterValue>,
    /// Counters of further values, if the event names them: whole numbers, then floats.
    pub(super) extra_counters: [Vec<u64>; 2],
    pub(super) extra_values: [Vec<CounterValue>; 2],
    /// Flows, each with whether it ends here.
    pub(super) flows: Vec<FlowAt>,
    pub(super) legacy: Option<&'a [u8]>,
    pub(super) correlation: Option<Correlation<'a>>,
    pub(super) source: Option<&'a [u8]>,
    pub(super) source_iid: u64,
    pub(super) delta_us: Option<i64>,
    pub(super) absolute_us: Option<i64>,
    pub(super) has_unread: bool,
}

impl<'a> PacketEvent<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, MessageDamage> {
        let mut seen = Self::default();
        let mut fields = MessageFields::new(bytes);
        while let Some((number, value)) = fields.next()? {
            match number {
                1 => seen.delta_us = Some(value.signed()),
                3 => each_number(value, |iid| seen.category_iids.push(iid))?,
                4 => seen.annotations.push(value.bytes()),
                6 => seen.legacy = Some(value.bytes()),
                9 => seen.kind = value.number(),
                10 => seen.name_iid = value.number(),
                11 => seen.track = Some(value.number()),
                12 => {
                    let values = &mut seen.extra_values[0];
                    each_number(value, |number| values.push(CounterValue::Int(number.cast_signed())))?;
                }
                16 => seen.absolute_us = Some(value.signed()),
                22 => seen.categories.push(value.bytes()),
                23 => seen.name = Some(value.bytes()),
                30 => seen.value = Some(CounterValue::Int(value.signed())),
                31 => each_number(value, |uuid| seen.extra_counters[0].push(uuid))?,
                33 => seen.source = Some(value.bytes()),
                34 => seen.source_iid = value.number(),
                36 => each_number(value, |flow| seen.flows.push(FlowAt { flow, role: Passes }))?,
                42 => each_number(value, |flow| seen.flows.push(FlowAt { flow, role: Terminates }))?,
                44 => seen.value = Some(CounterValue::Float(f64::from_bits(value.number()))),
                45 => each_number(value, |uuid| seen.extra_counters[1].push(uuid))?,
                46 => {
                    let values = &mut seen.extra_values[1];
                    each_fixed(value, |bits| values.push(CounterValue::Float(f64::from_bits(bits))));
                }
                47 => each_fixed(value, |flow| seen.flows.push(FlowAt { flow, role: Passes })),
                48 => each_fixed(value, |flow| seen.flows.push(FlowAt { flow, role: Terminates })),
                52 => seen.correlation = Some(Correlation::Number(value.number())),
                53 => seen.correlation = Some(Correlation::Text(value.bytes())),
                54 => seen.correlation = Some(Correlation::Interned(value.number())),
                _ => seen.has_unread = true,
            }
        }
        Ok(seen)
    }

    /// Number and text of the name. An event without a name has `None`.
    pub(super) fn named(
        &self,
        out: &mut PacketOutput<'_>,
        sequence: &mut Sequence,
        iid: u64,
    ) -> Result<Option<(NameId, String)>> {
        if let Some(name) = self.name.filter(|name| !name.is_empty()) {
            let text = String::from_utf8_lossy(name);
            if matches!(text, Cow::Owned(_)) {
                out.warn(WarningKind::AdjustedValue, "a name that is not UTF-8; replaced by U+FFFD");
            }
            return Ok(Some((out.sink.name(&text)?, text.into_owned())));
        }
        let iid = if self.name_iid != 0 { self.name_iid } else { iid };
        if iid == 0 {
            return Ok(None);
        }
        if let Some((name, text)) = sequence.name(out.sink, InternedKind::Name, iid)? {
            // A name is copied for each event only to the length that tracks need.
            let text = text.chars().take(MAX_LABEL_CHARS).collect();
            return Ok(Some((name, text)).filter(|(_, text): &(_, String)| !text.is_empty()));
        }
        out.warn(WarningKind::MissingData, MISSING_TEXT);
        let text = format!("name {iid}");
        Ok(Some((out.sink.name(&text)?, text)))
    }

    /// The categories, with commas between them.
    pub(super) fn cat(&self, out: &mut PacketOutput<'_>, sequence: &Sequence) -> String {
        let mut joined = String::new();
        let mut add = |text: &str| {
            if joined.len() + text.len() > MAX_CATEGORIES_LEN {
                return;
            }
            if !joined.is_empty() {
                joined.push(',');
            }
            joined.push_str(text);
        };
        self.categories.iter().for_each(|text| add(&String::from_utf8_lossy(text)));
        let mut is_missing = false;
        for &iid in &self.category_iids {
            match sequence.text(InternedKind::Category, iid) {
                Some(text) => add(text),
                None => is_missing = true,
            }
        }
        if is_missing {
            out.warn(WarningKind::MissingData, MISSING_TEXT);
        }
        joined
    }

    /// Fills the row with the fields of the event besides its annotations.
    pub(super) fn fill_own(
        &self,
        out: &mut PacketOutput<'_>,
        sequence: &mut Sequence,
        of: RowTable,
        cat: &str,
    ) -> Result<(), ReadStop> {
        out.row.clear();
        if !cat.is_empty() {
            let name = out.sink.name(cat)?;
            out.put_own(of, "cat", Value::Name(name))?;
        }
        match self.correlation {
            None => {}
            Some(Correlation::Number(number)) => {
                let value = i64::try_from(number).map_or(Value::Uint(number), Value::Int);
                out.put_own(of, "correlation_id", value)?;
            }
            Some(Correlation::Text(text)) => {
                out.put_own(of, "correlation_id", Value::Text(&String::from_utf8_lossy(text)))?;
            }
            Some(Correlation::Interned(iid)) => {
                put_interned(out, sequence, of, "correlation_id", InternedKind::Correlation, iid)?;
            }
        }
        if let Some(bytes) = self.source {
            out.put_own(of, "source_location", Value::Text(&source(bytes)?))?;
        } else if self.source_iid != 0 {
            put_interned(out, sequence, of, "source_location", InternedKind::Source, self.source_iid)?;
        }
        Ok(())
    }

    /// Fills the row with all fields of the event.
    pub(super) fn fill(
        &self,
        out: &mut PacketOutput<'_>,
        sequence: &mut Sequence,
        of: RowTable,
        cat: &str,
    ) -> Result<(), ReadStop> {
        self.fill_own(out, sequence, of, cat)?;
        for bytes in &self.annotations {
            annotation::add(out, sequence, of, bytes)?;
        }
        Ok(())
    }

    /// The track of the event: its own, that of the sequence, the sequence's thread, or that of
    /// all.
    pub(super) fn place(&self, out: &mut PacketOutput<'_>, sequence: &Sequence) -> EventPlace {
        let key = match (self.track.or(sequence.track), sequence.thread) {
            (Some(uuid), _) => TrackKey::Uuid(uuid),
            (None, Some(thread)) => TrackKey::Thread(thread),
            (None, None) => TrackKey::Uuid(0),
        };
        out.tracks.place(key)
    }

    /// The process of the event's track, as far as it is known.
    pub(super) fn process(&self, out: &PacketOutput<'_>, sequence: &Sequence) -> Option<i64> {
        let of_track = self.track.or(sequence.track).and_then(|uuid| out.tracks.process_of(uuid));
        of_track.or(sequence.thread.map(|thread| thread.pid))
    }
}

/// Fills a field with an interned text, or warns that the text is missing.
fn put_interned(
    out: &mut PacketOutput<'_>,
    sequence: &mut Sequence,
    of: RowTable,
    key: &'static str,
    kind: InternedKind,
    iid: u64,
) -> Result<(), ReadStop> {
    match sequence.name(out.sink, kind, iid)?.map(|(name, _)| name) {
        Some(name) => out.put_own(of, key, Value::Name(name))?,
        None => out.warn(WarningKind::MissingData, MISSING_TEXT),
    }
    Ok(())
}

/// An act with its time and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    pub(super) act: TrackEffect,
    pub(super) moment: Moment,
    pub(super) place: EventPlace,
}

/// Passes an event whose fields are in the row.
pub(super) fn push(
    out: &mut PacketOutput<'_>,
    flows: &[FlowAt],
    Occurrence { act, moment, place }: Occurrence,
    cat: &str,
    named: Option<(NameId, String)>,
) -> Result<(), ReadStop> {
    let track = &mut out.tracks.all[place.track as usize];
    if kineto::side(cat.as_bytes()) == Some(SliceSide::Device) {
        track.on_device = true;
    }
    if act != TrackEffect::End {
        match kineto::is_annotation(cat.as_bytes()) {
            true => track.has_annotations = true,
            false => track.has_work = true,
        }
    }
    if let Some((_, text)) = &named
        && act != TrackEffect::End
    {
        out.tracks.note_name(place.track, text);
    }
    let name = named.map(|(name, _)| name);
    let record = EventRecord { act, offset: out.offset, name, flows };
    Ok(out.push(moment, place, &record)?)
}
