//! The store: a directory of profiles. Each profile is a directory with a `manifest.json` and one
//! segment per rank.
//!
//! ```text
//! <store>/lock                        held briefly: staging, publishing, removing
//! <store>/profiles/<id>/manifest.json
//! <store>/profiles/<id>/rank_<n>.nseg
//! <store>/profiles/<id>/notes.json         what users wrote, once somebody has written
//! <store>/profiles/<id>/rank_<n>.summary   its metrics, once somebody has asked (`crate::summary`)
//! <store>/profiles/<id>/run.findings       what is wrong, likewise (`crate::analysis::findings`)
//! <store>/profiles/.removed-<id>      being removed
//! <store>/profiles/<id>/removed       instead of the manifest: being removed on a full disk
//! <store>/profiles/.replaced-<id>     the old profile while a new one takes its place in two steps
//! <store>/tmp/<random>/               what is being ingested, locked by its owner
//! ```
//!
//! *Invariant.* A profile is complete: one rename moves its directory to `profiles/` after all its
//! files have been synced. A process that dies leaves the old state or the new one, which everybody
//! reads alike, and leftovers. The next change completes what was begun, and [`Store::open`] and
//! [`Store::clear`] remove the rest. Two profiles never have the same name. Several processes can
//! use a store at once. The only state in memory is a cache of manifests, which is checked against
//! the files at each use. Reading a store writes nothing.

mod baselines;
mod catalog;
mod change;
mod disk;
mod error;
mod leftovers;
mod location;
mod manifest;
mod names;
mod notes;
mod replacement;
mod segment_place;
mod slug;
mod staging;
mod sweeper;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nprof_engine::base::Error;
use nprof_engine::native::disk::DiskFile;
use nprof_engine::native::{OpenError, SegmentFile};
use rustix::fs::Access;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

pub use baselines::Baseline;
use catalog::Catalog;
pub use catalog::Survey;
pub use change::Removed;
use disk::failed;
pub use error::{Result, StoreError};
pub use location::default_root;
pub use manifest::{FORMAT, Manifest, RankFile, TakenName};
pub use names::SharedName;
pub use nprof_engine::wire::clock::ClockBy;
pub use replacement::name_for_rm;
pub use segment_place::SegmentPlace;
pub use slug::Slug;
pub use staging::Staging;
pub use sweeper::Sweeper;

/// Directory of complete profiles.
const PROFILES: &str = "profiles";
/// Directory of incomplete profiles.
const TMP: &str = "tmp";
/// The file whose lock serialises changes.
const LOCK: &str = "lock";
/// Start of the names of temporary directories outside the store.
const OUTSIDE: &str = "nprof-";

/// Start of the names of temporary directories beside files that are written.
const BESIDE: &str = ".nprof-part-";

/// Looks at a profile before what cannot be read of it counts as damaged: others can remove or
/// replace it at any time.
pub const ATTEMPTS: u32 = 3;

/// Action if the profile already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Existing {
    /// Keep the existing profile and say so.
    #[default]
    Keep,
    /// Replace it by the new profile.
    Replace,
}

/// A profile of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Manifest of the profile.
    pub manifest: Arc<Manifest>,
    /// Directory of the profile.
    pub dir: PathBuf,
}

impl Profile {
    /// Name of the directory: the id, unless somebody renamed or copied it.
    #[must_use]
    pub fn directory_name(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Path of the segment of a rank of this profile.
    #[must_use]
    pub fn segment_path(&self, rank: &RankFile) -> PathBuf {
        self.dir.join(&rank.file)
    }

    /// Opens the segment of a rank of this profile. Its content id must be that of the manifest:
    /// the checksum of its footer, which was checked, and the length of the file. Reads header,
    /// footer and trailer. The footer has the checksums of all other pieces, which are checked when
    /// they are read.
    ///
    /// # Errors
    /// If the file holds no readable segment, or another one than the manifest names.
    pub fn open_rank(&self, rank: &RankFile) -> std::result::Result<SegmentFile, OpenError> {
        let segment = SegmentFile::open_file(&self.segment_path(rank))?;
        if segment.content() == rank.content {
            return Ok(segment);
        }
        let what = "this is not the segment that the manifest names";
        Err(OpenError::Segment(Error::Inconsistent { what }))
    }
}

/// A directory of profiles.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    catalog: Catalog,
    /// Why the store cannot be changed, if so.
    refused: Option<Errno>,
}

impl Store {
    /// Opens the store in this directory, creates it if it is missing, and removes leftovers of
    /// dead processes.
    pub fn open(root: &Path) -> Result<Self> {
        for part in [PROFILES, TMP] {
            let path = root.join(part);
            disk::create_part(&path).map_err(|source| StoreError::Create { path, source })?;
        }
        let store = Self { root: root.to_owned(), catalog: Catalog::default(), refused: None };
        store.clear()?;
        Ok(store)
    }

    /// Opens the store in this directory for reading. Writes nothing. A missing store has no
    /// profiles.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let refused = |path: PathBuf, access| match rustix::fs::access(&path, access) {
            Err(errno @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) => Some(errno),
            _ => None,
        };
        let refused = refused(root.join(PROFILES), Access::WRITE_OK | Access::EXEC_OK)
            .or_else(|| refused(root.join(LOCK), Access::WRITE_OK));
        Self { root: root.to_owned(), catalog: Catalog::default(), refused }
    }

    /// Opens the store in this directory like [`Store::open`], or for reading if it may only be
    /// read.
    ///
    /// # Errors
    /// If the directory is missing and cannot be created.
    pub fn open_or_read(root: &Path) -> Result<Self> {
        let store = Self::read(root);
        if store.is_read_only() { Ok(store) } else { Self::open(root) }
    }

    /// Returns true if this store may only be read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.refused.is_some()
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files and folders of the store in its directory.
    #[must_use]
    pub fn parts(&self) -> [PathBuf; 4] {
        [PROFILES, TMP, LOCK, baselines::FILE].map(|part| self.root.join(part))
    }

    /// All profiles, newest first. Unreadable profiles are left out and logged.
    pub fn list(&self) -> Result<Vec<Profile>> {
        let survey = self.survey()?;
        survey.unreadable.iter().for_each(|(_, error)| tracing::warn!("{error}"));
        Ok(survey.profiles)
    }

    /// All profiles, and the unreadable ones.
    pub fn survey(&self) -> Result<Survey> {
        self.catalog.survey(&self.profiles_dir())
    }

    /// The profile with this name or id.
    pub fn find(&self, name: &str) -> Result<Profile> {
        // Every request comes here, so check one manifest, not hundreds.
        if let Some(profile) = self.catalog.find(&self.profiles_dir(), name) {
            return Ok(profile);
        }
        let Survey { mut profiles, unreadable, .. } = self.survey()?;
        let found = profiles
            .iter()
            .position(|profile| profile.manifest.has_name(name))
            .or_else(|| profiles.iter().position(|profile| profile.manifest.id == name));
        if let Some(at) = found {
            return Ok(profiles.swap_remove(at));
        }
        if let Some(id) = self.baseline(name)?
            && let Some(at) = profiles.iter().position(|profile| profile.manifest.id == id)
        {
            return Ok(profiles.swap_remove(at));
        }
        let is_it = |dir: &Path| dir.file_name().is_some_and(|own| own == name);
        match unreadable.into_iter().find(|(dir, _)| is_it(dir)) {
            Some((_, error)) => Err(error),
            None => Err(StoreError::Unknown { name: name.to_owned(), store: self.root.clone() }),
        }
    }

    /// The profile with this id, if it exists.
    ///
    /// # Errors
    /// `Unreadable` if its manifest cannot be read. Other errors if the directory cannot be listed.
    pub fn by_id(&self, id: &str) -> Result<Option<Profile>> {
        match self.find(id) {
            Ok(profile) => Ok(Some(profile)),
            Err(StoreError::Unknown { .. }) => Ok(None),
            Err(error @ StoreError::Read { .. }) if !self.profiles_dir().join(id).exists() => Err(error),
            Err(error) => Err(StoreError::Unreadable { source: Box::new(error) }),
        }
    }

    /// The directory for temporary files of running processes.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        if self.is_read_only() { std::env::temp_dir() } else { self.root.join(TMP) }
    }

    /// Creates a directory for building a profile. It is removed when dropped.
    pub fn stage(&self) -> Result<Staging> {
        let _lock = self.lock()?;
        Staging::new(&self.tmp(), "")
    }

    /// Creates a directory like [`Store::stage`], also if the store may only be read. It is outside
    /// the store then, for exports.
    pub fn stage_anywhere(&self) -> Result<Staging> {
        if self.is_read_only() { Staging::new(&self.tmp(), OUTSIDE) } else { self.stage() }
    }

    /// Creates a directory like [`Store::stage_anywhere`] for a file that is written to `folder`.
    /// If the store may only be read, the directory is in this folder: its disk must have room
    /// for the file. Also removes there what killed processes left.
    pub fn stage_beside(&self, folder: &Path) -> Result<Staging> {
        if !self.is_read_only() {
            return self.stage();
        }
        leftovers::clear_beside(folder, BESIDE);
        Staging::new(folder, BESIDE)
    }

    /// Removes the leftovers of dead processes.
    ///
    /// # Errors
    /// If the store cannot be locked or listed. Leftovers that cannot be removed are logged.
    pub fn clear(&self) -> Result<()> {
        let _lock = self.lock()?;
        leftovers::clear(&self.root.join(TMP), &self.profiles_dir())?;
        self.complete_or_warn();
        Ok(())
    }

    /// Checks that the store can be changed.
    ///
    /// # Errors
    /// `ReadOnly` if it may only be read.
    pub fn check_writable(&self) -> Result<()> {
        match self.refused {
            Some(errno) => Err(StoreError::ReadOnly { store: self.root.clone(), source: errno.into() }),
            None => Ok(()),
        }
    }

    fn profiles_dir(&self) -> PathBuf {
        self.root.join(PROFILES)
    }

    /// Waits for the store's lock. Dropping the file releases the lock, also after a crash.
    fn lock(&self) -> Result<DiskFile> {
        self.check_writable()?;
        let path = self.root.join(LOCK);
        let lock = || {
            let file = DiskFile::open_or_create(&path)?;
            loop {
                match file.file().lock() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    locked => return locked.map(|()| file),
                }
            }
        };
        lock().map_err(|error| match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                StoreError::ReadOnly { store: self.root.clone(), source: error }
            }
            _ => failed(&path)(error),
        })
    }
}
