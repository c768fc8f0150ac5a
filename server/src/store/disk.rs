//! Changes to files and directories, with the errors of the store. After a crash either the old or
//! the new state exists.

use std::io::{self, Read, Write};
use std::path::Path;

use nprof_engine::native::{AtomicFile, directory_of, disk, open_regular};

use super::{Result, StoreError};

/// Error of a call that could not change this path.
pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<'_> {
    |source| StoreError::Write { path: path.to_owned(), source }
}

/// Creates a directory of the store, if it is missing. Only its user can enter a new one.
pub(super) fn create_part(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = directory_of(path);
    disk::create_dir_all(parent)?;
    match disk::create_private_dir(path) {
        // Another process has created it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created.and_then(|()| disk::sync_dir(parent)),
    }
}

/// Reads a regular file, but no more than a byte beyond `most`, so that a longer one is noticed.
pub(super) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
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
    use std::os::unix::fs::PermissionsExt;

    use super::super::Store;
    use super::*;

    /// A user who wants to share a store changes the permissions, which stay.
    #[test]
    fn other_users_cannot_enter_the_parts_of_a_new_store() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a/store");
        let part = |name: &str| root.join(name);
        let mode = |name: &str| fs::metadata(part(name)).unwrap().permissions().mode() & 0o777;
        Store::open(&root).unwrap();
        assert_eq!((mode("profiles"), mode("tmp")), (0o700, 0o700));
        fs::set_permissions(part("profiles"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_dir(part("tmp")).unwrap();
        Store::open(&root).unwrap();
        assert_eq!((mode("profiles"), mode("tmp")), (0o755, 0o700));
    }

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
