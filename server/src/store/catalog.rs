//! The manifests of a store, read again only where the file has changed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::manifest::{FILE, Manifest};
use super::{Profile, Result, StoreError};

/// What a manifest was like when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    size_bytes: u64,
}

/// Manifests by directory.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    known: Mutex<HashMap<PathBuf, (Stamp, Arc<Manifest>)>>,
}

impl Catalog {
    /// All profiles under this directory, newest first. Costs one `stat` each, so that what other processes ingested
    /// or removed shows at once.
    pub(super) fn list(&self, profiles: &Path) -> Result<Vec<Profile>> {
        let read = |source| StoreError::Read { path: profiles.to_owned(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(profiles).map_err(read)? {
            let dir = entry.map_err(read)?.path();
            match self.manifest(&dir) {
                Ok(Some(manifest)) => found.push(Profile { manifest, dir }),
                Ok(None) => {}
                Err(error) => tracing::warn!("{error}"),
            }
        }
        self.known().retain(|dir, _| found.iter().any(|profile| profile.dir == *dir));
        found.sort_by(|a, b| {
            b.manifest.created.cmp(&a.manifest.created).then_with(|| a.manifest.id.cmp(&b.manifest.id))
        });
        Ok(found)
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
