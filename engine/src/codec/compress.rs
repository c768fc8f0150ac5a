//! One zstd frame that states its length, for bytes that are not a column of numbers. Also the
//! working memory of zstd, which costs more to make than a small block costs to compress.

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, find_frame_compressed_size, get_frame_content_size};

use crate::base::{Error, Result};

/// Level 3: higher levels took three times as long and saved less than 5 % on every column
/// measured.
const LEVEL: i32 = 3;
/// Level 1 for numbers: they gain from the frequencies of bytes, which every level codes alike.
const NUMBERS_LEVEL: i32 = 1;
/// Shorter repeats cost more as references than as bytes coded by frequency: 6 % on durations.
const NUMBERS_MIN_MATCH: u32 = 7;
/// Most bytes that a block of a frame decodes to, and fewest bytes of a block. The fewest are a
/// header of three bytes and the byte that repeats (RFC 8878, section 3.1.1.2).
const BLOCK_MAX: u64 = 128 << 10;
const BLOCK_MIN_LEN: u64 = 4;
const CORRUPT: Error = Error::Inconsistent { what: "zstd frame" };

/// Appends `bytes` as one frame.
pub fn compress(bytes: &[u8], out: &mut Vec<u8>) {
    let frame = zstd::bulk::compress(bytes, LEVEL).expect("a buffer of zstd's own bound holds every frame");
    out.extend_from_slice(&frame);
}

/// Content of `bytes`, which are one frame.
///
/// # Errors
/// `Corrupt` if `bytes` are not one frame. `Corrupt` without an allocation if the frame states more
/// than `max_len` bytes, or more than a frame of its size can hold.
pub fn decompress(bytes: &[u8], max_len: usize) -> Result<Vec<u8>> {
    let len = content_len(bytes).filter(|len| *len <= max_len).ok_or(CORRUPT)?;
    let content = zstd::bulk::decompress(bytes, len).map_err(|_| CORRUPT)?;
    if content.len() == len { Ok(content) } else { Err(CORRUPT) }
}

/// Level of a frame with a dictionary. The frame is small, and written once.
const DICTIONARY_LEVEL: i32 = 19;
/// Beyond this many bytes, `DICTIONARY_LEVEL` takes too long for what it saves.
const MAX_SLOW: usize = 256 << 10;

/// Appends `bytes` as one frame, which refers to `dictionary` for repeats. Decompression needs the
/// same dictionary.
pub fn compress_with(dictionary: &[u8], bytes: &[u8], out: &mut Vec<u8>) {
    let level = if bytes.len() <= MAX_SLOW { DICTIONARY_LEVEL } else { LEVEL };
    let frame = Compressor::with_dictionary(level, dictionary).and_then(|mut of| of.compress(bytes));
    out.extend_from_slice(&frame.expect("a buffer of zstd's own bound holds every frame"));
}

/// Content of `bytes`, which are one frame of [`compress_with`] with this dictionary.
pub fn decompress_with(dictionary: &[u8], bytes: &[u8], max_len: usize) -> Result<Vec<u8>> {
    let len = content_len(bytes).filter(|len| *len <= max_len).ok_or(CORRUPT)?;
    let content = Decompressor::with_dictionary(dictionary).and_then(|mut of| of.decompress(bytes, len));
    content.ok().filter(|content| content.len() == len).ok_or(CORRUPT)
}

/// Length that the one frame in `bytes` states, if a frame of its size can hold as much.
fn content_len(bytes: &[u8]) -> Option<usize> {
    let stated = get_frame_content_size(bytes).ok().flatten()?;
    let possible = (bytes.len() as u64 / BLOCK_MIN_LEN).saturating_mul(BLOCK_MAX);
    let whole = find_frame_compressed_size(bytes).ok() == Some(bytes.len());
    usize::try_from(stated).ok().filter(|_| whole && stated <= possible)
}

/// Compresses runs of bytes one after the other in the same working memory, which is made at the
/// first use.
pub struct FrameCompressor {
    compressor: Option<Compressor<'static>>,
    level: i32,
    min_match: Option<u32>,
}

impl FrameCompressor {
    /// Creates a packer for the bytes of numbers.
    pub fn of_numbers() -> Self {
        Self { compressor: None, level: NUMBERS_LEVEL, min_match: Some(NUMBERS_MIN_MATCH) }
    }

    /// Creates a packer for texts.
    pub fn of_texts() -> Self {
        Self { compressor: None, level: LEVEL, min_match: None }
    }

    /// Replaces the content of `out` by a frame. `false` if zstd cannot allocate its working
    /// memory.
    pub fn pack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        if self.compressor.is_none() {
            self.compressor = Compressor::new(self.level).ok();
            if let (Some(compressor), Some(len)) = (&mut self.compressor, self.min_match) {
                compressor.set_parameter(CParameter::MinMatch(len)).ok();
            }
        }
        let Some(compressor) = &mut self.compressor else { return false };
        out.clear();
        out.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        compressor.compress_to_buffer(bytes, out).is_ok()
    }
}

/// Decompresses frames one after the other in the same working memory.
#[derive(Default)]
pub struct Unpacker(Option<Decompressor<'static>>);

impl Unpacker {
    /// Replaces the content of `out` by that of `bytes`, which are one frame of `len` bytes of
    /// content.
    pub fn unpack(&mut self, bytes: &[u8], len: usize, out: &mut Vec<u8>) -> Result<()> {
        if content_len(bytes) != Some(len) {
            return Err(CORRUPT);
        }
        if self.0.is_none() {
            self.0 = Some(Decompressor::new().map_err(|_| CORRUPT)?);
        }
        let Some(decompressor) = &mut self.0 else { return Err(CORRUPT) };
        out.clear();
        out.reserve(len);
        let written = decompressor.decompress_to_buffer(bytes, out).map_err(|_| CORRUPT)?;
        if written == len { Ok(()) } else { Err(CORRUPT) }
    }
}
