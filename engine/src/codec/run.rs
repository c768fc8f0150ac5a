//! Run length: the value of each run, and how often it repeats.
//!
//! Layout: the number of runs (varint), the smallest value (signed varint), the width of the values
//! and the width of the lengths (one byte each). The packed distances of the runs' values from the
//! smallest and the packed lengths less one follow. The lengths add up to the number of values.

use super::BlockDecoder;
use super::bits::{pack, packed_len, width_of};
use super::int_codec::{Codec, Decode, signed_len, take_packed, varint_len};
use super::stats::Stats;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

pub struct RunCodec;

/// Width of the lengths less one.
fn length_width(longest_run: usize) -> u8 {
    width_of(longest_run as u64 - 1)
}

impl Codec for RunCodec {
    fn encoded_len(&self, stats: &Stats) -> Option<usize> {
        if stats.count == 0 {
            return None;
        }
        let length_width = length_width(stats.longest_run?);
        let packed = packed_len(stats.runs, stats.range_width()) + packed_len(stats.runs, length_width);
        Some(varint_len(stats.runs as u64) + signed_len(stats.min) + 2 + packed)
    }

    fn encode(&self, values: &[i64], stats: &Stats, out: &mut Vec<u8>) {
        let runs = || values.chunk_by(|a, b| a == b);
        let Some(longest_run) = stats.longest_run else { return };
        let (value_width, length_width) = (stats.range_width(), length_width(longest_run));
        out.put_varint(stats.runs as u64);
        out.put_signed(stats.min);
        out.extend([value_width, length_width]);
        pack(runs().map(|run| run[0].abs_diff(stats.min)), value_width, out);
        pack(runs().map(|run| run.len() as u64 - 1), length_width, out);
    }
}

impl Decode for RunCodec {
    fn decode(&self, mut cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        let runs = cursor.varint()?;
        // Each run is at least one value long.
        let runs =
            usize::try_from(runs).ok().filter(|runs| *runs <= out.len()).ok_or_else(|| cursor.corrupt())?;
        let min = cursor.signed()?;
        let (value_width, length_width) = (cursor.u8()?, cursor.u8()?);
        let mut values = vec![0; runs];
        take_packed(&mut cursor, value_width, &mut values)?;
        let mut lengths = vec![0; runs];
        take_packed(&mut cursor, length_width, &mut lengths)?;
        cursor.finish()?;
        let mut rest = out;
        for (value, length) in values.iter().zip(&lengths) {
            let run = usize::try_from(length.cast_unsigned()).ok().and_then(|length| length.checked_add(1));
            let (head, tail) =
                run.and_then(|run| rest.split_at_mut_checked(run)).ok_or_else(|| cursor.corrupt())?;
            head.fill(value.wrapping_add(min));
            rest = tail;
        }
        if rest.is_empty() { Ok(()) } else { Err(cursor.corrupt()) }
    }
}
