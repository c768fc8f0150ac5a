//! The place of a profile that is being replaced.

use std::path::{Path, PathBuf};

/// Start of the name of a profile that is being replaced in two steps. Its id follows.
const REPLACED: &str = ".replaced-";

/// The place of the profile with this directory while another takes the directory.
pub(super) fn replaced_dir(dir: &Path) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    dir.with_file_name(format!("{REPLACED}{name}"))
}

/// The directory of a profile that was moved aside, if this is such a place.
pub(super) fn place_of_replaced(dir: &Path) -> Option<PathBuf> {
    let id = dir.file_name()?.to_str()?.strip_prefix(REPLACED)?;
    Some(dir.with_file_name(id))
}

/// The name of a profile's directory for `nprof rm`, which first puts back what was moved aside.
#[must_use]
pub fn name_for_rm(dir: &Path) -> String {
    let place = place_of_replaced(dir);
    place.as_deref().unwrap_or(dir).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
