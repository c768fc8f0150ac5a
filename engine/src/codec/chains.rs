//! Interleaved sequences of consecutive numbers: codes of texts that were numbered by first use. A
//! repeated loop uses its texts in the same order, here and there interrupted by texts of another
//! loop or by new ones.
//!
//! The codec follows a few chains. Each chain has a due number, one more than its last value. A
//! value that is due, or a few steps beyond, is stored as the chain and the number of steps. Any
//! other value is stored by itself, and replaces the chain that was used longest ago.
//!
//! Layout: the varint number and the varint length of the values stored by themselves, then these
//! values (each a signed varint, the distance from the one before). One zstd frame of a byte a row
//! follows. The byte is chain + 4 · steps, or 255 for a value stored by itself.

use super::int_codec::{Decode, Trial};
use super::stats::Stats;
use super::{BlockDecoder, Encoder};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct Chains;

const CHAINS: usize = 4;
/// Most steps beyond the due number.
const MAX_STEPS: i64 = 60;
const ALONE: u8 = u8::MAX;
const _: () = assert!(CHAINS * (MAX_STEPS as usize + 1) < ALONE as usize, "a row is a byte");
/// The codec is tried if at least one row in this many is one more than the row before.
const SUCCESSION_SHARE: usize = 8;
/// The codec is given up if more than one row in this many is stored by itself.
const ALONE_SHARE: usize = 4;

/// Due number of each chain, and the row after its last use.
struct Followed {
    due: [i64; CHAINS],
    used: [usize; CHAINS],
}

impl Followed {
    fn new() -> Self {
        Self { due: [i64::MIN; CHAINS], used: [0; CHAINS] }
    }

    /// The chain with the fewest steps to the value, and the steps.
    fn nearest(&self, value: i64) -> Option<(usize, i64)> {
        let steps = |chain: usize| value.wrapping_sub(self.due[chain]);
        let near = (0..CHAINS).filter(|&chain| (0..=MAX_STEPS).contains(&steps(chain)));
        near.map(|chain| (chain, steps(chain))).min_by_key(|&(chain, steps)| (steps, chain))
    }

    fn follow(&mut self, chain: usize, value: i64, row: usize) {
        self.due[chain] = value.wrapping_add(1);
        self.used[chain] = row + 1;
    }

    fn oldest(&self) -> usize {
        (0..CHAINS).min_by_key(|&chain| self.used[chain]).unwrap_or_default()
    }
}

impl Trial for Chains {
    fn worth_above_bits(&self) -> usize {
        2
    }

    fn attempt(&self, values: &[i64], stats: &Stats, encoder: &mut Encoder) -> Option<Vec<u8>> {
        if stats.successions * SUCCESSION_SHARE < values.len() {
            return None;
        }
        let mut followed = Followed::new();
        let (mut alone, mut count, mut last) = (Vec::new(), 0_usize, 0_i64);
        let Encoder { packer, planes: rows, frame, .. } = encoder;
        rows.clear();
        for (row, &value) in values.iter().enumerate() {
            let chain = match followed.nearest(value) {
                Some((chain, steps)) => {
                    rows.push((chain + CHAINS * steps as usize) as u8);
                    chain
                }
                None => {
                    rows.push(ALONE);
                    alone.put_signed(value.wrapping_sub(last));
                    last = value;
                    count += 1;
                    followed.oldest()
                }
            };
            followed.follow(chain, value, row);
        }
        if count * ALONE_SHARE > values.len() || !packer.pack(rows, frame) {
            return None;
        }
        let mut out = Vec::with_capacity(frame.len() + alone.len() + 8);
        out.put_varint(count as u64);
        out.put_bytes(&alone);
        out.extend_from_slice(frame);
        Some(out)
    }
}

impl Decode for Chains {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], decoder: &mut BlockDecoder) -> Result<()> {
        let count = usize::try_from(cursor.varint()?).ok().filter(|count| *count <= out.len());
        let count = count.ok_or_else(|| cursor.corrupt())?;
        let mut alone = Cursor::new(cursor.bytes()?, 0, "integer column");
        decoder.unpacker.unpack(cursor.take(cursor.remaining())?, out.len(), &mut decoder.planes)?;
        let mut followed = Followed::new();
        let (mut left, mut last) = (count, 0_i64);
        for (row, (slot, &code)) in out.iter_mut().zip(&decoder.planes).enumerate() {
            let chain = if code == ALONE {
                left = left.checked_sub(1).ok_or_else(|| cursor.corrupt())?;
                last = last.wrapping_add(alone.signed()?);
                *slot = last;
                followed.oldest()
            } else {
                let (chain, steps) = (usize::from(code) % CHAINS, usize::from(code) / CHAINS);
                *slot = followed.due[chain].wrapping_add(steps as i64);
                chain
            };
            followed.follow(chain, *slot, row);
        }
        if left == 0 { alone.finish() } else { Err(cursor.corrupt()) }
    }
}

/// Estimated bits that these values take as chains.
pub fn bits(values: impl Iterator<Item = i64>) -> usize {
    /// Estimated bits of a row that follows a chain, after zstd, and of a value stored by itself.
    const ROW_BITS: usize = 1;
    const ALONE_BITS: usize = 24;
    let mut followed = Followed::new();
    values.enumerate().fold(0, |bits, (row, value)| {
        let nearest = followed.nearest(value);
        let chain = nearest.map_or_else(|| followed.oldest(), |(chain, _)| chain);
        followed.follow(chain, value, row);
        bits + ROW_BITS + if nearest.is_some() { 0 } else { ALONE_BITS }
    })
}
