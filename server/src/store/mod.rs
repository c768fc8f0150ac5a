//! The store: a directory of profiles. Each profile is a directory with a `manifest.json` and one
//! segment per rank.
//!
//! ```text
//! <store>/lock                        held briefly: staging, publishing, removing
//! <store>/profiles/<id>/manifest.json
//! <store>/profiles/<id>/rank_<n>.nseg
//! <store>/profiles/<id>/rank_<n>.summary   its metrics, once somebody has asked (`crate::summary`)
//! <store>/tmp/<random>/               what is being ingested or removed, locked by its owner
//! ```
//!
//! *Invariant.* A directory under `profiles/` is complete: one rename moves it there after all its
//! files have been synced. A process that dies leaves the old state or the new one, and leftovers
//! in `tmp/`. The next [`Store::open`] removes them. Several processes can use a store at once. The
//! only state in memory is a cache of manifests, which is checked against the files at each use.

mod catalog;
mod disk;
mod error;
mod location;
mod manifest;
mod slug;
mod staging;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nprof_engine::wire::clock::Clock;

use catalog::Catalog;
pub use catalog::Survey;
pub use error::{Result, StoreError};
pub use location::default_root;
pub use manifest::{ClockBy, FORMAT, Manifest, RankFile};
pub use slug::Slug;
pub use staging::Staging;

/// Directory of complete profiles.
const PROFILES: &str = "profiles";
/// Directory of incomplete profiles.
const TMP: &str = "tmp";
/// The file whose lock serialises changes.
const LOCK: &str = "lock";

/// Action if the profile already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Path of the segment of this rank, if the rank exists.
    #[must_use]
    pub fn segment_path(&self, rank: u32) -> Option<PathBuf> {
        self.manifest.ranks.iter().find(|entry| entry.rank == rank).map(|entry| self.dir.join(&entry.file))
    }
}

/// A directory of profiles.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    catalog: Catalog,
}

impl Store {
    /// Opens the store in this directory, creates it if it is missing, and removes leftovers of
    /// dead processes.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn open(root: &Path) -> Result<Self> {
        for part in [PROFILES, TMP] {
            let path = root.join(part);
            std::fs::create_dir_all(&path).map_err(|source| StoreError::Create { path, source })?;
        }
        let store = Self { root: root.to_owned(), catalog: Catalog::default() };
        let _lock = store.lock()?;
        staging::clear_leftovers(&store.root.join(TMP), &store.profiles_dir())?;
        Ok(store)
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All profiles, newest first. Unreadable profiles are left out and logged.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn list(&self) -> Result<Vec<Profile>> {
        let survey = self.survey()?;
        survey.unreadable.iter().for_each(|(_, error)| tracing::warn!("{error}"));
        Ok(survey.profiles)
    }

    /// All profiles, and the unreadable ones.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn survey(&self) -> Result<Survey> {
        self.catalog.survey(&self.profiles_dir())
    }

    /// The profile with this name or id.
    ///
    /// # Errors
    /// If there is no such profile.
    pub fn find(&self, name: &str) -> Result<Profile> {
        // Every request comes here, so check one manifest, not hundreds.
        if let Some(profile) = self.catalog.find(&self.profiles_dir(), name) {
            return Ok(profile);
        }
        let mut profiles = self.list()?;
        let found = profiles
            .iter()
            .position(|profile| profile.manifest.has_name(name))
            .or_else(|| profiles.iter().position(|profile| profile.manifest.id == name));
        match found {
            Some(at) => Ok(profiles.swap_remove(at)),
            None => Err(StoreError::Unknown { name: name.to_owned(), store: self.root.clone() }),
        }
    }

    /// The profile with this id, if it exists.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn by_id(&self, id: &str) -> Result<Option<Profile>> {
        Ok(self.list()?.into_iter().find(|profile| profile.manifest.id == id))
    }

    /// The directory for temporary files of running processes.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.root.join(TMP)
    }

    /// Creates a directory for building a profile. It is removed when dropped.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn stage(&self) -> Result<Staging> {
        let _lock = self.lock()?;
        Staging::new(&self.tmp())
    }

    /// Checks that this name is free for the profile with this id.
    ///
    /// # Errors
    /// If another profile has the name and must not be replaced.
    pub fn check_name(&self, slug: &Slug, id: &str, existing: Existing) -> Result<()> {
        self.name_holder(slug, id, existing).map(drop)
    }

    /// Moves a staged profile to the complete ones, in one step. An existing profile with the same
    /// id is replaced or kept. A different profile of the same name is replaced or refused.
    ///
    /// # Errors
    /// If files cannot be written or the name is taken.
    pub fn publish(&self, staging: &Staging, manifest: &Manifest, existing: Existing) -> Result<Profile> {
        let _lock = self.lock()?;
        let target = self.profiles_dir().join(&manifest.id);
        let mut manifest = manifest.clone();
        if let Some(before) = self.by_id(&manifest.id)? {
            manifest.keep_names(&before.manifest);
            manifest.keep_clocks(&before.manifest);
        }
        manifest.write(&staging.profile_dir())?;
        disk::sync_dir(&staging.profile_dir())?;
        let namesake = match &manifest.name {
            Some(slug) => self.name_holder(slug, &manifest.id, existing)?,
            None => None,
        };
        if !target.exists() {
            disk::rename(&staging.profile_dir(), &target)?;
        } else if existing == Existing::Replace {
            disk::exchange(&staging.profile_dir(), &target, &staging.replaced_dir())?;
        }
        disk::sync_dir(&self.profiles_dir())?;
        if let (Some(other), Some(slug)) = (namesake, &manifest.name) {
            self.take_name(&other, slug)?;
        }
        self.catalog.forget(&target);
        self.by_id(&manifest.id)?
            .ok_or_else(|| StoreError::Unknown { name: manifest.id.clone(), store: self.root.clone() })
    }

    /// Removes a name that another profile has taken over. A profile without further names is
    /// removed. Needs the lock.
    fn take_name(&self, profile: &Profile, slug: &Slug) -> Result<()> {
        let mut manifest = Manifest::clone(&profile.manifest);
        manifest.remove_name(slug.as_str());
        if manifest.name.is_none() {
            return self.discard(profile);
        }
        manifest.write(&profile.dir)?;
        self.catalog.forget(&profile.dir);
        Ok(())
    }

    /// Gives a profile a further name or another display name. `None` leaves the name unchanged.
    ///
    /// # Errors
    /// If the profile is gone, the name is taken, or the manifest cannot be written.
    pub fn rename(&self, id: &str, slug: Option<Slug>, display_name: Option<String>) -> Result<Profile> {
        let _lock = self.lock()?;
        let profile = self.find(id)?;
        let mut manifest = Manifest::clone(&profile.manifest);
        if let Some(slug) = slug {
            self.name_holder(&slug, &manifest.id, Existing::Keep)?;
            manifest.add_name(slug);
        }
        if let Some(display_name) = display_name {
            manifest.display_name = Some(display_name);
        }
        manifest.write(&profile.dir)?;
        self.catalog.forget(&profile.dir);
        self.find(&manifest.id)
    }

    /// Replaces the clocks of these ranks by those that the calls of all ranks show. `None` removes
    /// a clock. A clock that was set by hand stays.
    ///
    /// # Errors
    /// If the profile or a rank is gone, or the manifest cannot be written.
    pub fn align(&self, id: &str, clocks: &[(u32, Option<Clock>)]) -> Result<Profile> {
        let _lock = self.lock()?;
        let profile = self.find(id)?;
        let mut manifest = Manifest::clone(&profile.manifest);
        for &(rank, clock) in clocks {
            let file = manifest.rank_mut(rank)?;
            let stays = match file.clock_by() {
                Some(ClockBy::Hand) => true,
                // No new clock is no evidence against the trace.
                Some(ClockBy::Trace) => clock.is_none(),
                Some(ClockBy::Calls) | None => false,
            };
            if !stays {
                (file.clock, file.clock_by) = (clock, clock.map(|_| ClockBy::Calls));
            }
        }
        manifest.write(&profile.dir)?;
        self.catalog.forget(&profile.dir);
        self.find(&manifest.id)
    }

    /// Sets or removes the clock of a rank by hand. Segments and caches stay as they are.
    ///
    /// # Errors
    /// If the profile or the rank is gone, or the manifest cannot be written.
    pub fn set_clock(&self, id: &str, rank: u32, clock: Option<Clock>) -> Result<Profile> {
        let _lock = self.lock()?;
        let profile = self.find(id)?;
        let mut manifest = Manifest::clone(&profile.manifest);
        let file = manifest.rank_mut(rank)?;
        (file.clock, file.clock_by) = (clock, clock.map(|_| ClockBy::Hand));
        manifest.write(&profile.dir)?;
        self.catalog.forget(&profile.dir);
        self.find(&manifest.id)
    }

    /// Removes the profile with this name or id.
    ///
    /// # Errors
    /// If there is no such profile or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<Profile> {
        let _lock = self.lock()?;
        let profile = self.find(name)?;
        self.discard(&profile)?;
        Ok(profile)
    }

    /// Moves a profile out in one step, then deletes its files. Needs the lock.
    fn discard(&self, profile: &Profile) -> Result<()> {
        let grave = Staging::new(&self.tmp())?;
        disk::rename(&profile.dir, &grave.discarded_dir())?;
        disk::sync_dir(&self.profiles_dir())?;
        self.catalog.forget(&profile.dir);
        Ok(())
    }

    /// The other profile with this name, if it may be replaced.
    fn name_holder(&self, slug: &Slug, id: &str, existing: Existing) -> Result<Option<Profile>> {
        let holder =
            self.list()?.into_iter().find(|p| p.manifest.has_name(slug.as_str()) && p.manifest.id != id);
        match (holder, existing) {
            (Some(holder), Existing::Keep) => {
                Err(StoreError::NameTaken { name: slug.to_string(), id: holder.manifest.id.clone() })
            }
            (holder, _) => Ok(holder),
        }
    }

    fn profiles_dir(&self) -> PathBuf {
        self.root.join(PROFILES)
    }

    /// Waits for the store's lock. Dropping the file releases the lock, also after a crash.
    fn lock(&self) -> Result<File> {
        let path = self.root.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        file.and_then(|file| file.lock().map(|()| file)).map_err(|source| StoreError::Write { path, source })
    }
}
