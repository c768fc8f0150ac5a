//! Each value by itself, for short columns whose few large values would widen all others.
//!
//! Layout: the values, signed varints.

use super::BlockDecoder;
use super::int_codec::{Codec, Decode};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Varint;

impl Codec for Varint {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        stats.varints_len
    }

    fn encode(&self, values: &[i64], _stats: &Stats, out: &mut Vec<u8>) {
        values.iter().for_each(|value| out.put_signed(*value));
    }
}

impl Decode for Varint {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        for value in out {
            *value = cursor.signed()?;
        }
        cursor.finish()
    }
}
