//! The builder's end of a relay. Plays the calls of batches in the order in which they were sent.

use super::recent_texts::PLACES;
use super::{CallBatch, HeldValue, RelayedCall, Slice, Texted};
use crate::base::{Error, Result};
use crate::block::ColumnType;
use crate::ingest::Builder;
use crate::ingest::producer::NextField;
use crate::ingest::rows::{PackedValue, ValuePacker};
use crate::model::{
    FieldId, Filled, FlowPoint, NameId, NumberBits, Sink, SliceRecord, TemplateId, TemplateValue, Value,
};

/// Plays calls to a builder.
#[derive(Debug)]
pub struct Player {
    /// The builder's number of each of the reader's names.
    names: Vec<NameId>,
    /// The builder's number of the text in each cache slot.
    texts: Vec<NameId>,
    /// Count of numeric values that each template takes.
    templates: Vec<usize>,
}

impl Default for Player {
    fn default() -> Self {
        Self { names: Vec::new(), texts: vec![NameId(0); PLACES], templates: Vec::new() }
    }
}

impl Player {
    /// Plays all calls of a batch and empties the batch.
    pub fn play(&mut self, batch: &mut CallBatch, sink: &mut Builder<'_>) -> Result<()> {
        let CallBatch { calls, runs, links, fields, numbers, texts, .. } = batch;
        let mut parts = BatchParts { fields: fields.iter(), numbers, texts };
        for call in calls.drain(..) {
            match call {
                RelayedCall::Name { text_len } => self.names.push(sink.name(parts.text(text_len)?)?),
                RelayedCall::Table(spec) => drop(sink.table(*spec)?),
                RelayedCall::Field(table, spec) => drop(sink.field(table, *spec)?),
                RelayedCall::Track(spec) => drop(sink.track(*spec)?),
                RelayedCall::DescribeTrack(track, spec) => sink.describe_track(track, *spec)?,
                RelayedCall::InOrder(track) => sink.in_order(track)?,
                RelayedCall::Schedule(table, mut schedule) => {
                    for slice in &mut schedule.slices {
                        slice.name = self.name(slice.name)?;
                    }
                    sink.schedule(table, *schedule)?;
                }
                RelayedCall::Template(table, mut of_template) => {
                    for (_, part) in &mut of_template {
                        if let TemplateValue::Fixed(Value::Name(name)) = part {
                            *name = self.name(*name)?;
                        }
                    }
                    self.templates.push(TemplateValue::numbers(&of_template));
                    sink.template(table, &of_template)?;
                }
                RelayedCall::Slice(slice) => {
                    let record = self.record(&slice)?;
                    sink.take_slice(&record, None, self.fields(slice.fields as usize, &mut parts))?;
                }
                RelayedCall::SliceBy(template, slice) => {
                    let record = self.record(&slice)?;
                    let filled = self.filled(template, &mut parts)?;
                    sink.take_slice(&record, Some(filled), self.fields(slice.fields as usize, &mut parts))?;
                }
                RelayedCall::Sample { track, time_ps, value, fields } => {
                    sink.take_sample(track, time_ps, value, None, self.fields(fields, &mut parts))?;
                }
                RelayedCall::SampleBy { template, track, time_ps, value } => {
                    sink.sample_by(self.filled(template, &mut parts)?, track, time_ps, value)?;
                }
                RelayedCall::Row { table, fields } => {
                    sink.take_row(table, self.fields(fields, &mut parts))?
                }
                RelayedCall::Run(at) => sink.take_run(runs.get(at).ok_or(CUT)?, &self.names)?,
                RelayedCall::FlowPoint(point) => {
                    sink.flow_point(FlowPoint { name: self.name(point.name)?, ..point })?;
                }
                RelayedCall::Rank(info) => sink.rank(*info),
            }
        }
        for &(from, to, name) in &*links {
            sink.link(from, to, self.name(name)?)?;
        }
        batch.clear();
        Ok(())
    }

    fn name(&self, name: NameId) -> Result<NameId> {
        let known = self.names.get(name.0 as usize).copied();
        known.ok_or(Error::Invalid { what: "a name that does not exist" })
    }

    fn record(&self, slice: &Slice) -> Result<SliceRecord<'static>> {
        let &Slice { track, start_ps, duration_ps, name, form, .. } = slice;
        Ok(SliceRecord { track, start_ps, duration_ps, name: self.name(name)?, form, fields: &[] })
    }

    /// A template with the next numeric values of the batch.
    fn filled<'b>(&self, template: TemplateId, parts: &mut BatchParts<'b>) -> Result<Filled<'b>> {
        let numbers = parts.numbers(*self.templates.get(template.0 as usize).ok_or(CUT)?)?;
        Ok(Filled { template, numbers })
    }

    /// The next `count` fields.
    fn fields<'p, 'b>(&'p mut self, count: usize, parts: &'p mut BatchParts<'b>) -> HeldFields<'p, 'b> {
        HeldFields { player: self, left: count, parts }
    }
}

/// The fields of a call, with the builder's numbers of names and of cached texts.
struct HeldFields<'p, 'b> {
    player: &'p mut Player,
    left: usize,
    parts: &'p mut BatchParts<'b>,
}

impl NextField for HeldFields<'_, '_> {
    #[inline(always)]
    fn next(
        &mut self,
        packer: &mut ValuePacker<'_, '_>,
    ) -> Result<Option<(FieldId, ColumnType, PackedValue<'_>)>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let &(id, held) = self.parts.fields.next().ok_or(CUT)?;
        let (kind, packed) = match held {
            HeldValue::Name(v) => packer.pack(Value::Name(self.player.name(v)?))?,
            HeldValue::KnownText { place, as_what } => {
                (as_what.coded(), PackedValue::Int(i64::from(self.player.texts[usize::from(place)].0)))
            }
            HeldValue::NewText { len, place, as_what } => {
                let number = packer.number(self.parts.text(len as usize)?)?;
                let number = number.ok_or(Error::Invalid { what: "a text without a number" })?;
                self.player.texts[usize::from(place)] = number;
                (as_what.coded(), PackedValue::Int(i64::from(number.0)))
            }
            HeldValue::Text { len, as_what: Texted::Plain } => {
                packer.pack(Value::Text(self.parts.text(len)?))?
            }
            HeldValue::Text { len, as_what: Texted::Json } => {
                packer.pack(Value::Json(self.parts.text(len)?))?
            }
            HeldValue::Int(v) => (ColumnType::Int, PackedValue::Int(v)),
            HeldValue::Uint(v) => packer.pack(Value::Uint(v))?,
            HeldValue::Float(v) => (ColumnType::Float, PackedValue::Float(v)),
            HeldValue::Bool(v) => packer.pack(Value::Bool(v))?,
        };
        Ok(Some((id, kind, packed)))
    }
}

/// Fields and texts of a batch that no call has taken yet.
struct BatchParts<'b> {
    fields: std::slice::Iter<'b, (FieldId, HeldValue)>,
    numbers: &'b [NumberBits],
    texts: &'b str,
}

/// A relay writes all parts of its calls. This error reports a batch in which a part is missing.
const CUT: Error = Error::Invalid { what: "a batch without its parts" };

impl<'b> BatchParts<'b> {
    fn numbers(&mut self, count: usize) -> Result<&'b [NumberBits]> {
        let (numbers, rest) = self.numbers.split_at_checked(count).ok_or(CUT)?;
        self.numbers = rest;
        Ok(numbers)
    }

    fn text(&mut self, len: usize) -> Result<&'b str> {
        let (text, rest) = self.texts.split_at_checked(len).ok_or(CUT)?;
        self.texts = rest;
        Ok(text)
    }
}

impl Texted {
    /// Column type for the dictionary numbers of such texts.
    fn coded(self) -> ColumnType {
        match self {
            Self::Plain => ColumnType::Text,
            Self::Json => ColumnType::Json,
        }
    }
}
