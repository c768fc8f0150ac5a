//! Column codecs: the values of one block to bytes and back.
//!
//! An encoded column begins with a byte that names its codec. The block knows the number of values;
//! the column does not state it. Encoding is deterministic. Decoding fills exactly the requested
//! count or fails. Decoding allocates no more than that count, [`MAX_TEXT_BYTES`] or the stated
//! bound needs. No bytes make a decoder panic.
//!
//! `docs/format-codecs.md` describes the layout to the bit. Offsets in errors count from the first
//! byte of the column.

mod bits;
mod chains;
mod compress;
mod constant;
mod delta;
mod dictionary;
mod divisor;
mod entropy;
mod float;
mod frame;
mod int;
mod int_codec;
mod mask;
mod run;
mod shuffle;
mod sparse;
mod stats;
mod text;
mod varint;

#[cfg(test)]
mod conformance;

pub use chains::bits as chains_bits;
pub use compress::{compress, compress_with, decompress, decompress_with};
pub use stats::{DISTINCT_MAX, distinct_of};
pub use text::ColumnTexts;

use crate::base::{Error, Result};

/// Most values of a block. Decoders refuse more before they allocate.
pub const MAX_VALUES: usize = 1 << 16;
/// Most bytes of the texts of a block. Decoders refuse more before they allocate.
pub const MAX_TEXT_BYTES: usize = 1 << 28;

// First id of each kind of column. Ids differ, so that a column of one kind is never taken for
// another's.
const INTS: u8 = 0x10;
const FLOATS: u8 = 0x20;
const TEXTS: u8 = 0x30;
const MASKS: u8 = 0x40;

/// Compression around an encoded column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OuterCompression {
    /// None: the column compresses itself.
    Nothing,
    /// The frame of a small segment, which compresses all columns together.
    Frame,
}

/// Working memory for encoding many columns one after the other.
pub struct Encoder {
    around: OuterCompression,
    packer: compress::FrameCompressor,
    text_packer: compress::FrameCompressor,
    numbers: Vec<u64>,
    planes: Vec<u8>,
    frame: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            around: OuterCompression::Nothing,
            packer: compress::FrameCompressor::of_numbers(),
            text_packer: compress::FrameCompressor::of_texts(),
            numbers: Vec::new(),
            planes: Vec::new(),
            frame: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// Calls `work` with this encoder, for columns inside `around`.
    pub fn within<R>(&mut self, around: OuterCompression, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.around, around);
        let result = work(self);
        self.around = before;
        result
    }

    /// Same as [`encode_ints`].
    ///
    /// # Panics
    /// Same as [`encode_ints`].
    pub fn ints(&mut self, values: &[i64], out: &mut Vec<u8>) {
        int::encode(values, self, out);
    }

    /// Same as [`encode_floats`].
    ///
    /// # Panics
    /// Same as [`encode_floats`].
    pub fn floats(&mut self, values: &[f64], out: &mut Vec<u8>) {
        float::encode(values, self, out);
    }

    /// Same as [`encode_mask`].
    ///
    /// # Panics
    /// Same as [`encode_mask`].
    pub fn mask(&mut self, present: &[bool], out: &mut Vec<u8>) {
        mask::encode(present, self, out);
    }

    /// Same as [`encode_texts`].
    ///
    /// # Panics
    /// Same as [`encode_texts`].
    pub fn texts<'a>(&mut self, texts: impl Iterator<Item = &'a str> + Clone, out: &mut Vec<u8>) {
        text::encode(texts, self, out);
    }
}

/// Working memory for decoding many columns one after the other.
#[derive(Default)]
pub struct BlockDecoder {
    unpacker: compress::Unpacker,
    planes: Vec<u8>,
}

impl std::fmt::Debug for BlockDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl BlockDecoder {
    /// Same as [`decode_ints`].
    pub fn ints(&mut self, bytes: &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
        int::decode(bytes, count, self, out)
    }

    /// Same as [`decode_texts`], for texts whose decoding takes at most `most_bytes` of memory.
    ///
    /// # Errors
    /// Same as [`decode_ints`]; `Inconsistent`, before the texts are unpacked, if they take more
    /// memory.
    pub fn texts(&mut self, bytes: &[u8], count: usize, most_bytes: usize) -> Result<ColumnTexts> {
        let too_long = Error::Inconsistent { what: "texts longer than a writer makes them" };
        let mut room = |bytes| if bytes <= most_bytes { Ok(()) } else { Err(too_long) };
        text::decode(bytes, count, &mut room, self)
    }

    /// Same as [`decode_texts`]. `room` is told the bytes of memory that decoding takes, before the
    /// texts are unpacked, and can refuse them.
    ///
    /// # Errors
    /// Same as [`decode_ints`], and the errors of `room`.
    pub fn texts_with_room(
        &mut self,
        bytes: &[u8],
        count: usize,
        room: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<ColumnTexts> {
        text::decode(bytes, count, room, self)
    }

    /// Replaces the content of `out` by that of `bytes`, which are one frame of `len` bytes of
    /// content.
    pub fn unpack(&mut self, bytes: &[u8], len: usize, out: &mut Vec<u8>) -> Result<()> {
        self.unpacker.unpack(bytes, len, out)
    }
}

/// Appends a column of integers, in the smallest form.
///
/// # Panics
/// If there are more than [`MAX_VALUES`] values.
pub fn encode_ints(values: &[i64], out: &mut Vec<u8>) {
    Encoder::default().ints(values, out);
}

/// Replaces the content of `out` by the `count` integers that `bytes` hold.
///
/// # Errors
/// `Corrupt` or `Truncated` if `bytes` are not such a column; `out` is then undefined. `Invalid` if
/// `count` is above [`MAX_VALUES`].
pub fn decode_ints(bytes: &[u8], count: usize, out: &mut Vec<i64>) -> Result<()> {
    BlockDecoder::default().ints(bytes, count, out)
}

/// The single value of a column of integers that are all equal. `None` for any other column.
#[must_use]
pub fn constant_int(bytes: &[u8]) -> Option<i64> {
    int::constant(bytes)
}

/// Appends a column of floats, in the smallest form. Every bit is kept, also those of NaNs and the
/// sign of zero.
///
/// # Panics
/// If there are more than [`MAX_VALUES`] values.
pub fn encode_floats(values: &[f64], out: &mut Vec<u8>) {
    Encoder::default().floats(values, out);
}

/// Replaces the content of `out` by the `count` floats that `bytes` hold.
pub fn decode_floats(bytes: &[u8], count: usize, out: &mut Vec<f64>) -> Result<()> {
    float::decode(bytes, count, out)
}

/// Appends a column of texts. Sorted texts take fewer bytes.
///
/// # Panics
/// If there are more than [`MAX_VALUES`] texts, or more than [`MAX_TEXT_BYTES`] in all of them.
pub fn encode_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone, out: &mut Vec<u8>) {
    Encoder::default().texts(texts, out);
}

/// Returns the `count` texts that `bytes` hold.
pub fn decode_texts(bytes: &[u8], count: usize) -> Result<ColumnTexts> {
    BlockDecoder::default().texts(bytes, count, usize::MAX)
}

/// Appends a mask: `present` says which rows of a sparse column have a value.
///
/// # Panics
/// If there are more than [`MAX_VALUES`] rows.
pub fn encode_mask(present: &[bool], out: &mut Vec<u8>) {
    Encoder::default().mask(present, out);
}

/// Replaces the content of `out` by the `count` marks that `bytes` hold.
pub fn decode_mask(bytes: &[u8], count: usize, out: &mut Vec<bool>) -> Result<()> {
    mask::decode(bytes, count, out)
}

/// Name of the codec that wrote a column, for people.
#[must_use]
pub fn codec_name(bytes: &[u8]) -> &'static str {
    const KINDS: [(u8, &[&str]); 3] = [(FLOATS, &float::NAMES), (TEXTS, &text::NAMES), (MASKS, &mask::NAMES)];
    let Some(id) = bytes.first() else { return "nothing" };
    let named =
        |(first, names): (u8, &[&'static str])| names.get(usize::from(id.checked_sub(first)?)).copied();
    int::name(bytes).or_else(|| KINDS.into_iter().find_map(named)).unwrap_or("unknown")
}

fn check_count(count: usize) -> Result<()> {
    if count <= MAX_VALUES {
        Ok(())
    } else {
        Err(Error::Invalid { what: "a block holds at most 65536 values" })
    }
}
