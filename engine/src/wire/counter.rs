//! Values of a counter at a time, and over a span.

use serde::{Deserialize, Serialize};

use super::message_times::{TimeField, Timed};

/// Values of a counter at a time, and over a span around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterDetail {
    /// The counter's track.
    pub track: u32,
    /// The sample whose value holds at that time; `None` before the first sample.
    pub sample: Option<CounterSample>,
    /// The sample before `sample`.
    pub before: Option<CounterSample>,
    /// The values of the span; `None` if none holds in it.
    pub span: Option<CounterTotals>,
}

/// A sample of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterSample {
    /// Start of the time in which the value holds, in picoseconds.
    pub time_ps: i64,
    /// The value from that time on, in the track's unit; `null` in JSON if it is not a number.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub value: f64,
}

/// The values of a counter over a span, in the track's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterTotals {
    /// Number of samples in the span.
    pub samples: u64,
    /// The smallest value that holds in the span.
    pub min: f64,
    /// The largest value that holds in the span.
    pub max: f64,
    /// The mean, each value weighted by how long it holds in the span.
    pub mean: f64,
}

impl Timed for CounterDetail {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        for sample in self.sample.iter_mut().chain(&mut self.before) {
            f(TimeField::Instant(&mut sample.time_ps));
        }
    }
}
