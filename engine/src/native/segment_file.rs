//! Segments in files. Each piece is read by its position into memory of its own. Regions that are
//! needed again are kept for a while (`regions.rs`).
//!
//! *Invariant.* No file is mapped: a file that shrinks, or that the disk cannot read, gives an
//! error of the question that needs the bytes. A mapped file would end the process by a signal.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, pread};

use super::regions::{self, FileNumber, REGION_LEN};
use super::regular_file::open_regular;
use crate::base::{Error, Result};
use crate::segment::{Bytes, Segment, SourceBytes};

/// Maximum number of regions that are read at once for sequential reads.
const AHEAD: u64 = 32;

/// A file of constant length whose bytes are read by position.
#[derive(Debug)]
pub struct StoredFile {
    file: File,
    number: FileNumber,
    /// Length when the file was opened.
    len: u64,
    /// A bit for each region that the disk was asked for. By default the system reads up to
    /// megabytes around each place of a file.
    asked: Vec<AtomicU64>,
}

impl StoredFile {
    /// Takes a file that is open for reading.
    ///
    /// # Errors
    /// If the system does not tell the length.
    pub fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let words = usize::try_from(len.div_ceil(REGION_LEN).div_ceil(64)).map_err(io::Error::other)?;
        let asked = (0..words).map(|_| AtomicU64::new(0)).collect();
        let stored = Self { file, number: FileNumber::next(), len, asked };
        stored.advise_random();
        Ok(stored)
    }

    /// Returns true if the file has no name any more. Its space is free once it is closed.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|of| of.nlink() == 0)
    }

    fn is_asked(&self, region: u64) -> bool {
        self.word(region).load(Ordering::Relaxed) >> (region % 64) & 1 == 1
    }

    fn word(&self, region: u64) -> &AtomicU64 {
        &self.asked[(region / 64) as usize]
    }

    /// Requests the regions from this one on: twice as many as were requested right before it, at
    /// least one and at most [`AHEAD`].
    fn ask(&self, region: u64) {
        if self.is_asked(region) {
            return;
        }
        let earlier = (region.saturating_sub(AHEAD)..region).rev();
        let before = earlier.take_while(|&one| self.is_asked(one)).count() as u64;
        let start = region * REGION_LEN;
        let len = (REGION_LEN * (2 * before).clamp(1, AHEAD)).min(self.len - start);
        for asked in region..region + len.div_ceil(REGION_LEN) {
            self.word(asked).fetch_or(1 << (asked % 64), Ordering::Relaxed);
        }
        self.advise_needed(start, len);
    }

    /// Reads `wanted` bytes from `offset` on into an empty vector that has room for them.
    fn read(&self, offset: u64, wanted: usize, into: &mut Vec<u8>) -> std::result::Result<(), MissingBytes> {
        while into.len() < wanted {
            let at = offset + into.len() as u64;
            match pread(&self.file, spare_capacity(into), at) {
                Ok(0) => {
                    return Err(MissingBytes::From(self.file.metadata().map_or(at, |now| now.len().min(at))));
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(MissingBytes::Unreadable(reason(error))),
            }
        }
        // The vector may have got more room than it was asked for.
        into.truncate(wanted);
        Ok(())
    }

    // Only advice: a system that ignores it reads as usual.
    #[cfg(target_os = "linux")]
    fn advise_random(&self) {
        let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::Random);
    }

    #[cfg(target_os = "linux")]
    fn advise_needed(&self, start: u64, len: u64) {
        let len = std::num::NonZeroU64::new(len);
        let _ = rustix::fs::fadvise(&self.file, start, len, rustix::fs::Advice::WillNeed);
    }

    #[cfg(not(target_os = "linux"))]
    fn advise_random(&self) {}

    #[cfg(not(target_os = "linux"))]
    fn advise_needed(&self, _start: u64, _len: u64) {}
}

impl Bytes for StoredFile {
    fn file_len(&self) -> u64 {
        self.len
    }

    fn range(&self, offset: u64, len: u64) -> Result<SourceBytes<'_>> {
        let needed = offset.saturating_add(len);
        let truncated = |available| Error::Truncated { needed, available };
        let wanted = usize::try_from(len).ok().filter(|_| needed <= self.len);
        let wanted = wanted.ok_or(truncated(self.len))?;
        if wanted > 0 {
            (offset / REGION_LEN..=(needed - 1) / REGION_LEN).for_each(|region| self.ask(region));
        }
        let whole = |start, len, into: &mut Vec<u8>| self.read(start, len, into).is_ok();
        if let Some(bytes) = regions::KEPT.range(self.number, self.len, offset..needed, whole) {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        // A hostile file can be long without taking space.
        bytes.try_reserve_exact(wanted).map_err(|_| Error::Storage { what: reason(Errno::NOMEM) })?;
        self.read(offset, wanted, &mut bytes).map_err(|missing| match missing {
            MissingBytes::From(available) => truncated(available),
            MissingBytes::Unreadable(what) => Error::Storage { what },
        })?;
        Ok(SourceBytes::Read(bytes))
    }
}

/// Reason why bytes were not read.
enum MissingBytes {
    /// The file ends here now.
    From(u64),
    /// The system gives this reason.
    Unreadable(&'static str),
}

/// Reason why the system does not read a file.
fn reason(error: Errno) -> &'static str {
    match error {
        Errno::IO => "the disk cannot read the file",
        Errno::STALE => "the file was removed from the network's file system",
        Errno::NOMEM => "the system has no memory left",
        _ => "the system cannot read the file",
    }
}

/// A segment in a file.
pub type SegmentFile = Segment<StoredFile>;

impl SegmentFile {
    /// Opens the segment in a file.
    ///
    /// # Errors
    /// If the file cannot be opened, is no regular file, or holds no readable segment.
    pub fn open_file(path: &Path) -> std::result::Result<Self, OpenError> {
        let file = StoredFile::new(open_regular(path)?)?;
        Segment::open(file).map_err(OpenError::Segment)
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn stored(content: &[u8]) -> (File, StoredFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().write_all(content).unwrap();
        (file.as_file().try_clone().unwrap(), StoredFile::new(file.reopen().unwrap()).unwrap())
    }

    #[test]
    fn ranges_of_a_file_are_those_of_its_bytes() {
        let content: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        let (_, stored) = stored(&content);
        for (offset, len) in
            [(0, 0), (0, 1), (199_999, 1), (32_767, 2), (65_536, 40_000), (0, 200_000), (200_000, 0)]
        {
            let expected = content.range(offset, len).unwrap();
            assert_eq!(stored.range(offset, len).unwrap(), expected, "{len} bytes from {offset}");
        }
        for (offset, len) in [(200_000, 1), (199_999, 2), (u64::MAX, 1), (0, u64::MAX)] {
            assert_eq!(stored.range(offset, len).unwrap_err(), content.range(offset, len).unwrap_err());
        }
    }

    #[test]
    fn small_pieces_of_a_region_are_its_bytes_each_time() {
        let content: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        let (writer, stored) = stored(&content);
        for _ in 0..3 {
            for offset in (0..99_900).step_by(997) {
                let expected = content.range(offset, 100).unwrap();
                assert_eq!(stored.range(offset, 100).unwrap(), expected, "{offset}");
            }
        }
        // Pieces that were read stay right. Other pieces are an error.
        writer.set_len(50_000).unwrap();
        for offset in [10, 33_000, 60_000, 99_900] {
            match stored.range(offset, 100) {
                Ok(bytes) => assert_eq!(bytes, content.range(offset, 100).unwrap(), "{offset}"),
                Err(error) => assert_eq!(error, Error::Truncated { needed: offset + 100, available: 50_000 }),
            }
        }
        assert_eq!(stored.range(40_000, 40_000), Err(Error::Truncated { needed: 80_000, available: 50_000 }));
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let (writer, stored) = stored(&[7; 100_000]);
        writer.set_len(50_000).unwrap();
        assert_eq!(*stored.range(40_000, 10_000).unwrap(), [7; 10_000]);
        assert_eq!(stored.range(40_000, 20_000), Err(Error::Truncated { needed: 60_000, available: 50_000 }));
        assert_eq!(stored.range(90_000, 10), Err(Error::Truncated { needed: 90_010, available: 50_000 }));
    }

    /// The system refuses to read the first page of a process's memory, as a disk refuses a bad
    /// sector.
    #[test]
    #[cfg(target_os = "linux")]
    fn bytes_that_cannot_be_read_are_an_error() {
        let file = File::open("/proc/self/mem").unwrap();
        let number = FileNumber::next();
        let stored = StoredFile { file, number, len: 4096, asked: vec![AtomicU64::new(0)] };
        for _ in 0..3 {
            assert_eq!(stored.range(0, 16), Err(Error::Storage { what: "the disk cannot read the file" }));
        }
    }

    /// No file system of a test refuses in these ways, so the words are compared.
    #[test]
    fn a_network_that_lost_the_file_is_not_called_a_disk() {
        assert_eq!(reason(Errno::STALE), "the file was removed from the network's file system");
        assert_eq!(reason(Errno::IO), "the disk cannot read the file");
        assert_eq!(reason(Errno::TIMEDOUT), "the system cannot read the file");
    }
}
