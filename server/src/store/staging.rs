//! Directories for profiles that are being built.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::native::disk::{self, DiskFile};

use super::disk::{create_part, failed};
use super::{Manifest, Result};

/// File in a staging directory, locked while the owner lives.
const OWNER: &str = "owner";
/// In a staging directory: the profile being built.
const PROFILE: &str = "profile";

/// A directory of this process. It is removed with its content when dropped, or by others after the
/// process died.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    /// `None` if another process owns the directory.
    owner: Option<DiskFile>,
}

impl Staging {
    /// Creates a directory whose name begins with `prefix`. Needs the store's lock: until its owner
    /// file is locked, the directory looks abandoned.
    pub(super) fn new(tmp: &Path, prefix: &str) -> Result<Self> {
        create_part(tmp).map_err(failed(tmp))?;
        let dir = disk::fresh_name(tmp, prefix);
        disk::create_private_dir(&dir).map_err(failed(tmp))?;
        let create = || {
            let owner = DiskFile::create_new(&dir.join(OWNER))?;
            owner.file().lock()?;
            disk::create_dir(&dir.join(PROFILE))?;
            Ok(owner)
        };
        match create() {
            Ok(owner) => Ok(Self { dir, owner: Some(owner) }),
            Err(error) => {
                // Best effort: the directory looks abandoned, so others remove it later.
                let _ = disk::remove_dir_all(&dir);
                Err(failed(tmp)(error))
            }
        }
    }

    /// The directory of another process, which waits for this one and removes it.
    #[must_use]
    pub fn lent(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), owner: None }
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Leaves the manifest of the profile to the process that owns the directory.
    pub fn leave(&self, manifest: &Manifest) -> Result<()> {
        manifest.write(&self.profile_dir())
    }

    /// The manifest that another process left. Its paths are checked.
    ///
    /// # Errors
    /// If it cannot be read or used.
    pub fn left(&self) -> Result<Manifest> {
        Manifest::read(&self.profile_dir())
    }

    /// Directory for the profile's files.
    #[must_use]
    pub fn profile_dir(&self) -> PathBuf {
        self.dir.join(PROFILE)
    }

    /// Path of a file that is not part of the profile.
    #[must_use]
    pub fn scratch_path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.owner.is_none() {
            return;
        }
        if let Err(error) = disk::remove_dir_all(&self.dir) {
            tracing::debug!("{}: cannot remove ({error})", self.dir.display());
        }
    }
}

/// Returns true if the owner of a staging directory is dead. Needs the store's lock.
pub(super) fn is_abandoned(dir: &Path) -> bool {
    // On NFS only a writable file can be locked exclusively.
    match fs::File::options().write(true).open(dir.join(OWNER)) {
        Ok(owner) => owner.try_lock().is_ok(),
        // The owner died before it locked the file. Nobody else creates one while we hold the
        // store's lock.
        Err(error) => dir.is_dir() && error.kind() == io::ErrorKind::NotFound,
    }
}
