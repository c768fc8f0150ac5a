//! `baselines.json`: names of runs that others are compared with, as readable text in the store's
//! directory.
//!
//! A baseline is a name that moves: it means another profile once a better one is the measure. The
//! names of profiles come first, so no baseline hides one.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Profile, Result, Slug, Store, StoreError, disk};

/// The version of this layout. It is raised when an older nprof could misread a newer file.
const FORMAT: u32 = 1;
/// Longest file that is read.
const MOST_BYTES: u64 = 1 << 20;
/// Name of the file.
pub(super) const FILE: &str = "baselines.json";

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct BaselineFile {
    format: u32,
    /// Ids of profiles by name.
    baselines: BTreeMap<String, String>,
}

/// A baseline of the store.
#[derive(Debug)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// The id of its profile.
    pub id: String,
    /// The profile, if the store still has it.
    pub profile: Option<Profile>,
}

impl Store {
    /// The baselines by name.
    pub fn baselines(&self) -> Result<Vec<Baseline>> {
        let all = self.read_baselines()?.baselines.into_iter();
        all.map(|(name, id)| Ok(Baseline { name, profile: self.by_id(&id)?, id })).collect()
    }

    /// Makes a name mean a profile. Returns the id of the profile that it meant before. Fails
    /// if a profile has the name.
    pub fn set_baseline(&self, name: &Slug, profile: &Profile) -> Result<Option<String>> {
        let _lock = self.lock()?;
        self.complete_or_warn();
        if let Some(of) = self.list()?.iter().find(|of| of.manifest.has_name(name.as_str())) {
            let name = name.as_str().to_owned();
            return Err(StoreError::BaselineTaken { name, id: of.manifest.id.clone() });
        }
        let mut file = self.read_baselines()?;
        let before = file.baselines.insert(name.as_str().to_owned(), profile.manifest.id.clone());
        self.write_baselines(&file)?;
        Ok(before)
    }

    /// Removes a baseline. Its profile stays.
    pub fn remove_baseline(&self, name: &str) -> Result<()> {
        let _lock = self.lock()?;
        let mut file = self.read_baselines()?;
        if file.baselines.remove(name).is_none() {
            return Err(StoreError::NoBaseline { name: name.to_owned() });
        }
        self.write_baselines(&file)
    }

    /// The profile that a baseline of this name means.
    pub(super) fn baseline(&self, name: &str) -> Result<Option<String>> {
        Ok(self.read_baselines()?.baselines.remove(name))
    }

    fn baseline_path(&self) -> PathBuf {
        self.root().join(FILE)
    }

    fn read_baselines(&self) -> Result<BaselineFile> {
        let path = self.baseline_path();
        let text = match disk::read_at_most(&path, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(BaselineFile { format: FORMAT, baselines: BTreeMap::new() });
            }
            Err(source) => return Err(StoreError::Read { path, source }),
            Ok(text) => text,
        };
        let damaged = |what: String| StoreError::Baselines { path: path.clone(), what };
        if text.len() as u64 > MOST_BYTES {
            return Err(damaged("it is longer than any list of names".to_owned()));
        }
        let file: BaselineFile = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if file.format > FORMAT {
            return Err(damaged(format!(
                "it has format {}, but this nprof reads formats up to {FORMAT}",
                file.format
            )));
        }
        Ok(file)
    }

    fn write_baselines(&self, file: &BaselineFile) -> Result<()> {
        let path = self.baseline_path();
        let mut text = serde_json::to_vec_pretty(file)
            .map_err(|error| StoreError::Baselines { path: path.clone(), what: error.to_string() })?;
        text.push(b'\n');
        disk::write_file(&path, &text)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Existing;
    use super::super::tests::{add, id, manifest};
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        (dir, store)
    }

    #[test]
    fn a_baseline_is_a_name_that_moves() {
        let (_dir, store) = store();
        let (a, b) = (
            add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap(),
            add(&store, &manifest(&id('b'), "c1"), Existing::Keep).unwrap(),
        );
        let main: Slug = "main".parse().unwrap();
        assert!(store.find("main").is_err());
        assert_eq!(store.set_baseline(&main, &a).unwrap(), None);
        assert_eq!(store.find("main").unwrap().manifest.id, id('a'));
        assert_eq!(store.set_baseline(&main, &b).unwrap(), Some(id('a')));
        assert_eq!(store.find("main").unwrap().manifest.id, id('b'));
        // A name of a profile stays that of the profile.
        store.rename(&id('a'), Some("run".parse().unwrap()), None).unwrap();
        let taken = store.set_baseline(&"run".parse().unwrap(), &b);
        assert!(matches!(taken, Err(StoreError::BaselineTaken { .. })), "{taken:?}");
        store.remove(&id('b')).unwrap();
        let left = store.baselines().unwrap();
        assert!(left[0].profile.is_none() && left[0].id == id('b'));
        assert!(store.find("main").is_err());
        store.remove_baseline("main").unwrap();
        assert!(store.baselines().unwrap().is_empty() && store.remove_baseline("main").is_err());
    }

    #[test]
    fn damaged_baselines_are_told_and_stay() {
        let (_dir, store) = store();
        let profile = add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap();
        store.set_baseline(&"main".parse().unwrap(), &profile).unwrap();
        let path = store.root().join(FILE);
        for text in ["", "{", r#"{"format":2,"baselines":{}}"#, r#"{"format":1,"baselines":7}"#] {
            fs::write(&path, text).unwrap();
            let error = store.baselines().unwrap_err().to_string();
            assert!(error.contains(FILE), "{text}: {error}");
            assert!(store.set_baseline(&"main".parse().unwrap(), &profile).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "a refused change writes nothing");
            store.find(&id('a')).unwrap();
        }
    }
}
