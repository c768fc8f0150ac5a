//! A small dictionary: the distinct values once, and a code for each row.
//!
//! Layout: the number of distinct values less one (one byte), the smallest value (signed varint),
//! the distance of each further value from the one before (varints, never 0), the packed codes. The
//! width of a code is that of the largest code.

use super::BlockDecoder;
use super::bits::{pack, packed_len, width_of};
use super::int_codec::{Codec, Decode, signed_len, take_packed, varint_len};
use super::stats::{DISTINCT_MAX, Stats};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct DictionaryCodec;

const _: () = assert!(DISTINCT_MAX == 1 << u8::BITS, "the number of values less one is a byte");

fn distances(distinct: &[i64]) -> impl Iterator<Item = u64> {
    distinct.iter().zip(distinct.iter().skip(1)).map(|(before, value)| value.abs_diff(*before))
}

fn code_width(distinct: usize) -> u8 {
    width_of(distinct as u64 - 1)
}

impl Codec for DictionaryCodec {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        let distinct = stats.distinct.as_deref().filter(|distinct| !distinct.is_empty())?;
        let values = signed_len(distinct[0]) + distances(distinct).map(varint_len).sum::<usize>();
        Some(1 + values + packed_len(stats.count, code_width(distinct.len())))
    }

    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        let distinct = stats.distinct.as_deref().unwrap_or(&[]);
        out.push((distinct.len() - 1) as u8);
        out.put_signed(distinct[0]);
        distances(distinct).for_each(|distance| out.put_varint(distance));
        let codes = values.iter().map(|value| distinct.partition_point(|one| one < value) as u64);
        pack(codes, code_width(distinct.len()), out);
    }
}

impl Decode for DictionaryCodec {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        let len = usize::from(cursor.u8()?) + 1;
        let mut distinct = [0; DISTINCT_MAX];
        let mut last = cursor.signed()?;
        distinct[0] = last;
        for slot in &mut distinct[1..len] {
            let distance = cursor.varint()?;
            last = last
                .checked_add_unsigned(distance)
                .filter(|_| distance > 0)
                .ok_or_else(|| cursor.corrupt())?;
            *slot = last;
        }
        take_packed(&mut cursor, code_width(len), out)?;
        cursor.finish()?;
        if out.iter().any(|code| code.cast_unsigned() >= len as u64) {
            return Err(cursor.corrupt());
        }
        // The cast loses nothing: a code is below DISTINCT_MAX.
        out.iter_mut().for_each(|code| *code = distinct[usize::from(*code as u8)]);
        Ok(())
    }
}
