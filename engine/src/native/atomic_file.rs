//! A file that exists completely or not at all: written under another name, synced, then renamed.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written before it gets its name. If dropped before [`AtomicFile::commit`], it
/// leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Creates a file that [`AtomicFile::commit`] moves to `path`. Its directory must exist. The
    /// umask decides the file's permissions.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let permissions = Permissions::from_mode(0o666);
        let temporary = tempfile::Builder::new()
            .prefix(".nprof-")
            .permissions(permissions)
            .tempfile_in(directory_of(path))?;
        Ok(Self { temporary, path: path.to_owned() })
    }

    /// The file to write to.
    #[must_use]
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Syncs the file, renames it to its path and syncs the directory. The file then survives a
    /// power cut. Returns its length in bytes.
    ///
    /// # Errors
    /// If the disk or the directory cannot be written. The old file at the path remains, unless
    /// only the sync of the directory fails.
    pub fn commit(self) -> io::Result<u64> {
        let file = self.temporary.as_file();
        file.sync_all()?;
        let len = file.metadata()?.len();
        let path = self.path.clone();
        self.commit_unsynced()?;
        File::open(directory_of(&path))?.sync_all()?;
        Ok(len)
    }

    /// Renames the file to its path without a sync. Use it for content that shows by itself whether
    /// it is complete.
    ///
    /// # Errors
    /// See [`AtomicFile::commit`].
    pub fn commit_unsynced(self) -> io::Result<()> {
        self.temporary.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The directory of a file.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_replaces_the_old_one_only_when_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let write = |text: &str| {
            let file = AtomicFile::create(&path).unwrap();
            file.file().write_all(text.as_bytes()).unwrap();
            file
        };
        assert_eq!(write("one").commit().unwrap(), 3);
        drop(write("half"));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write("three").commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
    }
}
