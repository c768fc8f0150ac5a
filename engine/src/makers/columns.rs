//! Columns by field name, block by block.

use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::exec::Cancel;
use crate::model::{FieldId, OwnedValue, TableId};
use crate::query;
use crate::segment::{Bytes, ColumnRole, Segment};

/// A table with access to fields by name.
#[derive(Debug)]
pub struct NamedColumns<'a, B> {
    segment: &'a Segment<B>,
    table: TableId,
    cancel: Cancel<'a>,
}

// A derived `Clone` would require `B: Clone`.
impl<B> Clone for NamedColumns<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for NamedColumns<'_, B> {}

impl<'a, B: Bytes> NamedColumns<'a, B> {
    /// The table with this name, if the segment has it. Reading a block fails after the work was
    /// cancelled.
    pub fn of(segment: &'a Segment<B>, table: &str, cancel: Cancel<'a>) -> Option<Self> {
        Some(Self::of_table(segment, segment.table(table)?, cancel))
    }

    /// The table with this number. Reading a block fails after the work was cancelled.
    pub fn of_table(segment: &'a Segment<B>, table: TableId, cancel: Cancel<'a>) -> Self {
        Self { segment, table, cancel }
    }

    /// Number of the table.
    pub fn table(&self) -> TableId {
        self.table
    }

    fn field(&self, name: &str) -> Option<FieldId> {
        let fields = &self.segment.footer().fields;
        let at = fields.iter().position(|(of, field)| *of == self.table && field.name == name)?;
        u32::try_from(at).ok().map(FieldId)
    }

    /// Columns of a field with their types.
    pub fn columns(&self, name: &str) -> impl Iterator<Item = (usize, ColumnType)> + use<'a, B> {
        let role = self.field(name).map(ColumnRole::Field);
        let segment = self.segment;
        let wanted = move |at: &usize| Some(segment.footer().columns[*at].role) == role;
        segment.columns_of(self.table).filter(wanted).map(move |at| (at, segment.kind(at)))
    }

    /// Whether any row has this field.
    pub fn has(&self, name: &str) -> bool {
        self.columns(name).next().is_some()
    }

    /// Calls `each` for every row that has an integer in this field, with the row within its block
    /// and the integer.
    pub fn for_each_int(&self, name: &str, block: usize, mut each: impl FnMut(usize, i64)) -> Result<()> {
        self.cancel.check()?;
        for (at, kind) in self.columns(name) {
            let Some(column) = self.segment.block(at, block)? else { continue };
            if let (ColumnType::Int | ColumnType::Uint, BlockValues::Ints(values)) = (kind, column.values()) {
                for_each_slot(&column, self.rows(block)?, |row, slot| each(row, values[slot]));
            }
        }
        Ok(())
    }

    /// Calls `each` for every row that has a text in this field, with the row within its block and
    /// the text.
    pub fn for_each_text(&self, name: &str, block: usize, mut each: impl FnMut(usize, &str)) -> Result<()> {
        self.cancel.check()?;
        for (at, kind) in self.columns(name) {
            let Some(column) = self.segment.block(at, block)? else { continue };
            let rows = self.rows(block)?;
            match (kind, column.values()) {
                (ColumnType::Text, BlockValues::Ints(codes)) => {
                    let mut texts = Vec::new();
                    self.segment.texts(codes, &mut texts)?;
                    for_each_slot(&column, rows, |row, slot| each(row, texts[slot]));
                }
                (ColumnType::LongText, BlockValues::Texts(texts)) => {
                    for_each_slot(&column, rows, |row, slot| each(row, texts.get(slot)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rows(&self, block: usize) -> Result<usize> {
        Ok(self.segment.blocks(self.table)?.rows(block))
    }

    /// All rows as fields by name. Use it for side tables, which are small.
    pub fn all_rows(&self) -> Result<Vec<Vec<(&'a str, OwnedValue)>>> {
        let mut rows = Vec::new();
        query::fields::for_each_row(self.segment, self.table, |_, fields| {
            let name = |id: FieldId| self.segment.footer().fields[id.0 as usize].1.name.as_str();
            rows.push(fields.into_iter().map(|(id, value)| (name(id), value)).collect());
            Ok::<_, Error>(())
        })?;
        Ok(rows)
    }
}

fn for_each_slot(column: &BlockColumn, rows: usize, mut each: impl FnMut(usize, usize)) {
    for row in 0..rows {
        if let Some(slot) = column.slot(row) {
            each(row, slot);
        }
    }
}
