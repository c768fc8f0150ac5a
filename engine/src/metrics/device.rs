//! Metrics of a device with engines and a memory of its own, as values: rules look at them, and
//! know no names of a maker.

use super::PeakRates;

/// Metrics of one rank. Times are in picoseconds. A number that the trace does not give is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceMetrics {
    /// Number of the rank.
    pub rank: u32,
    /// Time from the first to the last event.
    pub total_ps: i64,
    /// The same without start-up and tear-down.
    pub active_ps: i64,
    /// Time in which the engine for matrix products works.
    pub tensor_ps: i64,
    /// The busiest other engine.
    pub busiest_other: Option<EngineTime>,
    /// Operations of the engine for matrix products.
    pub flops: Option<TensorFlops>,
    /// Transfers.
    pub transfers: Option<TransferMetrics>,
    /// Peaks of the device.
    pub peaks: Option<PeakRates>,
    /// Part of the peak that limits take on average, from 0 to 1.
    pub lost_peak: f64,
    /// Time of matrix products that limits take: that under a limit, times the lost part.
    pub throttled_ps: Option<i64>,
}

/// The time in which an engine works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineTime {
    /// Name for people.
    pub name: &'static str,
    /// The time in picoseconds.
    pub time_ps: i64,
}

/// Floating-point operations of the engine for matrix products.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensorFlops {
    /// All of them; more than 0.
    pub hardware: f64,
    /// Those of transposes.
    pub transposes: f64,
    /// Those of the model, if they are known.
    pub model: Option<f64>,
}

/// Transfers between the memory and the state buffer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TransferMetrics {
    /// Time in which any runs, in picoseconds.
    pub active_ps: i64,
    /// Number of whole transfers.
    pub count: f64,
    /// Mean bytes of a whole transfer.
    pub mean_bytes: f64,
    /// Bytes read from the memory.
    pub read_bytes: f64,
    /// Bytes written to the memory.
    pub written_bytes: f64,
    /// Bytes that left the state buffer because it was full.
    pub spilled_bytes: f64,
    /// Bytes that came back.
    pub reloaded_bytes: f64,
    /// Bytes of weights that were loaded.
    pub weight_bytes: f64,
    /// Bytes that all weights have; 0 if it is not known.
    pub weights_size: f64,
    /// Passes through the program, each of which can load the weights once.
    pub passes: f64,
}
