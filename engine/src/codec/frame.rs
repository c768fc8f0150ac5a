//! Frame of reference: the distance of each value from the smallest, bit-packed.
//! Layout: the smallest value (signed varint), the width (one byte), the packed distances.

use super::BlockDecoder;
use super::bits::{pack, packed_len};
use super::int_codec::{Codec, Decode, signed_len, take_packed};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Frame;

impl Codec for Frame {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        Some(signed_len(stats.min) + 1 + packed_len(stats.count, stats.range_width()))
    }

    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        let width = stats.range_width();
        out.put_signed(stats.min);
        out.push(width);
        pack(values.iter().map(|value| value.abs_diff(stats.min)), width, out);
    }
}

impl Decode for Frame {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        let min = cursor.signed()?;
        let width = cursor.u8()?;
        take_packed(&mut cursor, width, out)?;
        cursor.finish()?;
        out.iter_mut().for_each(|value| *value = value.wrapping_add(min));
        Ok(())
    }
}
