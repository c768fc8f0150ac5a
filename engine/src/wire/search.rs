//! Search over names and text fields.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// Hits in order of time, without a gap; at most as many as were asked for.
    pub hits: Vec<SearchHit>,
    /// How many hits come before the first of `hits`; before the place asked for where `hits` is
    /// empty.
    pub before: u64,
    /// How many hits there are in all.
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
