//! Byte planes under zstd: the lowest bytes of all numbers, then the second lowest, and so on, as one frame. Finds
//! what the other codecs do not see: sequences that repeat.
//! Layout: the form (0: distances from the base, 1: zigzag differences to the value before, the base before the first),
//! the base (signed varint), the number of planes (one byte, 1 to 8), the zstd frame of planes × rows bytes.

use super::compress::{compress, decompress};
use super::int::Trial;
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put, unzigzag, zigzag};

pub struct Shuffle;

const DISTANCES: u8 = 0;
const DIFFERENCES: u8 = 1;

fn attempt_form(form: u8, base: i64, numbers: &[u64]) -> Vec<u8> {
    let bits = u64::BITS - numbers.iter().fold(0, |all, number| all | number).leading_zeros();
    let planes = bits.div_ceil(8).max(1) as usize;
    let mut shuffled = Vec::with_capacity(planes * numbers.len());
    for plane in 0..planes {
        shuffled.extend(numbers.iter().map(|number| number.to_le_bytes()[plane]));
    }
    let mut out = vec![form];
    out.put_signed(base);
    out.push(planes as u8);
    compress(&shuffled, &mut out);
    out
}

impl Trial for Shuffle {
    /// Below one bit a value a frame's own bytes are most of the column.
    fn worth_above_bits(&self) -> usize {
        1
    }

    fn attempt(&self, values: &[i64], stats: &Stats) -> Option<Vec<u8>> {
        let distances: Vec<u64> = values.iter().map(|value| value.abs_diff(stats.min)).collect();
        let by_distance = attempt_form(DISTANCES, stats.min, &distances);
        let mut before = stats.first;
        let step = |value: &i64| zigzag(value.wrapping_sub(std::mem::replace(&mut before, *value)));
        let differences: Vec<u64> = values.iter().map(step).collect();
        let by_difference = attempt_form(DIFFERENCES, stats.first, &differences);
        Some(if by_difference.len() < by_distance.len() { by_difference } else { by_distance })
    }

    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64]) -> Result<()> {
        let form = cursor.u8()?;
        let base = cursor.signed()?;
        let planes = usize::from(cursor.u8()?);
        if form > DIFFERENCES || !(1..=size_of::<i64>()).contains(&planes) {
            return Err(cursor.corrupt());
        }
        let len = planes * out.len();
        let shuffled = decompress(cursor.take(cursor.remaining())?, len)?;
        if shuffled.len() != len {
            return Err(cursor.corrupt());
        }
        out.fill(0);
        for plane in 0..planes {
            let bytes = &shuffled[plane * out.len()..][..out.len()];
            out.iter_mut().zip(bytes).for_each(|(value, byte)| *value |= i64::from(*byte) << (8 * plane));
        }
        if form == DISTANCES {
            out.iter_mut().for_each(|value| *value = value.wrapping_add(base));
        } else {
            let mut value = base;
            for slot in out {
                value = value.wrapping_add(unzigzag(slot.cast_unsigned()));
                *slot = value;
            }
        }
        Ok(())
    }
}
