//! Cache of the manifests of a store. A manifest is read again only if its file has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use nprof_engine::base::ProfileId;

use super::manifest::{FILE, Manifest};
use super::{Profile, Result, StoreError};

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
}

/// Manifests by directory.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    known: Mutex<HashMap<PathBuf, (Stamp, Arc<Manifest>)>>,
}

impl Catalog {
    /// All profiles in this directory, newest first. Costs one `stat` per profile, so changes by
    /// other processes show at once.
    pub(super) fn survey(&self, profiles: &Path) -> Result<Survey> {
        let read = |source| StoreError::Read { path: profiles.to_owned(), source };
        let mut survey = Survey::default();
        for entry in fs::read_dir(profiles).map_err(read)? {
            let dir = entry.map_err(read)?.path();
            match self.manifest(&dir) {
                Ok(Some(manifest)) => survey.profiles.push(Profile { manifest, dir }),
                // Removed after the listing, or not a directory.
                Ok(None) if !dir.is_dir() => {}
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
        survey.profiles.sort_by(|a, b| {
            b.manifest.created.cmp(&a.manifest.created).then_with(|| a.manifest.id.cmp(&b.manifest.id))
        });
        Ok(survey)
    }

    /// The profile with this URL name, or else this id, if one file check can decide it. That is so
    /// if its manifest was read before, or if the id names its directory.
    pub(super) fn find(&self, profiles: &Path, name: &str) -> Option<Profile> {
        let dir = if name.parse::<ProfileId>().is_ok() {
            profiles.join(name)
        } else {
            let known = self.known();
            known.iter().find(|(_, (_, manifest))| manifest.has_name(name)).map(|(dir, _)| dir.clone())?
        };
        // No two profiles have the same name, and no name looks like an id. So a profile that still
        // has the name is the right one.
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
