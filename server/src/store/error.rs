//! What can go wrong with the store.

use std::io;
use std::path::PathBuf;

/// Shorthand for results of the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A directory could not be made.
    #[error("{}: cannot create this directory ({source}); choose another with --store DIR", path.display())]
    Create {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something could not be read.
    #[error("{}: cannot read ({source})", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something could not be written.
    #[error("{}: cannot write ({source}); check the rights and the free space of the store", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A manifest is no manifest.
    #[error("{}: not a manifest of nprof ({source}); remove the profile and ingest its trace again", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why, with line and column.
        source: serde_json::Error,
    },
    /// A manifest contradicts itself.
    #[error("{}: {what}; remove the profile and ingest its trace again", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A newer nprof wrote it.
    #[error("{}: manifest format {found}, this nprof reads up to {newest}; upgrade nprof", path.display())]
    NewerManifest {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest that this program reads.
        newest: u32,
    },
    /// No such profile.
    #[error("no profile \"{name}\" in the store {}; `nprof list` shows what is there", store.display())]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where.
        store: PathBuf,
    },
    /// The name belongs to another profile.
    #[error(
        "the name \"{name}\" is taken by the profile {id}; choose another, or --force to replace that profile"
    )]
    NameTaken {
        /// The name.
        name: String,
        /// Its owner.
        id: String,
    },
    /// A name that no URL can carry.
    #[error("\"{name}\" cannot be a profile's name: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why.
        reason: &'static str,
    },
    /// Nobody said where, and the environment does not help.
    #[error(
        "no place for the store: neither NPROF_STORE nor XDG_DATA_HOME nor HOME is set; give --store DIR"
    )]
    NoHome,
}
