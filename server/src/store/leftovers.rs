//! Leftovers of dead processes: staging directories, half removed and half replaced profiles,
//! temporary files. Files that cannot be read or removed are reported and stay: leftovers only
//! take space.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nprof_engine::native::{TEMPORARY, disk};

use super::disk::failed;
use super::manifest::{self, Manifest};
use super::replacement::place_of_replaced;
use super::{Result, StoreError, staging};

/// Start of the name of a profile that is being removed.
const REMOVED: &str = ".removed-";
/// In place of the manifest: this profile is being removed.
const MARK: &str = "removed";
/// In staging directories of older versions: a profile that was being replaced.
const REPLACED_IN_STAGING: &str = "replaced";

/// Returns true if a directory of `profiles/` was removed except for some files.
pub(super) fn is_removed(dir: &Path) -> bool {
    !dir.join(manifest::FILE).exists() && dir.join(MARK).exists()
}

/// Returns true for a directory itself. A link to a directory is none: what it leads to does not
/// belong to the store.
fn is_own_dir(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|of| of.is_dir())
}

/// Removes a profile's directory. The first step makes it invisible for good. A failure of later
/// steps is not an error. Works on a full disk. A link is removed, and not its target. Needs the
/// store's lock.
pub(super) fn remove(dir: &Path) -> Result<()> {
    if !is_own_dir(dir) {
        let removed = disk::remove_file(dir).and_then(|()| disk::sync_dir(dir.parent().unwrap_or(dir)));
        return removed.map_err(failed(dir));
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let hidden = dir.with_file_name(format!("{REMOVED}{name}"));
    let (rest, synced) = match disk::rename(dir, &hidden) {
        Ok(()) => (hidden.as_path(), disk::sync_dir(dir.parent().unwrap_or(dir))),
        // A full directory takes no new name on a full disk.
        Err(_) => (dir, mark(dir).and_then(|()| disk::sync_dir(dir))),
    };
    synced.map_err(failed(dir))?;
    remove_rest(rest);
    Ok(())
}

/// Replaces a profile's manifest by the mark.
fn mark(dir: &Path) -> io::Result<()> {
    let file = dir.join(manifest::FILE);
    match disk::rename(&file, &dir.join(MARK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Without the manifest the profile is gone too, but a kill would leave a directory that
        // only `rm` removes.
        Err(_) => disk::remove_file(&file),
        renamed => renamed,
    }
}

/// Removes the files of a profile. The mark is the last of them.
fn remove_rest(dir: &Path) {
    let remove = || {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => disk::remove_dir_all(&entry.path())?,
                false if entry.file_name() == MARK => {}
                false => disk::remove_file(&entry.path())?,
            }
        }
        match disk::remove_file(&dir.join(MARK)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        disk::remove_dir(dir)
    };
    if let Err(error) = remove() {
        tracing::warn!("cannot remove {}: {error}", dir.display());
    }
}

/// Completes the removals and replacements of dead processes. Needs the store's lock.
pub(super) fn complete(profiles: &Path) -> Result<()> {
    // Half removed profiles go first: they have the names that further removals need.
    for dir in entries(profiles)?.into_iter().filter(|dir| is_own_dir(dir)) {
        match place_of_replaced(&dir) {
            Some(place) if place.exists() => remove_rest(&dir),
            Some(place) => drop(put_back(&dir, &place)),
            None if has_prefix(&dir, REMOVED) => remove_rest(&dir),
            None if is_removed(&dir) => {
                if let Err(error) = remove(&dir) {
                    tracing::warn!("cannot remove {}: {error}", dir.display());
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// Removes the staging directories of dead processes from a folder that is no store. No lock guards
/// the folder, so a directory without a locked owner must be old. Best effort: a directory that
/// stays costs only space.
pub(super) fn clear_beside(folder: &Path, prefix: &str) {
    /// A living owner has locked its file long before.
    const OLD: Duration = Duration::from_secs(10);
    let is_old = |dir: &Path| {
        let age = dir.symlink_metadata().and_then(|of| of.modified()).map(|time| time.elapsed());
        age.is_ok_and(|age| age.is_ok_and(|age| age > OLD))
    };
    let Ok(entries) = entries(folder) else { return };
    let ours = entries.into_iter().filter(|dir| is_own_dir(dir) && has_prefix(dir, prefix) && is_old(dir));
    for dir in ours.filter(|dir| staging::is_abandoned(dir)) {
        drop(disk::remove_dir_all(&dir));
    }
}

/// Removes the staging directories and temporary files of dead processes. Needs the store's lock.
pub(super) fn clear(tmp: &Path, profiles: &Path) -> Result<()> {
    let abandoned = |dir: &PathBuf| is_own_dir(tmp) && is_own_dir(dir) && staging::is_abandoned(dir);
    for dir in entries(tmp)?.into_iter().filter(abandoned) {
        let removed = put_back_from_staging(&dir, profiles).and_then(|()| disk::remove_dir_all(&dir));
        if let Err(error) = removed {
            tracing::warn!("cannot remove {}: {error}", dir.display());
        }
    }
    for profile in entries(profiles)?.into_iter().filter(|dir| is_own_dir(dir)) {
        // Another user's profile in a shared store can be unreadable.
        let Ok(files) = entries(&profile) else { continue };
        for file in files.into_iter().filter(|path| has_prefix(path, TEMPORARY)) {
            // Manifests are written under the lock, so this is not one. A kept answer that is being
            // written is lost, which costs only time.
            if let Err(error) = disk::remove_file(&file) {
                tracing::debug!("cannot remove {}: {error}", file.display());
            }
        }
    }
    Ok(())
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

/// The content of a directory, hidden names first. Nothing if it is missing or a file.
fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let read = |source| StoreError::Read { path: dir.to_owned(), source };
    let entries = match fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(read)?,
    };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| Ok(entry.map_err(read)?.path())).collect::<Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// Restores a profile whose replacement stopped between the two steps.
fn put_back(replaced: &Path, place: &Path) -> io::Result<()> {
    let restored = disk::rename(replaced, place);
    if let Err(error) = &restored {
        tracing::warn!("cannot move {} back to {}: {error}", replaced.display(), place.display());
    }
    restored?;
    disk::sync_dir(place.parent().unwrap_or(place))
}

/// Restores a profile from a staging directory of an older version. One that cannot be read was
/// replaced already and is half removed.
fn put_back_from_staging(dir: &Path, profiles: &Path) -> io::Result<()> {
    let replaced = dir.join(REPLACED_IN_STAGING);
    if !is_own_dir(&replaced) {
        return Ok(());
    }
    match Manifest::read(&replaced) {
        Ok(manifest) if !profiles.join(&manifest.id).exists() => {
            put_back(&replaced, &profiles.join(manifest.id))
        }
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::warn!("removing what is left of a replaced profile: {error}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replacement::replaced_dir;
    use super::super::{Removed, Store};
    use super::*;

    /// The target of a link does not belong to the store, whoever made the link.
    #[test]
    fn nothing_is_removed_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (root, other) = (folder.path().join("store"), folder.path().join("other"));
        for name in ["a", "sub/b"] {
            let path = other.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
        }
        let left = || (fs::read(other.join("a")).ok(), fs::read(other.join("sub/b")).ok());
        let whole = left();
        let link = |name: &str| std::os::unix::fs::symlink(&other, root.join(name)).unwrap();

        let store = Store::open(&root).unwrap();
        for name in ["profiles/x", "profiles/.removed-y", "profiles/.replaced-z", "tmp/job"] {
            link(name);
        }
        assert!(matches!(store.remove("x"), Ok(Removed::Unreadable(_))));
        assert!(!root.join("profiles/x").is_symlink(), "the link itself is removed");
        store.clear().unwrap();
        Store::open(&root).unwrap();
        assert_eq!(left(), whole);

        fs::remove_file(root.join("tmp/job")).unwrap();
        fs::remove_dir(root.join("tmp")).unwrap();
        link("tmp");
        Store::open(&root).unwrap();
        assert_eq!(left(), whole);
    }

    /// The advice of the message works: `nprof rm` first puts back what was moved aside.
    #[test]
    fn a_damaged_profile_that_was_moved_aside_is_removed_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        Store::open(&root).unwrap();
        let aside = replaced_dir(&root.join("profiles/n_1"));
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join(manifest::FILE), "{").unwrap();

        let store = Store::read(&root);
        let survey = store.survey().unwrap();
        let [(dir, error)] = &survey.unreadable[..] else { panic!("{survey:?}") };
        assert_eq!(dir, &aside);
        let said = error.to_string();
        assert!(said.contains("`nprof rm n_1`"), "{said}");

        assert!(matches!(Store::open(&root).unwrap().remove("n_1"), Ok(Removed::Unreadable(_))));
        assert_eq!(fs::read_dir(root.join("profiles")).unwrap().count(), 0);
    }
}
