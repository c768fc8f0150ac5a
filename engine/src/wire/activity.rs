//! The activity of all ranks over time.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// Activity of each rank in equal spans: a share of time with work, waits or computation, or a rate
/// of computation.
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
    /// The rate that the share 1 means, if the quantity is a rate and no share of time: computation
    /// is, if the operations of all ranks are known.
    pub rate: Option<ActivityRate>,
}

/// A rate of computation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivityRate {
    /// Floating-point operations a second of the share 1.
    pub top_flops: f64,
    /// Whether that is the peak of the devices. Else it is the largest rate of a rank in a span.
    pub is_peak: bool,
}

/// Shares of time of a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankShares {
    /// Number of the rank.
    pub rank: u32,
    /// The share of each span, from 0 to 1: of its time, or of the rate `top_flops`.
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
