//! Metrics: numbers about a rank, each with unit, definition and source. Those of any trace are here, those of one vendor
//! in [`crate::vendor`].

pub mod trace;

use crate::model::{OwnedValue, Unit};

/// Metrics under one heading.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricGroup {
    /// Identifies the group in exports and programs.
    pub key: &'static str,
    /// The heading.
    pub title: &'static str,
    /// Whether the metrics have names of the trace instead of names of nprof.
    pub has_names_of_trace: bool,
    /// In display order.
    pub metrics: Vec<Metric>,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// As exported.
    pub name: String,
    /// The value.
    pub value: OwnedValue,
    /// What one means.
    pub unit: Unit,
    /// What it is and how it is computed.
    pub doc: String,
}

impl Metric {
    /// A metric.
    #[must_use]
    pub fn new(name: &str, value: OwnedValue, unit: Unit, doc: &str) -> Self {
        Self { name: name.to_owned(), value, unit, doc: doc.to_owned() }
    }
}
