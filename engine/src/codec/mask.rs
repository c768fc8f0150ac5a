//! Masks: which rows of a sparse column have a value.
//!
//! Forms:
//!
//! - All alike: one byte, 0 or 1.
//! - Bits: one bit a row, the lowest bit of a byte first.
//! - Runs: the first mark (one byte), the number of runs (varint), a column of integers of the
//!   runs' lengths, which alternate.

use super::bits::{pack, packed_len};
use super::{Encoder, MASKS, MAX_VALUES, check_count};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

const ALIKE: u8 = MASKS;
const BITS: u8 = MASKS + 1;
const RUNS: u8 = MASKS + 2;
/// Names of the forms by id, from [`MASKS`] on.
pub const NAMES: [&str; 3] = ["all alike", "bits", "runs"];

pub fn encode(present: &[bool], encoder: &mut Encoder, out: &mut Vec<u8>) {
    assert!(present.len() <= MAX_VALUES, "a block holds at most MAX_VALUES values");
    let first = present.first().copied().unwrap_or(false);
    let lengths: Vec<i64> = present.chunk_by(|a, b| a == b).map(|run| run.len() as i64).collect();
    if lengths.len() <= 1 {
        out.extend([ALIKE, u8::from(first)]);
        return;
    }
    let mut runs = vec![RUNS, u8::from(first)];
    runs.put_varint(lengths.len() as u64);
    encoder.ints(&lengths, &mut runs);
    if runs.len() <= packed_len(present.len(), 1) {
        out.extend_from_slice(&runs);
    } else {
        out.push(BITS);
        pack(present.iter().map(|mark| u64::from(*mark)), 1, out);
    }
}

pub fn decode(bytes: &[u8], count: usize, out: &mut Vec<bool>) -> Result<()> {
    check_count(count)?;
    out.clear();
    let mut cursor = Cursor::new(bytes, 0, "mask");
    match cursor.u8()? {
        ALIKE => {
            out.resize(count, mark(&mut cursor)?);
            cursor.finish()
        }
        BITS => {
            let packed = cursor.take(packed_len(count, 1))?;
            out.extend(
                packed.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).take(count),
            );
            cursor.finish()
        }
        RUNS => decode_runs(cursor, count, out),
        _ => Err(cursor.corrupt()),
    }
}

fn mark(cursor: &mut Cursor<'_>) -> Result<bool> {
    match cursor.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(cursor.corrupt()),
    }
}

fn decode_runs(mut cursor: Cursor<'_>, count: usize, out: &mut Vec<bool>) -> Result<()> {
    let mut mark = mark(&mut cursor)?;
    let runs = usize::try_from(cursor.varint()?).ok().filter(|runs| *runs <= count);
    let runs = runs.ok_or_else(|| cursor.corrupt())?;
    let mut lengths = Vec::new();
    let corrupt = cursor.corrupt();
    super::decode_ints(cursor.take(cursor.remaining())?, runs, &mut lengths)?;
    for length in lengths {
        let end = usize::try_from(length).ok().and_then(|length| out.len().checked_add(length));
        out.resize(end.filter(|end| *end <= count).ok_or(corrupt)?, mark);
        mark = !mark;
    }
    if out.len() == count { Ok(()) } else { Err(corrupt) }
}
