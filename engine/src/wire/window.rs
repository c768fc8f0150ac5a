//! The slices in a window of time.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;

/// Slices that overlap a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowEvents {
    /// In order of track, then start; at most as many as were asked for.
    pub slices: Vec<SliceEntry>,
    /// Whether there are more.
    pub truncated: bool,
}
