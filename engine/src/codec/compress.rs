//! One zstd frame that states its length, for whatever is not a column of numbers.

use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::base::{Error, Result};

/// Level 3: higher ones took three times as long for less than 5 % on every column measured.
const LEVEL: i32 = 3;
/// Most bytes that a block of a frame decodes to, and the fewest it takes (RFC 8878, section 3.1.1.2: a header of three
/// bytes and the byte that repeats).
const BLOCK_MAX: u64 = 128 << 10;
const BLOCK_MIN_LEN: u64 = 4;

/// Appends `bytes` as one frame.
pub fn compress(bytes: &[u8], out: &mut Vec<u8>) {
    let frame = zstd::bulk::compress(bytes, LEVEL).expect("a buffer of zstd's own bound holds every frame");
    out.extend_from_slice(&frame);
}

/// The content of the one frame that `bytes` are.
///
/// # Errors
/// `Corrupt` where they are anything else, or where the frame states more than `max_len` bytes or more than frames of
/// its size can hold: nothing is allocated then.
pub fn decompress(bytes: &[u8], max_len: usize) -> Result<Vec<u8>> {
    const CORRUPT: Error = Error::Corrupt { what: "zstd frame", offset: 0 };
    let stated = get_frame_content_size(bytes).ok().flatten().ok_or(CORRUPT)?;
    let possible = (bytes.len() as u64 / BLOCK_MIN_LEN).saturating_mul(BLOCK_MAX);
    let len =
        usize::try_from(stated).ok().filter(|len| *len <= max_len && stated <= possible).ok_or(CORRUPT)?;
    if find_frame_compressed_size(bytes).ok() != Some(bytes.len()) {
        return Err(CORRUPT);
    }
    let content = zstd::bulk::decompress(bytes, len).map_err(|_| CORRUPT)?;
    if content.len() == len { Ok(content) } else { Err(CORRUPT) }
}
