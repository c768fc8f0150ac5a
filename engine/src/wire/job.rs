//! An ingest that a server runs.

use serde::{Deserialize, Serialize};

/// How far an ingest is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    /// Its number.
    pub id: u64,
    /// The files that were sent.
    pub name: String,
    /// What it is doing.
    pub state: JobState,
    /// Bytes of this state's work that are done.
    pub done_bytes: u64,
    /// Bytes of this state's work in all.
    pub total_bytes: u64,
    /// Slices, instants and samples read so far.
    pub events: u64,
    /// The profile that became of it, by its name for URLs.
    pub profile: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// What an ingest is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Another one is running.
    Waiting,
    /// Finding out whether the profile is already there.
    Identifying,
    /// Reading events.
    Reading,
    /// Making the profile last.
    Publishing,
    /// The profile is in the store; it may have been there before.
    Done,
    /// The trace could not be read.
    Failed,
    /// Stopped on request.
    Cancelled,
}

impl JobState {
    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}
