//! Directories under `tmp/` for profiles that are being built or deleted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::manifest::Manifest;
use super::{Result, StoreError, disk};

/// File in a staging directory, locked while the owner lives.
const OWNER: &str = "owner";
/// In a staging directory: the profile being built.
const PROFILE: &str = "profile";
/// In a staging directory: a complete profile being replaced. It is put back if the owner dies
/// during that.
const REPLACED: &str = "replaced";
/// In a staging directory: a profile being deleted.
const DISCARDED: &str = "discarded";

/// A directory of this process. It is removed with its content when dropped, or by others after the
/// process died.
#[derive(Debug)]
pub struct Staging {
    dir: TempDir,
    _owner: File,
}

impl Staging {
    /// Creates a directory. Needs the store's lock: until its owner file is locked, the directory
    /// looks abandoned.
    pub(super) fn new(tmp: &Path) -> Result<Self> {
        let write = |source| StoreError::Write { path: tmp.to_owned(), source };
        let dir = tempfile::Builder::new().prefix("").rand_bytes(12).tempdir_in(tmp).map_err(write)?;
        let owner = File::create(dir.path().join(OWNER)).map_err(write)?;
        owner.lock().map_err(write)?;
        fs::create_dir(dir.path().join(PROFILE)).map_err(write)?;
        Ok(Self { dir, _owner: owner })
    }

    /// Directory for the profile's files.
    #[must_use]
    pub fn profile_dir(&self) -> PathBuf {
        self.dir.path().join(PROFILE)
    }

    /// Path of a file that is not part of the profile.
    #[must_use]
    pub fn scratch_path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn replaced_dir(&self) -> PathBuf {
        self.dir.path().join(REPLACED)
    }

    pub(super) fn discarded_dir(&self) -> PathBuf {
        self.dir.path().join(DISCARDED)
    }
}

/// Removes the staging directories of dead owners. Needs the store's lock.
pub(super) fn clear_leftovers(tmp: &Path, profiles: &Path) -> Result<()> {
    let read = |source| StoreError::Read { path: tmp.to_owned(), source };
    for entry in fs::read_dir(tmp).map_err(read)? {
        let dir = entry.map_err(read)?.path();
        if is_abandoned(&dir) {
            put_back(&dir, profiles)?;
            // Another user's leftovers in a shared store are no reason to fail: they only take
            // space.
            if let Err(error) = fs::remove_dir_all(&dir) {
                tracing::warn!("cannot remove {}: {error}", dir.display());
            }
        }
    }
    Ok(())
}

fn is_abandoned(dir: &Path) -> bool {
    match File::open(dir.join(OWNER)) {
        Ok(owner) => owner.try_lock().is_ok(),
        // The owner died before it locked the file. Nobody else creates one while we hold the
        // store's lock.
        Err(error) => dir.is_dir() && error.kind() == io::ErrorKind::NotFound,
    }
}

/// Restores a profile if its replacement stopped between the two steps.
fn put_back(dir: &Path, profiles: &Path) -> Result<()> {
    let replaced = dir.join(REPLACED);
    if !replaced.exists() {
        return Ok(());
    }
    let id = Manifest::read(&replaced)?.id;
    let place = profiles.join(id);
    if place.exists() { Ok(()) } else { disk::rename(&replaced, &place) }
}
