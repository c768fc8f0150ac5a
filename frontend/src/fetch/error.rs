//! Errors of requests, in words for people.

use std::fmt;

use nprof_engine::wire::refusal::{Refusal, RefusalKind};

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchError {
    /// No answer: the server or the network is down.
    Unreachable,
    /// The page itself cancelled the request.
    Cancelled,
    /// The question was refused. The refusal says why.
    Refused(Refusal),
    /// A server other than nprof answered, with this HTTP status.
    Status(u16),
    /// The answer cannot be read.
    Unreadable {
        /// The fault in the answer.
        what: &'static str,
    },
}

impl FetchError {
    /// Returns true if this is a refusal of this kind.
    #[must_use]
    pub fn is_refusal(&self, kind: RefusalKind) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.kind == kind)
    }

    /// Returns true if a retry can help.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable | Self::Cancelled => true,
            Self::Refused(refusal) => refusal.kind.is_temporary(),
            Self::Status(status) => *status >= 500 || *status == 429,
            Self::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("The server does not answer: check that nprof serve is running"),
            Self::Cancelled => f.write_str("The request was cancelled"),
            Self::Refused(refusal) => f.write_str(&refusal.message),
            Self::Status(status) => write!(f, "The server answered with status {status}"),
            Self::Unreadable { what } => {
                write!(f, "The server's answer cannot be read ({what}): reload the page")
            }
        }
    }
}

impl std::error::Error for FetchError {}
