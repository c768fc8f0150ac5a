//! Changes to files and directories, with the errors of the store. After a crash either the old or
//! the new state exists.

use std::io::{self, Write};
use std::path::Path;

use nprof_engine::native::AtomicFile;
use nprof_engine::native::disk;

use super::{Result, StoreError};

/// Error of a call that could not change this path.
pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<'_> {
    |source| StoreError::Write { path: path.to_owned(), source }
}

/// Writes a file as a whole or not at all.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let file = AtomicFile::create(path)?;
        file.file().write_all(bytes)?;
        file.commit()
    };
    write().map(drop).map_err(failed(path))
}

/// Renames a file. The error names the path that could not be written.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    disk::rename(from, to).map_err(failed(to))
}

/// Makes renames in this directory survive a power failure.
pub(super) fn sync_dir(path: &Path) -> Result<()> {
    disk::sync_dir(path).map_err(failed(path))
}

/// Replaces the directory `old` by `new`. Afterwards the old directory is at `new` or at `aside`.
///
/// One step if the file system can exchange two names. Otherwise two steps: `old` moves to `aside`
/// first. Whoever finds `aside` without `old` takes `aside` for `old`.
pub(super) fn exchange(new: &Path, old: &Path, aside: &Path) -> Result<()> {
    match disk::exchange(new, old) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => exchange_in_two_steps(new, old, aside),
        exchanged => exchanged.map_err(failed(old)),
    }
}

fn exchange_in_two_steps(new: &Path, old: &Path, aside: &Path) -> Result<()> {
    rename(old, aside)?;
    let renamed = rename(new, old);
    if renamed.is_err() {
        rename(aside, old)?;
    }
    renamed
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_ways_put_the_new_in_the_place_of_the_old() {
        for way in [exchange, exchange_in_two_steps] {
            let dir = tempfile::tempdir().unwrap();
            let [new, old, aside] = ["new", "old", "aside"].map(|name| dir.path().join(name));
            for path in [&new, &old] {
                fs::create_dir(path).unwrap();
                fs::write(path.join("which"), path.file_name().unwrap().as_encoded_bytes()).unwrap();
            }
            way(&new, &old, &aside).unwrap();
            assert_eq!(fs::read(old.join("which")).unwrap(), b"new");
            let rest = if aside.exists() { aside } else { new };
            assert_eq!(fs::read(rest.join("which")).unwrap(), b"old");
        }
    }
}
