//! A shelf of files without names, for the lists of large graphs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use nprof_capture::archive::SharedBytes;
use nprof_engine::base::Result;
use nprof_engine::native::disk::DiskFile;
use nprof_engine::spill::{Shelf, ShelfBytes};

use crate::file_map;

/// A list of fewer bytes stays in memory.
const LEAST_BYTES: usize = 64 << 10;

/// Keeps each list in a file of its own, which vanishes with it. The system writes its pages to the
/// disk if it needs the memory.
#[derive(Debug)]
pub struct FileShelf {
    directory: PathBuf,
}

impl FileShelf {
    /// A shelf on the disk of a directory.
    #[must_use]
    pub fn beside(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    fn store(&self, bytes: &[u8]) -> io::Result<SharedBytes> {
        let file = DiskFile::create_unnamed(&self.directory)?;
        file.write_all_at(bytes, 0)?;
        let file: &File = file.file();
        file_map::map(file)
    }
}

impl Shelf for FileShelf {
    /// Keeps nothing if the disk takes nothing: the list then stays in memory.
    fn keep(&self, bytes: &[u8]) -> Result<Option<ShelfBytes>> {
        if bytes.len() < LEAST_BYTES {
            return Ok(None);
        }
        match self.store(bytes) {
            Ok(kept) => Ok(Some(kept)),
            Err(error) => {
                tracing::debug!("a list stays in memory: {error}");
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::spill::Shelved;

    use super::*;

    #[test]
    fn long_lists_are_kept_and_read_as_before() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = FileShelf::beside(dir.path());
        for (len, is_kept) in [(10, false), (100_000, true)] {
            let items: Vec<u64> = (0..len).collect();
            let mut list = Shelved::from(items.clone());
            list.shelve(&shelf).unwrap();
            assert_eq!(matches!(list, Shelved::OnShelf(_)), is_kept);
            assert_eq!(list[..], items[..]);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "it has no name");
    }

    #[test]
    fn a_list_stays_in_memory_if_there_is_no_place() {
        let mut list = Shelved::from(vec![7_u64; 100_000]);
        list.shelve(&FileShelf::beside(Path::new("/dev/null"))).unwrap();
        assert!(matches!(list, Shelved::InMemory(_)));
    }
}
