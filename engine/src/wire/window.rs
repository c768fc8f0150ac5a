//! The slices in a window of time.

use serde::{Deserialize, Serialize};

use super::detail::SliceEntry;
use super::message_times::{TimeField, Timed};

/// Slices that overlap a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowEvents {
    /// Slices in order of track, then start; at most the requested number.
    pub slices: Vec<SliceEntry>,
    /// Whether the window has more slices.
    pub truncated: bool,
}

impl Timed for WindowEvents {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        self.slices.iter_mut().for_each(|slice| slice.each_time(f));
    }
}
