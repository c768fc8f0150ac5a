//! What lies in a selected span of time.

use serde::{Deserialize, Serialize};

/// Statistics of the slices in a span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionSummary {
    /// Start of the span.
    pub start_ps: i64,
    /// End of the span.
    pub end_ps: i64,
    /// Slices that overlap it.
    pub count: u64,
    /// By name, most self time first.
    pub by_name: Vec<NameTotal>,
    /// By track, in display order.
    pub by_track: Vec<TrackTotal>,
}

/// Slices of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameTotal {
    /// The name.
    pub name: String,
    /// How many overlap the span.
    pub count: u64,
    /// Sum of the parts inside the span; calls inside calls count in each.
    pub total_ps: u64,
    /// As the total, where calls of the same name inside do not count again.
    pub union_ps: u64,
    /// As the total, without the calls inside.
    pub self_ps: u64,
    /// Longest full length.
    pub longest_ps: u64,
    /// The row of the longest.
    pub longest_row: u32,
}

/// Slices of one track.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackTotal {
    /// The track.
    pub track: u32,
    /// How many overlap the span.
    pub count: u64,
    /// Time of the span in which at least one slice of the track ran.
    pub busy_ps: u64,
}
