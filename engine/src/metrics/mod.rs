//! Metrics: numbers about a rank, each with unit, definition and source. Metrics of any trace are
//! here. Metrics of one vendor are in [`crate::makers`].

mod definition;
mod device;
mod measured_span;
mod measures;
pub mod roofline;
pub mod trace;
mod track_times;
mod usual_time;

pub use definition::{DefinedMetric, MetricDefinition, MetricFamily};
pub use device::{DeviceMetrics, EngineTime, TensorFlops, TransferMetrics};
pub use measures::{ArrayUse, DeviceError, FillGap, KernelFill, RankMeasures, TensorTraffic};
pub use roofline::{NumberWidth, PeakRates, RooflineBound, RooflinePoint};
pub use track_times::TrackTimes;
pub use usual_time::UsualTime;

use std::borrow::Cow;

use crate::base::Interval;
use crate::model::{OwnedValue, Unit};

/// The metrics of a rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankMetrics {
    /// Single numbers, in display order.
    pub groups: Vec<MetricGroup>,
    /// Numbers of many things, in display order.
    pub tables: Vec<MetricTable>,
    /// The division of the time, if it comes from the same reading of all rows.
    pub time: Option<MetricGroup>,
    /// The times of tracks, if they come from the same reading of all rows.
    pub tracks: Option<TrackTimes>,
    /// Families that cannot be computed from this trace.
    pub absent: Vec<AbsentMetrics>,
}

impl RankMetrics {
    /// Metrics that are all single numbers.
    #[must_use]
    pub fn of(groups: Vec<MetricGroup>) -> Self {
        Self { groups, ..Self::default() }
    }
}

/// A family without values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentMetrics {
    /// Key of the family.
    pub key: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Reason, and what would give the values.
    pub reason: Cow<'static, str>,
}

impl From<&MetricFamily> for AbsentMetrics {
    fn from(family: &MetricFamily) -> Self {
        Self { key: family.key, title: family.title, reason: Cow::Borrowed(family.needs) }
    }
}

/// Values of the same metrics for several things, e.g. for each stream.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricTable {
    /// The definitions of the columns.
    pub family: &'static MetricFamily,
    /// Rows in display order.
    pub rows: Vec<MetricRow>,
}

/// The values of one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    /// Name of the thing.
    pub name: String,
    /// A value for each definition of the family. `None` if it cannot be computed.
    pub values: Vec<Option<OwnedValue>>,
}

/// The part of a rank that metrics are about, and the limits that some of them count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MetricScope {
    /// A span on the clock of the segment. `None` for all of the rank.
    pub window: Option<Interval>,
    /// Limits of counts.
    pub limits: KernelLimits,
    /// Peaks of the devices, if the user states them.
    pub peaks: GivenPeaks,
}

/// Peak rates of a device that a user states, for devices that are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GivenPeaks {
    /// Floating-point operations a second, for numbers of any precision.
    pub flops: Option<u64>,
    /// Bytes a second of the memory.
    pub bytes: Option<u64>,
}

impl MetricScope {
    /// A window, or all of a rank, with the usual limits.
    #[must_use]
    pub fn within(window: Option<Interval>) -> Self {
        Self { window, ..Self::default() }
    }
}

/// Limits by which launches and gaps of a device are counted. Times are in picoseconds. The
/// defaults are those of Holistic Trace Analysis 0.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelLimits {
    /// A shorter gap between two kernels is one of the device.
    pub kernel_gap_ps: i64,
    /// A launch that takes longer is a long one.
    pub long_launch_ps: i64,
    /// A kernel that starts later after its launch is a late one.
    pub late_kernel_ps: i64,
    /// Number of launches that a queue takes before it blocks the host.
    pub full_queue: u32,
}

impl Default for KernelLimits {
    /// HTA states 30 ns for the gap, and compares it with microseconds: its results are those of
    /// 30 µs.
    fn default() -> Self {
        Self {
            kernel_gap_ps: 30_000_000,
            long_launch_ps: 50_000_000,
            late_kernel_ps: 100_000_000,
            full_queue: 1_024,
        }
    }
}

/// Metrics under one heading.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricGroup {
    /// Identifies the group in exports and programs.
    pub key: &'static str,
    /// Heading of the group.
    pub title: &'static str,
    /// Whether the metrics have names of the trace instead of names of nprof.
    pub has_names_of_trace: bool,
    /// Metrics in display order.
    pub metrics: Vec<Metric>,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Exported name.
    pub name: String,
    /// The value.
    pub value: OwnedValue,
    /// Unit of the value.
    pub unit: Unit,
    /// Definition and computation.
    pub doc: String,
    /// The place that shows it.
    pub place: Option<MetricPlace>,
}

/// A place in a job that shows what a metric is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricPlace {
    /// The rank to look at.
    pub rank: u32,
    /// The time to look at, in picoseconds of the clock that all ranks share.
    pub at_ps: Option<i64>,
    /// Number of the operation.
    pub operation: Option<u32>,
    /// All ranks that it is about: of a link those that it joins.
    pub ranks: Vec<u32>,
}

impl MetricPlace {
    /// A whole rank.
    #[must_use]
    pub fn of_rank(rank: u32) -> Self {
        Self { rank, at_ps: None, operation: None, ranks: vec![rank] }
    }
}

impl Metric {
    /// Creates a metric.
    #[must_use]
    pub fn new(name: &str, value: OwnedValue, unit: Unit, doc: &str) -> Self {
        Self { name: name.to_owned(), value, unit, doc: doc.to_owned(), place: None }
    }
}
