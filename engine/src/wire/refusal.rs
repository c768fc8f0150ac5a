//! Refusals: the reason why a question has no answer, for users and for the page.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::allowance::TOO_LARGE;
use crate::base::Error;

/// Reason why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Reason for programs.
    pub kind: RefusalKind,
    /// Reason as a text of one line for users.
    #[serde(rename = "error")]
    pub message: String,
}

/// Kinds of refusals. Programs decide by them. The server maps them to HTTP statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// There is no such profile, rank, track, slice or path.
    NotFound,
    /// The profile has been replaced since the page loaded it.
    Replaced,
    /// The question is malformed.
    BadQuestion,
    /// The search pattern has a mistake.
    BadPattern,
    /// The input is no trace that nprof reads.
    BadTrace,
    /// The request conflicts with the state of the store.
    Conflict,
    /// Requests from this origin are not allowed.
    Forbidden,
    /// The path does not take this method.
    MethodNotAllowed,
    /// The answer takes longer than the server's time limit for one question.
    TooSlow,
    /// The client no longer waits for the answer.
    Cancelled,
    /// Bytes of the segment are damaged, or a newer nprof wrote them.
    Damaged,
    /// Bytes of the segment cannot be fetched, for example because the web host is gone.
    Unavailable,
    /// The program itself failed.
    Internal,
    /// The request has no valid token of the server, and the server does not know its sender.
    Unauthorized,
}

impl RefusalKind {
    /// Whether the same question can succeed later.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::TooSlow | Self::Cancelled | Self::Damaged | Self::Unavailable | Self::Internal)
    }
}

impl Refusal {
    /// Creates a refusal with a reason.
    #[must_use]
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Maps an error of the engine to a kind. The caller adds the profile and rank.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let kind = match error {
            error if error == TOO_LARGE => RefusalKind::BadQuestion,
            // The caller asked for a row, a track or a tile that does not exist.
            Error::Invalid { .. } => RefusalKind::NotFound,
            Error::Cancelled => RefusalKind::Cancelled,
            Error::Storage { .. } => RefusalKind::Unavailable,
            _ => RefusalKind::Damaged,
        };
        let message = match error {
            Error::Invalid { what } => what.to_owned(),
            _ => error.to_string(),
        };
        Self { kind, message }
    }
}
