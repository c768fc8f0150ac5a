//! Errors of the store.

use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::wire::notes::NotesError;

use super::replacement::name_for_rm;

/// Shorthand for results of the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Reason why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A directory could not be created.
    #[error(
        "{}: cannot create this directory ({source}); choose another directory with --store DIR",
        path.display()
    )]
    Create {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or directory could not be read.
    #[error("{}: cannot read ({source})", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or directory could not be written.
    #[error(
        "{}: cannot write ({source}); check the permissions and the free space of the store",
        path.display()
    )]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is not a manifest.
    #[error(
        "{}: this is not a manifest of nprof ({source}); remove the profile with `nprof rm {}` and ingest its \
         trace again",
        path.display(), directory_name(path)
    )]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The cause, with line and column.
        source: serde_json::Error,
    },
    /// A manifest contradicts itself.
    #[error(
        "{}: this manifest cannot be used ({what}); remove the profile with `nprof rm {}` and ingest its \
         trace again",
        path.display(), directory_name(path)
    )]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        what: &'static str,
    },
    /// A newer nprof wrote the manifest.
    #[error(
        "{}: the manifest has format {found}, but this nprof reads formats up to {newest}; upgrade nprof, \
         or remove the profile with `nprof rm {}`",
        path.display(), directory_name(path)
    )]
    NewerManifest {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The newest version that this program reads.
        newest: u32,
    },
    /// Notes cannot be read.
    #[error(
        "{}: these notes cannot be used ({what}); the profile itself is not affected; repair the file, or move \
         it away to begin anew",
        path.display()
    )]
    Notes {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// Baselines cannot be read.
    #[error(
        "{}: these baselines cannot be used ({what}); no profile is affected; repair the file, or move it away to \
         begin anew",
        path.display()
    )]
    Baselines {
        /// The file.
        path: PathBuf,
        /// The cause.
        what: String,
    },
    /// A baseline cannot have the name of a profile.
    #[error("\"{name}\" is a name of the profile {id}; give the baseline another one")]
    BaselineTaken {
        /// The name.
        name: String,
        /// Id of the profile that has it.
        id: String,
    },
    /// The store has no such baseline.
    #[error("no baseline is named \"{name}\"; `nprof baseline` shows all")]
    NoBaseline {
        /// The name.
        name: String,
    },
    /// A change of notes is not allowed.
    #[error(transparent)]
    RefusedNote(#[from] NotesError),
    /// The store has no such profile.
    #[error("no profile \"{name}\" in the store {}; `nprof list` shows all profiles", store.display())]
    Unknown {
        /// The requested name.
        name: String,
        /// Directory of the store.
        store: PathBuf,
    },
    /// The store may only be read.
    #[error(
        "{}: this store is read only ({source}); its profiles can be shown, not changed; choose another \
         store with --store DIR",
        store.display()
    )]
    ReadOnly {
        /// Directory of the store.
        store: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The profile is in the store, but its manifest cannot be read.
    #[error(
        "this trace is in the store already, but cannot be read there: {source}; or replace it with --force"
    )]
    Unreadable {
        /// The cause, with the directory.
        source: Box<StoreError>,
    },
    /// Several profiles have the name.
    #[error("{} profiles have the name \"{name}\": {}; choose one of them by its id", ids.len(), ids.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// Names of the directories of the profiles.
        ids: Vec<String>,
    },
    /// The profile has no such rank.
    #[error("profile \"{profile}\" has no rank {rank}; it has {known}")]
    UnknownRank {
        /// Name of the profile.
        profile: String,
        /// The requested rank.
        rank: u32,
        /// Numbers of the profile's ranks.
        known: String,
    },
    /// The name belongs to another profile.
    #[error(
        "the name \"{name}\" is taken by the profile {id}; choose another name, or replace that profile \
         with --force"
    )]
    NameTaken {
        /// The name.
        name: String,
        /// Id of the profile that has the name.
        id: String,
    },
    /// The profile got other ranks while further ones were read for it.
    #[error("the profile \"{name}\" was changed while the traces were read; repeat the command")]
    Changed {
        /// Name of the profile.
        name: String,
    },
    /// A name that is not allowed in a URL.
    #[error("\"{name}\" cannot be a profile's name: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// No directory was given, and the environment names none.
    #[error(
        "no directory for the store: NPROF_STORE, XDG_DATA_HOME and HOME are not set; name one with \
         --store DIR"
    )]
    NoHome,
}

/// The name of a manifest's directory for `nprof rm`.
fn directory_name(file: &Path) -> String {
    name_for_rm(file.parent().unwrap_or(file))
}
