//! Statistics of a selected span of time.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};
use crate::model;

/// Statistics of the slices in a span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectionSummary {
    /// Start of the span, in picoseconds.
    pub start_ps: i64,
    /// End of the span, in picoseconds.
    pub end_ps: i64,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Statistics by name and side of the machine: work before waits, and most self time first.
    /// Names of states such as throttling are not listed.
    pub by_name: Vec<NameTotal>,
    /// Statistics by track, in display order. Tracks of annotations and of
    /// throttling are left out.
    pub by_track: Vec<TrackTotal>,
}

/// A side of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Accelerators.
    Device,
    /// The processor that accelerators are attached to.
    Host,
}

impl From<model::MachineSide> for Side {
    fn from(side: model::MachineSide) -> Self {
        match side {
            model::MachineSide::Device => Self::Device,
            model::MachineSide::Host => Self::Host,
        }
    }
}

/// Slices of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameTotal {
    /// The name.
    pub name: String,
    /// The side of the machine, if the span has tracks of hosts, of devices and of annotations, at
    /// least two of them. A name has an entry for each side. Annotations have none.
    pub side: Option<Side>,
    /// Whether slices of this name only wait.
    pub is_wait: bool,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Sum of the parts inside the span, in picoseconds. A call inside another call counts in both.
    pub total_ps: u64,
    /// Like the total, but calls inside calls of the same name count once.
    pub union_ps: u64,
    /// Like the total, without the calls inside.
    pub self_ps: u64,
    /// Longest full duration, in picoseconds.
    pub longest_ps: u64,
    /// Row of the longest slice.
    pub longest_row: u32,
}

/// Slices of one track.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackTotal {
    /// Number of the track.
    pub track: u32,
    /// Number of slices that overlap the span.
    pub count: u64,
    /// Time of the span in which at least one slice of the track ran that is no wait.
    pub busy_ps: u64,
    /// Time of the span in which at least one slice of the track waited. Work beside the wait
    /// counts as busy, too.
    pub wait_ps: u64,
}

impl Timed for SelectionSummary {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        f(TimeField::Instant(&mut self.start_ps));
        f(TimeField::Instant(&mut self.end_ps));
    }
}
