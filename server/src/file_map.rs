//! Files as byte slices: pages are read when they are accessed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use memmap2::{Mmap, UncheckedAdvice};
use nprof_capture::archive::{Hold, SharedBytes};

/// A file's bytes.
enum Mapped {
    /// Memory-mapped: pages are read when they are accessed.
    Map(Mmap),
    /// An empty file cannot be mapped.
    Empty,
}

/// Maps a file.
pub(crate) fn map(file: &File) -> io::Result<SharedBytes> {
    if file.metadata()?.len() == 0 {
        return Ok(Arc::new(Mapped::Empty));
    }
    #[expect(unsafe_code, reason = "mapping a file has no safe interface")]
    // SAFETY: readers of input files treat the bytes as untrusted and copy what they keep. So a
    // file that is written to during the reading gives at worst a damaged record. A file that is
    // truncated during the reading ends the process: with one line from the command line
    // (`cli/lost_input.rs`), and as an error of the upload in a child. The store then holds no
    // partial profile, because nothing is published before the reading has ended. Nobody else can
    // open the files of a shelf (`analysis/file_shelf.rs`): they have no name.
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
    use nprof_capture::archive::FileBytes;

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
        let bytes = FileBytes::new(map(&File::open(&path).unwrap()).unwrap());
        assert_eq!(bytes[..], content[..]);
        assert!(resident(&bytes) >= 2_900_000);
        bytes.let_go(0..2_000_000);
        assert!(resident(&bytes) <= 1_100_000);
        assert_eq!(bytes[..], content[..]);
        bytes.let_go(2_500_000..9_000_000);
        bytes.let_go(9_000_000..9_000_001);
        assert_eq!(bytes[..], content[..]);
    }
}
