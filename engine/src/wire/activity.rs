//! The activity of all ranks over time.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// A share of time that each rank has in equal spans: busy, waiting or computing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivityShares {
    /// Start of the first span, in picoseconds: the first work of any rank.
    pub start_ps: i64,
    /// End of the last span, in picoseconds: the last work of any rank. The last span can be
    /// shorter than the others.
    pub end_ps: i64,
    /// Length of a span, in picoseconds; 0 without spans.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub step_ps: i64,
    /// The ranks whose shares are known, by number.
    pub ranks: Vec<RankShares>,
    /// The quantities that are known of no rank.
    pub absent: Vec<AbsentQuantity>,
}

/// Shares of time of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankShares {
    /// Number of the rank.
    pub rank: u32,
    /// The share of each span, from 0 to 1.
    pub shares: Vec<f32>,
}

/// A quantity that the traces do not tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbsentQuantity {
    /// The quantity: `busy`, `wait` or `compute`.
    pub quantity: String,
    /// Why it is not there.
    pub reason: String,
}

/// Shares of all ranks together have shared times.
impl Timed for ActivityShares {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
