//! A codec of integers, and what several of them need.

use super::bits::{MAX_WIDTH, packed_len, unpack};
use super::stats::Stats;
use super::{BlockDecoder, Encoder};
use crate::base::Result;
use crate::base::bytes::{Cursor, zigzag};

/// Decoder of one codec. It is a separate trait, so that a program that only reads contains no
/// encoder.
pub trait Decode: Sync {
    /// Fills `out` completely from all the bytes of `cursor`, or fails.
    fn decode(&self, cursor: Cursor<'_>, out: &mut [i64], decoder: &mut BlockDecoder) -> Result<()>;
}

/// A codec whose size follows from the statistics. Sizes do not count the id byte.
pub trait Codec: Decode {
    /// Exact encoded size, or `None` if these values do not fit this codec.
    fn encoded_len(&self, stats: &Stats) -> Option<usize>;
    /// Appends the values. `stats` are their statistics, and must fit.
    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>);
}

/// A codec whose size is known only by encoding.
pub trait Trial: Decode {
    /// The codec is tried only if the best [`Codec`] takes more than this many bits a value.
    fn worth_above_bits(&self) -> usize;
    /// Fewest values for which the codec is tried. Below, its tables outweigh what it saves.
    fn min_values(&self) -> usize {
        64
    }
    /// Encodes the values. `stats` are their statistics. `None` if the values do not fit.
    fn attempt(&self, values: &[i64], stats: &Stats, encoder: &mut Encoder) -> Option<Vec<u8>>;
}

/// Takes the packed bytes that `out` needs, and fills `out` from them.
pub fn take_packed(cursor: &mut Cursor<'_>, width: u8, out: &mut [i64]) -> Result<()> {
    if width > MAX_WIDTH {
        return Err(cursor.corrupt());
    }
    let packed = cursor.take(packed_len(out.len(), width))?;
    unpack(packed, width, out);
    Ok(())
}

/// Length of a varint in bytes.
pub fn varint_len(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()).max(1).div_ceil(7) as usize
}

/// Length of a signed varint in bytes.
pub fn signed_len(value: i64) -> usize {
    varint_len(zigzag(value))
}
