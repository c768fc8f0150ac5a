//! The fields of rows.

use std::ops::Range;

use crate::base::order::sort_by_key;
use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType};
use crate::model::{FieldId, NameId, OwnedValue, TableId, Value};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The fields of the rows of one block, decoded together. Used for details of a row and for exports
/// that read all rows.
#[derive(Debug)]
pub struct BlockFields {
    columns: Vec<(FieldId, ColumnType, BlockColumn)>,
}

impl BlockFields {
    /// Decodes the fields of a block of a table.
    pub fn decode<B: Bytes>(segment: &Segment<B>, table: TableId, block: usize) -> Result<Self> {
        let reader = BlockReader::new(segment, table, block)?;
        let rows = 0..reader.rows();
        Self::read(segment, table, reader, rows)
    }

    fn read<B: Bytes>(
        segment: &Segment<B>,
        table: TableId,
        mut reader: BlockReader<'_, B>,
        rows: Range<usize>,
    ) -> Result<Self> {
        let mut columns = Vec::new();
        for at in segment.columns_of(table) {
            if let ColumnRole::Field(field) = segment.footer().columns[at].role
                && let Some(column) = reader.column_of(at, rows.clone())?
            {
                columns.push((field, segment.kind(at), column));
            }
        }
        sort_by_key(&mut columns, |&(field, ..)| field);
        Ok(Self { columns })
    }

    /// The values of a row of the block, in the order of fields. Absent values are left out.
    pub fn row<B: Bytes>(&self, segment: &Segment<B>, at: usize) -> Result<Vec<(FieldId, OwnedValue)>> {
        let owned = |value: Result<(FieldId, Value<'_>)>| {
            let (field, value) = value?;
            Ok((field, owned(segment, value)?))
        };
        self.values(segment, at).map(owned).collect()
    }

    /// Like [`BlockFields::row`], but borrows the values.
    pub fn values<'v, B: Bytes>(
        &'v self,
        segment: &'v Segment<B>,
        at: usize,
    ) -> impl Iterator<Item = Result<(FieldId, Value<'v>)>> {
        self.columns.iter().filter_map(move |(field, kind, column)| {
            let slot = column.slot(at)?;
            Some(value_of(segment, *kind, column.values(), slot).map(|value| (*field, value)))
        })
    }
}

fn owned<B: Bytes>(segment: &Segment<B>, value: Value<'_>) -> Result<OwnedValue> {
    Ok(match value {
        Value::Int(value) => OwnedValue::Int(value),
        Value::Uint(value) => OwnedValue::Uint(value),
        Value::Float(value) => OwnedValue::Float(value),
        Value::Bool(value) => OwnedValue::Bool(value),
        Value::Name(value) => OwnedValue::Text(segment.text(value)?.to_owned()),
        Value::Text(value) => OwnedValue::Text(value.to_owned()),
        Value::Json(value) => OwnedValue::Json(value.to_owned()),
    })
}

fn value_of<'v, B: Bytes>(
    segment: &'v Segment<B>,
    kind: ColumnType,
    values: &'v BlockValues,
    slot: usize,
) -> Result<Value<'v>> {
    let damaged = Error::Inconsistent { what: "column block of a different type" };
    let text = |code: i64| segment.text(NameId(u32::try_from(code).map_err(|_| damaged)?));
    Ok(match (kind, values) {
        (ColumnType::Int, BlockValues::Ints(v)) => Value::Int(v[slot]),
        (ColumnType::Uint, BlockValues::Ints(v)) => Value::Uint(v[slot].cast_unsigned()),
        (ColumnType::Bool, BlockValues::Ints(v)) => Value::Bool(v[slot] != 0),
        (ColumnType::Float, BlockValues::Floats(v)) => Value::Float(v[slot]),
        (ColumnType::Text, BlockValues::Ints(v)) => Value::Text(text(v[slot])?),
        (ColumnType::Json, BlockValues::Ints(v)) => Value::Json(text(v[slot])?),
        (ColumnType::LongText, BlockValues::Texts(t)) => Value::Text(t.get(slot)),
        (ColumnType::LongJson, BlockValues::Texts(t)) => Value::Json(t.get(slot)),
        _ => return Err(damaged),
    })
}

/// The fields of a row that have a value.
///
/// # Errors
/// `Invalid` if there is no such row; otherwise if bytes are missing or damaged.
pub fn read<B: Bytes>(segment: &Segment<B>, row: u32) -> Result<Vec<(FieldId, OwnedValue)>> {
    let place = segment.place(row)?;
    let reader = BlockReader::new(segment, place.table, place.block)?;
    BlockFields::read(segment, place.table, reader, place.at..place.at + 1)?.row(segment, place.at)
}

/// Calls `each` with every row of a table: row number and fields.
pub fn for_each_row<B: Bytes, E: From<Error>>(
    segment: &Segment<B>,
    table: TableId,
    mut each: impl FnMut(u32, Vec<(FieldId, OwnedValue)>) -> Result<(), E>,
) -> Result<(), E> {
    let blocks = segment.blocks(table)?;
    let mut row = segment.footer().tables[usize::from(table.0)].first_row;
    for block in 0..blocks.len() {
        let fields = BlockFields::decode(segment, table, block)?;
        for at in 0..blocks.rows(block) {
            each(row, fields.row(segment, at)?)?;
            row += 1;
        }
    }
    Ok(())
}
