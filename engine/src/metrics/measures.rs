//! Measurements that rules look at beside the dependences of a run, as values: rules know no names
//! of a maker.

use super::DeviceMetrics;

/// Measurements of a job, as far as its devices and its traces have them. Those of kernels, arrays
/// and tensors are of one rank, because the ranks of a job run one program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankMeasures {
    /// Engines and a memory of their own, by rank: limits of a chip are its own. Empty if devices
    /// of this kind have none.
    pub devices: Vec<DeviceMetrics>,
    /// Kernels on many processors.
    pub kernels: Option<KernelFill>,
    /// Arrays for matrix products whose ideal cycles a compiler states.
    pub arrays: Option<ArrayUse>,
    /// Errors that the hardware reported. `None` if traces of this kind have none.
    pub errors: Option<Vec<DeviceError>>,
    /// Traffic of the tensors that transfers name, the most loaded bytes first.
    pub tensors: Vec<TensorTraffic>,
}

/// Transfers of a tensor between the memory of a device and the state buffer of its engines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TensorTraffic {
    /// Number of the rank.
    pub rank: u32,
    /// Name of the tensor.
    pub name: String,
    /// Bytes of the tensor as the program states them; 0 if it does not.
    pub size_bytes: u64,
    /// Transfers that load it or parts of it.
    pub loads: u64,
    /// Bytes that they load.
    pub loaded_bytes: u64,
    /// Sum of their durations in picoseconds.
    pub loading_ps: u64,
    /// Bytes of it that left the state buffer.
    pub stored_bytes: u64,
    /// From the start of the first load to the end of the last one, in picoseconds of the clock
    /// that all ranks share.
    pub span_ps: (i64, i64),
    /// Row of the first load.
    pub row: u32,
}

impl TensorTraffic {
    /// Bytes that so many passes through the program need to load: all of the tensor in each, or
    /// what was stored if that is more. `None` if neither is known.
    #[must_use]
    pub fn needed_bytes(&self, passes: f64) -> Option<f64> {
        let needed = (self.size_bytes as f64 * passes).max(self.stored_bytes as f64);
        (needed > 0.0).then_some(needed)
    }
}

/// The part of a device that its kernels fill. Times are in picoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelFill {
    /// Number of the rank.
    pub rank: u32,
    /// Time of all kernels that state their grid.
    pub stated_ps: i64,
    /// Time of kernels with fewer blocks than the device has processors.
    pub small: FillGap,
    /// Time of kernels that fill the processors, but leave most of their room for warps empty:
    /// registers or shared memory are the limit.
    pub bound: FillGap,
}

/// Kernels that leave a device partly empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FillGap {
    /// Their time.
    pub time_ps: i64,
    /// Their number.
    pub count: u64,
    /// The name with the most of the time.
    pub name: String,
}

/// The use of arrays for matrix products, and what surrounds it. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArrayUse {
    /// Number of the rank.
    pub rank: u32,
    /// From the first to the last work of the device.
    pub total_ps: i64,
    /// Measured time of kernels whose ideal time is known.
    pub real_ps: i64,
    /// Their ideal time.
    pub ideal_ps: i64,
    /// Time in which kernels are prepared and nothing else works.
    pub preparation_ps: i64,
    /// Frequency with which durations were computed, and the one that the slices show, in hertz.
    pub used_hz: f64,
    /// The frequency that the slices show, in hertz; 0 if it is not known.
    pub found_hz: f64,
}

/// An error that the hardware reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceError {
    /// Number of the rank.
    pub rank: u32,
    /// The event in the words of the trace.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Time of the first, in picoseconds of the clock that all ranks share.
    pub start_ps: i64,
    /// Its row.
    pub row: u32,
}
