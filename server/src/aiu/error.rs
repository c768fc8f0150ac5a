//! Errors of acelyzer's files.

use std::io;

use crate::export::ExportError;
use crate::ingest::IngestError;
use crate::output::OutputError;

/// Errors of reading traces for acelyzer's files, and of writing them.
#[derive(Debug, thiserror::Error)]
pub enum AiuError {
    /// A trace could not be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A segment could not be opened.
    #[error(transparent)]
    Open(#[from] ExportError),
    /// Bytes of a segment are damaged.
    #[error("a segment cannot be read: {0}; run the command again")]
    Segment(#[from] nprof_engine::base::Error),
    /// Settings cannot be used.
    #[error(transparent)]
    Settings(#[from] nprof_capture::error::Error),
    /// A pattern of inputs finds no file.
    #[error("{0}: no file has this name; check the pattern")]
    NoFile(String),
    /// A file may not or could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The output could not be written.
    #[error("cannot write ({0}); check the rights and the free space")]
    Write(#[from] io::Error),
}

/// The result of reading or writing.
pub type Result<T, E = AiuError> = std::result::Result<T, E>;
