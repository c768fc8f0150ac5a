//! Input files as slices of bytes, whatever their size.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file's bytes.
pub(super) enum Mapped {
    /// Mapped: read page by page, as its reader comes to them.
    Map(Mmap),
    /// Nothing can be mapped of an empty file.
    Empty,
}

impl Mapped {
    /// Maps a file.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self::Empty);
        }
        #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
        // SAFETY: readers treat the bytes as untrusted and copy what they keep, so a file that somebody writes to
        // meanwhile gives at worst a damaged record. One that is cut off meanwhile ends the process; the store then has
        // no half of a profile, because nothing is published before the reading has ended.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self::Map(map))
    }

    /// All of it.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Empty => &[],
        }
    }
}
