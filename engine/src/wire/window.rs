//! The slices in a window of time.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;

/// Slices that overlap a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowEvents {
    /// Slices in order of track, then start; at most the requested number.
    pub slices: Vec<SliceEntry>,
    /// Whether the window has more slices.
    pub truncated: bool,
}
