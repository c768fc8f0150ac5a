//! The metrics of a rank.

use serde::{Deserialize, Serialize};

use super::detail::FieldContent;

/// All metrics of a rank, in groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of the rank.
    pub rank: u32,
    /// Groups in display order.
    pub groups: Vec<MetricGroupEntry>,
}

/// Metrics under one heading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricGroupEntry {
    /// Identifies the group, e.g. `tensor_engine`.
    pub key: String,
    /// The heading.
    pub title: String,
    /// Whether the metrics have names of the trace instead of names of nprof.
    pub has_names_of_trace: bool,
    /// Metrics in display order.
    pub metrics: Vec<MetricEntry>,
}

/// One metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricEntry {
    /// Exported name, e.g. `tensor_engine_active_time`.
    pub name: String,
    /// The value.
    pub value: FieldContent,
    /// Symbol of the unit: `s`, `B`, `B/s`, `ratio`, `FLOP` …; empty for a plain number.
    pub unit: String,
    /// Definition and computation.
    pub doc: String,
}
