//! The manifests of a store, read again only where the file has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use nprof_engine::base::ProfileId;

use super::manifest::{FILE, Manifest};
use super::{Profile, Result, StoreError};

/// What a manifest was like when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    size_bytes: u64,
}

/// What a store has.
#[derive(Debug, Default)]
pub struct Survey {
    /// Profiles, newest first.
    pub profiles: Vec<Profile>,
    /// Directories whose manifest cannot be read, with the reason.
    pub unreadable: Vec<(PathBuf, StoreError)>,
}

/// Manifests by directory.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    known: Mutex<HashMap<PathBuf, (Stamp, Arc<Manifest>)>>,
}

impl Catalog {
    /// All profiles under this directory, newest first. Costs one `stat` each, so that what other processes ingested
    /// or removed shows at once.
    pub(super) fn survey(&self, profiles: &Path) -> Result<Survey> {
        let read = |source| StoreError::Read { path: profiles.to_owned(), source };
        let mut survey = Survey::default();
        for entry in fs::read_dir(profiles).map_err(read)? {
            let dir = entry.map_err(read)?.path();
            match self.manifest(&dir) {
                Ok(Some(manifest)) => survey.profiles.push(Profile { manifest, dir }),
                // Removed since it was listed, or no directory at all.
                Ok(None) if !dir.is_dir() => {}
                Ok(None) => {
                    let error =
                        StoreError::Inconsistent { path: dir.join(FILE), what: "there is no manifest" };
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

    /// The profile with this name for URLs, or else this id, where one look is enough to know it: its manifest was read
    /// before, or the id is its directory's name.
    pub(super) fn find(&self, profiles: &Path, name: &str) -> Option<Profile> {
        let dir = if name.parse::<ProfileId>().is_ok() {
            profiles.join(name)
        } else {
            let known = self.known();
            known.iter().find(|(_, (_, manifest))| manifest.has_name(name)).map(|(dir, _)| dir.clone())?
        };
        // No two profiles have the same name, and no name looks like an id: what still has it is the one.
        let manifest = self.manifest(&dir).ok().flatten()?;
        (manifest.has_name(name) || manifest.id == name).then_some(Profile { manifest, dir })
    }

    /// Reads this one anew next time.
    pub(super) fn forget(&self, dir: &Path) {
        self.known().remove(dir);
    }

    /// `None` where there is none: the profile was removed between listing and reading.
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

    /// A thread that panicked leaves a cache that is at worst incomplete.
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, (Stamp, Arc<Manifest>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
