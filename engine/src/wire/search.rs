//! Search over names and text fields.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;
use super::message_times::{TimeField, Timed};

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// Hits in order of time, without a gap; at most the requested number.
    pub hits: Vec<SearchHit>,
    /// Number of hits before the first of `hits`, or before the requested place if `hits` is empty.
    pub before: u64,
    /// Number of hits in all.
    pub total: u64,
    /// Number of hits that start in each of the requested parts of time.
    pub density: Vec<u32>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHit {
    /// The slice.
    pub slice: SliceEntry,
    /// The field that matched; `name` for the slice's name.
    pub field: String,
}

impl Timed for SearchResult {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        self.hits.iter_mut().for_each(|hit| hit.slice.each_time(f));
    }
}
