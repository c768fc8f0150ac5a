//! Limits for unpacking. A small hostile file must fill neither memory nor disk.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most packings and archives around a file. `job.tar.gz` with `rank_0.json.gz` inside has three.
pub const MAX_DEPTH: usize = 3;

/// Most files of all archives of an ingest together, at any depth.
pub const MAX_ENTRIES: usize = 65_536;

/// Most bytes of the names of these files. Each has the names of the archives around it.
pub const MAX_NAMES_LEN: usize = 16 << 20;

/// Most characters of an entry's name.
pub const MAX_NAME_CHARS: usize = 1_024;

/// Most bytes of the spool that one opened file can take.
pub const MAX_SPOOLED: u64 = 64 << 30;

/// Every file may unpack to this many bytes, and all archives of an ingest together.
const MIN_UNPACKED: u64 = 1 << 30;

/// Largest ratio of unpacked to packed bytes for a file that is unpacked while it is read. A trace
/// that repeats one event comes near this ratio with zstd.
const MAX_STREAMED_RATIO: u64 = 10_000;

/// Largest ratio of unpacked to packed bytes for a file that is unpacked to disk. Gzip reaches a
/// little less.
const MAX_SPOOLED_RATIO: u64 = 1_100;

/// Bytes to which the packed packets of any trace may unpack together.
const FREE_PACKETS: u64 = 16 << 20;

/// Most bytes that `packed_len` packed bytes may unpack to while they are read.
#[must_use]
pub fn streamed(packed_len: u64) -> u64 {
    packed_len.saturating_mul(MAX_STREAMED_RATIO).max(MIN_UNPACKED)
}

/// Most bytes of disk that `packed_len` packed bytes may unpack to.
#[must_use]
pub fn spooled(packed_len: u64) -> u64 {
    packed_len.saturating_mul(MAX_SPOOLED_RATIO).clamp(MIN_UNPACKED, MAX_SPOOLED)
}

/// Most bytes that the packed packets of a trace of `packed_len` bytes may unpack to together. The
/// length is that of the file: packets that were packed twice would allow the square of a ratio.
#[must_use]
pub fn packets(packed_len: u64) -> u64 {
    packed_len.saturating_mul(MAX_SPOOLED_RATIO).saturating_add(FREE_PACKETS)
}

/// Bytes of disk that all archives of an ingest may unpack to together, and the files that they may
/// have. Each opened file adds the bytes that its own length allows. So an archive of many small
/// archives gets no more than its own length allows.
#[derive(Debug)]
pub struct DiskAllowance {
    bytes: AtomicU64,
    entries: AtomicU64,
    names_len: AtomicU64,
}

impl Default for DiskAllowance {
    fn default() -> Self {
        Self::of(MIN_UNPACKED)
    }
}

impl DiskAllowance {
    /// An allowance that begins with this many bytes.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        Self {
            bytes: AtomicU64::new(bytes),
            entries: AtomicU64::new(MAX_ENTRIES as u64),
            names_len: AtomicU64::new(MAX_NAMES_LEN as u64),
        }
    }

    /// Adds what a file of this length allows.
    pub fn add_file(&self, packed_len: u64) {
        let bytes = packed_len.saturating_mul(MAX_SPOOLED_RATIO).min(MAX_SPOOLED);
        self.update(|left| left.saturating_add(bytes));
    }

    /// Bytes that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Takes bytes.
    pub fn take(&self, bytes: u64) {
        self.update(|left| left.saturating_sub(bytes));
    }

    /// Takes a file of an archive with a name of this length. `false` if there are too many.
    #[must_use]
    pub fn take_entry(&self, name_len: usize) -> bool {
        let take = |from: &AtomicU64, count: u64| {
            from.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(count)).is_ok()
        };
        take(&self.entries, 1) && take(&self.names_len, name_len as u64)
    }

    fn update(&self, change: impl Fn(u64) -> u64) {
        // The closure always returns a value, so this cannot fail.
        let _ = self.bytes.fetch_update(Relaxed, Relaxed, |left| Some(change(left)));
    }
}
