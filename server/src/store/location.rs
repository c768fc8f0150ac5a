//! Default directory of the store.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{Result, StoreError};

/// `$NPROF_STORE`, else `$XDG_DATA_HOME/nprof`, else `~/.local/share/nprof`.
///
/// # Errors
/// If none of these variables is set.
pub fn default_root() -> Result<PathBuf> {
    root_from(|name| std::env::var_os(name))
}

fn root_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("NPROF_STORE")
        // XDG base directory specification: a relative path is invalid and must be ignored.
        .or_else(|| set("XDG_DATA_HOME").filter(|path| path.is_absolute()).map(|path| path.join("nprof")))
        .or_else(|| set("HOME").map(|path| path.join(".local/share/nprof")))
        .ok_or(StoreError::NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let root =
            root_from(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()));
        assert_eq!(root.ok(), expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_first_that_is_set_wins() {
        check(&[("NPROF_STORE", "here"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("here"));
        check(&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/nprof"));
        check(&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")], Some("/h/.local/share/nprof"));
        check(&[("NPROF_STORE", ""), ("HOME", "/h")], Some("/h/.local/share/nprof"));
        check(&[], None);
    }
}
