//! Input files as byte slices of any size.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};
use nprof_capture::archive::{FileBytes, Hold, SharedBytes};

use super::{IngestError, Result};
use crate::output::FileId;

/// A file's bytes.
enum Mapped {
    /// Memory-mapped: pages are read when they are accessed.
    Map(Mmap),
    /// An empty file cannot be mapped.
    Empty,
}

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

/// Maps a file.
pub(super) fn map(file: &File) -> io::Result<SharedBytes> {
    if file.metadata()?.len() == 0 {
        return Ok(Arc::new(Mapped::Empty));
    }
    #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
    // SAFETY: readers treat the bytes as untrusted and copy what they keep. So a file that is
    // written to during the reading gives at worst a damaged record. A file that is truncated
    // during the reading ends the process: with one line from the command line
    // (`cli/lost_input.rs`), and as an error of the upload in a child. The store then holds no
    // partial profile, because nothing is published before the reading has ended.
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

impl Hold for Mapped {
    /// Bytes that were read stay in the system's memory for files. Without this they would count as
    /// memory of the process, too, up to the whole file.
    fn let_go(&self, range: Range<usize>) {
        let Self::Map(map) = self else { return };
        if range.is_empty() {
            return;
        }
        #[expect(unsafe_code, reason = "the advice has no safe interface, because it empties other maps")]
        // SAFETY: the map is one of a file, shared and not writable. Its pages are read from the
        // file again when they are accessed, so no byte of it changes.
        let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a map that are in memory, by the system's own count.
    #[cfg(target_os = "linux")]
    fn resident(bytes: &[u8]) -> u64 {
        let start = format!("{:x}-", bytes.as_ptr().addr());
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let of_map = maps.lines().skip_while(|line| !line.starts_with(&start));
        let line = of_map.skip(1).find_map(|line| line.strip_prefix("Rss:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn bytes_that_are_let_go_take_no_memory_and_stay_readable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let (bytes, _) = open(&path).unwrap();
        assert_eq!(bytes[..], content[..]);
        assert!(resident(&bytes) >= 2_900_000);
        bytes.let_go(0..2_000_000);
        assert!(resident(&bytes) <= 1_100_000);
        assert_eq!(bytes[..], content[..]);
        bytes.let_go(2_500_000..9_000_000);
        bytes.let_go(9_000_000..9_000_001);
        assert_eq!(bytes[..], content[..]);
    }

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
