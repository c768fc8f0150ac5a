//! Differences between neighbours, as distances from the smallest difference, bit-packed. A
//! difference needs no sign bit, and an arithmetic sequence has width 0.
//!
//! Layout: the first value and the smallest difference (signed varints), the width (one byte), the
//! packed distances of all values but the first. Differences and sums wrap at 64 bits.

use super::BlockDecoder;
use super::bits::{pack, packed_len};
use super::int_codec::{Codec, Decode, signed_len, take_packed};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Delta;

impl Codec for Delta {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        let packed = packed_len(stats.count.checked_sub(1)?, stats.delta_width());
        Some(signed_len(stats.first) + signed_len(stats.delta_min) + 1 + packed)
    }

    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        let width = stats.delta_width();
        out.put_signed(stats.first);
        out.put_signed(stats.delta_min);
        out.push(width);
        let deltas = values.iter().zip(&values[1..]).map(|(before, value)| value.wrapping_sub(*before));
        pack(deltas.map(|delta| delta.abs_diff(stats.delta_min)), width, out);
    }
}

impl Decode for Delta {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        let mut value = cursor.signed()?;
        let delta_min = cursor.signed()?;
        let width = cursor.u8()?;
        let (first, rest) = out.split_first_mut().ok_or_else(|| cursor.corrupt())?;
        take_packed(&mut cursor, width, rest)?;
        cursor.finish()?;
        *first = value;
        for slot in rest {
            value = value.wrapping_add(*slot).wrapping_add(delta_min);
            *slot = value;
        }
        Ok(())
    }
}
