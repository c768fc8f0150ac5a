//! Opening of regular files. Others may have put anything into a store: a pipe that never answers,
//! a device without an end, a file that is longer than any of nprof's.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading. Never waits for the other end of a pipe.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"))
}

/// The bytes of a regular file, if there are at most `most_bytes`, whatever length the system
/// states.
///
/// # Errors
/// `FileTooLarge` if there are more; the errors of [`open_regular`] and of reading.
pub fn read_regular(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most_bytes {
        return Ok(bytes);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, "this file is longer than nprof writes it"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_a_regular_file_of_the_expected_length_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let [file, pipe, endless] = ["file", "pipe", "endless"].map(|name| dir.path().join(name));
        std::fs::write(&file, b"four").unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        assert_eq!(read_regular(&file, 4).unwrap(), b"four");
        assert_eq!(read_regular(&file, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for path in [&*pipe, &*endless, dir.path()] {
            let error = read_regular(path, 4).unwrap_err();
            assert_eq!(error.to_string(), "this is not a regular file", "{}", path.display());
        }
        let missing = read_regular(&dir.path().join("none"), 4).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
