//! Values of one column in one block: which rows have one, and the values.

use std::ops::Range;

use super::ROWS;
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::codec::{self, BlockDecoder, ColumnTexts, Encoder};

/// Type of a column's stored values. A field has one column for each type that occurs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnType {
    /// Signed integers.
    Int,
    /// Unsigned integers, stored as the `i64` with the same bits.
    Uint,
    /// Floats, kept to the bit.
    Float,
    /// 0 or 1.
    Bool,
    /// Numbers of texts in the dictionary.
    Text,
    /// Texts stored in place, because the dictionary was full.
    LongText,
    /// Numbers of JSON texts in the dictionary.
    Json,
    /// JSON texts stored in place.
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

    /// Title for people.
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

    /// Whether the values are numbers of texts in the dictionary.
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
    Texts(ColumnTexts),
}

/// A decoded block of a column.
#[derive(Debug)]
pub struct BlockColumn {
    /// For each row, the position of its value plus one, or 0 if it has none. `None` if all rows
    /// have a value.
    slots: Option<Vec<u16>>,
    values: BlockValues,
    /// Row of the first slot or value.
    first: usize,
}

/// Coding of a block, from its first byte (`docs/format.md`, Column block).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// The values of all rows.
    All,
    /// A presence mask, and the values of the rows that have one.
    Masked,
    /// Differences from the values that the track's program predicts for each row's code.
    Predicted,
    /// Codes of the track's program: the first, and differences from the usual successor.
    Codes,
    /// Starts: differences from the end of the row before plus the gap that the program predicts,
    /// if there is one.
    AfterEnd,
    /// Starts: differences from the start of the row before plus the step that the program
    /// predicts.
    AfterStart,
    /// Floats: the [`rate`] of size and duration, for the rows that have a size. The block names
    /// the column of integers that holds the sizes.
    Rate,
    /// Durations: differences of the ends from those that the program predicts.
    End,
}

/// Bytes a second, as devices' tools calculate it: in floats of 32 bits; 0 if the duration is zero.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the rounding is part of the definition")]
pub fn rate(size_bytes: i64, duration_ps: i64) -> f64 {
    const PS_PER_SECOND: f64 = 1e12;
    let seconds = (duration_ps as f64 / PS_PER_SECOND) as f32;
    f64::from(if seconds > 0.0 { size_bytes.cast_unsigned() as f32 / seconds } else { 0.0 })
}

impl Coding {
    /// All codings; the position is the code.
    pub const ALL: [Self; 8] = [
        Self::All,
        Self::Masked,
        Self::Predicted,
        Self::Codes,
        Self::AfterEnd,
        Self::AfterStart,
        Self::Rate,
        Self::End,
    ];

    /// Code of this coding.
    #[must_use]
    pub fn code(self) -> u8 {
        Self::ALL.iter().position(|&one| one == self).and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
    }
}

/// The values of a part of a column, borrowed.
#[derive(Debug, Clone, Copy)]
pub enum ValuesRef<'a> {
    /// Integers, codes, booleans.
    Ints(&'a [i64]),
    /// Floats.
    Floats(&'a [f64]),
    /// A range of these texts.
    Texts(&'a ColumnTexts, usize, usize),
}

/// Encodes a block by itself: the values of the rows that are set in `present` (an entry a row), or
/// of all rows.
///
/// The block of a column in which no row has a value is not written at all.
pub fn encode_block(
    present: Option<&[bool]>,
    values: ValuesRef<'_>,
    encoder: &mut Encoder,
    out: &mut Vec<u8>,
) {
    match present {
        None => out.push(Coding::All.code()),
        Some(present) => {
            out.push(Coding::Masked.code());
            let mut mask = Vec::new();
            encoder.mask(present, &mut mask);
            out.put_bytes(&mask);
        }
    }
    match values {
        ValuesRef::Ints(values) => encoder.ints(values, out),
        ValuesRef::Floats(values) => encoder.floats(values, out),
        ValuesRef::Texts(texts, from, to) => encoder.texts((from..to).map(|at| texts.get(at)), out),
    }
}

/// Most bytes of memory that decoding the texts in place of a pack takes. A writer ends a block at
/// 16 MiB of texts and a pack at 33 MiB. Joining texts with shared beginnings takes twice as much.
const MAX_DECODED_BYTES: usize = 72 << 20;

impl BlockColumn {
    /// Creates a column in which all rows have a value.
    #[must_use]
    pub fn full(values: BlockValues) -> Self {
        Self { slots: None, values, first: 0 }
    }

    /// Creates a column in which the rows set in `present` have a value; `values` must hold one for
    /// each.
    #[must_use]
    pub fn sparse(present: &[bool], values: BlockValues) -> Self {
        Self { slots: Some(slots_of(present)), values, first: 0 }
    }

    /// Returns the same values, with `first` as the number of the first row.
    #[must_use]
    pub fn from_row(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// Decodes a block of `rows` rows that is coded by itself and begins at `offset` of the file.
    ///
    /// # Errors
    /// If the bytes are damaged, or the block depends on another column or a program.
    pub fn decode(
        bytes: &[u8],
        rows: usize,
        kind: ColumnType,
        offset: u64,
        decoder: &mut BlockDecoder,
    ) -> Result<Self> {
        if rows > ROWS {
            return Err(Error::Corrupt { what: "block with too many rows", offset });
        }
        let mut cursor = Cursor::new(bytes, offset, "column block");
        let slots = match coding(&mut cursor)? {
            Coding::All => None,
            Coding::Masked => {
                let mut present = Vec::new();
                codec::decode_mask(cursor.bytes()?, rows, &mut present)?;
                Some(slots_of(&present))
            }
            Coding::Predicted
            | Coding::Codes
            | Coding::AfterEnd
            | Coding::AfterStart
            | Coding::Rate
            | Coding::End => return Err(cursor.corrupt()),
        };
        let count =
            slots.as_ref().map_or(rows, |slots| slots.iter().max().map_or(0, |&last| usize::from(last)));
        let rest = cursor.take(cursor.remaining())?;
        let values = match kind {
            ColumnType::Int | ColumnType::Uint | ColumnType::Bool | ColumnType::Text | ColumnType::Json => {
                let mut values = Vec::new();
                decoder.ints(rest, count, &mut values)?;
                BlockValues::Ints(values)
            }
            ColumnType::Float => {
                let mut values = Vec::new();
                codec::decode_floats(rest, count, &mut values)?;
                BlockValues::Floats(values)
            }
            ColumnType::LongText | ColumnType::LongJson => {
                BlockValues::Texts(decoder.texts(rest, count, MAX_DECODED_BYTES)?)
            }
        };
        Ok(Self { slots, values, first: 0 })
    }

    /// Bytes of memory that the column takes, about.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let slots = self.slots.as_ref().map_or(0, |slots| size_of_val(&**slots));
        slots
            + match &self.values {
                BlockValues::Ints(values) => size_of_val(&**values),
                BlockValues::Floats(values) => size_of_val(&**values),
                BlockValues::Texts(texts) => texts.memory_bytes(),
            }
    }

    /// The part of the column for these rows, or `None` if none of them has a value.
    #[must_use]
    pub fn part(&self, rows: Range<usize>) -> Option<Self> {
        let span = self.span(rows.clone());
        if span.is_empty() {
            return None;
        }
        let values = match &self.values {
            BlockValues::Ints(values) => BlockValues::Ints(values.get(span.clone())?.to_vec()),
            BlockValues::Floats(values) => BlockValues::Floats(values.get(span.clone())?.to_vec()),
            BlockValues::Texts(texts) => {
                let mut part = ColumnTexts::default();
                span.clone().for_each(|at| part.push(texts.get(at)));
                BlockValues::Texts(part)
            }
        };
        let present: Vec<bool> = rows.map(|row| self.slot(row).is_some()).collect();
        let slots = present.contains(&false).then(|| slots_of(&present));
        Some(Self { slots, values, first: 0 })
    }

    /// The [`rate`] of each size and its row's duration. `None` if the values are not sizes, or the
    /// numbers of rows differ.
    #[must_use]
    pub fn rates(self, durations: &[i64]) -> Option<Self> {
        let BlockValues::Ints(sizes) = &self.values else { return None };
        let rates: Option<Vec<f64>> = match &self.slots {
            None if sizes.len() != durations.len() => None,
            None => {
                Some(sizes.iter().zip(durations).map(|(&size, &duration)| rate(size, duration)).collect())
            }
            Some(slots) if slots.len() != durations.len() => None,
            Some(slots) => slots
                .iter()
                .zip(durations)
                .filter_map(|(&slot, &duration)| Some((usize::from(slot).checked_sub(1)?, duration)))
                .map(|(slot, duration)| Some(rate(*sizes.get(slot)?, duration)))
                .collect(),
        };
        Some(Self { values: BlockValues::Floats(rates?), ..self })
    }

    /// Values of the rows that have one.
    #[must_use]
    pub fn values(&self) -> &BlockValues {
        &self.values
    }

    /// Whether every row has a value.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.slots.is_none()
    }

    /// Position in [`BlockColumn::values`] of this row's value. The row must be among those that
    /// were decoded.
    #[must_use]
    pub fn slot(&self, row: usize) -> Option<usize> {
        let row = row.checked_sub(self.first)?;
        match &self.slots {
            None => Some(row),
            Some(slots) => slots.get(row).and_then(|&slot| usize::from(slot).checked_sub(1)),
        }
    }

    /// Positions in [`BlockColumn::values`] of these rows' values. The rows must be among those
    /// that were decoded.
    #[must_use]
    pub fn span(&self, rows: Range<usize>) -> Range<usize> {
        if self.slots.is_none() {
            return rows.start.saturating_sub(self.first)..rows.end.saturating_sub(self.first);
        }
        let start = rows.clone().find_map(|row| self.slot(row));
        let end = rows.rev().find_map(|row| self.slot(row));
        start.zip(end).map_or(0..0, |(start, end)| start..end + 1)
    }

    /// All values as integers, for a column in which every row has one.
    ///
    /// # Errors
    /// `Corrupt` for any other column.
    pub fn into_full_ints(self, offset: u64) -> Result<Vec<i64>> {
        match (self.slots, self.values) {
            (None, BlockValues::Ints(values)) => Ok(values),
            _ => Err(Error::Corrupt { what: "core column", offset }),
        }
    }

    /// All values as floats, for a column in which every row has one; `None` for any other column.
    #[must_use]
    pub fn into_full_floats(self) -> Option<Vec<f64>> {
        match (self.slots, self.values) {
            (None, BlockValues::Floats(values)) => Some(values),
            _ => None,
        }
    }
}

/// Reads the coding of a block.
pub fn coding(cursor: &mut Cursor<'_>) -> Result<Coding> {
    Coding::ALL.get(usize::from(cursor.u8()?)).copied().ok_or_else(|| cursor.corrupt())
}

/// Coding and encoded values of a block, which follow a presence mask or a first code.
pub fn encoded_values(bytes: &[u8], offset: u64) -> Result<(Coding, &[u8])> {
    let mut cursor = Cursor::new(bytes, offset, "column block");
    let coding = coding(&mut cursor)?;
    match coding {
        Coding::Masked => {
            cursor.bytes()?;
        }
        Coding::Codes => {
            cursor.varint()?;
        }
        Coding::All
        | Coding::Predicted
        | Coding::AfterEnd
        | Coding::AfterStart
        | Coding::Rate
        | Coding::End => {}
    }
    Ok((coding, cursor.take(cursor.remaining())?))
}

/// A slot fits 16 bits, because [`ROWS`] does.
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
            let BlockValues::Ints(given) = &values else { panic!("integers go in") };
            let mask = present.contains(&false).then_some(present.as_slice());
            encode_block(mask, ValuesRef::Ints(given), &mut Encoder::default(), &mut bytes);
            let block =
                BlockColumn::decode(&bytes, rows.len(), ColumnType::Int, 0, &mut BlockDecoder::default()).unwrap();
            let BlockValues::Ints(values) = block.values() else { panic!("integers went in") };
            let read: Vec<Option<i64>> = (0..rows.len()).map(|row| block.slot(row).map(|at| values[at])).collect();
            prop_assert_eq!(read, rows);
        }

        #[test]
        fn hostile_bytes_end_in_an_error_or_a_block(bytes in prop::collection::vec(any::<u8>(), 0..100), kind in 0..8_usize) {
            let kind = ColumnType::ALL[kind];
            if let Ok(block) = BlockColumn::decode(&bytes, 50, kind, 0, &mut BlockDecoder::default()) {
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
