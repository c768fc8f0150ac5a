//! Programs: properties that rows of a track share with other rows of the same key.
//!
//! An accelerator runs the same instructions again and again; a training step launches the same
//! kernels. So a track can have a *program*. One of its columns is the key, for example a program
//! counter or a kernel's name. Each distinct key has a code, numbered by first use. For each code
//! the program predicts the gap before the row, the duration, the values of other columns, and the
//! next code. Blocks then store only the differences.
//!
//! Tracks of a table can share a program. The calls of a collective operation begin when each rank
//! is ready, and end at once. Such a program predicts ends instead of durations.

use super::footer::ColumnRole;
use super::footer_codes::{column_key, put_column_key};
use super::limits::MAX_CODES;
use super::room::RoomShare;
use crate::base::bytes::{Cursor, Put};
use crate::base::{Error, Result};
use crate::block::{BlockColumn, BlockValues, ColumnType, list};
use crate::codec::BlockDecoder;

/// A property of a row that a program predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Predicted {
    /// Time from the end of the row before to the row's start, in picoseconds.
    GapAfterEnd,
    /// Time from the start of the row before to the row's start, in picoseconds.
    StepAfterStart,
    /// The value of a column.
    Column(ColumnRole, ColumnType),
    /// The end of the row, in picoseconds. It predicts the duration of a row whose start is known.
    End,
}

/// A track's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Column that the codes stand for; one of `columns`.
    pub key: (ColumnRole, ColumnType),
    /// The usual next code after each code.
    pub successors: Vec<u32>,
    /// Predicted columns.
    pub columns: Vec<ProgramColumn>,
}

/// Predictions for one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramColumn {
    /// Property that is predicted.
    pub of: Predicted,
    /// Whether rows of each code have a value; `None` if all have one.
    pub present: Option<Vec<bool>>,
    /// Predicted value for each code; 0 if the code has none.
    pub values: Vec<i64>,
}

/// Codes of the variants, as in `docs/format.md`.
const GAP_AFTER_END: u8 = 0;
const STEP_AFTER_START: u8 = 1;
const COLUMN: u8 = 2;
const END: u8 = 3;

/// Memory that reading a code takes, in bytes: its step and its successor.
const CODE_BYTES: usize = size_of::<i64>() + size_of::<u32>();
/// Memory of the value of a code in one column, in bytes, and of the mark that it is present.
const VALUE_BYTES: usize = size_of::<i64>() + size_of::<bool>();

impl Program {
    /// Predictions of this property.
    #[must_use]
    pub fn column(&self, of: Predicted) -> Option<&ProgramColumn> {
        self.columns.iter().find(|column| column.of == of)
    }

    /// Appends the program.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_column_key(self.key.0, self.key.1, out);
        // Most codes are followed by the next one.
        let steps = (1..).zip(&self.successors).map(|(next, &code)| i64::from(code) - next);
        list::put_ints(&steps.collect::<Vec<i64>>(), out);
        out.put_varint(self.columns.len() as u64);
        for column in &self.columns {
            match column.of {
                Predicted::GapAfterEnd => out.push(GAP_AFTER_END),
                Predicted::StepAfterStart => out.push(STEP_AFTER_START),
                Predicted::End => out.push(END),
                Predicted::Column(role, kind) => {
                    out.push(COLUMN);
                    put_column_key(role, kind, out);
                }
            }
            let present = column.present.as_ref().map(|marks| marks.iter().map(|&mark| i64::from(mark)));
            out.push(u8::from(present.is_some()));
            if let Some(marks) = present {
                list::put_ints(&marks.collect::<Vec<i64>>(), out);
            }
            list::put_ints(&column.values, out);
        }
    }

    /// Reads a program.
    pub fn decode(
        cursor: &mut Cursor<'_>,
        decoder: &mut BlockDecoder,
        taken: &mut RoomShare<'_>,
    ) -> Result<Self> {
        let key = column_key(cursor)?;
        let codes = list::stated_len(cursor, MAX_CODES)?;
        taken.grow(codes, CODE_BYTES)?;
        let steps = list::read_ints_of_with(cursor, codes, decoder)?;
        let successor = |(next, &step): (i64, &i64)| {
            let code = step.checked_add(next).and_then(|code| u32::try_from(code).ok());
            code.filter(|&code| (code as usize) < codes)
        };
        let successors: Option<Vec<u32>> = (1..).zip(&steps).map(successor).collect();
        let successors = successors.ok_or_else(|| cursor.corrupt())?;
        let count = cursor.count(2)?;
        taken.grow(count, size_of::<ProgramColumn>())?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            let of = match cursor.u8()? {
                GAP_AFTER_END => Predicted::GapAfterEnd,
                STEP_AFTER_START => Predicted::StepAfterStart,
                END => Predicted::End,
                COLUMN => {
                    let (role, kind) = column_key(cursor)?;
                    Predicted::Column(role, kind)
                }
                _ => return Err(cursor.corrupt()),
            };
            taken.grow(codes, VALUE_BYTES)?;
            let present = match cursor.u8()? {
                0 => None,
                1 => Some(
                    list::read_ints_of_with(cursor, codes, decoder)?.iter().map(|&mark| mark != 0).collect(),
                ),
                _ => return Err(cursor.corrupt()),
            };
            columns.push(ProgramColumn {
                of,
                present,
                values: list::read_ints_of_with(cursor, codes, decoder)?,
            });
        }
        cursor.finish()?;
        let program = Self { key, successors, columns };
        let keyed = program.column(Predicted::Column(key.0, key.1)).is_some_and(|key| key.present.is_none());
        if keyed { Ok(program) } else { Err(cursor.corrupt()) }
    }

    /// Codes of a block's rows. After the first, a row's code is the usual successor of the code
    /// before, plus its step.
    ///
    /// # Errors
    /// `Corrupt` if a code is not in the program.
    pub fn codes(&self, first: u32, steps: &[i64], offset: u64) -> Result<Vec<u32>> {
        let corrupt = Error::Corrupt { what: "code of a program", offset };
        let mut codes = Vec::with_capacity(steps.len());
        let mut usual = i64::from(first);
        while let Some((step, rest)) = steps.get(codes.len()..).and_then(<[i64]>::split_first) {
            let code = u32::try_from(usual.wrapping_add(*step)).map_err(|_| corrupt)?;
            let successors =
                self.successors.get(code as usize..).filter(|rest| !rest.is_empty()).ok_or(corrupt)?;
            // Most codes follow in sequence. A run of these is found without waiting for each code
            // to know the next.
            let is_next = |((step, next), expected): &((&i64, &u32), u32)| **step == 0 && next == &expected;
            let straight = rest.iter().zip(successors).zip(code + 1..).take_while(is_next).count();
            codes.push(code);
            codes.extend((code + 1..).take(straight));
            usual = i64::from(*successors.get(straight).ok_or(corrupt)?);
        }
        Ok(codes)
    }
}

impl ProgramColumn {
    /// Number of rows with these codes that have a value.
    #[must_use]
    pub fn count(&self, codes: &[u32]) -> usize {
        match &self.present {
            None => codes.len(),
            Some(present) => codes.iter().filter(|&&code| present[code as usize]).count(),
        }
    }

    /// Column of the rows with these codes: the predicted values plus the differences.
    #[must_use]
    pub fn column(&self, codes: &[u32], differences: impl Iterator<Item = i64>) -> BlockColumn {
        let value = |(&code, difference): (&u32, i64)| self.values[code as usize].wrapping_add(difference);
        match &self.present {
            None => BlockColumn::full(BlockValues::Ints(codes.iter().zip(differences).map(value).collect())),
            Some(present) => {
                let here = codes.iter().filter(|&&code| present[code as usize]);
                let values = here.zip(differences).map(value).collect();
                let marks: Vec<bool> = codes.iter().map(|&code| present[code as usize]).collect();
                BlockColumn::sparse(&marks, BlockValues::Ints(values))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::room::SegmentRoom;
    use super::*;
    use crate::model::FieldId;

    fn program() -> Program {
        let key = (ColumnRole::Field(FieldId(3)), ColumnType::Int);
        let column = |of, present, values: [i64; 4]| ProgramColumn { of, present, values: values.to_vec() };
        Program {
            key,
            successors: vec![1, 2, 3, 0],
            columns: vec![
                column(Predicted::GapAfterEnd, None, [1_000, -5, 0, i64::MAX]),
                column(Predicted::Column(key.0, key.1), None, [0x40, 0x80, -1, 0x100]),
                column(
                    Predicted::Column(ColumnRole::Name, ColumnType::Text),
                    Some(vec![true, false, true, true]),
                    [7, 0, 7, 9],
                ),
            ],
        }
    }

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        program().encode(&mut bytes);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Program> {
        let (room, mut decoder) = (SegmentRoom::of_file(0), BlockDecoder::default());
        Program::decode(&mut Cursor::new(bytes, 0, "program"), &mut decoder, &mut room.part())
    }

    #[test]
    fn programs_survive_and_no_cut_does() {
        let bytes = encoded();
        assert_eq!(decode(&bytes), Ok(program()));
        for keep in 0..bytes.len() {
            assert!(decode(&bytes[..keep]).is_err(), "cut at {keep}");
        }
    }

    #[test]
    fn codes_follow_their_successors() {
        let program = program();
        assert_eq!(program.codes(2, &[0, 0, 0, 1, 0], 0), Ok(vec![2, 3, 0, 2, 3]));
        assert!(program.codes(4, &[0], 0).is_err());
        assert!(program.codes(0, &[-1], 0).is_err());
        assert!(program.codes(0, &[i64::MAX, 1], 0).is_err());
    }

    proptest! {
        #[test]
        fn hostile_bytes_end_in_an_error_or_a_program(at in any::<prop::sample::Index>(), value in any::<u8>(), codes in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = encoded();
            let at = at.index(bytes.len());
            bytes[at] = value;
            if let Ok(program) = decode(&bytes)
                && let Ok(codes) = program.codes(0, &codes, 0)
            {
                for column in &program.columns {
                    let count = column.count(&codes);
                    let block = column.column(&codes, std::iter::repeat_n(i64::MAX, count));
                    prop_assert!((0..codes.len()).filter_map(|row| block.slot(row)).all(|slot| slot < count));
                }
            }
        }
    }
}
