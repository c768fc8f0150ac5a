//! A span of time in messages.

use serde::{Deserialize, Serialize};

/// A span of time, in picoseconds of the clock that all ranks share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanEntry {
    /// Its start.
    pub start_ps: i64,
    /// Its end.
    pub end_ps: i64,
}

impl SpanEntry {
    /// The span between two times.
    #[must_use]
    pub fn of(start_ps: i64, end_ps: i64) -> Self {
        Self { start_ps, end_ps }
    }
}
