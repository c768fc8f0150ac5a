//! Exports, one file per format.

mod arrows;
pub mod json;
mod neuron_summary;
pub mod perfetto;
pub mod rows;
pub mod summary;
mod tracks;

use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::native::{OpenError, SegmentFile};

/// Why an export did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A segment could not be read.
    #[error("{}: {source}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// Why.
        source: nprof_engine::base::Error,
    },
    /// A file could not be opened.
    #[error("{}: cannot read ({source})", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The output could not be written.
    #[error("cannot write the export ({0}); check the rights and the free space")]
    Write(#[from] io::Error),
}

/// Opens a segment for an export.
///
/// # Errors
/// Where it cannot be read.
pub fn open(path: &Path) -> Result<SegmentFile, ExportError> {
    SegmentFile::open_file(path).map_err(|error| match error {
        OpenError::Io(source) => ExportError::Open { path: path.to_owned(), source },
        OpenError::Segment(source) => ExportError::Segment { path: path.to_owned(), source },
    })
}
