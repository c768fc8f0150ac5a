//! Changes of a store, each under its lock: publishing, naming, clocks, removing.

use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::native::disk::DiskFile;
use nprof_engine::wire::clock::Clock;

use super::leftovers;
use super::notes;
use super::replacement::replaced_dir;
use super::{
    ClockBy, Existing, Manifest, Profile, Result, Slug, Staging, Store, StoreError, Survey, TakenName, disk,
};

/// A profile that was removed.
#[derive(Debug)]
pub enum Removed {
    /// A complete profile.
    Profile(Profile),
    /// The directory of a profile whose manifest could not be read.
    Unreadable(PathBuf),
}

impl Store {
    /// Checks that this name is free for the profile with this id.
    ///
    /// # Errors
    /// If another profile has the name and must not be replaced.
    pub fn check_name(&self, slug: &Slug, id: &str, existing: Existing) -> Result<()> {
        holders(&self.survey()?, slug, id, existing).map(drop)
    }

    /// Moves a staged profile to the complete ones, in one step. An existing profile with the same
    /// id is replaced or kept. A different profile of the same name is replaced or refused.
    ///
    /// # Errors
    /// If files cannot be written, the name is taken, or the existing profile cannot be read and
    /// must be kept.
    pub fn publish(&self, staging: &Staging, manifest: &Manifest, existing: Existing) -> Result<Profile> {
        let _lock = self.lock_to_name()?;
        let survey = self.survey()?;
        let taken = match &manifest.name {
            Some(slug) => holders(&survey, slug, &manifest.id, existing)?,
            None => Vec::new(),
        };
        let mut manifest = manifest.clone();
        manifest.took = taken;
        let mut target = self.profiles_dir().join(&manifest.id);
        match self.by_id(&manifest.id) {
            Ok(Some(before)) if existing == Existing::Keep => return Ok(before),
            Ok(Some(before)) => {
                manifest.keep_names(&before.manifest);
                manifest.keep_clocks(&before.manifest);
                // Somebody may have renamed the directory. A second one would have the same names.
                target = before.dir;
            }
            Ok(None) => {}
            Err(error) if existing == Existing::Keep => return Err(error),
            Err(error) => tracing::warn!("replacing a profile without its names: {error}"),
        }
        self.put(staging, &manifest, &target)
    }

    /// Puts a staged profile into the place of `before`, whose ranks it contains. Names and clocks
    /// that `before` got meanwhile stay.
    ///
    /// # Errors
    /// `Changed` if the profile has other ranks by now. Other errors if it is gone or files cannot
    /// be written.
    pub fn replace(&self, before: &Profile, staging: &Staging, manifest: &Manifest) -> Result<Profile> {
        let _lock = self.lock_to_name()?;
        let now = self.find(&before.manifest.id)?;
        let ranks = |profile: &Profile| -> Vec<(u32, String)> {
            profile.manifest.ranks.iter().map(|rank| (rank.rank, rank.content.clone())).collect()
        };
        if ranks(&now) != ranks(before) {
            return Err(StoreError::Changed { name: now.manifest.slug().to_owned() });
        }
        let mut manifest = manifest.clone();
        manifest.name.clone_from(&now.manifest.name);
        manifest.aliases.clone_from(&now.manifest.aliases);
        manifest.display_name.clone_from(&now.manifest.display_name);
        manifest.keep_clocks(&now.manifest);
        self.put(staging, &manifest, &now.dir)
    }

    /// Moves a staged profile to `target`. Needs the lock.
    fn put(&self, staging: &Staging, manifest: &Manifest, target: &Path) -> Result<Profile> {
        manifest.write(&staging.profile_dir())?;
        notes::keep(target, &staging.profile_dir())?;
        disk::sync_dir(&staging.profile_dir())?;
        let aside = replaced_dir(target);
        if target.exists() {
            disk::exchange(&staging.profile_dir(), target, &aside)?;
        } else {
            disk::rename(&staging.profile_dir(), target)?;
        }
        self.catalog.forget(target);
        disk::sync_dir(&self.profiles_dir())?;
        // The profile is in the store. If its completion fails now, the next change repeats it.
        self.complete_or_warn();
        self.find(&manifest.id)
    }

    /// Gives a profile a further name or another display name. `None` leaves the name unchanged.
    ///
    /// # Errors
    /// If the profile is gone, the name is taken, or the manifest cannot be written.
    pub fn rename(&self, id: &str, slug: Option<Slug>, display_name: Option<String>) -> Result<Profile> {
        let _lock = self.lock_to_name()?;
        let profile = self.find(id)?;
        let mut manifest = Manifest::clone(&profile.manifest);
        if let Some(slug) = slug {
            holders(&self.survey()?, &slug, &manifest.id, Existing::Keep)?;
            manifest.add_name(slug);
        }
        if let Some(display_name) = display_name {
            manifest.display_name = Some(display_name);
        }
        self.rewrite(&profile, &manifest)?;
        self.find(&manifest.id)
    }

    /// Replaces the clocks of these ranks by those that the calls of all ranks show. `None` removes
    /// a clock. A clock that was set by hand stays.
    ///
    /// # Errors
    /// If the profile or a rank is gone, or the manifest cannot be written.
    pub fn align(&self, id: &str, clocks: &[(u32, Option<Clock>)]) -> Result<Profile> {
        let _lock = self.lock()?;
        self.complete_or_warn();
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
        self.rewrite(&profile, &manifest)?;
        self.find(&manifest.id)
    }

    /// Sets or removes the clock of a rank by hand. Segments and caches stay as they are.
    ///
    /// # Errors
    /// If the profile or the rank is gone, or the manifest cannot be written.
    pub fn set_clock(&self, id: &str, rank: u32, clock: Option<Clock>) -> Result<Profile> {
        let _lock = self.lock()?;
        self.complete_or_warn();
        let profile = self.find(id)?;
        let mut manifest = Manifest::clone(&profile.manifest);
        let file = manifest.rank_mut(rank)?;
        (file.clock, file.clock_by) = (clock, clock.map(|_| ClockBy::Hand));
        self.rewrite(&profile, &manifest)?;
        self.find(&manifest.id)
    }

    /// Removes the profile with this name, id or directory. Needs no free space on the disk.
    ///
    /// # Errors
    /// If there is no such profile, several have the name, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<Removed> {
        let _lock = self.lock()?;
        // A full disk can refuse to complete a change, and must be emptied all the same.
        self.complete_or_warn();
        let Survey { profiles, unreadable, .. } = self.survey()?;
        let removed =
            match unreadable.into_iter().find(|(dir, _)| dir.file_name().is_some_and(|own| own == name)) {
                Some((dir, _)) => Removed::Unreadable(dir),
                None => Removed::Profile(self.only(profiles, name)?),
            };
        let (Removed::Unreadable(dir) | Removed::Profile(Profile { dir, .. })) = &removed;
        self.catalog.forget(dir);
        leftovers::remove(dir)?;
        Ok(removed)
    }

    /// The only profile with this directory, name or id.
    fn only(&self, profiles: Vec<Profile>, name: &str) -> Result<Profile> {
        let (mut exact, others): (Vec<_>, Vec<_>) =
            profiles.into_iter().partition(|profile| profile.directory_name() == name);
        let mut having: Vec<Profile> = others
            .into_iter()
            .filter(|profile| profile.manifest.has_name(name) || profile.manifest.id == name)
            .collect();
        match (exact.pop(), having.len()) {
            (Some(profile), _) => Ok(profile),
            (None, 1) => Ok(having.remove(0)),
            (None, 0) => Err(StoreError::Unknown { name: name.to_owned(), store: self.root.clone() }),
            (None, _) => {
                let ids = having.iter().map(Profile::directory_name).collect();
                Err(StoreError::Ambiguous { name: name.to_owned(), ids })
            }
        }
    }

    /// The lock for a change of names. Changes of dead processes are complete: a name that is
    /// handed over twice at once would have two owners.
    fn lock_to_name(&self) -> Result<DiskFile> {
        let lock = self.lock()?;
        self.complete()?;
        Ok(lock)
    }

    /// Completes changes, and logs a failure. Needs the lock.
    pub(super) fn complete_or_warn(&self) {
        if let Err(error) = self.complete() {
            tracing::warn!("a change of the store is not complete; the next change completes it: {error}");
        }
    }

    /// Completes removals, replacements and transfers of names. Needs the lock.
    fn complete(&self) -> Result<()> {
        let profiles_dir = self.profiles_dir();
        leftovers::complete(&profiles_dir)?;
        let profiles = self.catalog.raw(&profiles_dir)?.profiles;
        // The oldest first: a name can have been handed on.
        for taker in profiles.iter().rev().filter(|profile| !profile.manifest.took.is_empty()) {
            // An earlier step can have changed or removed it.
            let Some(mut manifest) = present(&taker.dir)? else { continue };
            for TakenName { name, from } in std::mem::take(&mut manifest.took) {
                let is_loser = |profile: &&Profile| profile.manifest.id == from && from != manifest.id;
                if manifest.has_name(name.as_str())
                    && let Some(loser) = profiles.iter().find(is_loser)
                {
                    self.take_name(loser, &name)?;
                }
            }
            self.rewrite(taker, &manifest)?;
        }
        Ok(())
    }

    /// Removes a name that another profile has taken over. A profile without further names is
    /// removed. Needs the lock.
    fn take_name(&self, profile: &Profile, slug: &Slug) -> Result<()> {
        let Some(mut manifest) = present(&profile.dir)?.filter(|manifest| manifest.has_name(slug.as_str()))
        else {
            return Ok(());
        };
        manifest.remove_name(slug.as_str());
        if manifest.name.is_some() {
            return self.rewrite(profile, &manifest);
        }
        self.catalog.forget(&profile.dir);
        leftovers::remove(&profile.dir)
    }

    fn rewrite(&self, profile: &Profile, manifest: &Manifest) -> Result<()> {
        let written = manifest.write(&profile.dir);
        self.catalog.forget(&profile.dir);
        written
    }
}

/// The manifest in this directory, if it is still there.
fn present(dir: &Path) -> Result<Option<Manifest>> {
    match Manifest::read(dir) {
        Err(StoreError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        manifest => manifest.map(Some),
    }
}

/// The name with each other profile that has it, if these may lose it.
fn holders(survey: &Survey, slug: &Slug, id: &str, existing: Existing) -> Result<Vec<TakenName>> {
    let others = survey.profiles.iter().map(|profile| &profile.manifest);
    let others = others.filter(|manifest| manifest.has_name(slug.as_str()) && manifest.id != id);
    let taken: Vec<TakenName> =
        others.map(|manifest| TakenName { name: slug.clone(), from: manifest.id.clone() }).collect();
    match taken.first() {
        Some(first) if existing == Existing::Keep => {
            Err(StoreError::NameTaken { name: slug.to_string(), id: first.from.clone() })
        }
        _ => Ok(taken),
    }
}
