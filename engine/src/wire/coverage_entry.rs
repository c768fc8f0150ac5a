//! The recorded part of a run in messages.

use serde::{Deserialize, Serialize};

use crate::insight::finding::{Coverage, RankCoverage, sentence};

/// The recorded part of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverageEntry {
    /// Recorded share of the time of all ranks.
    pub time: f64,
    /// Recorded share of the calls of operations of all ranks.
    pub events: f64,
    /// Number of ranks in the profile.
    pub ranks_recorded: u32,
    /// Number of ranks of the job.
    pub world: u32,
    /// Calls of which nobody can tell to which group they belong.
    pub unplaced_calls: u64,
    /// The ranks of the profile.
    pub ranks: Vec<RankCoverageEntry>,
    /// The recorded part in a sentence.
    pub text: String,
}

/// The recorded part of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankCoverageEntry {
    /// Number of the rank.
    pub rank: u32,
    /// Recorded share of the time of the run.
    pub time: f64,
    /// Recorded share of the rank's calls of operations.
    pub events: f64,
    /// Calls of operations that were recorded.
    pub calls: u64,
    /// Calls that others show, and that the trace lacks.
    pub absent_calls: u64,
    /// Time by which the recording began late, in picoseconds.
    pub late_ps: i64,
    /// Time by which the recording ended early, in picoseconds.
    pub cut_ps: i64,
    /// Slices on queues to which launches lead.
    pub launchable: u64,
    /// Those of them whose launch was not recorded.
    pub unlaunched: u64,
}

impl From<&Coverage> for CoverageEntry {
    fn from(of: &Coverage) -> Self {
        Self {
            time: of.of_time(),
            events: of.of_calls(),
            ranks_recorded: crate::base::narrow(of.ranks.len()),
            world: of.world,
            unplaced_calls: of.unplaced_calls,
            ranks: of.ranks.iter().map(RankCoverageEntry::from).collect(),
            text: sentence::coverage(of),
        }
    }
}

impl From<&RankCoverage> for RankCoverageEntry {
    fn from(of: &RankCoverage) -> Self {
        Self {
            rank: of.rank,
            time: of.time,
            events: of.of_calls(),
            calls: of.calls,
            absent_calls: of.absent_calls,
            late_ps: of.late_ps,
            cut_ps: of.cut_ps,
            launchable: of.launchable,
            unlaunched: of.unlaunched,
        }
    }
}
