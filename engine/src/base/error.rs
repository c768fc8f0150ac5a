//! Errors of the engine, sorted by who has to act.

use std::fmt;

/// Flag of an offset in the annex, the last part of a segment's footer. An offset in the file has
/// this bit clear.
pub const ANNEX: u64 = 1 << 63;

/// Result with an error of this crate.
///
/// A function that reads bytes fails if they are missing or damaged. A function with a sink, an
/// output, scratch space or a callback returns their error, and one with a `Work` fails if it is
/// cancelled. A section about errors says what does not follow from this.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why the engine gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The bytes contradict the format: the file is damaged.
    Corrupt {
        /// The part of the file, as `docs/format.md` names it.
        what: &'static str,
        /// Offset in the file, in bytes; from [`ANNEX`] on, offset in the annex.
        offset: u64,
    },
    /// Intact parts contradict each other: the writer of the file was wrong.
    Inconsistent {
        /// Name of the contradiction.
        what: &'static str,
    },
    /// The bytes end early: the file was cut.
    Truncated {
        /// Bytes that the reader expected.
        needed: u64,
        /// Bytes that are present.
        available: u64,
    },
    /// The file's version is not supported. If it is newer, upgrade nprof. If it is from before the
    /// first release, ingest the trace again.
    UnsupportedVersion {
        /// Version in the file.
        found: u16,
        /// Newest version that this program reads.
        newest: u16,
    },
    /// Scratch space, an output or a remote file failed: the disk is full, for example, or the
    /// network is down. The implementor keeps the cause.
    Storage {
        /// Operation that failed.
        what: &'static str,
    },
    /// The caller does not want the answer any more.
    Cancelled,
    /// The caller made a mistake, or asked for an answer that does not exist.
    Invalid {
        /// Description of the mistake.
        what: &'static str,
    },
}

const _: () = assert!(size_of::<Error>() <= 32, "errors travel by value: keep them small");

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt { what, offset } if *offset >= ANNEX => {
                write!(f, "the footer is damaged ({what}); ingest the trace again")
            }
            Self::Corrupt { what, offset } => {
                write!(f, "the file is damaged at byte {offset} ({what}); ingest the trace again")
            }
            Self::Inconsistent { what } => {
                write!(f, "parts of the file contradict each other ({what}); ingest the trace again")
            }
            Self::Truncated { needed, available } => {
                write!(
                    f,
                    "the file is cut off: {needed} bytes expected, {available} present; ingest the trace \
                     again"
                )
            }
            Self::UnsupportedVersion { found, newest } if found < newest => {
                write!(
                    f,
                    "the file has format version {found} from before the first release; ingest the trace \
                     again with --force"
                )
            }
            Self::UnsupportedVersion { found, newest } => {
                write!(
                    f,
                    "the file has format version {found}, but this nprof reads versions up to {newest}; \
                     upgrade nprof"
                )
            }
            Self::Storage { what } => write!(f, "reading or writing failed ({what})"),
            Self::Cancelled => f.write_str("the work was cancelled"),
            Self::Invalid { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}
