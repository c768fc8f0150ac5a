//! A rank: one process of a job, on one device and core.

/// Description of a rank by its trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankInfo {
    /// Number of the rank, if the trace states it.
    pub rank: Option<u32>,
    /// Number of the device on its host.
    pub device: Option<u32>,
    /// Number of the core on its device.
    pub core: Option<u32>,
    /// Wall clock of time zero, in Unix nanoseconds, if the trace states it.
    pub origin_unix_ns: Option<i64>,
    /// Kind of the trace, e.g. `neuron` or `trace-event`. Decides which metrics apply.
    pub source: String,
    /// Name that the trace gives itself, e.g. the NEFF's path; empty if none.
    pub title: String,
}
