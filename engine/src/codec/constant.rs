//! One value for all rows. Layout: the value, a signed varint.

use super::BlockDecoder;
use super::int_codec::{Codec, Decode, signed_len};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Constant;

impl Codec for Constant {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        (stats.min == stats.max).then(|| signed_len(stats.min))
    }

    fn encode(&self, _values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        out.put_signed(stats.min);
    }
}

impl Decode for Constant {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        out.fill(cursor.signed()?);
        cursor.finish()
    }
}
