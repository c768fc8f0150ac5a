//! Encoded columns of a block.

use crate::block::{ColumnType, ValuesRef, ZoneMap, encode_block};
use crate::codec::{Encoder, distinct_of};
use crate::segment::{BlockTotals, ColumnRole};

/// An encoded block.
#[derive(Debug, Default)]
pub struct EncodedBlock {
    /// Columns that have values.
    pub columns: Vec<EncodedColumn>,
    /// Start of the first row.
    pub start_ps: i64,
    /// Latest end of all rows.
    pub end_ps: i64,
    /// Number of rows.
    pub rows: u32,
    /// Totals by name, if the block has slices with few enough names.
    pub totals: Option<BlockTotals>,
}

/// A column of an encoded block.
#[derive(Debug)]
pub struct EncodedColumn {
    /// Content of the column.
    pub role: ColumnRole,
    /// Stored type.
    pub kind: ColumnType,
    /// Range of the values.
    pub zone: ZoneMap,
    /// Encoded bytes.
    pub bytes: Vec<u8>,
    /// Distinct texts, ascending, if the column has codes and few enough of them.
    pub texts: Option<Vec<u32>>,
}

impl EncodedBlock {
    /// Adds a core column that every row has.
    pub fn plain(&mut self, role: ColumnRole, values: ValuesRef<'_>, encoder: &mut Encoder) {
        let kind = match (role, values) {
            (ColumnRole::Name, _) => ColumnType::Text,
            (_, ValuesRef::Floats(_)) => ColumnType::Float,
            _ => ColumnType::Int,
        };
        self.put(role, kind, None, values, encoder);
    }

    /// Adds a column of the rows that are set in `present`, or of all.
    pub fn put(
        &mut self,
        role: ColumnRole,
        kind: ColumnType,
        present: Option<&[bool]>,
        values: ValuesRef<'_>,
        encoder: &mut Encoder,
    ) {
        let mut bytes = Vec::new();
        encode_block(present, values, encoder, &mut bytes);
        let zone = zone_of(role, kind, values);
        self.columns.push(EncodedColumn { role, kind, zone, bytes, texts: texts_of(kind, values) });
    }
}

/// Zone maps serve filters and search. Times need none because the block list is more precise.
/// Texts in place have none.
pub fn zone_of(role: ColumnRole, kind: ColumnType, values: ValuesRef<'_>) -> ZoneMap {
    match (role, values) {
        (ColumnRole::Start | ColumnRole::Form | ColumnRole::Lane | ColumnRole::LaneShift, _) => ZoneMap::None,
        (_, ValuesRef::Ints(_)) if kind == ColumnType::Bool => ZoneMap::None,
        (_, ValuesRef::Ints(values)) => ZoneMap::of_ints(values),
        (_, ValuesRef::Floats(values)) => ZoneMap::of_floats(values),
        (_, ValuesRef::Texts(..)) => ZoneMap::None,
    }
}

/// Distinct texts of a block of codes, if they are few enough to list.
pub fn texts_of(kind: ColumnType, values: ValuesRef<'_>) -> Option<Vec<u32>> {
    let (ValuesRef::Ints(codes), true) = (values, kind.is_code()) else { return None };
    distinct_of(codes)?.into_iter().map(|code| u32::try_from(code).ok()).collect()
}
