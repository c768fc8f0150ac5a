//! Exports, one file per format.

mod arrows;
pub mod cut;
pub mod html;
pub mod json;
mod neuron_summary;
pub mod perfetto;
pub mod summary;
mod tracks;

use indicatif::DecimalBytes;
use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::native::{OpenError, SegmentFile};

use crate::store::StoreError;

/// Errors of exports.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A segment could not be read.
    #[error("{}: {source}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: nprof_engine::base::Error,
    },
    /// A file could not be opened.
    #[error("{}: cannot read ({source})", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The binary was built without the page.
    #[error("this nprof was built without its page; run scripts/page.sh and build again")]
    NoPage,
    /// Bytes of a segment are damaged.
    #[error("a segment cannot be read: {0}; `nprof verify` tells more")]
    Damaged(nprof_engine::base::Error),
    /// The store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The requested part contains no event.
    #[error("no event is in this part; tracks are {known}")]
    NothingLeft {
        /// Tracks of the profile, for the message.
        known: String,
    },
    /// The file would be larger than the limit.
    #[error(
        "the file would have {}, --max-size allows {}; take fewer --ranks, less time (--from, --to) or fewer --tracks",
        DecimalBytes(*size_bytes), DecimalBytes(*max_bytes)
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

/// Opens a segment for an export.
///
/// # Errors
/// If the segment cannot be read.
pub fn open(path: &Path) -> Result<SegmentFile, ExportError> {
    SegmentFile::open_file(path).map_err(|error| match error {
        OpenError::Io(source) => ExportError::Open { path: path.to_owned(), source },
        OpenError::Segment(source) => ExportError::Segment { path: path.to_owned(), source },
    })
}
