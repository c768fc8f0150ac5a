//! Input files as byte slices of any size.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use nprof_capture::archive::FileBytes;

use super::{IngestError, Result};
use crate::file_map::map;
use crate::output::FileId;

/// A file that was mapped, as it was then.
#[derive(Debug, Clone)]
pub(super) struct MappedFile {
    path: PathBuf,
    metadata: Metadata,
}

impl MappedFile {
    /// The id of the file that was opened.
    pub(super) fn id(&self) -> FileId {
        FileId::of(&self.metadata)
    }

    /// Checks that the file has not become shorter. Up to a page of missing bytes reads as zeros,
    /// which no signal tells of.
    pub(super) fn check(&self) -> Result<()> {
        let (then, now) = (&self.metadata, std::fs::metadata(&self.path));
        let is_same = |now: &Metadata| FileId::of(now) == FileId::of(then);
        match now {
            Ok(now) if is_same(&now) && now.len() < then.len() => {
                Err(IngestError::Shrunk { path: self.path.clone() })
            }
            // A file that was removed or replaced keeps its bytes while it is mapped.
            _ => Ok(()),
        }
    }
}

/// The bytes of an input file.
///
/// # Errors
/// If the path does not lead to a file, or the file cannot be read.
pub(super) fn open(path: &Path) -> Result<(FileBytes, MappedFile)> {
    let open = |source| IngestError::open(path, source);
    // Check before opening: to open a pipe would wait for its other end.
    if !std::fs::metadata(path).map_err(open)?.is_file() {
        return Err(IngestError::not_a_file(path));
    }
    let file = File::open(path).map_err(open)?;
    let metadata = file.metadata().map_err(open)?;
    let held = map(&file).map_err(open)?;
    Ok((FileBytes::new(held), MappedFile { path: path.to_owned(), metadata }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shorter_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        std::fs::write(&path, [7; 100]).unwrap();
        let (bytes, source) = open(&path).unwrap();
        source.check().unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(120).unwrap();
        source.check().unwrap();
        file.set_len(99).unwrap();
        assert!(matches!(source.check(), Err(IngestError::Shrunk { .. })));
        assert_eq!((bytes.len(), bytes[99]), (100, 0), "no signal told of it");
        std::fs::remove_file(&path).unwrap();
        source.check().unwrap();
        std::fs::write(&path, [7; 5]).unwrap();
        source.check().unwrap();
    }
}
