//! The rows of one track that are not encoded yet, column by column.

use std::borrow::Cow;
use std::ops::Range;

use super::by_use::NO_USE;
use super::field_column::FieldColumn;
use super::positions::Positions;
use super::row::{PackedValue, RowHead};
use super::run::RunRow;
use super::template::Template;
use super::unsettled_rows::Unsettled;
use crate::base::{Result, narrow};
use crate::block::{BlockValues, ColumnType, ROWS};
use crate::exec::step;
use crate::model::{FieldId, Filled, NameId, NumberBits, TableId};

/// Rows of a group: enough to learn each key from many of its rows.
pub const GROUP_ROWS: usize = 64 * ROWS;
/// Maximum bytes of a group. A group with many fields or long texts ends early.
pub const MAX_GROUP_BYTES: usize = 32 << 20;

/// Rows of a track in their final order that wait for their blocks.
#[derive(Debug, Default)]
pub struct RowBuffer {
    /// Start of a slice, or time of a sample.
    pub starts: Vec<i64>,
    /// Durations. Empty for samples. All columns below are empty if the track has none of them.
    pub durations: Vec<i64>,
    /// Numbers of names.
    pub names: Vec<i64>,
    /// Codes of forms.
    pub forms: Vec<i64>,
    /// Values of samples.
    pub values: Vec<f64>,
    /// Fields that occur.
    pub fields: Vec<FieldColumn>,
    /// Positions of the columns.
    pub columns: Positions,
    /// Number of rows so far, including those of side tables.
    pub count: usize,
    /// The expected column of the row's next field: rows name their fields in the same order.
    expected: usize,
    /// Bytes of texts in place.
    pub text_len: usize,
    /// Use of the template of each row; [`NO_USE`] for a row without one. Rows that are not settled
    /// are not included, nor are rows without a template at the end before [`RowBuffer::close`].
    pub uses: Vec<u32>,
    /// The last rows that have templates.
    unsettled: Box<Unsettled>,
}

impl RowBuffer {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        self.count * self.row_bytes() + self.text_len
    }

    /// Approximate bytes of a row without texts in place.
    pub fn row_bytes(&self) -> usize {
        (usize::from(!self.durations.is_empty()) * 3 + 1 + self.fields.len()) * size_of::<i64>()
    }

    /// Moves the column memory of an empty group into the pool, for the group of another track.
    pub fn give(&mut self, pool: &mut Vec<Vec<i64>>) {
        pool.extend(self.int_columns().map(std::mem::take).filter(|column| column.capacity() > 0));
    }

    /// Takes column memory from the pool for an empty group.
    pub fn take(&mut self, pool: &mut Vec<Vec<i64>>) {
        for column in self.int_columns().filter(|column| column.capacity() == 0) {
            *column = pool.pop().unwrap_or_default();
        }
    }

    fn int_columns(&mut self) -> impl Iterator<Item = &mut Vec<i64>> {
        let fields = self.fields.iter_mut().filter_map(|column| match &mut column.values {
            BlockValues::Ints(values) => Some(values),
            BlockValues::Floats(_) | BlockValues::Texts(_) => None,
        });
        [&mut self.starts, &mut self.durations, &mut self.names, &mut self.forms].into_iter().chain(fields)
    }

    /// Bytes of texts in place of the given rows.
    pub fn text_bytes(&self, rows: &Range<usize>) -> usize {
        if self.text_len == 0 {
            return 0;
        }
        let of = |column: &FieldColumn| match &column.values {
            BlockValues::Texts(texts) => {
                let slots = column.slots(rows);
                let end = |slot: usize| slot.checked_sub(1).map_or(0, |before| texts.ends[before] as usize);
                end(slots.end) - end(slots.start)
            }
            BlockValues::Ints(_) | BlockValues::Floats(_) => 0,
        };
        step(self.fields.len());
        self.fields.iter().map(of).sum()
    }

    /// Begins a row without time. The fields follow.
    pub fn begin(&mut self) {
        self.count += 1;
        self.expected = 0;
    }

    /// Begins a slice with its name, form, start and duration. The fields follow.
    pub fn slice(&mut self, name: u32, form: u8, start_ps: i64, duration_ps: i64) {
        self.begin();
        self.starts.push(start_ps);
        self.durations.push(duration_ps);
        self.names.push(i64::from(name));
        self.forms.push(i64::from(form));
    }

    /// Begins a sample. The fields follow.
    pub fn sample(&mut self, time_ps: i64, value: f64) {
        self.begin();
        self.starts.push(time_ps);
        self.values.push(value);
    }

    /// Adds the usual kind of field to the row: a number for the expected column, which every
    /// earlier row has. Returns `false` for all other fields. Inlined, because these few
    /// comparisons are most of the cost of taking a row.
    #[inline(always)]
    pub fn takes_as_before(&mut self, field: FieldId, kind: ColumnType, value: PackedValue<'_>) -> bool {
        if let (PackedValue::Int(value), Some(column)) = (value, self.fields.get_mut(self.expected))
            && column.field == field
            && column.kind == kind
            && column.rows.is_none()
            && let BlockValues::Ints(values) = &mut column.values
            && values.len() + 1 == self.count
        {
            values.push(value);
            self.expected += 1;
            return true;
        }
        false
    }

    /// Adds a field to the row.
    #[inline(always)]
    pub fn field(&mut self, field: FieldId, kind: ColumnType, value: PackedValue<'_>) {
        if !self.takes_as_before(field, kind, value) {
            self.odd_field(field, kind, value);
        }
    }

    /// Adds any field to the row.
    pub fn odd_field(&mut self, field: FieldId, kind: ColumnType, value: PackedValue<'_>) {
        let is_it = |column: &FieldColumn| column.field == field && column.kind == kind;
        let at = match self.fields.get(self.expected) {
            Some(column) if is_it(column) => self.expected,
            _ => self.column(field, kind),
        };
        if let PackedValue::Text(text) = value {
            self.text_len += text.len();
        }
        self.fields[at].spell_out(&self.uses);
        self.fields[at].push(self.count - 1, value);
        self.expected = at + 1;
    }

    /// Adds the fields of a template in `templates` to the row.
    #[inline]
    pub fn fill(&mut self, filled: &Filled<'_>, template: &Template, templates: &[Template]) -> Result<()> {
        let Self { unsettled, fields, columns, count, .. } = self;
        unsettled.push(*count - 1, filled, || {
            let at = template.columns().map(|(field, kind)| column(fields, columns, field, kind));
            at.map(|at| narrow(at)).collect()
        })?;
        if self.unsettled.is_full() {
            self.settle(templates);
        }
        Ok(())
    }

    /// Adds the rows of a run. `names` gives the numbers of the names of slices; it is `None` for
    /// samples. Takes the numeric values of the rows from `numbers`.
    ///
    /// # Errors
    /// If a template is of another table, or numbers are missing.
    pub fn run(
        &mut self,
        run: &[RunRow],
        names: Option<&[NameId]>,
        table: TableId,
        numbers: &mut &[NumberBits],
        templates: &[Template],
    ) -> Result<()> {
        let Self { unsettled, fields, columns, count, .. } = self;
        unsettled.extend(*count, run, numbers, |template| {
            let template = Template::of_table(templates, table, template)?;
            let at = template.columns().map(|(field, kind)| column(fields, columns, field, kind));
            let at = at.map(|at| narrow(at)).collect();
            Ok((at, template.numbers()))
        })?;
        self.starts.extend(run.iter().map(|row| row.start_ps));
        if let Some(names) = names {
            self.durations.extend(run.iter().map(|row| row.second));
            self.names.extend(run.iter().map(|row| i64::from(names[row.name.0 as usize].0)));
            self.forms.extend(run.iter().map(|row| row.form as i64));
        } else {
            self.values.extend(run.iter().map(RunRow::value));
        }
        self.count += run.len();
        if self.unsettled.is_full() {
            self.settle(templates);
        }
        Ok(())
    }

    /// Moves the fields of all rows into their columns.
    #[inline]
    pub fn settle(&mut self, templates: &[Template]) {
        if !self.unsettled.is_empty() {
            self.text_len += self.unsettled.settle(templates, &mut self.fields, &mut self.uses);
        }
    }

    /// Ends the group: the fields of all rows are in their columns.
    pub fn close(&mut self, templates: &[Template]) {
        self.settle(templates);
        self.uses.resize(self.count, NO_USE);
    }

    /// The column of a field that is not the expected one. Adds a column if the field has none.
    fn column(&mut self, field: FieldId, kind: ColumnType) -> usize {
        column(&mut self.fields, &mut self.columns, field, kind)
    }

    /// An empty group with the same fields.
    pub fn like(&self) -> Self {
        let fields = self.fields.iter().map(|column| FieldColumn::new(column.field, column.kind)).collect();
        let unsettled = Box::new(self.unsettled.like());
        Self { fields, columns: self.columns.clone(), unsettled, ..Self::default() }
    }

    /// Appends copies of all rows of another group.
    pub fn append(&mut self, other: &Self) {
        self.starts.extend_from_slice(&other.starts);
        self.durations.extend_from_slice(&other.durations);
        self.names.extend_from_slice(&other.names);
        self.forms.extend_from_slice(&other.forms);
        self.values.extend_from_slice(&other.values);
        for column in other.fields.iter().filter(|column| column.len() > 0) {
            let at = self.column(column.field, column.kind);
            let spelt = column.by_use.as_ref().map(|by_use| {
                let mut spelt = FieldColumn::new(column.field, column.kind);
                spelt.by_use = Some(by_use.clone());
                spelt.spell_out(&other.uses);
                spelt
            });
            self.fields[at].append(spelt.as_ref().unwrap_or(column), self.count, other.count);
        }
        self.count += other.count;
        self.text_len += other.text_len;
    }

    /// Frees the memory that only further rows would need.
    pub fn end(&mut self) {
        self.columns = Positions::default();
        for column in [&mut self.starts, &mut self.durations, &mut self.names, &mut self.forms] {
            column.shrink_to_fit();
        }
        self.values.shrink_to_fit();
        self.fields.shrink_to_fit();
    }

    /// Removes the rows but keeps memory and fields.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.durations.clear();
        self.names.clear();
        self.forms.clear();
        self.values.clear();
        self.uses.clear();
        self.fields.iter_mut().for_each(FieldColumn::clear);
        (self.count, self.expected, self.text_len) = (0, 0, 0);
    }

    /// Values of a column of integers in these rows.
    pub fn ints<'a>(&'a self, column: &'a FieldColumn, rows: &Range<usize>) -> Option<Cow<'a, [i64]>> {
        match &column.by_use {
            Some(by_use) => Some(by_use.values(&self.uses[rows.clone()]).collect()),
            None => Some(Cow::Borrowed(&column.ints()?[column.slots(rows)])),
        }
    }

    /// Sets `present` for each of these rows that has a value in the column.
    pub fn mark(&self, column: &FieldColumn, rows: &Range<usize>, present: &mut [bool]) {
        match &column.by_use {
            Some(by_use) => {
                by_use.rows(&self.uses[rows.clone()]).for_each(|row| present[row as usize] = true);
            }
            None => column.mark(rows, present),
        }
    }
}

/// The column of a field. `columns` gives its position in `fields`.
fn column(fields: &mut Vec<FieldColumn>, columns: &mut Positions, field: FieldId, kind: ColumnType) -> usize {
    let at = columns.of(field, kind);
    if *at == 0 {
        fields.push(FieldColumn::new(field, kind));
        *at = narrow(fields.len());
    }
    *at as usize - 1
}

impl RowHead {
    /// Begins the row in `rows`. The fields follow.
    pub fn begin(&self, rows: &mut RowBuffer) {
        match *self {
            Self::Slice { name, form, start_ps, duration_ps } => {
                rows.slice(name, form, start_ps, duration_ps);
            }
            Self::Sample { time_ps, value } => rows.sample(time_ps, value),
            Self::Side => rows.begin(),
        }
    }
}
