//! The error of a query that cannot be searched for.

use std::fmt;

/// Error in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// Character position of the error, counted from 0; `None` for the whole query.
    pub at: Option<usize>,
    /// Description of the error.
    pub what: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "the pattern is invalid at character {}: {}", at + 1, self.what),
            None => write!(f, "the pattern cannot be searched: {}", self.what),
        }
    }
}

impl std::error::Error for PatternError {}
