//! Wide numbers by pco (Pcodec), which sorts values into ranges and codes the ranges by frequency.
//!
//! Layout: a chunk's metadata and its single page, as in the wrapped variant of the pco format 4.1,
//! without the two bytes of its header.
//!
//! Only a subset of that format is written and read: no dictionary mode, no lookback deltas, no
//! convolution deltas. So hostile bytes cannot make the decoder allocate for a dictionary (256 MB)
//! or a window (128 MB), nor overflow in a convolution. The mode and the delta encoding stand in
//! the first bits and are checked before pco sees them.

use pco::data_types::Number;
use pco::wrapped::{FileCompressor, FileDecompressor};
use pco::{ChunkConfig, DeltaSpec, PagingSpec};

use super::int_codec::{Decode, Trial};
use super::stats::{BitSpread, Stats};
use super::{BlockDecoder, Encoder};
use crate::base::Result;
use crate::base::bytes::Cursor;

pub struct Entropy;

/// Header of the format: major and minor version.
const HEADER: [u8; 2] = [4, 1];
/// Level 6, below pco's own choice of 8: times and durations of transfers take 0.15 % more bytes
/// and less work. Level 4 takes 2.6 % more.
const LEVEL: usize = 6;

const MODE_BITS: u8 = 0x0f;
const CLASSIC: u8 = 0;
const MULTIPLE: u8 = 1;
const FLOAT_MULTIPLE: u8 = 2;
const FLOAT_QUANTISED: u8 = 3;
/// Bytes of the base, which follows the mode.
const BASE_LEN: usize = size_of::<u64>();
/// Largest delta encoding that is stored: 0 is none, 1 is differences of some order.
const DELTA_MAX: u8 = 1;

impl Trial for Entropy {
    /// On bytes, zstd's coder saves as much as pco does and decodes faster. On spans of
    /// instructions and transfers no trial below this width won.
    fn worth_above_bits(&self) -> usize {
        9
    }

    /// The tables of a chunk take some hundred bytes. Reading them takes longer than a pyramid's
    /// page can spend on all its cells.
    fn min_values(&self) -> usize {
        1024
    }

    fn attempt(&self, values: &[i64], stats: &Stats, _encoder: &mut Encoder) -> Option<Vec<u8>> {
        compress(values, stats)
    }
}

impl Decode for Entropy {
    fn decode(&self, cursor: Cursor<'_>, out: &mut [i64], _decoder: &mut BlockDecoder) -> Result<()> {
        decompress(cursor, out)
    }
}

/// A number type that is stored, and the modes that are stored for it.
pub trait EntropyNumber: Number {
    /// Byte and shift of the delta encoding's four bits after a mode. `None` for a mode that is not
    /// stored.
    fn delta_at(mode: u8) -> Option<(usize, u32)>;
}

impl EntropyNumber for i64 {
    fn delta_at(mode: u8) -> Option<(usize, u32)> {
        match mode {
            CLASSIC => Some((0, 4)),
            MULTIPLE => Some((BASE_LEN, 4)),
            _ => None,
        }
    }
}

impl EntropyNumber for f64 {
    fn delta_at(mode: u8) -> Option<(usize, u32)> {
        match mode {
            CLASSIC => Some((0, 4)),
            FLOAT_MULTIPLE => Some((BASE_LEN, 4)),
            // A byte with the number of dropped bits comes before.
            FLOAT_QUANTISED => Some((1, 4)),
            _ => None,
        }
    }
}

/// Whether a chunk's metadata begin with a stored mode and a stored delta encoding.
fn in_subset<T: EntropyNumber>(chunk: &[u8]) -> bool {
    let delta_at = chunk.first().and_then(|first| T::delta_at(first & MODE_BITS));
    delta_at
        .and_then(|(byte, shift)| Some(chunk.get(byte)? >> shift & MODE_BITS))
        .is_some_and(|delta| delta <= DELTA_MAX)
}

/// Compresses the values. `stats` are the statistics of their ordered bits. `None` if pco fails or
/// leaves the subset.
pub fn compress<T: EntropyNumber>(values: &[T], stats: &Stats) -> Option<Vec<u8>> {
    // Differences are used if they are narrower. The sampling by which pco would choose costs more
    // than it saves.
    let narrower = stats.spread() == BitSpread::Differences;
    let delta_spec = if narrower { DeltaSpec::TryConsecutive(1) } else { DeltaSpec::NoOp };
    let config = ChunkConfig::default().with_compression_level(LEVEL).with_delta_spec(delta_spec);
    let config = config.with_paging_spec(PagingSpec::Exact(vec![values.len()]));
    let mut chunk = FileCompressor::default().chunk_compressor(values, &config).ok()?;
    let bytes = chunk.write_meta(Vec::new()).ok()?;
    let bytes = chunk.write_page(0, bytes).ok()?;
    in_subset::<T>(&bytes).then_some(bytes)
}

/// Fills `out` from all the bytes of `cursor`.
pub fn decompress<T: EntropyNumber>(mut cursor: Cursor<'_>, out: &mut [T]) -> Result<()> {
    let corrupt = cursor.corrupt();
    let chunk = cursor.take(cursor.remaining())?;
    if !in_subset::<T>(chunk) {
        return Err(corrupt);
    }
    decompress_chunk(chunk, out).filter(|rest| rest.is_empty()).map(|_| ()).ok_or(corrupt)
}

/// Returns the bytes after the page, or `None` if pco finds the chunk damaged.
fn decompress_chunk<'a, T: EntropyNumber>(chunk: &'a [u8], out: &mut [T]) -> Option<&'a [u8]> {
    let (file, _) = FileDecompressor::new(HEADER.as_slice()).ok()?;
    let (mut decompressor, page) = file.chunk_decompressor::<T, _>(chunk).ok()?;
    let mut page = decompressor.page_decompressor(page, out.len()).ok()?;
    let progress = page.read(out).ok()?;
    (progress.finished && progress.n_processed == out.len()).then(|| page.into_src())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_that_is_left_out_is_the_one_pco_writes() {
        assert_eq!(FileCompressor::default().write_header(Vec::new()).unwrap(), HEADER);
    }

    #[test]
    fn a_dictionary_or_a_lookback_window_is_refused_unread() {
        for first in [0x04, 0x05, 0x0f, 0x20, 0x30, 0xf0] {
            let mut bytes = vec![first];
            bytes.extend([0xff; 40]);
            assert!(!in_subset::<i64>(&bytes), "{first:#x}");
            assert!(decompress(Cursor::new(&bytes, 0, "test"), &mut [0_i64; 300]).is_err(), "{first:#x}");
        }
        assert!(in_subset::<i64>(&[0x10]));
        assert!(!in_subset::<f64>(&[0x01, 0, 0, 0, 0, 0, 0, 0, 0]), "a mode of integers");
    }
}
