//! Cache of the manifests of a store. A manifest is read again only if its file has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use nprof_engine::base::ProfileId;

use super::manifest::{FILE, Manifest};
use super::names::{self, SharedName};
use super::replacement::place_of_replaced;
use super::{Profile, Result, StoreError, leftovers};

/// State of a manifest's file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    size_bytes: u64,
}

/// Content of a store.
#[derive(Debug, Default)]
pub struct Survey {
    /// Profiles, newest first.
    pub profiles: Vec<Profile>,
    /// Directories with an unreadable manifest, each with the reason.
    pub unreadable: Vec<(PathBuf, StoreError)>,
    /// Names and ids that several profiles have, which nprof never does by itself.
    pub shared: Vec<SharedName>,
}

/// Manifests by directory.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    known: Mutex<HashMap<PathBuf, (Stamp, Arc<Manifest>)>>,
}

impl Catalog {
    /// All profiles in this directory. A profile that lost its last name to another is left out.
    pub(super) fn survey(&self, profiles: &Path) -> Result<Survey> {
        let mut survey = self.raw(profiles)?;
        survey.profiles = names::settled(survey.profiles);
        survey.shared = names::shared(&survey.profiles);
        Ok(survey)
    }

    /// All profiles in this directory with all names that their manifests have. Costs one `stat`
    /// per profile, so changes by other processes show at once.
    pub(super) fn raw(&self, profiles: &Path) -> Result<Survey> {
        let read = |source| StoreError::Read { path: profiles.to_owned(), source };
        let mut survey = Survey::default();
        let entries = match fs::read_dir(profiles) {
            // Nobody has written to this store.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(survey),
            entries => entries.map_err(read)?,
        };
        for entry in entries {
            let dir = entry.map_err(read)?.path();
            let is_hidden = dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            // Between the two steps of a replacement, the old profile is in another place.
            if is_hidden && place_of_replaced(&dir).is_none_or(|place| place.exists()) {
                continue;
            }
            match self.manifest(&dir) {
                Ok(Some(manifest)) => survey.profiles.push(Profile { manifest, dir }),
                // A file that somebody left there is no profile.
                Ok(None) | Err(_) if !dir.is_dir() => {}
                Ok(None) if leftovers::is_removed(&dir) => {}
                Ok(None) => {
                    let error =
                        StoreError::Inconsistent { path: dir.join(FILE), what: "the file is missing" };
                    survey.unreadable.push((dir, error));
                }
                Err(error) => survey.unreadable.push((dir, error)),
            }
        }
        let there: HashSet<&Path> = survey.profiles.iter().map(|profile| profile.dir.as_path()).collect();
        self.known().retain(|dir, _| there.contains(dir.as_path()));
        survey.unreadable.sort_by(|(a, _), (b, _)| a.cmp(b));
        survey.profiles.sort_by(|a, b| {
            let newest_first = b.manifest.created.cmp(&a.manifest.created);
            newest_first.then_with(|| a.dir.cmp(&b.dir))
        });
        Ok(survey)
    }

    /// The profile with this URL name, or else this id, if one file check can decide it. That is so
    /// if its manifest was read before, or if the id names its directory.
    pub(super) fn find(&self, profiles: &Path, name: &str) -> Option<Profile> {
        let dir = {
            let known = self.known();
            let manifests = || known.iter().map(|(dir, (_, manifest))| (dir, manifest));
            // While a name is handed over, only a look at all manifests tells whose it is.
            if manifests().any(|(_, manifest)| !manifest.took.is_empty()) {
                return None;
            }
            if name.parse::<ProfileId>().is_ok() {
                profiles.join(name)
            } else {
                let mut having = manifests().filter(|(_, manifest)| manifest.has_name(name));
                let (dir, _) = having.next()?;
                if having.next().is_some() {
                    return None;
                }
                dir.clone()
            }
        };
        // No name looks like an id, and only one known profile has this name. So a profile that
        // still has it is the right one.
        let manifest = self.manifest(&dir).ok().flatten()?;
        (manifest.has_name(name) || manifest.id == name).then_some(Profile { manifest, dir })
    }

    /// Drops the cached manifest of this directory.
    pub(super) fn forget(&self, dir: &Path) {
        self.known().remove(dir);
    }

    /// The manifest of a directory. `None` if it is missing, because the profile was removed after
    /// the listing.
    fn manifest(&self, dir: &Path) -> Result<Option<Arc<Manifest>>> {
        let path = dir.join(FILE);
        let stamp = match fs::metadata(&path).and_then(|meta| Ok((meta.modified()?, meta.len()))) {
            Ok((modified, size_bytes)) => Stamp { modified, size_bytes },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        if let Some((known, manifest)) = self.known().get(dir)
            && *known == stamp
        {
            return Ok(Some(Arc::clone(manifest)));
        }
        let manifest = Arc::new(Manifest::read(dir)?);
        self.known().insert(dir.to_owned(), (stamp, Arc::clone(&manifest)));
        Ok(Some(manifest))
    }

    /// The cached manifests. If a thread panicked with the lock held, the cache is at worst
    /// incomplete.
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, (Stamp, Arc<Manifest>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
