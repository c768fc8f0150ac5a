//! Refusals: why a question has no answer, for people and for the page alike.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::Error;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// The reason, in words for people.
    #[serde(rename = "error")]
    pub message: String,
}

/// Kinds of refusals. The page decides by them what it shows; the server maps them to HTTP statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// There is no such profile, rank, track, slice or path.
    NotFound,
    /// The profile has been replaced since the page loaded it.
    Replaced,
    /// The question is written wrongly.
    BadQuestion,
    /// The search pattern has a mistake.
    BadPattern,
    /// The input is no trace that nprof reads.
    BadTrace,
    /// The request contradicts the state of the store.
    Conflict,
    /// The request comes from a place that no request should come from.
    Forbidden,
    /// The path does not take this method.
    MethodNotAllowed,
    /// The answer takes longer than the server computes for one question.
    TooSlow,
    /// Nobody waits for the answer any more.
    Cancelled,
    /// Bytes of the segment are damaged, or a newer nprof wrote them.
    Damaged,
    /// Bytes of the segment cannot be fetched: the web host is gone, for example.
    Unavailable,
    /// The program itself failed.
    Internal,
}

impl RefusalKind {
    /// Whether the same question can have an answer later.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::TooSlow | Self::Cancelled | Self::Damaged | Self::Unavailable | Self::Internal)
    }
}

impl Refusal {
    /// With its reason.
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

/// Names the kind of an error of the engine. The caller adds which profile and rank it is about.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let kind = match error {
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
