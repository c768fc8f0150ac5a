//! Search over names and text fields.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The first hits in order of time; at most as many as were asked for.
    pub hits: Vec<SearchHit>,
    /// All hits.
    pub total: u64,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The slice.
    pub slice: SliceEntry,
    /// The field that matched; `name` for the slice's name.
    pub field: String,
}
