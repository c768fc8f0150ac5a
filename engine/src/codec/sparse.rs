//! One value for most rows, and the rows that differ: mostly the differences of a well predicted
//! column.
//!
//! Layout: the common value (signed varint), the number of exceptions (varint). Further, only if
//! there are exceptions: the width of the steps and the width of the values (one byte each), the
//! smallest exception (signed varint). The packed steps and the packed distances of the exceptions
//! from the smallest follow. A step is the number of rows between two exceptions; the first step is
//! the rows before the first exception.

use super::BlockDecoder;
use super::bits::{pack, packed_len, width_of};
use super::int_codec::{Codec, Decode, signed_len, take_packed, varint_len};
use super::stats::{Exceptions, Stats};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Sparse;

fn widths(exceptions: &Exceptions) -> (u8, u8) {
    (width_of(exceptions.longest_step), width_of(exceptions.max.abs_diff(exceptions.min)))
}

impl Codec for Sparse {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        let exceptions = stats.exceptions.as_ref()?;
        let head = signed_len(exceptions.common) + varint_len(exceptions.count as u64);
        if exceptions.count == 0 {
            return Some(head);
        }
        let (steps, values) = widths(exceptions);
        let packed = packed_len(exceptions.count, steps) + packed_len(exceptions.count, values);
        Some(head + 2 + signed_len(exceptions.min) + packed)
    }

    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        let Some(exceptions) = &stats.exceptions else { return };
        out.put_signed(exceptions.common);
        out.put_varint(exceptions.count as u64);
        if exceptions.count == 0 {
            return;
        }
        let (step_width, value_width) = widths(exceptions);
        out.extend([step_width, value_width]);
        out.put_signed(exceptions.min);
        let rows = || values.iter().enumerate().filter(|(_, value)| **value != exceptions.common);
        let mut next = 0;
        let steps = rows().map(|(row, _)| {
            let step = row - next;
            next = row + 1;
            step as u64
        });
        pack(steps, step_width, out);
        pack(rows().map(|(_, value)| value.abs_diff(exceptions.min)), value_width, out);
    }
}

impl Decode for Sparse {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        let common = cursor.signed()?;
        // Each exception is a row.
        let count = usize::try_from(cursor.varint()?).ok().filter(|count| *count <= out.len());
        let count = count.ok_or_else(|| cursor.corrupt())?;
        out.fill(common);
        if count == 0 {
            return cursor.finish();
        }
        let (step_width, value_width) = (cursor.u8()?, cursor.u8()?);
        let min = cursor.signed()?;
        let mut steps = vec![0; count];
        take_packed(&mut cursor, step_width, &mut steps)?;
        let mut values = vec![0; count];
        take_packed(&mut cursor, value_width, &mut values)?;
        cursor.finish()?;
        let corrupt = cursor.corrupt();
        let mut rest = out;
        for (step, value) in steps.iter().zip(&values) {
            let step = usize::try_from(step.cast_unsigned()).map_err(|_| corrupt)?;
            let (slot, tail) = rest.get_mut(step..).and_then(<[i64]>::split_first_mut).ok_or(corrupt)?;
            *slot = value.wrapping_add(min);
            rest = tail;
        }
        Ok(())
    }
}
