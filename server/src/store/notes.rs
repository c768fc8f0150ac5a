//! `notes.json`: notes of users about a profile, as readable text in the profile's directory.
//!
//! A profile without the file has no notes. A damaged file is an error of its own: the profile is
//! readable without it, and no change replaces it.

use std::io::{self, Read};
use std::path::Path;

use nprof_engine::native::open_regular;
use nprof_engine::wire::notes::{NotedRegion, Notes, NotesError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Profile, Result, Store, StoreError, disk};

/// The version of this layout. It is raised when an older nprof could misread a newer file.
const FORMAT: u32 = 1;
/// Longest file that is read.
const MOST_BYTES: u64 = 16 << 20;
/// Name of the file.
pub(super) const FILE: &str = "notes.json";

/// The file. Keys of later versions stay when this one changes it.
#[derive(Debug, Serialize, Deserialize)]
struct NotesFile {
    format: u32,
    #[serde(default)]
    regions: Vec<NotedRegion>,
    #[serde(flatten)]
    later: Map<String, Value>,
}

/// The one key that every version has.
#[derive(Deserialize)]
struct NotesVersion {
    format: u32,
}

impl NotesFile {
    /// The file in this directory, or an empty one.
    fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let text = match disk::read_at_most(&path, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { format: FORMAT, regions: Vec::new(), later: Map::new() });
            }
            Err(source) => return Err(StoreError::Read { path, source }),
            Ok(text) => text,
        };
        let damaged = |what: String| StoreError::Notes { path: path.clone(), what };
        if text.len() as u64 > MOST_BYTES {
            return Err(damaged("it is longer than any notes".to_owned()));
        }
        let version: NotesVersion =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if version.format > FORMAT {
            return Err(damaged(format!(
                "it has format {}, but this nprof reads formats up to {FORMAT}",
                version.format
            )));
        }
        let file: Self = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        Notes { regions: file.regions.clone() }.check().map_err(|error| damaged(error.to_string()))?;
        Ok(file)
    }

    fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::Notes { path: path.clone(), what: error.to_string() })?;
        text.push(b'\n');
        disk::write_file(&path, &text)
    }
}

impl Profile {
    /// The notes of users about this profile. Empty if nobody wrote anything.
    pub fn notes(&self) -> Result<Notes> {
        Ok(Notes { regions: NotesFile::read(&self.dir)?.regions })
    }
}

impl Store {
    /// Changes the notes of a profile, all or nothing. Returns what `change` returns.
    pub fn change_notes<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Notes) -> std::result::Result<T, NotesError>,
    ) -> Result<T> {
        let _lock = self.lock()?;
        self.complete_or_warn();
        let profile = self.find(id)?;
        let mut file = NotesFile::read(&profile.dir)?;
        let mut notes = Notes { regions: std::mem::take(&mut file.regions) };
        let changed = change(&mut notes)?;
        file.regions = notes.regions;
        file.write(&profile.dir)?;
        Ok(changed)
    }
}

/// Copies the notes of the profile in `from` to a new profile in `to`, also damaged ones.
pub(super) fn keep(from: &Path, to: &Path) -> Result<()> {
    let path = from.join(FILE);
    let mut bytes = Vec::new();
    match open_regular(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => disk::write_file(&to.join(FILE), &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Read { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{add, id, manifest};
    use super::super::{Existing, Slug};
    use super::*;

    fn region(name: &str) -> NotedRegion {
        NotedRegion { name: name.to_owned(), rank: Some(0), start_ps: 1, end_ps: 2 }
    }

    #[test]
    fn notes_stay_when_a_profile_is_renamed_and_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let profile = add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap();
        assert!(profile.notes().unwrap().is_empty());
        assert!(!profile.dir.join(FILE).exists(), "reading writes nothing");
        store.change_notes(&profile.manifest.id, |notes| notes.add(region("warm-up"))).unwrap();
        let refused = store.change_notes(&profile.manifest.id, |notes| notes.add(region("warm-up")));
        assert!(matches!(refused, Err(StoreError::RefusedNote(NotesError::Taken(_)))), "{refused:?}");
        store.rename(&profile.manifest.id, Some("run".parse::<Slug>().unwrap()), None).unwrap();
        let replaced = add(&store, &manifest(&id('a'), "c1"), Existing::Replace).unwrap();
        assert_eq!(replaced.manifest.ranks[0].content, "c1");
        assert_eq!(replaced.notes().unwrap().regions, [region("warm-up")]);
        assert!(store.change_notes("nobody", |_| Ok(())).is_err());
    }

    #[test]
    fn damaged_notes_are_told_and_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let profile = add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap();
        store.change_notes(&profile.manifest.id, |notes| notes.add(region("a"))).unwrap();
        let path = profile.dir.join(FILE);
        let whole = fs::read(&path).unwrap();
        // The file ends with a line break, which it does not need.
        for cut in 0..whole.len() - 1 {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = profile.notes().unwrap_err().to_string();
            assert!(error.contains(FILE), "cut at {cut}: {error}");
            assert!(store.change_notes(&profile.manifest.id, |notes| notes.add(region("b"))).is_err());
            assert_eq!(fs::read(&path).unwrap(), whole[..cut], "a refused change writes nothing");
            store.find(&profile.manifest.id).unwrap();
        }
        for (text, what) in [
            (r#"{"format":2,"regions":7}"#, "formats up to 1"),
            (r#"{"format":1,"regions":[{"name":"a","rank":null,"start_ps":2,"end_ps":1}]}"#, "ends before"),
            (r#"{"format":1,"regions":[{"name":"","rank":null,"start_ps":0,"end_ps":1}]}"#, "1 to 200"),
        ] {
            fs::write(&path, text).unwrap();
            let error = profile.notes().unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("the profile itself"), "{error}");
        }
        // Damaged notes go with the profile, for repair.
        let replaced = add(&store, &manifest(&id('a'), "c1"), Existing::Replace).unwrap();
        assert!(fs::read_to_string(replaced.dir.join(FILE)).unwrap().contains("start_ps"));
    }

    #[test]
    fn keys_of_later_versions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store")).unwrap();
        let profile = add(&store, &manifest(&id('a'), "c0"), Existing::Keep).unwrap();
        fs::write(profile.dir.join(FILE), r#"{"format":1,"muted":["late-rank"]}"#).unwrap();
        store.change_notes(&profile.manifest.id, |notes| notes.add(region("a"))).unwrap();
        let text = fs::read_to_string(profile.dir.join(FILE)).unwrap();
        assert!(text.contains("\"muted\"") && text.contains("late-rank"), "{text}");
    }
}
