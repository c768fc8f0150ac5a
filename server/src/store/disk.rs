//! Changes to files and directories. After a crash either the old or the new state exists.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use nprof_engine::native::AtomicFile;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{Result, StoreError};

/// Writes a file as a whole or not at all.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let file = AtomicFile::create(path)?;
        file.file().write_all(bytes)?;
        file.commit()
    };
    write().map(|_| ()).map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

/// Renames a file. The error names the path that could not be written.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|source| StoreError::Write { path: to.to_owned(), source })
}

/// Makes renames in this directory survive a power failure.
pub(super) fn sync_dir(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|dir| dir.sync_all())
        .map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

/// Replaces the directory `old` by `new`. Afterwards the old directory is at `new` or at `aside`.
///
/// One step if the file system can exchange two names. Otherwise two steps: `old` moves to `aside`
/// first, and [`super::staging::clear_leftovers`] moves it back if the process dies before the
/// second step.
pub(super) fn exchange(new: &Path, old: &Path, aside: &Path) -> Result<()> {
    match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => exchange_in_two_steps(new, old, aside),
        Err(errno) => Err(StoreError::Write { path: old.to_owned(), source: io::Error::from(errno) }),
    }
}

fn exchange_in_two_steps(new: &Path, old: &Path, aside: &Path) -> Result<()> {
    rename(old, aside)?;
    rename(new, old)
}

#[cfg(test)]
mod tests {
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
