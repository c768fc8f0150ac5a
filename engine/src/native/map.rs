//! Segments that are mapped into memory.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, Mmap};

use crate::base::{Error, Result};
use crate::segment::{Bytes, Segment, part_of};

/// Bytes that are read from a disk at once. By default the system reads megabytes around each place
/// of a mapping.
const REGION_LEN: usize = 1 << 15;
/// Maximum number of regions that are read at once for sequential reads.
const AHEAD: usize = 32;

/// The bytes of a mapped file.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    /// A bit for each requested region.
    asked: Vec<AtomicU64>,
}

impl Mapped {
    fn new(map: Mmap) -> Self {
        let regions = map.len().div_ceil(REGION_LEN);
        // Only advice: a system that ignores it reads as usual.
        let _ = map.advise(Advice::Random);
        Self { asked: (0..regions.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), map }
    }

    /// Requests the regions from this one on: twice as many as were requested right before it, at
    /// least one and at most [`AHEAD`].
    fn ask(&self, region: usize) {
        let is_asked =
            |region: usize| self.asked[region / 64].load(Ordering::Relaxed) >> (region % 64) & 1 == 1;
        if is_asked(region) {
            return;
        }
        let before = (region.saturating_sub(AHEAD)..region).rev().take_while(|&one| is_asked(one)).count();
        let start = region * REGION_LEN;
        let len = (REGION_LEN * (2 * before).clamp(1, AHEAD)).min(self.map.len() - start);
        for asked in region..region + len.div_ceil(REGION_LEN) {
            self.asked[asked / 64].fetch_or(1 << (asked % 64), Ordering::Relaxed);
        }
        // Only advice, as above.
        let _ = self.map.advise_range(Advice::WillNeed, start, len);
    }
}

impl Bytes for Mapped {
    fn file_len(&self) -> u64 {
        self.map.len() as u64
    }

    fn range(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let part = part_of(&self.map, offset, len)?;
        if !part.is_empty() {
            let first = part.as_ptr().addr() - self.map.as_ptr().addr();
            (first / REGION_LEN..=(first + part.len() - 1) / REGION_LEN).for_each(|region| self.ask(region));
        }
        Ok(part)
    }
}

/// A segment whose file is mapped.
pub type SegmentFile = Segment<Mapped>;

impl SegmentFile {
    /// Maps a file and opens the segment in it.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped, or holds no readable segment.
    pub fn open_file(path: &Path) -> std::result::Result<Self, OpenError> {
        let file = File::open(path)?;
        // The system refuses to map an empty file. An empty file is reported as truncated, like any
        // short file.
        if file.metadata()?.len() == 0 {
            return Err(OpenError::Segment(Error::Truncated { needed: 1, available: 0 }));
        }
        #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
        // SAFETY: a segment is immutable. nprof writes it under another name, renames it once it is
        // complete, and never opens it for writing again. Deleting the file leaves the mapping
        // valid. Every read is checked by checksum.
        let map = unsafe { Mmap::map(&file)? };
        Segment::open(Mapped::new(map)).map_err(OpenError::Segment)
    }
}

/// Reason why a segment was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file system reported an error.
    Io(io::Error),
    /// The file holds no readable segment.
    Segment(Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Segment(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
