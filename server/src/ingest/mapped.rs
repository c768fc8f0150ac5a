//! Input files as slices of bytes, whatever their size.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use nprof_capture::archive::{FileBytes, Held};

use super::{IngestError, Result};

/// A file's bytes.
enum Mapped {
    /// Mapped: read page by page, as its reader comes to them.
    Map(Mmap),
    /// Nothing can be mapped of an empty file.
    Empty,
}

/// The bytes of an input file.
///
/// # Errors
/// If the path leads to something else than a file, or it cannot be read.
pub(super) fn open(path: &Path) -> Result<FileBytes> {
    let open = |source| IngestError::open(path, source);
    // Before it is opened: that alone would wait for a pipe's other end.
    if !std::fs::metadata(path).map_err(open)?.is_file() {
        return Err(IngestError::not_a_file(path));
    }
    map(&File::open(path).map_err(open)?).map(FileBytes::new).map_err(open)
}

/// Maps a file.
pub(super) fn map(file: &File) -> io::Result<Held> {
    if file.metadata()?.len() == 0 {
        return Ok(Arc::new(Mapped::Empty));
    }
    #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
    // SAFETY: readers treat the bytes as untrusted and copy what they keep, so a file that somebody writes to
    // meanwhile gives at worst a damaged record. One that is cut off meanwhile ends the process; the store then has
    // no half of a profile, because nothing is published before the reading has ended.
    let map = unsafe { Mmap::map(file)? };
    Ok(Arc::new(Mapped::Map(map)))
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Empty => &[],
        }
    }
}
