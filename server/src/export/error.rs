//! Errors of exports.

use indicatif::BinaryBytes;
use std::io;
use std::path::PathBuf;

use crate::store::{SegmentPlace, StoreError};

/// Errors of exports.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A segment could not be read.
    #[error("{place}: {source}")]
    Segment {
        /// The segment.
        place: SegmentPlace,
        /// The cause.
        source: nprof_engine::base::Error,
    },
    /// The file of a segment could not be opened.
    #[error("{place}: cannot read ({source})")]
    Open {
        /// The segment.
        place: SegmentPlace,
        /// The cause.
        source: io::Error,
    },
    /// The binary was built without the page.
    #[error("this nprof was built without its page; run scripts/page.sh and build again")]
    NoPage,
    /// The export was cancelled.
    #[error(transparent)]
    Cancelled(nprof_engine::base::Error),
    /// The store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The profile does not have this rank.
    #[error("profile \"{profile}\" has no rank {rank}; it has {known}")]
    NoRank {
        /// Name of the profile.
        profile: String,
        /// The requested rank.
        rank: u32,
        /// Ranks of the profile, for the message.
        known: String,
    },
    /// The format has one file for each rank, and several ranks are requested as one file.
    #[error(
        "{format} holds one rank: choose one, such as --ranks {first} (ranks={first} in a URL); here are ranks {known}"
    )]
    SeveralRanks {
        /// Key of the format.
        format: &'static str,
        /// A rank that could be requested.
        first: u32,
        /// The requested ranks, for the message.
        known: String,
    },
    /// The rank does not have this table.
    #[error("rank {rank} has no table \"{table}\"; it has {known}")]
    NoTable {
        /// The rank.
        rank: u32,
        /// The requested table.
        table: String,
        /// Tables of the rank, for the message.
        known: String,
    },
    /// The requested part contains no event.
    #[error("no event is in this part; tracks are {known}")]
    NothingLeft {
        /// Tracks of the profile, for the message.
        known: String,
    },
    /// The requested time ends before it begins.
    #[error("the part ends at {to} and begins at {from}; its end must be after its start")]
    Reversed {
        /// Start, for the message.
        from: String,
        /// End, for the message.
        to: String,
    },
    /// The requested time lies beside that of the profile.
    #[error("no event is in this part; the profile lasts {length}, and times count from its first event")]
    BesideProfile {
        /// Length of the profile, for the message.
        length: String,
    },
    /// Segments of the profile cannot be opened.
    #[error("{first}; {unreadable} cannot be read, --ranks {readable} exports the others")]
    Unreadable {
        /// The first error.
        first: Box<ExportError>,
        /// The ranks whose segments cannot be opened, for the message: `rank 2`, `ranks 2-3`.
        unreadable: String,
        /// All other ranks, for the message.
        readable: String,
    },
    /// The file would be larger than the limit.
    #[error(
        "the file would have {}, --max-size allows {}; take fewer --ranks, less time (--from, --to) or fewer --tracks",
        BinaryBytes(*size_bytes), BinaryBytes(*max_bytes)
    )]
    TooLarge {
        /// Size of the file in bytes.
        size_bytes: u64,
        /// Limit in bytes.
        max_bytes: u64,
    },
    /// The output folder already contains files.
    #[error("{}: this folder is not empty; name a new one, or empty it", _0.display())]
    FolderInUse(PathBuf),
    /// The output could not be written.
    #[error("cannot write the export ({0}); check the rights and the free space")]
    Write(#[from] io::Error),
}

/// The two kinds of failures while rows are written: of reading and of writing.
pub(super) enum RowFailure {
    Engine(nprof_engine::base::Error),
    Io(io::Error),
}

impl From<nprof_engine::base::Error> for RowFailure {
    fn from(error: nprof_engine::base::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for RowFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for RowFailure {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}
