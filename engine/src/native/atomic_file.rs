//! A file that exists completely or not at all: written without a name, synced, then named.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{self, DiskFile, directory_of};

/// Start of the names of temporary files. Nobody uses such a file after its process has ended.
pub const TEMPORARY: &str = ".nprof-";

/// A file that is written before it gets its name. If dropped before [`AtomicFile::commit`], it
/// leaves nothing behind. A kill leaves nothing behind either, with two exceptions: between the
/// last two calls of the replacement of a file, and on file systems without unnamed files. A
/// temporary file remains then, whose name begins with [`TEMPORARY`].
#[derive(Debug)]
pub struct AtomicFile {
    file: DiskFile,
    /// The name of the file until it is committed, if it has one.
    temporary: Option<Temporary>,
    path: PathBuf,
}

/// A temporary name. It is removed when dropped.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // The name is gone after a rename.
        let _ = disk::remove_file(&self.0);
    }
}

impl AtomicFile {
    /// Creates a file that [`AtomicFile::commit`] moves to `path`. Its directory must exist. The
    /// umask decides the file's permissions.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = directory_of(path);
        let (file, temporary) = match DiskFile::create_unnamed(directory) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let name = disk::fresh_name(directory, TEMPORARY);
                (DiskFile::create_new(&name)?, Some(Temporary(name)))
            }
            file => (file?, None),
        };
        Ok(Self { file, temporary, path: path.to_owned() })
    }

    /// The file to write to.
    #[must_use]
    pub fn file(&self) -> &DiskFile {
        &self.file
    }

    /// Syncs the file, moves it to its path and syncs the directory. The file then survives a
    /// power cut. Returns its length in bytes.
    ///
    /// # Errors
    /// If the disk or the directory cannot be written. The old file at the path remains, unless
    /// only the sync of the directory fails.
    pub fn commit(self) -> io::Result<u64> {
        self.file.sync()?;
        let len = self.file.file().metadata()?.len();
        let path = self.path.clone();
        self.commit_unsynced()?;
        disk::sync_dir(directory_of(&path))?;
        Ok(len)
    }

    /// Moves the file to its path without a sync. Use it for content that shows by itself whether
    /// it is complete.
    pub fn commit_unsynced(self) -> io::Result<()> {
        let Self { file, temporary, path } = self;
        let temporary = match temporary {
            Some(temporary) => temporary,
            None => match file.link(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let name = disk::fresh_name(directory_of(&path), TEMPORARY);
                    file.link(&name)?;
                    Temporary(name)
                }
                linked => return linked,
            },
        };
        disk::rename(&temporary.0, &path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::super::disk::DiskCall;
    use super::super::disk::watch::{CallVerdict, Watching};
    use super::*;

    fn write(path: &Path, text: &str) -> AtomicFile {
        let file = AtomicFile::create(path).unwrap();
        file.file().write_all(text.as_bytes()).unwrap();
        file
    }

    fn check_replaces(directory: &Path) {
        let path = directory.join("a");
        let names = || fs::read_dir(directory).unwrap().count();
        assert_eq!(write(&path, "one").commit().unwrap(), 3);
        drop(write(&path, "half"));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, "three").commit().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names()), (b"three".to_vec(), 1), "nothing else is left");
    }

    #[test]
    fn a_file_replaces_the_old_one_only_when_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        check_replaces(directory.path());
    }

    #[test]
    fn a_file_system_without_unnamed_files_works_too() {
        let directory = tempfile::tempdir().unwrap();
        let _watching = Watching::below(directory.path(), |call| match call {
            DiskCall::CreateUnnamed { .. } => CallVerdict::Fail(rustix::io::Errno::OPNOTSUPP),
            _ => CallVerdict::Make,
        });
        check_replaces(directory.path());
    }

    #[test]
    fn a_process_that_dies_while_it_writes_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = write(&directory.path().join("a"), "half");
        std::mem::forget(file);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_permissions_are_those_of_a_file_that_is_created_in_place() {
        let directory = tempfile::tempdir().unwrap();
        let [usual, path] = ["usual", "a"].map(|name| directory.path().join(name));
        fs::File::create(&usual).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        for _ in ["new", "replaced"] {
            write(&path, "one").commit().unwrap();
            assert_eq!(mode(&path), mode(&usual));
        }
    }

    #[test]
    fn an_interrupted_call_is_made_again() {
        let directory = tempfile::tempdir().unwrap();
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let _watching = Watching::below(directory.path(), move |_| {
            let is_even = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(2);
            if is_even { CallVerdict::Fail(rustix::io::Errno::INTR) } else { CallVerdict::Make }
        });
        check_replaces(directory.path());
    }
}
