//! Definitions of metrics: what a number means, apart from its value.

use super::Metric;
use crate::model::{OwnedValue, Unit};

/// The meaning of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricDefinition {
    /// Exported name.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Definition and computation, in sentences.
    pub doc: &'static str,
}

impl MetricDefinition {
    /// Defines a metric.
    #[must_use]
    pub const fn new(name: &'static str, unit: Unit, doc: &'static str) -> Self {
        Self { name, unit, doc }
    }

    /// The metric with a value.
    #[must_use]
    pub fn metric(&self, value: OwnedValue) -> Metric {
        Metric::new(self.name, value, self.unit, self.doc)
    }
}

/// The definition of a metric with its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinedMetric {
    /// Heading of the family.
    pub family: &'static str,
    /// Exported name, or for a metric of each name of a trace what the names are.
    pub name: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Definition and computation, in sentences.
    pub doc: &'static str,
    /// Traces that have it.
    pub of: &'static str,
    /// The tool or the document that defines it.
    pub source: &'static str,
}

/// Metrics that are computed together from the same input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricFamily {
    /// Identifies the family in exports and programs.
    pub key: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// For a table what its rows are, e.g. "stream". `None` if each metric is one number.
    pub row: Option<&'static str>,
    /// The definitions, in display order.
    pub metrics: &'static [MetricDefinition],
    /// The tool or the document that defines the metrics.
    pub source: &'static str,
    /// Input without which the family is absent, as a sentence that says what would give it.
    pub needs: &'static str,
}
