//! A row that is sorted before it is encoded: a sort key and packed values.

use std::cmp::Ordering;

use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::block::ColumnType;
use crate::spill::{ByteSpan, SpillKey};

/// Sort key of a row. Order: table, track, start, longest first (parents before children), arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSortKey {
    /// Table in the upper, track in the lower half.
    pub place: u64,
    /// Start, or time of a sample.
    pub start_ps: i64,
    /// Duration; 0 for samples.
    pub duration_ps: i64,
    /// Arrival number of the row.
    pub arrival: u32,
}

/// Compared as two numbers, which needs no branches.
impl Ord for RowSortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        // Flipping the sign bit of signed numbers gives the order of unsigned numbers.
        let ordered = |value: i64| u128::from(value.cast_unsigned() ^ 1 << 63);
        let start = |key: &Self| u128::from(key.place) << 64 | ordered(key.start_ps);
        let rest = |key: &Self| {
            u128::from(!key.duration_ps.cast_unsigned() ^ 1 << 63) << 32 | u128::from(key.arrival)
        };
        let (of_self, of_other) = (start(self), start(other));
        let is_less = (of_self < of_other) | (of_self == of_other) & (rest(self) < rest(other));
        let is_greater = (of_self > of_other) | (of_self == of_other) & (rest(self) > rest(other));
        is_greater.cmp(&is_less)
    }
}

impl SpillKey for RowSortKey {
    type Span = ByteSpan;
    const MAX_LEN: usize = 40;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_varint(self.place);
        out.put_signed(self.start_ps);
        out.put_varint(self.duration_ps.cast_unsigned());
        out.put_varint(u64::from(self.arrival));
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            place: cursor.varint()?,
            start_ps: cursor.signed()?,
            duration_ps: cursor.varint()?.cast_signed(),
            arrival: cursor.varint_u32()?,
        })
    }
}

impl PartialOrd for RowSortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Kind of a row with its values, without fields.
#[derive(Debug, Clone, Copy)]
pub enum RowHead {
    /// A slice: number of its name and code of its form.
    Slice { name: u32, form: u8, start_ps: i64, duration_ps: i64 },
    /// A sample.
    Sample { time_ps: i64, value: f64 },
    /// A row of a side table.
    Side,
}

impl RowHead {
    /// Start and duration.
    pub fn span(&self) -> (i64, i64) {
        match *self {
            Self::Slice { start_ps, duration_ps, .. } => (start_ps, duration_ps),
            Self::Sample { time_ps, .. } => (time_ps, 0),
            Self::Side => (0, 0),
        }
    }

    /// Bytes of the row in the columns of its track, besides its fields.
    pub fn column_bytes(&self) -> usize {
        let numbers = match self {
            Self::Slice { .. } => 4,
            Self::Sample { .. } => 2,
            Self::Side => 0,
        };
        numbers * size_of::<i64>()
    }

    /// Appends the values that the key does not contain.
    pub fn put_head(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Slice { name, form, .. } => {
                out.put_varint(u64::from(name));
                out.push(form);
            }
            Self::Sample { value, .. } => out.extend_from_slice(&value.to_le_bytes()),
            Self::Side => {}
        }
    }
}

/// A field's value in a packed row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PackedValue<'a> {
    /// Integers, booleans, codes.
    Int(i64),
    /// Floats.
    Float(f64),
    /// Texts in place.
    Text(&'a str),
}

/// Appends a value: the field, its type, its bytes.
pub fn put_value(field: u32, kind: ColumnType, value: PackedValue<'_>, out: &mut Vec<u8>) {
    out.put_varint(u64::from(field));
    out.push(kind as u8);
    match value {
        PackedValue::Int(value) => out.put_signed(value),
        PackedValue::Float(value) => out.extend_from_slice(&value.to_le_bytes()),
        PackedValue::Text(text) => out.put_text(text),
    }
}

/// Reads the values that [`put_value`] wrote, until the row ends.
pub fn values(packed: &[u8]) -> impl Iterator<Item = Result<(u32, ColumnType, PackedValue<'_>)>> {
    let mut cursor = Cursor::new(packed, 0, "row in scratch space");
    std::iter::from_fn(move || (cursor.remaining() > 0).then(|| read_value(&mut cursor)))
}

fn read_value<'a>(cursor: &mut Cursor<'a>) -> Result<(u32, ColumnType, PackedValue<'a>)> {
    let field = cursor.varint_u32()?;
    let code = usize::from(cursor.u8()?);
    let kind = *ColumnType::ALL.get(code).ok_or(Error::Storage { what: "scratch space was damaged" })?;
    let value = match kind {
        ColumnType::Float => PackedValue::Float(f64::from_bits(cursor.u64()?)),
        ColumnType::LongText | ColumnType::LongJson => PackedValue::Text(cursor.text()?),
        ColumnType::Int | ColumnType::Uint | ColumnType::Bool | ColumnType::Text | ColumnType::Json => {
            PackedValue::Int(cursor.signed()?)
        }
    };
    Ok((field, kind, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> impl Strategy<Value = RowSortKey> {
        let time = || prop_oneof![any::<i64>(), -2_i64..3];
        (0_u64..3, time(), time(), 0_u32..3).prop_map(|(place, start_ps, duration_ps, arrival)| RowSortKey {
            place,
            start_ps,
            duration_ps,
            arrival,
        })
    }

    proptest! {
        #[test]
        fn rows_are_in_order_of_place_start_length_and_arrival(a in key(), b in key()) {
            let parts = |a: RowSortKey, b: RowSortKey| (a.place, a.start_ps, b.duration_ps, a.arrival);
            prop_assert_eq!(a.cmp(&b), parts(a, b).cmp(&parts(b, a)));
        }
    }
}
