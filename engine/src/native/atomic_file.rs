//! A file that is there as a whole or not at all: written under another name, synced, then renamed.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file on its way to its place. Dropped before [`AtomicFile::commit`] it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins a file that will lie at `path`; its directory must exist. The user's mask decides who
    /// may read it.
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

    /// The file, to write to.
    #[must_use]
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Syncs the file, puts it in its place, and syncs the directory: it outlasts a power cut.
    /// Returns its length in bytes.
    ///
    /// # Errors
    /// If the disk or the directory cannot be written. The file that was at the path before is still there.
    pub fn commit(self) -> io::Result<u64> {
        let file = self.temporary.as_file();
        file.sync_all()?;
        let len = file.metadata()?.len();
        let path = self.path.clone();
        self.commit_unsynced()?;
        File::open(directory_of(&path))?.sync_all()?;
        Ok(len)
    }

    /// Puts the file in its place without a sync, for content that tells by itself whether it is whole.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit_unsynced(self) -> io::Result<()> {
        self.temporary.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The directory that a file lies in.
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
