//! How much a file may unpack to. A small hostile file must fill neither memory nor disk.

/// Packings and archives around a file: `job.tar.gz` with `rank_0.json.gz` inside has three.
pub const MAX_DEPTH: usize = 3;

/// Files of an archive.
pub const MAX_ENTRIES: usize = 65_536;

/// Characters of an entry's name.
pub const MAX_NAME_CHARS: usize = 1_024;

/// Bytes that one opened file may take of the spool.
pub const MAX_SPOOLED: u64 = 64 << 30;

/// Every file may unpack to this much.
const MIN_UNPACKED: u64 = 1 << 30;

/// A file that is unpacked while it is read may have this many times its packed bytes. Traces of one
/// event over and over come near that with zstd.
const MAX_STREAMED_RATIO: u64 = 10_000;

/// A file that is unpacked to the disk may have this many times its packed bytes: a little more than
/// gzip reaches.
const MAX_SPOOLED_RATIO: u64 = 1_100;

/// The most that these packed bytes may become while they are read.
#[must_use]
pub fn streamed(packed_len: u64) -> u64 {
    packed_len.saturating_mul(MAX_STREAMED_RATIO).max(MIN_UNPACKED)
}

/// The most that these packed bytes may take of the disk.
#[must_use]
pub fn spooled(packed_len: u64) -> u64 {
    packed_len.saturating_mul(MAX_SPOOLED_RATIO).clamp(MIN_UNPACKED, MAX_SPOOLED)
}
