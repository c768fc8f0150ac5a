//! The clock of a rank in messages and manifests.

use serde::{Deserialize, Serialize};

use crate::base::{ClockFit, Error, Result};

/// Origin of the clock of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClockBy {
    /// The user, with `nprof clock`.
    Hand,
    /// The ingest, from what the trace says.
    Trace,
    /// `nprof ranks --align`, from the calls of all ranks.
    Calls,
}

/// The clock of a rank: a map from the times of the rank, which all answers use, to the time that
/// all ranks share, `at_ps + offset_ps + floor((time - at_ps) * (1 + drift_ppb / 1e9))`. A message
/// with an impossible clock is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Clock(pub ClockFit);

/// The serialised form: all keys but the offset can be absent in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Parts {
    /// Picoseconds from the rank's time to the shared time.
    offset_ps: i64,
    /// The rank's time at which the offset was taken, in picoseconds.
    #[serde(default)]
    at_ps: i64,
    /// Growth of the offset in nanoseconds per second.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -100_000_000, max = 100_000_000)))]
    drift_ppb: i32,
    /// Largest possible error of a shared time in picoseconds, if known.
    #[serde(default)]
    bound_ps: Option<u64>,
}

impl TryFrom<Parts> for Clock {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        ClockFit::new(parts.at_ps, parts.offset_ps, parts.drift_ppb, parts.bound_ps).map(Self)
    }
}

impl From<Clock> for Parts {
    fn from(Clock(fit): Clock) -> Self {
        Self {
            offset_ps: fit.offset_ps(),
            at_ps: fit.at_ps(),
            drift_ppb: fit.drift_ppb(),
            bound_ps: fit.bound_ps(),
        }
    }
}
