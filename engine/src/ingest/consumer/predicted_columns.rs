//! Columns of a block that the program of the track predicts.

use super::encoded_block::{EncodedBlock, EncodedColumn, texts_of, zone_of};
use crate::base::bytes::Put;
use crate::block::{Coding, ColumnType, ROWS, ValuesRef};
use crate::codec::Encoder;
use crate::ingest::rows::BlockUses;
use crate::segment::{ColumnRole, Predicted, Program, ProgramColumn};

/// Program codes of the rows of a block.
pub struct Codes<'a> {
    program: &'a Program,
    /// Code of each row.
    pub codes: &'a [u32],
    /// Distinct codes, if they are far fewer than the rows.
    distinct: Option<Vec<u32>>,
}

/// Maximum share of rows that are the first of their code: one in this many. Beyond it, looking at
/// codes instead of rows saves too little.
const DISTINCT_SHARE: usize = 2;
/// Maximum number of program codes per row of a block, so that marking the codes costs less than it
/// saves.
const CODES_A_ROW: usize = 8;

impl<'a> Codes<'a> {
    pub fn of(program: &'a Program, codes: &'a [u32]) -> Self {
        let is_small = program.successors.len() <= codes.len() * CODES_A_ROW;
        let distinct = is_small.then(|| {
            let mut occurred = vec![false; program.successors.len()];
            let is_new = |code: &u32| !std::mem::replace(&mut occurred[*code as usize], true);
            codes.iter().copied().filter(is_new).collect::<Vec<u32>>()
        });
        let distinct = distinct.filter(|distinct| distinct.len() * DISTINCT_SHARE <= codes.len());
        Self { program, codes, distinct }
    }

    pub fn predicts(&self, role: ColumnRole, kind: ColumnType) -> bool {
        self.program.column(Predicted::Column(role, kind)).is_some()
    }

    /// Stores a column whose values follow from the uses of the rows, if the codes determine the
    /// values. `of_uses` are the values by distinct use.
    pub fn put_by_use(
        &self,
        role: ColumnRole,
        kind: ColumnType,
        of_uses: &[Option<i64>],
        uses: &BlockUses<'_>,
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) -> bool {
        let Some(predicted) = self.program.column(Predicted::Column(role, kind)) else { return false };
        let is_usual = self.program.key == (role, kind)
            || uses.codes().is_some_and(|codes| {
                of_uses.iter().zip(codes).all(|(value, code)| *value == predicted.usual(*code))
            });
        is_usual && self.put_usual(role, kind, predicted, encoder, block)
    }

    /// Stores a column in which all values are as predicted. `false` if the distinct codes are not
    /// known.
    fn put_usual(
        &self,
        role: ColumnRole,
        kind: ColumnType,
        predicted: &ProgramColumn,
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) -> bool {
        let Self { program, codes, .. } = *self;
        let Some(distinct) = &self.distinct else { return false };
        let bytes = if program.key == (role, kind) {
            encoded_codes(program, codes, encoder)
        } else {
            let mut bytes = vec![Coding::Predicted.code()];
            encoder.ints(&NOTHING[..codes.len()], &mut bytes);
            bytes
        };
        let told: Vec<i64> = distinct.iter().filter_map(|code| predicted.usual(*code)).collect();
        let told = ValuesRef::Ints(&told);
        let (zone, texts) = (zone_of(role, kind, told), texts_of(kind, told));
        block.columns.push(EncodedColumn { role, kind, zone, bytes, texts });
        true
    }

    /// Stores durations as differences of the ends from those of the program. Returns `false` if
    /// the program does not predict ends.
    pub fn put_ends(
        &self,
        starts: &[i64],
        durations: &[i64],
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) -> bool {
        let Some(predicted) = self.program.column(Predicted::End) else { return false };
        let rows = self.codes.iter().zip(starts).zip(durations);
        let differences: Vec<i64> = rows
            .map(|((&code, start), duration)| {
                start.wrapping_add(*duration).wrapping_sub(predicted.values[code as usize])
            })
            .collect();
        let mut bytes = vec![Coding::End.code()];
        encoder.ints(&differences, &mut bytes);
        let (role, kind) = (ColumnRole::Duration, ColumnType::Int);
        let zone = zone_of(role, kind, ValuesRef::Ints(durations));
        block.columns.push(EncodedColumn { role, kind, zone, bytes, texts: None });
        true
    }

    /// Stores a column as differences from the program. Returns `false` if the program does
    /// not predict the column, or not which rows have a value.
    pub fn put(
        &self,
        role: ColumnRole,
        kind: ColumnType,
        has: impl Fn(usize) -> bool,
        values: &[i64],
        encoder: &mut Encoder,
        block: &mut EncodedBlock,
    ) -> bool {
        let Self { program, codes, .. } = *self;
        let Some(predicted) = program.column(Predicted::Column(role, kind)) else { return false };
        let usual = |code: &u32| predicted.values[*code as usize];
        let is_key = program.key == (role, kind);
        let is_whole = predicted.present.is_none() && values.len() == codes.len();
        let is_usual =
            is_key || (is_whole && values.iter().zip(codes).all(|(value, code)| *value == usual(code)));
        // The values come from the codes if the codes determine them.
        if is_usual && self.put_usual(role, kind, predicted, encoder, block) {
            return true;
        }
        let bytes = if is_key {
            encoded_codes(program, codes, encoder)
        } else {
            let mut bytes = vec![Coding::Predicted.code()];
            if is_usual {
                encoder.ints(&NOTHING[..codes.len()], &mut bytes);
            } else {
                let Some(differences) = differences(predicted, codes, has, values) else { return false };
                encoder.ints(&differences, &mut bytes);
            }
            bytes
        };
        let occurring = ValuesRef::Ints(values);
        let (zone, texts) = (zone_of(role, kind, occurring), texts_of(kind, occurring));
        block.columns.push(EncodedColumn { role, kind, zone, bytes, texts });
        true
    }
}

/// The differences of a block in which every value is as predicted.
static NOTHING: [i64; ROWS] = [0; ROWS];

/// Differences from the predicted values; `None` if other rows have a value than predicted.
fn differences(
    predicted: &ProgramColumn,
    codes: &[u32],
    has: impl Fn(usize) -> bool,
    values: &[i64],
) -> Option<Vec<i64>> {
    if values.len() == codes.len() && predicted.present.is_none() {
        let pairs = values.iter().zip(codes);
        return Some(
            pairs.map(|(value, &code)| value.wrapping_sub(predicted.values[code as usize])).collect(),
        );
    }
    let mut left = values.iter();
    let mut differences = Vec::with_capacity(values.len());
    for (at, &code) in codes.iter().enumerate() {
        let predicted_here = predicted.present.as_ref().is_none_or(|marks| marks[code as usize]);
        if has(at) != predicted_here {
            return None;
        }
        if predicted_here {
            differences.push(left.next()?.wrapping_sub(predicted.values[code as usize]));
        }
    }
    Some(differences)
}

fn encoded_codes(program: &Program, codes: &[u32], encoder: &mut Encoder) -> Vec<u8> {
    let mut bytes = vec![Coding::Codes.code()];
    let first = codes.first().copied().unwrap_or_default();
    bytes.put_varint(u64::from(first));
    let mut usual = first;
    let steps = codes.iter().map(|&code| {
        let step = i64::from(code) - i64::from(usual);
        usual = program.successors[code as usize];
        step
    });
    encoder.ints(&steps.collect::<Vec<i64>>(), &mut bytes);
    bytes
}
