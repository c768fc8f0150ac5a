//! Templates at the builder's end, and the rows that have one.
//!
//! A row with a template is kept as the template's number and the row's own numbers. The fields of
//! many such rows go to their columns together, column by column. Each column is then a copy, a
//! look-up, or a constant. Adding field by field costs several times as much.

use rustc_hash::FxHashMap;

use super::packer::Packer;
use super::row::Packed;
use super::rows::FieldColumn;
use crate::base::{Error, Result};
use crate::block::{BlockValues, ColumnType};
use crate::model::{FieldId, Filled, Number, Part, TableId};

/// Rows whose fields go to the columns together. Their numbers fit in the second-level cache.
pub const TOGETHER_ROWS: usize = 2048;

/// The template of some rows of a table.
#[derive(Debug)]
pub struct Template {
    table: TableId,
    parts: Vec<PackedPart>,
    numbers: usize,
}

#[derive(Debug, Clone, Copy)]
struct PackedPart {
    field: FieldId,
    kind: ColumnType,
    cell: Cell,
}

/// Source of the value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
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
    pub fn new(table: TableId, parts: &[(FieldId, Part)], packer: &mut Packer<'_, '_>) -> Result<Self> {
        let packed = parts.iter().map(|&(field, part)| {
            let (kind, cell) = match part {
                Part::Fixed(value) => {
                    let (kind, packed) = packer.pack(value)?;
                    let cell = match packed {
                        Packed::Int(value) => Cell::Fixed(value.cast_unsigned()),
                        Packed::Float(value) => Cell::Fixed(value.to_bits()),
                        Packed::Text(text) => Cell::Text(text),
                    };
                    (kind, cell)
                }
                Part::Int(place) => (ColumnType::Int, Cell::Number(place)),
                Part::Float(place) => (ColumnType::Float, Cell::Number(place)),
            };
            Ok(PackedPart { field, kind, cell })
        });
        Ok(Self { table, parts: packed.collect::<Result<_>>()?, numbers: Part::numbers(parts) })
    }

    /// Returns the template of a row of this table.
    pub fn of<'t>(templates: &'t [Self], table: TableId, filled: &Filled<'_>) -> Result<&'t Self> {
        let known = templates.get(filled.template.0 as usize);
        let fits = |template: &&Self| template.table == table && template.numbers == filled.numbers.len();
        known.filter(fits).ok_or(Error::Invalid { what: "a template that is unknown or of other rows" })
    }

    /// The fields of a row, in order.
    pub fn fields<'t>(
        &'t self,
        numbers: &'t [Number],
    ) -> impl Iterator<Item = (FieldId, ColumnType, Packed<'static>)> + 't {
        self.parts.iter().map(|part| {
            let bits = match part.cell {
                Cell::Text(text) => return (part.field, part.kind, Packed::Text(text)),
                Cell::Fixed(bits) => bits,
                Cell::Number(place) => numbers.get(usize::from(place)).map_or(0, |number| number.0),
                Cell::Absent => 0,
            };
            (part.field, part.kind, of_bits(part.kind, bits))
        })
    }

    /// Fields with the types of their values.
    pub fn columns(&self) -> impl Iterator<Item = (FieldId, ColumnType)> + '_ {
        self.parts.iter().map(|part| (part.field, part.kind))
    }
}

fn of_bits(kind: ColumnType, bits: u64) -> Packed<'static> {
    match kind {
        ColumnType::Float => Packed::Float(f64::from_bits(bits)),
        _ => Packed::Int(bits.cast_signed()),
    }
}

/// The last rows of a track with fields that are not in columns yet. Every such row has a template.
#[derive(Debug, Default)]
pub struct Unsettled {
    /// Number of the first of these rows.
    first: usize,
    /// Position in `uses` for each row.
    rows: Vec<u32>,
    /// The rows' own numeric values, row by row.
    numbers: Vec<Number>,
    uses: Vec<Use>,
    use_of_template: FxHashMap<u32, u32>,
    /// Position in `uses` for the last row.
    last: u32,
    rounds: u32,
}

/// A template that rows of the track use.
#[derive(Debug, Clone)]
struct Use {
    template: u32,
    /// Positions of the columns of its fields.
    columns: Box<[u32]>,
    /// Count of numeric values per row.
    numbers: u32,
    /// The last round in which a row used this template, and the template's slot in that round.
    round: u32,
    slot: u32,
    /// Position of the use that followed last time. Loops then need no look-up.
    next: u32,
}

impl Unsettled {
    /// Whether all rows are in columns.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether there are enough rows to settle.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= TOGETHER_ROWS
    }

    /// No rows, with the same templates.
    pub fn like(&self) -> Self {
        let (uses, use_of_template) = (self.uses.clone(), self.use_of_template.clone());
        Self { uses, use_of_template, rounds: self.rounds, ..Self::default() }
    }

    /// Takes row `row` of the track. Calls `columns` for the columns of a template that is new
    /// here.
    #[inline]
    pub fn push(&mut self, row: usize, filled: &Filled<'_>, columns: impl FnOnce() -> Box<[u32]>) {
        let template = filled.template.0;
        let expected = self.uses.get(self.last as usize).map_or(0, |of_last| of_last.next);
        let at = match self.uses.get(expected as usize) {
            Some(of_row) if of_row.template == template => expected,
            _ => self.find(filled, columns),
        };
        self.last = at;
        if self.rows.is_empty() {
            self.first = row;
        }
        self.rows.push(at);
        self.numbers.extend_from_slice(filled.numbers);
    }

    /// The use of a template, if it is not the one that followed last time.
    #[cold]
    fn find(&mut self, filled: &Filled<'_>, columns: impl FnOnce() -> Box<[u32]>) -> u32 {
        let (template, new) = (filled.template.0, self.uses.len() as u32);
        let at = *self.use_of_template.entry(template).or_insert(new);
        if at == new {
            let numbers = filled.numbers.len() as u32;
            self.uses.push(Use { template, columns: columns(), numbers, round: 0, slot: 0, next: 0 });
        }
        if let Some(of_last) = self.uses.get_mut(self.last as usize) {
            of_last.next = at;
        }
        at
    }

    /// Moves the fields of all rows into their columns. Returns the bytes of the texts among them.
    pub fn settle(&mut self, templates: &[Template], columns: &mut [FieldColumn]) -> usize {
        self.rounds += 1;
        // Templates of these rows, slot of each row's template, and start of each row's numbers.
        let mut used: Vec<usize> = Vec::new();
        let mut slots = Vec::with_capacity(self.rows.len());
        let mut begins = Vec::with_capacity(self.rows.len());
        let mut begin = 0;
        for &at in &self.rows {
            let of_row = &mut self.uses[at as usize];
            if of_row.round != self.rounds {
                (of_row.round, of_row.slot) = (self.rounds, used.len() as u32);
                used.push(at as usize);
            }
            slots.push(of_row.slot);
            begins.push(begin);
            begin += of_row.numbers as usize;
        }
        let mut cells = vec![Cell::Absent; columns.len() * used.len()];
        for (slot, &at) in used.iter().enumerate() {
            let Use { template, columns, .. } = &self.uses[at];
            for (&column, part) in columns.iter().zip(&templates[*template as usize].parts) {
                cells[column as usize * used.len() + slot] = part.cell;
            }
        }
        let rows = Together { first: self.first, slots: &slots, begins: &begins, numbers: &self.numbers };
        let of_columns = columns.iter_mut().zip(cells.chunks_exact(used.len().max(1)));
        let text_bytes = of_columns.map(|(column, cells)| rows.settle(column, cells)).sum();
        self.rows.clear();
        self.numbers.clear();
        text_bytes
    }
}

/// Rows that are settled together.
struct Together<'r> {
    first: usize,
    /// Slot of each row's template.
    slots: &'r [u32],
    /// Start position of each row's numbers.
    begins: &'r [usize],
    numbers: &'r [Number],
}

impl Together<'_> {
    /// Appends the values of a column. `cells` gives the source of the values by slot. Returns the
    /// bytes of the texts among them.
    fn settle(&self, column: &mut FieldColumn, cells: &[Cell]) -> usize {
        let mut present = cells.iter().filter(|cell| **cell != Cell::Absent);
        let Some(&first) = present.next() else { return 0 };
        let before = column.len();
        let text_bytes = self.put(column, cells);
        if let Cell::Fixed(bits) = first
            && present.all(|cell| *cell == first)
        {
            column.note_same(before, bits.cast_signed());
        }
        text_bytes
    }

    /// Appends the values of a column if not all cells are absent.
    fn put(&self, column: &mut FieldColumn, cells: &[Cell]) -> usize {
        let is_settled = match column.values_of_all(self.first) {
            Some(BlockValues::Ints(values)) => self.extend(values, cells, u64::cast_signed),
            Some(BlockValues::Floats(values)) => self.extend(values, cells, f64::from_bits),
            Some(BlockValues::Texts(_)) | None => false,
        };
        if is_settled {
            return 0;
        }
        if !matches!(column.values, BlockValues::Texts(_)) {
            column.push_numbers(self.values(cells));
            return 0;
        }
        let mut text_bytes = 0;
        for (row, &slot) in (self.first..).zip(self.slots) {
            if let Cell::Text(text) = cells[slot as usize] {
                column.push(row, Packed::Text(text));
                text_bytes += text.len();
            }
        }
        text_bytes
    }

    /// The rows that have a value, with the bits of the value.
    fn values(&self, cells: &[Cell]) -> impl Iterator<Item = (usize, u64)> {
        let rows = (self.first..).zip(self.slots).zip(self.begins);
        rows.filter_map(|((row, &slot), &begin)| match cells[slot as usize] {
            Cell::Fixed(bits) => Some((row, bits)),
            Cell::Number(place) => Some((row, self.numbers[begin + usize::from(place)].0)),
            Cell::Absent | Cell::Text(_) => None,
        })
    }

    /// Appends a value of each row: fixed values of each template, or the number at one position.
    /// Returns `false` if the cells are neither.
    fn extend<T: Copy>(&self, values: &mut Vec<T>, cells: &[Cell], of: impl Fn(u64) -> T) -> bool {
        if let Cell::Number(place) = cells[0]
            && cells.iter().all(|cell| *cell == cells[0])
        {
            let at = |begin: &usize| of(self.numbers[begin + usize::from(place)].0);
            values.extend(self.begins.iter().map(at));
            return true;
        }
        let fixed = |cell: &Cell| match cell {
            Cell::Fixed(bits) => Some(*bits),
            Cell::Text(_) | Cell::Absent | Cell::Number(_) => None,
        };
        let Some(fixed) = cells.iter().map(fixed).collect::<Option<Vec<u64>>>() else { return false };
        if fixed.iter().all(|bits| *bits == fixed[0]) {
            values.extend(std::iter::repeat_n(of(fixed[0]), self.slots.len()));
        } else {
            values.extend(self.slots.iter().map(|&slot| of(fixed[slot as usize])));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{BuildOptions, Builder};
    use crate::model::{
        FieldSpec, Form, Nesting, Sink, SliceRecord, TableKind, TableSpec, Templates, TrackSpec, Unit, Value,
    };
    use crate::spill::MemoryScratch;

    /// Sends the fields of templates one by one, like a reader without templates.
    enum Told<'b, 'a> {
        ByTemplate(&'b mut Builder<'a>),
        SpeltOut(&'b mut Builder<'a>, Templates),
    }

    impl Told<'_, '_> {
        fn template(&mut self, table: TableId, parts: &[(FieldId, Part)]) -> crate::model::TemplateId {
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
        let spec = TableSpec {
            name: "t".to_owned(),
            kind: TableKind::Slices,
            name_key: String::new(),
            doc: String::new(),
        };
        let table = sink.table(spec).unwrap();
        let name = sink.name("a").unwrap();
        let field = |at: usize| FieldSpec::new(&format!("f{at}"), Unit::None, "", "");
        let fields: Vec<FieldId> = (0..6).map(|at| sink.field(table, field(at)).unwrap()).collect();
        let spec = |name| TrackSpec::slices(name, None, table, Nesting::Concurrent, 0);
        let tracks = [sink.track(spec("in order")).unwrap(), sink.track(spec("sorted")).unwrap()];
        sink.in_order(tracks[0]).unwrap();
        let texts = [Value::Text("short"), Value::Json("[0]"), Value::Name(name)];
        let templates = texts.map(|text| {
            let mut parts = vec![(fields[0], Part::Int(0)), (fields[1], Part::Fixed(text))];
            // Not all rows have this field.
            parts.extend((text == texts[1]).then_some((fields[2], Part::Fixed(Value::Float(-0.0)))));
            parts.extend((text != texts[2]).then_some((fields[3], Part::Float(1))));
            parts.push((fields[4], Part::Fixed(Value::Bool(true))));
            (told.template(table, &parts), Part::numbers(&parts))
        });
        for at in 0..20_000_i64 {
            let numbers = [Number::from(at / 7), Number::from(at as f64 / 3.0)];
            // Long runs of one template, and short runs of several.
            let of = if at < 6_000 { at / 3_000 } else { at * 7 / 5 % 4 };
            let filled = templates
                .get(of as usize)
                .map(|&(template, count)| Filled { template, numbers: &numbers[..count] });
            let others = [(fields[5], Value::Int(at))];
            let others = &others[..usize::from(filled.is_none() || at % 1_000 == 999)];
            for (track, start_ps) in tracks.into_iter().zip([at, at * 7_919 % 20_000]) {
                let (form, duration_ps) = (Form::Complete, 1);
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
        let spec = |name: &str| TableSpec {
            name: name.to_owned(),
            kind: TableKind::Samples,
            name_key: String::new(),
            doc: String::new(),
        };
        let (of, other) = (builder.table(spec("of")).unwrap(), builder.table(spec("other")).unwrap());
        let field = builder.field(of, FieldSpec::named("f")).unwrap();
        let parts = [(field, Part::Int(0))];
        assert!(builder.template(other, &parts).is_err());
        let template = builder.template(of, &parts).unwrap();
        let tracks = [of, other]
            .map(|table| builder.track(TrackSpec::counter("c", None, table, Unit::None, 0)).unwrap());
        let numbers = [Number::from(1_i64)];
        let mut sample = |numbers, track| builder.sample_by(Filled { template, numbers }, track, 0, 1.0);
        assert!(sample(&numbers[..], tracks[0]).is_ok());
        assert!(sample(&numbers[..], tracks[1]).is_err());
        assert!(sample(&numbers[..0], tracks[0]).is_err());
    }
}
