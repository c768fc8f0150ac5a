//! Why a trace did not become a profile.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// Shorthand for results of ingest.
pub type Result<T, E = IngestError> = std::result::Result<T, E>;

/// Why a trace did not become a profile. The store is as it was.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// No file was named.
    #[error("no trace to read: name a trace file, or a directory with traces")]
    NoInput,
    /// A directory has nothing for us.
    #[error(
        "{}: no trace in this directory; expected NTFF, neuron-profile JSON or Trace Event JSON, packed or not",
        path.display()
    )]
    EmptyDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// An archive has nothing for us.
    #[error(
        "{}: no trace in this archive; expected NTFF, neuron-profile JSON or Trace Event JSON, packed or not",
        path.display()
    )]
    EmptyArchive {
        /// The archive.
        path: PathBuf,
    },
    /// A NEFF is a program, not a trace.
    #[error("{}: a NEFF is the program, not its trace; name the trace too: -s profile.ntff", path.display())]
    NeffAlone {
        /// The NEFF.
        path: PathBuf,
    },
    /// Which NEFF belongs to which trace is open.
    #[error(
        "{} and {}: several NEFFs; name the one that was traced with -n, or ingest the traces one by one",
        first.display(), second.display()
    )]
    SeveralNeffs {
        /// One.
        first: PathBuf,
        /// Another.
        second: PathBuf,
    },
    /// A file could not be read.
    #[error("{}: cannot read ({source}); check the path and the rights", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is none.
    #[error("{}: not a regular file; name a trace file, or a directory with traces", path.display())]
    NotAFile {
        /// What it is.
        path: PathBuf,
    },
    /// A file is not what a reader expects.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What, where, and what to do.
        source: nprof_capture::formats::Error,
    },
    /// A segment could not be written or read back.
    #[error("{}: {source}", path.display())]
    Segment {
        /// The input that it was made of.
        path: PathBuf,
        /// Why.
        source: nprof_engine::base::Error,
    },
    /// The disk refused what was read.
    #[error("{}: cannot write the profile ({source}); check the free space of the store", path.display())]
    Write {
        /// The input that it was made of.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault of our own.
    #[error("the ingest ended by a fault of nprof; the store is unchanged; please report it")]
    Died,
    /// Stopped by the user.
    #[error("cancelled; the store is unchanged")]
    Cancelled,
}

impl IngestError {
    /// A file that could not be read.
    pub(super) fn open(path: &Path, source: io::Error) -> Self {
        Self::Open { path: path.to_owned(), source }
    }

    /// With names of files instead of paths: where an upload lay meanwhile tells nobody anything.
    #[must_use]
    pub fn with_file_names(mut self) -> Self {
        let shorten = |path: &mut PathBuf| {
            if let Some(name) = path.file_name() {
                *path = PathBuf::from(name);
            }
        };
        match &mut self {
            Self::SeveralNeffs { first, second } => {
                shorten(first);
                shorten(second);
            }
            Self::EmptyDirectory { path }
            | Self::EmptyArchive { path }
            | Self::NeffAlone { path }
            | Self::Open { path, .. }
            | Self::NotAFile { path }
            | Self::Format { path, .. }
            | Self::Segment { path, .. }
            | Self::Write { path, .. } => shorten(path),
            Self::NoInput | Self::Store(_) | Self::Died | Self::Cancelled => {}
        }
        self
    }

    /// Something that is no file.
    pub(super) fn not_a_file(path: &Path) -> Self {
        Self::NotAFile { path: path.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_called_by_its_name() {
        let error = IngestError::NotAFile { path: PathBuf::from("/store/tmp/x1/upload/0/bad.json") };
        assert!(error.with_file_names().to_string().starts_with("bad.json: "));
    }
}
