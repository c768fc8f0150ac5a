//! The values of one field of a track's rows.

use std::ops::Range;

use super::by_use::ByUse;
use super::row::PackedValue;
use crate::block::{BlockValues, ColumnType};
use crate::codec::ColumnTexts;
use crate::model::FieldId;

/// Values of a field with one type.
#[derive(Debug)]
pub struct FieldColumn {
    /// The field.
    pub field: FieldId,
    /// The type.
    pub kind: ColumnType,
    /// Values of the rows that have a value.
    pub values: BlockValues,
    /// Rows that have a value; `None` while the first `values` rows have one each.
    pub rows: Option<Vec<u32>>,
    /// A number, and how many of the first values are known to equal it.
    same: (i64, usize),
    /// The values, if they follow from the templates of the rows; `values` and `rows` are then
    /// empty.
    pub by_use: Option<ByUse>,
}

impl FieldColumn {
    pub fn new(field: FieldId, kind: ColumnType) -> Self {
        let values = match kind {
            ColumnType::Float => BlockValues::Floats(Vec::new()),
            ColumnType::LongText | ColumnType::LongJson => BlockValues::Texts(ColumnTexts::default()),
            ColumnType::Int | ColumnType::Uint | ColumnType::Bool | ColumnType::Text | ColumnType::Json => {
                BlockValues::Ints(Vec::new())
            }
        };
        Self { field, kind, values, rows: None, same: (0, 0), by_use: None }
    }

    /// Removes the values.
    pub fn clear(&mut self) {
        match &mut self.values {
            BlockValues::Ints(values) => values.clear(),
            BlockValues::Floats(values) => values.clear(),
            BlockValues::Texts(texts) => {
                texts.bytes.clear();
                texts.ends.clear();
            }
        }
        (self.rows, self.same, self.by_use) = (None, (0, 0), None);
    }

    /// Notes that all values after the first `before` equal this number.
    pub fn note_same(&mut self, before: usize, value: i64) {
        let (known, count) = self.same;
        if count == before && (count == 0 || known == value) {
            self.same = (value, self.len());
        }
    }

    /// Whether all values are known to be the same number.
    pub fn is_constant(&self) -> bool {
        self.same.1 > 0 && self.same.1 == self.len()
    }

    /// Stores the value of each row, given the uses of the rows so far.
    pub fn spell_out(&mut self, uses: &[u32]) {
        let Some(by_use) = self.by_use.take() else { return };
        self.values = BlockValues::Ints(by_use.values(uses).collect());
        self.rows = (by_use.len() < uses.len()).then(|| by_use.rows(uses).collect());
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        if let Some(by_use) = &self.by_use {
            return by_use.len();
        }
        match &self.values {
            BlockValues::Ints(values) => values.len(),
            BlockValues::Floats(values) => values.len(),
            BlockValues::Texts(texts) => texts.len(),
        }
    }

    /// Appends numbers, given by their bits. The rows are ascending, and some rows can lack a
    /// number.
    #[expect(clippy::cast_possible_truncation, reason = "rows are flushed long before there are 2^32")]
    pub fn push_numbers(&mut self, of_rows: impl Iterator<Item = (usize, u64)>) {
        let before = self.len() as u32;
        let rows = self.rows.get_or_insert_with(|| (0..before).collect());
        match &mut self.values {
            BlockValues::Ints(values) => of_rows.for_each(|(row, bits)| {
                rows.push(row as u32);
                values.push(bits.cast_signed());
            }),
            BlockValues::Floats(values) => of_rows.for_each(|(row, bits)| {
                rows.push(row as u32);
                values.push(f64::from_bits(bits));
            }),
            // The type of a column determines both sides.
            BlockValues::Texts(_) => {}
        }
    }

    /// The values, if all rows before `first` have one.
    pub fn values_of_all(&mut self, first: usize) -> Option<&mut BlockValues> {
        self.is_full(first).then_some(&mut self.values)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rows are flushed long before there are 2^32")]
    pub fn push(&mut self, row: usize, value: PackedValue<'_>) {
        let before = self.len();
        match (&mut self.values, value) {
            (BlockValues::Ints(values), PackedValue::Int(value)) => values.push(value),
            (BlockValues::Floats(values), PackedValue::Float(value)) => values.push(value),
            (BlockValues::Texts(texts), PackedValue::Text(text)) => texts.push(text),
            // The type of a column determines both sides.
            (BlockValues::Ints(_) | BlockValues::Floats(_) | BlockValues::Texts(_), _) => return,
        }
        match &mut self.rows {
            Some(rows) => rows.push(row as u32),
            None if before == row => {}
            None => self.rows = Some((0..before as u32).chain([row as u32]).collect()),
        }
    }

    /// Appends the values of `added` rows after the first `before` rows.
    #[expect(clippy::cast_possible_truncation, reason = "rows are flushed long before there are 2^32")]
    pub fn append(&mut self, other: &Self, before: usize, added: usize) {
        if !self.is_full(before) || !other.is_full(added) {
            let mut rows = self.rows.take().unwrap_or_else(|| (0..self.len() as u32).collect());
            let behind = |row: u32| row + before as u32;
            match &other.rows {
                Some(of) => rows.extend(of.iter().copied().map(behind)),
                None => rows.extend((0..other.len() as u32).map(behind)),
            }
            self.rows = Some(rows);
        }
        match (&mut self.values, &other.values) {
            (BlockValues::Ints(values), BlockValues::Ints(of)) => values.extend_from_slice(of),
            (BlockValues::Floats(values), BlockValues::Floats(of)) => values.extend_from_slice(of),
            (BlockValues::Texts(values), BlockValues::Texts(of)) => {
                of.iter().for_each(|text| values.push(text))
            }
            // The type of a column determines both sides.
            (BlockValues::Ints(_) | BlockValues::Floats(_) | BlockValues::Texts(_), _) => {}
        }
    }

    /// Whether each of the first `rows` rows has a value.
    pub fn is_full(&self, rows: usize) -> bool {
        self.rows.is_none() && self.len() == rows
    }

    /// The values as integers.
    pub fn ints(&self) -> Option<&[i64]> {
        match &self.values {
            BlockValues::Ints(values) => Some(values),
            BlockValues::Floats(_) | BlockValues::Texts(_) => None,
        }
    }

    /// The positions of the values of some rows.
    pub fn slots(&self, rows: &Range<usize>) -> Range<usize> {
        match &self.rows {
            None => rows.start.min(self.len())..rows.end.min(self.len()),
            Some(present) => {
                let at = |bound: usize| present.partition_point(|&row| (row as usize) < bound);
                at(rows.start)..at(rows.end)
            }
        }
    }

    /// Sets `present` for each of the rows that has a value.
    pub fn mark(&self, rows: &Range<usize>, present: &mut [bool]) {
        let slots = self.slots(rows);
        match &self.rows {
            None => present[..slots.len()].fill(true),
            Some(of) => of[slots].iter().for_each(|&row| present[row as usize - rows.start] = true),
        }
    }

    /// For each row, the position of its value plus one; 0 if it has none.
    pub fn slot_of_row(&self, rows: usize) -> Vec<u32> {
        let mut slots = vec![0; rows];
        match &self.rows {
            None => (1..).zip(&mut slots[..self.len().min(rows)]).for_each(|(at, slot)| *slot = at),
            Some(of) => (1..).zip(of).for_each(|(at, &row): (u32, _)| slots[row as usize] = at),
        }
        slots
    }
}
