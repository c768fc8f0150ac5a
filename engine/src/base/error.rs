//! The engine's errors, sorted by who has to act.

use std::fmt;

/// Places in the annex, the last part of a segment's footer, are told apart from places in the file by this bit.
pub const ANNEX: u64 = 1 << 63;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the engine could not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The bytes contradict the format: the file is damaged.
    Corrupt {
        /// The part of the file, as `docs/format.md` names it.
        what: &'static str,
        /// Where in the file, in bytes; from [`ANNEX`] on, where in the annex.
        offset: u64,
    },
    /// Parts that are intact contradict each other: the file was made so.
    Inconsistent {
        /// What does not fit.
        what: &'static str,
    },
    /// The bytes end early: the file was cut off.
    Truncated {
        /// Bytes that the reader expected.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// Written by a newer nprof: upgrade. Or by one from before the first release: ingest the trace again.
    UnsupportedVersion {
        /// The version in the file.
        found: u16,
        /// The newest version this program reads.
        newest: u16,
    },
    /// Scratch space, an output or a file elsewhere refused: the disk is full, or the network is gone.
    /// The implementor keeps the cause.
    Storage {
        /// What was tried.
        what: &'static str,
    },
    /// Nobody waits for the answer any more.
    Cancelled,
    /// The caller's own mistake, or an answer that does not exist.
    Invalid {
        /// What is wrong.
        what: &'static str,
    },
}

const _: () = assert!(size_of::<Error>() <= 32, "errors travel by value: keep them small");

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt { what, offset } if *offset >= ANNEX => {
                write!(f, "damaged in the footer: {what}; ingest the trace again")
            }
            Self::Corrupt { what, offset } => {
                write!(f, "damaged at byte {offset}: {what}; ingest the trace again")
            }
            Self::Inconsistent { what } => {
                write!(f, "parts of the file contradict each other: {what}; ingest the trace again")
            }
            Self::Truncated { needed, available } => {
                write!(f, "cut off: {needed} bytes expected, {available} there; ingest the trace again")
            }
            Self::UnsupportedVersion { found, newest } if found < newest => {
                write!(
                    f,
                    "format version {found} is from before the first release; ingest the trace again with --force"
                )
            }
            Self::UnsupportedVersion { found, newest } => {
                write!(f, "format version {found}, this nprof reads up to {newest}: upgrade nprof")
            }
            Self::Storage { what } => write!(f, "storage failed: {what}"),
            Self::Cancelled => f.write_str("the work was cancelled"),
            Self::Invalid { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
