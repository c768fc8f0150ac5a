//! Input files as byte slices of any size.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use nprof_capture::archive::{FileBytes, Held};

use super::{IngestError, Result};

/// A file's bytes.
enum Mapped {
    /// Memory-mapped: pages are read when they are accessed.
    Map(Mmap),
    /// An empty file cannot be mapped.
    Empty,
}

/// The bytes of an input file.
///
/// # Errors
/// If the path does not lead to a file, or the file cannot be read.
pub(super) fn open(path: &Path) -> Result<FileBytes> {
    let open = |source| IngestError::open(path, source);
    // Check before opening: to open a pipe would wait for its other end.
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
    // SAFETY: readers treat the bytes as untrusted and copy what they keep. So a file that is
    // written to during the reading gives at worst a damaged record. A file that is truncated
    // during the reading ends the process. The store then holds no partial profile, because nothing
    // is published before the reading has ended.
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
