//! A rank: one process of a job, on one device and core.

/// What a trace says of the rank it was taken on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankInfo {
    /// The rank's number, where the trace states it.
    pub rank: Option<u32>,
    /// The device's number on its host.
    pub device: Option<u32>,
    /// The core's number on its device.
    pub core: Option<u32>,
    /// Wall clock of time zero, in Unix nanoseconds, where the trace states it.
    pub origin_unix_ns: Option<i64>,
    /// The kind of trace, e.g. `neuron` or `trace-event`: which metrics apply.
    pub source: String,
    /// The name the trace gives itself, e.g. the NEFF's path; empty for none.
    pub title: String,
}
