//! Files that no output may replace: inputs of the command, and the store's own.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nprof_engine::native::directory_of;

use super::OutputError;

/// Device and inode of a file: the same under each of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The id of an open or named file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The id of the file at this path, if there is one.
    #[must_use]
    pub fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::of)
    }
}

/// Files that no output may replace.
#[derive(Debug, Default)]
pub(super) struct Guarded {
    inputs: HashSet<FileId>,
    /// Files and folders of the store. Nothing below them may be written.
    parts: HashSet<FileId>,
}

impl Guarded {
    /// Guards inputs.
    pub(super) fn add_inputs(&mut self, inputs: impl IntoIterator<Item = FileId>) {
        self.inputs.extend(inputs);
    }

    /// Guards these files and folders, and all that is in them.
    pub(super) fn add_parts(&mut self, parts: &[PathBuf]) {
        self.parts.extend(parts.iter().filter_map(|part| FileId::at(part)));
    }

    /// Checks that this file, which need not exist, may be written.
    ///
    /// # Errors
    /// If it is an input, or belongs to the store.
    pub(super) fn check(&self, path: &Path) -> Result<(), OutputError> {
        if FileId::at(path).is_some_and(|id| self.inputs.contains(&id)) {
            return Err(OutputError::IsInput { path: path.to_owned() });
        }
        // A new file will be in the same folder as its name.
        let place = std::fs::canonicalize(path).or_else(|_| std::fs::canonicalize(directory_of(path)));
        let is_guarded = |above: &Path| FileId::at(above).is_some_and(|id| self.parts.contains(&id));
        if place.is_ok_and(|place| place.ancestors().any(is_guarded)) {
            return Err(OutputError::InStore { path: path.to_owned() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn inputs_and_all_below_the_store_are_guarded_under_each_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("profiles/n_1")).unwrap();
        for name in ["input", "profiles/n_1/manifest.json", "other"] {
            fs::write(at(name), "x").unwrap();
        }
        fs::hard_link(at("input"), at("second name")).unwrap();
        symlink(at("profiles/n_1"), at("way in")).unwrap();
        let mut guarded = Guarded::default();
        guarded.add_inputs(FileId::at(&at("input")));
        guarded.add_parts(&[at("profiles"), at("missing")]);
        for name in ["input", "second name"] {
            let refused = guarded.check(&at(name));
            assert!(matches!(refused, Err(OutputError::IsInput { .. })), "{name}: {refused:?}");
        }
        for name in ["profiles/n_1/manifest.json", "profiles/new", "way in/rank_0.nseg", "profiles"] {
            let refused = guarded.check(&at(name));
            assert!(matches!(refused, Err(OutputError::InStore { .. })), "{name}: {refused:?}");
        }
        guarded.check(&at("other")).unwrap();
        guarded.check(&at("new")).unwrap();
    }
}
