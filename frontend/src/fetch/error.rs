//! Why something did not arrive, in words for people.

use std::fmt;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchError {
    /// No answer: the server is gone, or the network is.
    Unreachable,
    /// The page itself called the request off.
    Cancelled,
    /// The server refused, and said why.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's own words.
        message: String,
    },
    /// The answer cannot be read.
    Unreadable {
        /// What is wrong with it.
        what: &'static str,
    },
}

impl FetchError {
    /// Whether asking again can help.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable | Self::Cancelled => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 429,
            Self::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("The server does not answer: check that nprof serve is running"),
            Self::Cancelled => f.write_str("The request was called off"),
            Self::Refused { message, .. } if !message.is_empty() => f.write_str(message),
            Self::Refused { status, .. } => write!(f, "The server answered with status {status}"),
            Self::Unreadable { what } => {
                write!(f, "The server's answer cannot be read ({what}): reload the page")
            }
        }
    }
}

impl std::error::Error for FetchError {}
