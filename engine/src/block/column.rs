//! One column's values in one block: who is present, and the values of those.

use super::{ROWS, ZoneMap};
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::codec::{self, Texts};

/// How a column's values are stored. A field has one column for each type that occurs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnType {
    /// Signed integers.
    Int,
    /// Unsigned integers, as the `i64` with the same bits.
    Uint,
    /// Floats, to the bit.
    Float,
    /// 0 or 1.
    Bool,
    /// Numbers of texts in the dictionary.
    Text,
    /// Texts that are stored in place, because the dictionary was full.
    LongText,
    /// Numbers of JSON texts in the dictionary.
    Json,
    /// JSON texts that are stored in place.
    LongJson,
}

impl ColumnType {
    /// All types; the position is the code in the format (`docs/format.md`, Column types).
    pub const ALL: [Self; 8] = [
        Self::Int,
        Self::Uint,
        Self::Float,
        Self::Bool,
        Self::Text,
        Self::LongText,
        Self::Json,
        Self::LongJson,
    ];

    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Text => "text",
            Self::LongText => "text in place",
            Self::Json => "json",
            Self::LongJson => "json in place",
        }
    }

    /// Whether its integers are numbers of texts in the dictionary.
    #[must_use]
    pub fn is_code(self) -> bool {
        matches!(self, Self::Text | Self::Json)
    }
}

/// Values of the rows that have one, in the order of rows.
#[derive(Debug)]
pub enum BlockValues {
    /// Integers, codes, booleans.
    Ints(Vec<i64>),
    /// Floats.
    Floats(Vec<f64>),
    /// Texts in place.
    Texts(Texts),
}

/// A decoded block of a column.
#[derive(Debug)]
pub struct BlockColumn {
    /// For each row the position of its value plus one, 0 where it has none; `None` where all rows have one.
    slots: Option<Vec<u16>>,
    values: BlockValues,
}

/// Presence codes, as in `docs/format.md`.
const PRESENT_ALL: u8 = 0;
const PRESENT_MASK: u8 = 1;

/// Encodes a block: `values` of the rows that are set in `present` (one entry a row).
///
/// Returns the zone map. The block of a column in which no row has a value is not written at all.
pub fn encode_block(present: &[bool], values: &BlockValues, kind: ColumnType, out: &mut Vec<u8>) -> ZoneMap {
    if present.iter().all(|&p| p) {
        out.push(PRESENT_ALL);
    } else {
        out.push(PRESENT_MASK);
        let mut mask = Vec::new();
        codec::encode_mask(present, &mut mask);
        out.put_bytes(&mask);
    }
    match values {
        BlockValues::Ints(values) => {
            codec::encode_ints(values, out);
            if matches!(kind, ColumnType::Int) { ZoneMap::of_ints(values) } else { ZoneMap::None }
        }
        BlockValues::Floats(values) => {
            codec::encode_floats(values, out);
            ZoneMap::of_floats(values)
        }
        BlockValues::Texts(texts) => {
            codec::encode_texts(texts.iter(), out);
            ZoneMap::None
        }
    }
}

impl BlockColumn {
    /// Decodes a block of `rows` rows that lies at `offset` of the file.
    ///
    /// # Errors
    /// Where the bytes are damaged.
    pub fn decode(bytes: &[u8], rows: usize, kind: ColumnType, offset: u64) -> Result<Self> {
        if rows > ROWS {
            return Err(Error::Corrupt { what: "block with too many rows", offset });
        }
        let mut cursor = Cursor::new(bytes, offset, "column block");
        let slots = match cursor.u8()? {
            PRESENT_ALL => None,
            PRESENT_MASK => {
                let mut present = Vec::new();
                codec::decode_mask(cursor.bytes()?, rows, &mut present)?;
                Some(slots_of(&present))
            }
            _ => return Err(cursor.corrupt()),
        };
        let count =
            slots.as_ref().map_or(rows, |slots| slots.iter().max().map_or(0, |&last| usize::from(last)));
        let rest = cursor.take(cursor.remaining())?;
        let values = match kind {
            ColumnType::Int | ColumnType::Uint | ColumnType::Bool | ColumnType::Text | ColumnType::Json => {
                let mut values = Vec::new();
                codec::decode_ints(rest, count, &mut values)?;
                BlockValues::Ints(values)
            }
            ColumnType::Float => {
                let mut values = Vec::new();
                codec::decode_floats(rest, count, &mut values)?;
                BlockValues::Floats(values)
            }
            ColumnType::LongText | ColumnType::LongJson => {
                BlockValues::Texts(codec::decode_texts(rest, count)?)
            }
        };
        Ok(Self { slots, values })
    }

    /// The values of the rows that have one.
    #[must_use]
    pub fn values(&self) -> &BlockValues {
        &self.values
    }

    /// Whether every row has a value.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.slots.is_none()
    }

    /// Where in [`BlockColumn::values`] the value of this row of the block is.
    #[must_use]
    pub fn slot(&self, row: usize) -> Option<usize> {
        match &self.slots {
            None => Some(row),
            Some(slots) => slots.get(row).and_then(|&slot| usize::from(slot).checked_sub(1)),
        }
    }

    /// All values as integers of a column in which every row has one.
    ///
    /// # Errors
    /// `Corrupt` where it is no such column.
    pub fn into_full_ints(self, offset: u64) -> Result<Vec<i64>> {
        match (self.slots, self.values) {
            (None, BlockValues::Ints(values)) => Ok(values),
            _ => Err(Error::Corrupt { what: "core column", offset }),
        }
    }

    /// All values as floats of a column in which every row has one.
    #[must_use]
    pub fn into_full_floats(self) -> Option<Vec<f64>> {
        match (self.slots, self.values) {
            (None, BlockValues::Floats(values)) => Some(values),
            _ => None,
        }
    }
}

/// The encoded values of a block, behind the presence mask.
///
/// # Errors
/// Where the bytes are damaged.
pub fn encoded_values(bytes: &[u8], offset: u64) -> Result<&[u8]> {
    let mut cursor = Cursor::new(bytes, offset, "column block");
    if cursor.u8()? == PRESENT_MASK {
        cursor.bytes()?;
    }
    cursor.take(cursor.remaining())
}

/// [`ROWS`] fits 16 bits, so a slot does.
const _: () = assert!(ROWS < u16::MAX as usize);

fn slots_of(present: &[bool]) -> Vec<u16> {
    let mut taken = 0;
    present
        .iter()
        .map(|&here| {
            taken += u16::from(here);
            if here { taken } else { 0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sparse_values_survive(rows in prop::collection::vec(prop::option::of(any::<i64>()), 1..300)) {
            let present: Vec<bool> = rows.iter().map(Option::is_some).collect();
            let values = BlockValues::Ints(rows.iter().flatten().copied().collect());
            let mut bytes = Vec::new();
            encode_block(&present, &values, ColumnType::Int, &mut bytes);
            let block = BlockColumn::decode(&bytes, rows.len(), ColumnType::Int, 0).unwrap();
            let BlockValues::Ints(values) = block.values() else { panic!("integers went in") };
            let read: Vec<Option<i64>> = (0..rows.len()).map(|row| block.slot(row).map(|at| values[at])).collect();
            prop_assert_eq!(read, rows);
        }

        #[test]
        fn hostile_bytes_end_in_an_error_or_a_block(bytes in prop::collection::vec(any::<u8>(), 0..100), kind in 0..8_usize) {
            let kind = ColumnType::ALL[kind];
            if let Ok(block) = BlockColumn::decode(&bytes, 50, kind, 0) {
                for row in 0..50 {
                    let slot = block.slot(row);
                    let len = match block.values() {
                        BlockValues::Ints(v) => v.len(),
                        BlockValues::Floats(v) => v.len(),
                        BlockValues::Texts(v) => v.len(),
                    };
                    prop_assert!(slot.is_none_or(|slot| slot < len));
                }
            }
        }
    }
}
