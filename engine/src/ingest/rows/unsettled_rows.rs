//! The last rows of a track that have templates.
//!
//! A row with a template is kept as the template's number and the row's own numbers. The fields of
//! many such rows go to their columns together, column by column. Each column is then a copy, a
//! look-up, or one value for each template. Adding field by field costs several times as much.

use rustc_hash::FxHashMap;

use super::by_use::NO_USE;
use super::field_column::FieldColumn;
use super::row::PackedValue;
use super::run::RunRow;
use super::template::{FieldSource, Template};
use crate::base::{Error, Result};
use crate::block::BlockValues;
use crate::model::{Filled, NumberBits, TemplateId};

/// Rows whose fields go to the columns together. Their numbers fit in the second-level cache.
const TOGETHER_ROWS: usize = 2048;

/// The last rows of a track with fields that are not in columns yet. Every such row has a template.
#[derive(Debug, Default)]
pub struct Unsettled {
    /// Number of the first of these rows.
    first: usize,
    /// Position in `uses` for each row.
    rows: Vec<u32>,
    /// The rows' own numeric values, row by row.
    numbers: Vec<NumberBits>,
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
    pub fn push(
        &mut self,
        row: usize,
        filled: &Filled<'_>,
        columns: impl FnOnce() -> Box<[u32]>,
    ) -> Result<()> {
        let template = filled.template.0;
        let expected = self.uses.get(self.last as usize).map_or(0, |of_last| of_last.next);
        let at = match self.uses.get(expected as usize) {
            Some(of_row) if of_row.template == template => expected,
            _ => self.find(filled.template, || Ok((columns(), filled.numbers.len())))?,
        };
        self.last = at;
        if self.rows.is_empty() {
            self.first = row;
        }
        self.rows.push(at);
        self.numbers.extend_from_slice(filled.numbers);
        Ok(())
    }

    /// The use of a template, if it is not the one that followed last time.
    #[cold]
    fn find(
        &mut self,
        TemplateId(template): TemplateId,
        open: impl FnOnce() -> Result<(Box<[u32]>, usize)>,
    ) -> Result<u32> {
        let at = match self.use_of_template.get(&template) {
            Some(&at) => at,
            None => {
                let (columns, numbers) = open()?;
                let at = self.uses.len() as u32;
                let numbers = numbers as u32;
                self.uses.push(Use { template, columns, numbers, round: 0, slot: 0, next: 0 });
                self.use_of_template.insert(template, at);
                at
            }
        };
        if let Some(of_last) = self.uses.get_mut(self.last as usize) {
            of_last.next = at;
        }
        Ok(at)
    }

    /// Takes the rows of a run, the first of which is row `row` of the track. `open` gives the
    /// columns and the count of numbers of a template that is new here.
    pub fn extend(
        &mut self,
        row: usize,
        run: &[RunRow],
        numbers: &mut &[NumberBits],
        mut open: impl FnMut(TemplateId) -> Result<(Box<[u32]>, usize)>,
    ) -> Result<()> {
        if self.rows.is_empty() {
            self.first = row;
        }
        let mut count = 0;
        for row in run {
            let expected = self.uses.get(self.last as usize).map_or(0, |of_last| of_last.next);
            let at = match self.uses.get(expected as usize) {
                Some(of_row) if of_row.template == row.template.0 => expected,
                _ => self.find(row.template, || open(row.template))?,
            };
            self.last = at;
            count += self.uses[at as usize].numbers as usize;
            self.rows.push(at);
        }
        let of_run = numbers.split_off(..count);
        let of_run = of_run.ok_or(Error::Invalid { what: "a run without its numbers" })?;
        self.numbers.extend_from_slice(of_run);
        Ok(())
    }

    /// Moves the fields of all rows into their columns. Returns the bytes of the texts among them.
    /// `uses` are the uses of all settled rows, and get those of these rows.
    pub fn settle(
        &mut self,
        templates: &[Template],
        columns: &mut [FieldColumn],
        uses: &mut Vec<u32>,
    ) -> usize {
        self.rounds += 1;
        // Templates of these rows, slot of each row's template, and start of each row's numbers.
        let mut used: Vec<usize> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        let mut slots = Vec::with_capacity(self.rows.len());
        let mut begins = Vec::with_capacity(self.rows.len());
        let mut begin = 0;
        let first = self.rows.first().copied().unwrap_or_default();
        let is_single = self.rows.iter().fold(0, |differ, at| differ | (at ^ first)) == 0;
        if is_single && let Some(of_rows) = self.uses.get(first as usize) {
            // Most tracks have one template only.
            used.push(first as usize);
            counts.push(self.rows.len());
            slots.resize(self.rows.len(), 0);
            begins.extend((0..self.rows.len()).map(|row| row * of_rows.numbers as usize));
        }
        for &at in self.rows.iter().filter(|_| !is_single) {
            let of_row = &mut self.uses[at as usize];
            if of_row.round != self.rounds {
                (of_row.round, of_row.slot) = (self.rounds, used.len() as u32);
                used.push(at as usize);
                counts.push(0);
            }
            slots.push(of_row.slot);
            counts[of_row.slot as usize] += 1;
            begins.push(begin);
            begin += of_row.numbers as usize;
        }
        let mut cells = vec![FieldSource::Absent; columns.len() * used.len()];
        for (slot, &at) in used.iter().enumerate() {
            let Use { template, columns, .. } = &self.uses[at];
            for (&column, part) in columns.iter().zip(&templates[*template as usize].parts) {
                cells[column as usize * used.len() + slot] = part.cell;
            }
        }
        uses.resize(self.first, NO_USE);
        let rows = SettledRows {
            first: self.first,
            slots: &slots,
            begins: &begins,
            numbers: &self.numbers,
            used: &used,
            counts: &counts,
            before: uses,
        };
        let of_columns = columns.iter_mut().zip(cells.chunks_exact(used.len().max(1)));
        let text_bytes = of_columns.map(|(column, cells)| rows.settle(column, cells)).sum();
        uses.extend_from_slice(&self.rows);
        self.rows.clear();
        self.numbers.clear();
        text_bytes
    }
}

/// Rows that are settled together.
struct SettledRows<'r> {
    first: usize,
    /// Slot of each row's template.
    slots: &'r [u32],
    /// Start position of each row's numbers.
    begins: &'r [usize],
    numbers: &'r [NumberBits],
    /// Use of each slot, and its number of rows.
    used: &'r [usize],
    counts: &'r [usize],
    /// Uses of the rows before these.
    before: &'r [u32],
}

impl SettledRows<'_> {
    /// Appends the values of a column. `cells` gives the source of the values by slot. Returns the
    /// bytes of the texts among them.
    fn settle(&self, column: &mut FieldColumn, cells: &[FieldSource]) -> usize {
        let mut present = cells.iter().filter(|cell| **cell != FieldSource::Absent);
        let Some(&first) = present.next() else { return 0 };
        if (column.by_use.is_some() || column.len() == 0)
            && matches!(column.values, BlockValues::Ints(_))
            && cells.iter().all(|cell| matches!(cell, FieldSource::Fixed(_) | FieldSource::Absent))
        {
            let by_use = column.by_use.get_or_insert_default();
            for ((&at, &rows), cell) in self.used.iter().zip(self.counts).zip(cells) {
                if let FieldSource::Fixed(bits) = cell {
                    by_use.add(at, bits.cast_signed(), rows);
                }
            }
            return 0;
        }
        column.spell_out(self.before);
        let before = column.len();
        let text_bytes = self.put(column, cells);
        if let FieldSource::Fixed(bits) = first
            && present.all(|cell| *cell == first)
        {
            column.note_same(before, bits.cast_signed());
        }
        text_bytes
    }

    /// Appends the values of a column if not all cells are absent.
    fn put(&self, column: &mut FieldColumn, cells: &[FieldSource]) -> usize {
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
            if let FieldSource::Text(text) = cells[slot as usize] {
                column.push(row, PackedValue::Text(text));
                text_bytes += text.len();
            }
        }
        text_bytes
    }

    /// The rows that have a value, with the bits of the value.
    fn values(&self, cells: &[FieldSource]) -> impl Iterator<Item = (usize, u64)> {
        let rows = (self.first..).zip(self.slots).zip(self.begins);
        rows.filter_map(|((row, &slot), &begin)| match cells[slot as usize] {
            FieldSource::Fixed(bits) => Some((row, bits)),
            FieldSource::Number(place) => Some((row, self.numbers[begin + usize::from(place)].0)),
            FieldSource::Absent | FieldSource::Text(_) => None,
        })
    }

    /// Appends a value of each row: fixed values of each template, or the number at one position.
    /// Returns `false` if the cells are neither.
    fn extend<T: Copy>(&self, values: &mut Vec<T>, cells: &[FieldSource], of: impl Fn(u64) -> T) -> bool {
        if let FieldSource::Number(place) = cells[0]
            && cells.iter().all(|cell| *cell == cells[0])
        {
            let place = usize::from(place);
            if cells.len() == 1 && self.numbers.len().is_multiple_of(self.begins.len()) {
                let of_rows = self.numbers.chunks_exact(self.numbers.len() / self.begins.len());
                values.extend(of_rows.map(|numbers| of(numbers[place].0)));
            } else {
                values.extend(self.begins.iter().map(|begin| of(self.numbers[begin + place].0)));
            }
            return true;
        }
        let fixed = |cell: &FieldSource| match cell {
            FieldSource::Fixed(bits) => Some(*bits),
            FieldSource::Text(_) | FieldSource::Absent | FieldSource::Number(_) => None,
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
