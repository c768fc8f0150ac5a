//! The waiting of ranks over time.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// Shares of time that ranks waited for others, in steps of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitSteps {
    /// Start of the first step, in picoseconds.
    pub start_ps: i64,
    /// Width of a step, in picoseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub step_ps: i64,
    /// The smallest share of each step over all ranks, from 0 to 1.
    pub least: Vec<f32>,
    /// The median share of each step over all ranks.
    pub median: Vec<f32>,
    /// The largest share of each step over all ranks.
    pub most: Vec<f32>,
    /// The requested ranks, by number.
    pub ranks: Vec<WaitShares>,
}

/// Shares of time that a rank waited for others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitShares {
    /// Number of the rank.
    pub rank: u32,
    /// The share of each step, from 0 to 1.
    pub shares: Vec<f32>,
}

/// Waits of all ranks together have shared times.
impl Timed for WaitSteps {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
