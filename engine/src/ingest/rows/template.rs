//! Templates at the builder's end.

use super::packer::ValuePacker;
use super::row::PackedValue;
use crate::base::{Error, Result};
use crate::block::ColumnType;
use crate::model::{FieldId, Filled, NumberBits, TableId, TemplateId, TemplateValue};

/// The template of some rows of a table.
#[derive(Debug)]
pub struct Template {
    table: TableId,
    pub parts: Vec<PackedPart>,
    numbers: usize,
}

/// A field of a template.
#[derive(Debug, Clone, Copy)]
pub struct PackedPart {
    field: FieldId,
    kind: ColumnType,
    pub cell: FieldSource,
}

/// Source of the value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldSource {
    /// The row has no value.
    Absent,
    /// Bits of a number that is the same in all rows.
    Fixed(u64),
    /// Text in place that is the same in all rows.
    Text(&'static str),
    /// Position of the number among the row's numbers.
    Number(u8),
}

impl Template {
    /// Packs the fixed values. The fields must belong to the table.
    pub fn new(
        table: TableId,
        parts: &[(FieldId, TemplateValue)],
        packer: &mut ValuePacker<'_, '_>,
    ) -> Result<Self> {
        let packed = parts.iter().map(|&(field, part)| {
            let (kind, cell) = match part {
                TemplateValue::Fixed(value) => {
                    let (kind, packed) = packer.pack(value)?;
                    let cell = match packed {
                        PackedValue::Int(value) => FieldSource::Fixed(value.cast_unsigned()),
                        PackedValue::Float(value) => FieldSource::Fixed(value.to_bits()),
                        PackedValue::Text(text) => FieldSource::Text(text),
                    };
                    (kind, cell)
                }
                TemplateValue::Int(place) => (ColumnType::Int, FieldSource::Number(place)),
                TemplateValue::Float(place) => (ColumnType::Float, FieldSource::Number(place)),
            };
            Ok(PackedPart { field, kind, cell })
        });
        Ok(Self { table, parts: packed.collect::<Result<_>>()?, numbers: TemplateValue::numbers(parts) })
    }

    /// Returns the template of a row of this table.
    pub fn of<'t>(templates: &'t [Self], table: TableId, filled: &Filled<'_>) -> Result<&'t Self> {
        let known = templates.get(filled.template.0 as usize);
        let fits = |template: &&Self| template.table == table && template.numbers == filled.numbers.len();
        known
            .filter(fits)
            .ok_or(Error::Invalid { what: "a template that is unknown or belongs to another kind of row" })
    }

    /// Returns a template of this table.
    pub fn of_table(templates: &[Self], table: TableId, template: TemplateId) -> Result<&Self> {
        let known = templates.get(template.0 as usize).filter(|template| template.table == table);
        known.ok_or(Error::Invalid { what: "a template that is unknown or of another table" })
    }

    /// Count of numeric values that a row needs.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// The fields of a row, in order.
    pub fn fields<'t>(
        &'t self,
        numbers: &'t [NumberBits],
    ) -> impl Iterator<Item = (FieldId, ColumnType, PackedValue<'static>)> + 't {
        self.parts.iter().map(|part| {
            let bits = match part.cell {
                FieldSource::Text(text) => return (part.field, part.kind, PackedValue::Text(text)),
                FieldSource::Fixed(bits) => bits,
                FieldSource::Number(place) => numbers.get(usize::from(place)).map_or(0, |number| number.0),
                FieldSource::Absent => 0,
            };
            (part.field, part.kind, of_bits(part.kind, bits))
        })
    }

    /// Fields with the types of their values.
    pub fn columns(&self) -> impl Iterator<Item = (FieldId, ColumnType)> + '_ {
        self.parts.iter().map(|part| (part.field, part.kind))
    }
}

fn of_bits(kind: ColumnType, bits: u64) -> PackedValue<'static> {
    match kind {
        ColumnType::Float => PackedValue::Float(f64::from_bits(bits)),
        _ => PackedValue::Int(bits.cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{
        FieldSpec, Nesting, Sink, SliceForm, SliceRecord, TableKind, TableSpec, Templates, TrackSpec, Unit,
        Value,
    };
    use crate::spill::MemoryScratch;

    /// Sends the fields of templates one by one, like a reader without templates.
    enum Told<'b, 'a> {
        ByTemplate(&'b mut Builder<'a>),
        SpeltOut(&'b mut Builder<'a>, Templates),
    }

    impl Told<'_, '_> {
        fn template(
            &mut self,
            table: TableId,
            parts: &[(FieldId, TemplateValue)],
        ) -> crate::model::TemplateId {
            match self {
                Self::ByTemplate(builder) => builder.template(table, parts).unwrap(),
                Self::SpeltOut(_, templates) => templates.define(parts),
            }
        }

        fn slice(&mut self, filled: Option<Filled<'_>>, slice: &SliceRecord<'_>) {
            match (self, filled) {
                (Self::ByTemplate(builder), Some(filled)) => builder.slice_by(filled, slice).unwrap(),
                (Self::SpeltOut(builder, templates), Some(filled)) => {
                    let fields = templates.fields(filled, slice.fields).unwrap();
                    builder.slice(&SliceRecord { fields: &fields, ..*slice }).unwrap()
                }
                (Self::ByTemplate(builder) | Self::SpeltOut(builder, _), None) => {
                    builder.slice(slice).unwrap()
                }
            };
        }

        fn builder(&mut self) -> &mut dyn Sink {
            match self {
                Self::ByTemplate(builder) | Self::SpeltOut(builder, _) => *builder,
            }
        }
    }

    /// Rows of three templates, of none, and of a template followed by another field. One track is
    /// in order and one is sorted.
    fn tell(mut told: Told<'_, '_>) {
        let sink = told.builder();
        let spec = TableSpec::new("t", TableKind::Slices, "");
        let table = sink.table(spec).unwrap();
        let name = sink.name("a").unwrap();
        let field = |at: usize| FieldSpec::new(&format!("f{at}"), Unit::None, "", "");
        let fields: Vec<FieldId> = (0..6).map(|at| sink.field(table, field(at)).unwrap()).collect();
        let spec = |name| TrackSpec::slices(name, None, table, Nesting::Concurrent, 0);
        let tracks = [sink.track(spec("in order")).unwrap(), sink.track(spec("sorted")).unwrap()];
        sink.in_order(tracks[0]).unwrap();
        let texts = [Value::Text("short"), Value::Json("[0]"), Value::Name(name)];
        let templates = texts.map(|text| {
            let mut parts = vec![(fields[0], TemplateValue::Int(0)), (fields[1], TemplateValue::Fixed(text))];
            // Not all rows have this field.
            parts.extend((text == texts[1]).then_some((fields[2], TemplateValue::Fixed(Value::Float(-0.0)))));
            parts.extend((text != texts[2]).then_some((fields[3], TemplateValue::Float(1))));
            parts.push((fields[4], TemplateValue::Fixed(Value::Bool(true))));
            (told.template(table, &parts), TemplateValue::numbers(&parts))
        });
        for at in 0..20_000_i64 {
            let numbers = [NumberBits::from(at / 7), NumberBits::from(at as f64 / 3.0)];
            // Long runs of one template, and short runs of several.
            let of = if at < 6_000 { at / 3_000 } else { at * 7 / 5 % 4 };
            let filled = templates
                .get(of as usize)
                .map(|&(template, count)| Filled { template, numbers: &numbers[..count] });
            let others = [(fields[5], Value::Int(at))];
            let others = &others[..usize::from(filled.is_none() || at % 1_000 == 999)];
            for (track, start_ps) in tracks.into_iter().zip([at, at * 7_919 % 20_000]) {
                let (form, duration_ps) = (SliceForm::Complete, 1);
                let slice = SliceRecord { track, start_ps, duration_ps, name, form, fields: others };
                told.slice(filled, &slice);
            }
        }
    }

    #[test]
    fn rows_by_template_are_stored_as_those_spelt_out() {
        // Texts in the dictionary and texts in place.
        for dictionary_bytes in [1 << 20, 1] {
            let scratch = MemoryScratch::default();
            let options = BuildOptions { dictionary_bytes, ..BuildOptions::default() };
            let built = [true, false].map(|by_template| {
                let mut bytes = Vec::new();
                let mut builder = Builder::new(&scratch, &mut bytes, options).unwrap();
                tell(match by_template {
                    true => Told::ByTemplate(&mut builder),
                    false => Told::SpeltOut(&mut builder, Templates::default()),
                });
                builder.finish().unwrap();
                bytes
            });
            assert!(built[0] == built[1], "{} and {} bytes", built[0].len(), built[1].len());
        }
    }

    #[test]
    fn a_template_of_other_rows_is_refused() {
        let scratch = MemoryScratch::default();
        let mut bytes = Vec::new();
        let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        let spec = |name: &str| TableSpec::new(name, TableKind::Samples, "");
        let (of, other) = (builder.table(spec("of")).unwrap(), builder.table(spec("other")).unwrap());
        let field = builder.field(of, FieldSpec::named("f")).unwrap();
        let parts = [(field, TemplateValue::Int(0))];
        assert!(builder.template(other, &parts).is_err());
        let template = builder.template(of, &parts).unwrap();
        let tracks = [of, other]
            .map(|table| builder.track(TrackSpec::counter("c", None, table, Unit::None, 0)).unwrap());
        let numbers = [NumberBits::from(1_i64)];
        let mut sample = |numbers, track| builder.sample_by(Filled { template, numbers }, track, 0, 1.0);
        assert!(sample(&numbers[..], tracks[0]).is_ok());
        assert!(sample(&numbers[..], tracks[1]).is_err());
        assert!(sample(&numbers[..0], tracks[0]).is_err());
    }
}
