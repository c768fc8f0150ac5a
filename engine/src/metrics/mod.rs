//! Metrics: numbers about a rank, each with unit, definition and source. Metrics of any trace are
//! here. Metrics of one vendor are in [`crate::vendor`].

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
}

impl Metric {
    /// Creates a metric.
    #[must_use]
    pub fn new(name: &str, value: OwnedValue, unit: Unit, doc: &str) -> Self {
        Self { name: name.to_owned(), value, unit, doc: doc.to_owned() }
    }
}
