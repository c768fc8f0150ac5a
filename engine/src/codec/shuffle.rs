//! Byte planes under zstd: the lowest bytes of all numbers, then the second lowest, and so on, as
//! one frame. The frame catches frequent bytes and repeated sequences, which the other codecs miss.
//!
//! Layout: the form, the base (signed varint), the number of planes (one byte, 0 to 8), the zstd
//! frame of planes × rows bytes. Form 0 is distances from the base. Form 1 is zigzag differences to
//! the value before; the base stands before the first. Form 2 is zigzag distances from the base.
//!
//! If the number of planes is 0, the frame is a byte a row. A length (varint) and the numbers of
//! the rows whose byte is 255 (varints) then stand before the frame.

use super::int_codec::{Decode, Trial};
use super::stats::{BitSpread, Stats};
use super::{BlockDecoder, Encoder};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put, unzigzag, zigzag};

pub struct Shuffle;

const DISTANCES: u8 = 0;
const DIFFERENCES: u8 = 1;
const AROUND: u8 = 2;
/// Marks a number of 255 or more, if each number takes one byte.
const ESCAPE: u64 = 255;
const ESCAPED: u8 = 0;
/// At most one row in this many is escaped.
const ESCAPES_SHARE: usize = 16;

fn attempt_form(form: u8, base: i64, numbers: &[u64], encoder: &mut Encoder) -> Option<Vec<u8>> {
    let Encoder { packer, planes: shuffled, frame, .. } = encoder;
    let mut out = vec![form];
    out.put_signed(base);
    shuffled.clear();
    let wide = numbers.iter().filter(|number| **number >= ESCAPE).count();
    if (1..=numbers.len() / ESCAPES_SHARE).contains(&wide) {
        out.push(ESCAPED);
        shuffled.extend(numbers.iter().map(|number| (*number).min(ESCAPE) as u8));
        let mut escaped = Vec::new();
        numbers.iter().filter(|number| **number >= ESCAPE).for_each(|number| escaped.put_varint(*number));
        out.put_bytes(&escaped);
    } else {
        let bits = u64::BITS - numbers.iter().fold(0, |all, number| all | number).leading_zeros();
        let planes = bits.div_ceil(8).max(1) as u8;
        out.push(planes);
        for plane in 0..planes {
            shuffled.extend(numbers.iter().map(|number| (number >> (8 * plane)) as u8));
        }
    }
    packer.pack(shuffled, frame).then(|| {
        out.extend_from_slice(frame);
        out
    })
}

impl Trial for Shuffle {
    /// Below one bit a value, the frame's own bytes are most of the column.
    fn worth_above_bits(&self) -> usize {
        1
    }

    fn attempt(&self, values: &[i64], stats: &Stats, encoder: &mut Encoder) -> Option<Vec<u8>> {
        let mut numbers = std::mem::take(&mut encoder.numbers);
        numbers.clear();
        let (form, base) = match stats.spread() {
            BitSpread::Differences => {
                let mut before = stats.first;
                let step = |value: &i64| zigzag(value.wrapping_sub(std::mem::replace(&mut before, *value)));
                numbers.extend(values.iter().map(step));
                (DIFFERENCES, stats.first)
            }
            BitSpread::AroundZero => {
                numbers.extend(values.iter().map(|value| zigzag(*value)));
                (AROUND, 0)
            }
            BitSpread::Distances => {
                numbers.extend(values.iter().map(|value| value.abs_diff(stats.min)));
                (DISTANCES, stats.min)
            }
        };
        let attempt = attempt_form(form, base, &numbers, encoder);
        encoder.numbers = numbers;
        attempt
    }
}

impl Decode for Shuffle {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], decoder: &mut BlockDecoder) -> Result<()> {
        let form = cursor.u8()?;
        let base = cursor.signed()?;
        let planes = usize::from(cursor.u8()?);
        if form > AROUND || planes > size_of::<i64>() {
            return Err(cursor.corrupt());
        }
        let mut escaped = if planes == usize::from(ESCAPED) {
            Cursor::new(cursor.bytes()?, 0, "integer column")
        } else {
            cursor.clone()
        };
        let shuffled = &mut decoder.planes;
        decoder.unpacker.unpack(cursor.take(cursor.remaining())?, planes.max(1) * out.len(), shuffled)?;
        let (lowest, rest) = shuffled.split_at(out.len());
        out.iter_mut().zip(lowest).for_each(|(value, byte)| *value = i64::from(*byte));
        if planes == usize::from(ESCAPED) {
            for value in out.iter_mut().filter(|value| value.cast_unsigned() == ESCAPE) {
                *value = escaped.varint()?.cast_signed();
            }
            escaped.finish()?;
        }
        for (plane, bytes) in (1..planes).zip(rest.chunks_exact(out.len().max(1))) {
            out.iter_mut().zip(bytes).for_each(|(value, byte)| *value |= i64::from(*byte) << (8 * plane));
        }
        match form {
            DISTANCES => out.iter_mut().for_each(|value| *value = value.wrapping_add(base)),
            AROUND => {
                out.iter_mut().for_each(|value| *value = unzigzag(value.cast_unsigned()).wrapping_add(base));
            }
            _ => {
                let mut value = base;
                for slot in out {
                    value = value.wrapping_add(unzigzag(slot.cast_unsigned()));
                    *slot = value;
                }
            }
        }
        Ok(())
    }
}
