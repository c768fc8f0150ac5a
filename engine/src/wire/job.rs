//! An ingest that a server runs.

use serde::{Deserialize, Serialize};

/// Progress of an ingest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobReport {
    /// Number of the job.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub id: u64,
    /// Names of the files that were sent.
    pub name: String,
    /// State of the job.
    pub state: JobState,
    /// Completed bytes in this state.
    pub done_bytes: u64,
    /// Total bytes in this state.
    pub total_bytes: u64,
    /// Number of slices, instants and samples read so far.
    pub events: u64,
    /// Name in URLs of the resulting profile.
    pub profile: Option<String>,
    /// Reason of the failure.
    pub error: Option<String>,
}

/// State of an ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Another job is running.
    Waiting,
    /// Checking whether the profile is already in the store.
    Identifying,
    /// Reading events.
    Reading,
    /// Syncing and publishing the profile.
    Publishing,
    /// The profile is in the store, possibly from before.
    Done,
    /// The trace could not be read.
    Failed,
    /// Cancelled on request.
    Cancelled,
}

impl JobState {
    /// Whether the state is final.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}
