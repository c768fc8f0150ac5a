//! The fields of rows.

use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::model::{FieldId, NameId, OwnedValue, TableId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The fields of the rows of one block, decoded together: for a row's details, and for exports that read all rows.
#[derive(Debug)]
pub struct RowFields {
    columns: Vec<(FieldId, ColumnType, BlockColumn)>,
}

impl RowFields {
    /// Decodes the fields of a block of a table.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn decode<B: Bytes>(segment: &Segment<B>, table: TableId, block: usize) -> Result<Self> {
        let mut columns = Vec::new();
        let mut reader = BlockReader::new(segment, table, block)?;
        for at in segment.columns_of(table) {
            if let ColumnRole::Field(field) = segment.footer().columns[at].role
                && let Some(column) = reader.column(at)?
            {
                columns.push((field, segment.kind(at), column));
            }
        }
        columns.sort_by_key(|&(field, ..)| field);
        Ok(Self { columns })
    }

    /// The values of a row of the block, in the order of fields; those that it has.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn row<B: Bytes>(&self, segment: &Segment<B>, at: usize) -> Result<Vec<(FieldId, OwnedValue)>> {
        let mut values = Vec::new();
        for (field, kind, column) in &self.columns {
            if let Some(slot) = column.slot(at) {
                values.push((*field, value_of(segment, *kind, column.values(), slot)?));
            }
        }
        Ok(values)
    }
}

fn value_of<B: Bytes>(
    segment: &Segment<B>,
    kind: ColumnType,
    values: &BlockValues,
    slot: usize,
) -> Result<OwnedValue> {
    let damaged = Error::Corrupt { what: "column block of another type", offset: 0 };
    let text = |code: i64| -> Result<String> {
        let id = u32::try_from(code).map_err(|_| damaged)?;
        Ok(segment.text(NameId(id))?.to_owned())
    };
    Ok(match (kind, values) {
        (ColumnType::Int, BlockValues::Ints(v)) => OwnedValue::Int(v[slot]),
        (ColumnType::Uint, BlockValues::Ints(v)) => OwnedValue::Uint(v[slot].cast_unsigned()),
        (ColumnType::Bool, BlockValues::Ints(v)) => OwnedValue::Bool(v[slot] != 0),
        (ColumnType::Float, BlockValues::Floats(v)) => OwnedValue::Float(v[slot]),
        (ColumnType::Text, BlockValues::Ints(v)) => OwnedValue::Text(text(v[slot])?),
        (ColumnType::Json, BlockValues::Ints(v)) => OwnedValue::Json(text(v[slot])?),
        (ColumnType::LongText, BlockValues::Texts(t)) => OwnedValue::Text(t.get(slot).to_owned()),
        (ColumnType::LongJson, BlockValues::Texts(t)) => OwnedValue::Json(t.get(slot).to_owned()),
        _ => return Err(damaged),
    })
}

impl<B: Bytes> Segment<B> {
    /// The fields of one row that have a value.
    ///
    /// # Errors
    /// `Invalid` where there is no such row; else where bytes are missing or damaged.
    pub fn fields(&self, row: u32) -> Result<Vec<(FieldId, OwnedValue)>> {
        let place = self.place(row)?;
        RowFields::decode(self, place.table, place.block)?.row(self, place.at)
    }

    /// The table with this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<TableId> {
        let at = self.footer().tables.iter().position(|table| table.spec.name == name)?;
        u16::try_from(at).ok().map(TableId)
    }

    /// Calls `each` with every row of a table: its number, its block's position, its fields.
    ///
    /// # Errors
    /// Where bytes are missing or damaged, and those of `each`.
    pub fn for_each_row(
        &self,
        table: TableId,
        mut each: impl FnMut(u32, Vec<(FieldId, OwnedValue)>) -> Result<()>,
    ) -> Result<()> {
        let blocks = self.blocks(table)?;
        let mut row = self.footer().tables[usize::from(table.0)].first_row;
        for block in 0..blocks.len() {
            let fields = RowFields::decode(self, table, block)?;
            for at in 0..blocks.rows(block) {
                each(row, fields.row(self, at)?)?;
                row += 1;
            }
        }
        Ok(())
    }
}
