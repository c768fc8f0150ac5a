//! Segments mapped into memory.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use crate::base::Result;
use crate::segment::Segment;

/// The bytes of a mapped file.
#[derive(Debug)]
pub struct Mapped(Mmap);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A segment whose file is mapped.
pub type SegmentFile = Segment<Mapped>;

impl SegmentFile {
    /// Maps a file and opens the segment in it. The outer error is the file system's, the inner one the segment's.
    ///
    /// # Errors
    /// Where the file cannot be opened or mapped; where it is no readable segment.
    pub fn open_file(path: &Path) -> io::Result<Result<Self>> {
        let file = File::open(path)?;
        // Mapping nothing is refused by the system; an empty file is reported as truncated like any short one.
        if file.metadata()?.len() == 0 {
            return Ok(Err(crate::base::Error::Truncated { needed: 1, available: 0 }));
        }
        #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
        // SAFETY: a segment is immutable. It is written under another name and renamed once it is complete, nprof never
        // opens one for writing again, and deleting it leaves the mapping valid. Every read is checked by checksum.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Segment::open(Mapped(map)))
    }
}
