//! Directories under `tmp/`: where a profile is built before it is complete, and where it goes to be deleted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::manifest::Manifest;
use super::{Result, StoreError, disk};

/// In a staging directory: locked as long as its owner lives.
const OWNER: &str = "owner";
/// In a staging directory: the profile that is being built.
const PROFILE: &str = "profile";
/// In a staging directory: a complete profile on its way to be replaced; put back if the owner dies meanwhile.
const REPLACED: &str = "replaced";
/// In a staging directory: a profile on its way out.
const DISCARDED: &str = "discarded";

/// A directory of our own, removed with everything in it when dropped, or by others once we are dead.
#[derive(Debug)]
pub struct Staging {
    dir: TempDir,
    _owner: File,
}

impl Staging {
    /// Needs the store's lock: between its creation and our lock the directory looks abandoned.
    pub(super) fn new(tmp: &Path) -> Result<Self> {
        let write = |source| StoreError::Write { path: tmp.to_owned(), source };
        let dir = tempfile::Builder::new().prefix("").rand_bytes(12).tempdir_in(tmp).map_err(write)?;
        let owner = File::create(dir.path().join(OWNER)).map_err(write)?;
        owner.lock().map_err(write)?;
        fs::create_dir(dir.path().join(PROFILE)).map_err(write)?;
        Ok(Self { dir, _owner: owner })
    }

    /// Where the profile's files belong.
    #[must_use]
    pub fn profile_dir(&self) -> PathBuf {
        self.dir.path().join(PROFILE)
    }

    /// A place for one more file that is not part of the profile.
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

/// Removes the staging directories whose owners are dead. Needs the store's lock.
pub(super) fn clear_leftovers(tmp: &Path, profiles: &Path) -> Result<()> {
    let read = |source| StoreError::Read { path: tmp.to_owned(), source };
    for entry in fs::read_dir(tmp).map_err(read)? {
        let dir = entry.map_err(read)?.path();
        if is_abandoned(&dir) {
            put_back(&dir, profiles)?;
            // Another user's rubbish in a shared store is not ours to complain about: it costs space, no more.
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
        // Died before it could lock: nobody else creates one while we hold the store's lock.
        Err(error) => dir.is_dir() && error.kind() == io::ErrorKind::NotFound,
    }
}

/// Restores a profile whose replacement was cut short between its two steps.
fn put_back(dir: &Path, profiles: &Path) -> Result<()> {
    let replaced = dir.join(REPLACED);
    if !replaced.exists() {
        return Ok(());
    }
    let id = Manifest::read(&replaced)?.id;
    let place = profiles.join(id);
    if place.exists() { Ok(()) } else { disk::rename(&replaced, &place) }
}
