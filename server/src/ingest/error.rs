//! Errors of ingests.

use std::io;
use std::path::{Path, PathBuf};

use nprof_engine::wire::refusal::Refusal;

use crate::child_end::ChildEnd;
use crate::store::StoreError;

/// Shorthand for results of ingest.
pub type Result<T, E = IngestError> = std::result::Result<T, E>;

/// Reason why a trace did not become a profile. The store is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The user named no file.
    #[error("no trace to read: name a trace file, or a directory with traces")]
    NoInput,
    /// The directory contains no trace.
    #[error(
        "{}: no trace in this directory; expected NTFF, neuron-profile JSON, Trace Event JSON or a \
         Perfetto trace, compressed or not",
        path.display()
    )]
    EmptyDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains no file of a compiler.
    #[error(
        "{}: no file of a compiler in this directory; expected logs with ideal cycles or \
         `<kernel>/perf/ideal_cycles.json`",
        path.display()
    )]
    NoCompilerFile {
        /// The directory.
        path: PathBuf,
    },
    /// The archive contains no trace.
    #[error(
        "{}: no trace in this archive; expected NTFF, neuron-profile JSON, Trace Event JSON or a \
         Perfetto trace, compressed or not",
        path.display()
    )]
    EmptyArchive {
        /// The archive.
        path: PathBuf,
    },
    /// Only a NEFF was given. A NEFF is a program, not a trace.
    #[error(
        "{}: this NEFF is a program without its trace; name the trace too: -s profile.ntff",
        path.display()
    )]
    NeffAlone {
        /// The NEFF.
        path: PathBuf,
    },
    /// Only files of a compiler were given.
    #[error("{}: this is a file of a compiler without a trace; name the trace too", path.display())]
    CompilerAlone {
        /// One of the files.
        path: PathBuf,
    },
    /// A trace was named as a log of a compiler.
    #[error(
        "{}: this is a trace, and -c is for logs of the compiler; name it with the other traces",
        path.display()
    )]
    TraceAsLog {
        /// The trace.
        path: PathBuf,
    },
    /// It is not clear which NEFF belongs to which trace.
    #[error(
        "{} and {}: several NEFFs; name the traced NEFF with -n, or ingest the traces one by one",
        first.display(), second.display()
    )]
    SeveralNeffs {
        /// One of the NEFFs.
        first: PathBuf,
        /// Another NEFF.
        second: PathBuf,
    },
    /// The traces are several profiles, and one name was given.
    #[error(
        "these traces are several profiles, which begin with {}, and one name cannot be that of all; leave \
         the name out, ingest them one by one, or add --as-ranks to make ranks of one profile of them",
        first.join(", ")
    )]
    SeveralProfiles {
        /// The first trace of the first profiles.
        first: Vec<String>,
    },
    /// A file could not be read.
    #[error("{}: cannot read ({source}); check the path and the permissions", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The path does not lead to a file.
    #[error("{}: not a regular file; name a trace file, or a directory with traces", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file became shorter while it was read.
    #[error(
        "{}: the file became shorter during the ingest; ingest it again when nothing writes to it",
        path.display()
    )]
    Shrunk {
        /// The file.
        path: PathBuf,
    },
    /// A file does not have the format that a reader expects.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The problem, its place and the advice.
        source: nprof_capture::error::Error,
    },
    /// Files of directories and archives that turned out not to be traces. The ingest is repeated
    /// without them.
    #[error("{} files of the directory are not traces", .0.len())]
    Spared(Vec<(PathBuf, nprof_capture::error::Error)>),
    /// A segment could not be written or read back.
    #[error("{}: {source}", path.display())]
    Segment {
        /// The input of the segment.
        path: PathBuf,
        /// The cause.
        source: nprof_engine::base::Error,
    },
    /// The disk refused to store the data of an input.
    #[error("{}: cannot write the profile ({source}); check the free space of the store", path.display())]
    Write {
        /// The input.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The process of an ingest could not be started.
    #[error("the server cannot start the process of an ingest ({0}); the store is unchanged")]
    Start(#[source] io::Error),
    /// The process of an ingest refused the inputs.
    #[error("{0}")]
    Refused(Refusal),
    /// The process of an ingest ended before its time.
    #[error("{0}; the store is unchanged")]
    Ended(ChildEnd),
    /// An internal fault.
    #[error("the ingest failed because of a bug in nprof; the store is unchanged; please report the bug")]
    Died,
    /// Cancelled by the user.
    #[error("cancelled; the store is unchanged")]
    Cancelled,
    /// Cancelled by the user while the ranks were compared.
    #[error("cancelled; the profile is in the store, and its ranks are compared when somebody looks at them")]
    NotCompared,
}

impl IngestError {
    /// Error for a file that could not be read.
    pub(super) fn open(path: &Path, source: io::Error) -> Self {
        Self::Open { path: path.to_owned(), source }
    }

    /// The error with file names in place of paths: the temporary path of an upload tells nobody
    /// anything.
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
            | Self::NoCompilerFile { path }
            | Self::EmptyArchive { path }
            | Self::NeffAlone { path }
            | Self::CompilerAlone { path }
            | Self::TraceAsLog { path }
            | Self::Open { path, .. }
            | Self::NotAFile { path }
            | Self::Shrunk { path }
            | Self::Format { path, .. }
            | Self::Segment { path, .. }
            | Self::Write { path, .. } => shorten(path),
            Self::NoInput
            | Self::SeveralProfiles { .. }
            | Self::Store(_)
            | Self::Start(_)
            | Self::Refused(_)
            | Self::Ended(_)
            | Self::Died
            | Self::Spared(_)
            | Self::NotCompared
            | Self::Cancelled => {}
        }
        self
    }

    /// Error for a path that does not lead to a file.
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
