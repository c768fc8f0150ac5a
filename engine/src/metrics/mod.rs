//! Metrics: numbers about a rank, each with unit, definition and source. Metrics of any trace are
//! here. Metrics of one vendor are in [`crate::makers`].

pub mod trace;

use crate::model::{OwnedValue, Unit};

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
