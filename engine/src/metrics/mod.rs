//! Metrics: numbers about a rank, each with unit, definition and source, one family a file.

pub mod neuron;
mod trace;

use crate::base::Result;
use crate::model::{OwnedValue, Unit};
use crate::segment::{Bytes, Segment};

/// Metrics under one heading.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricGroup {
    /// The heading.
    pub title: &'static str,
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

/// All metrics that apply to a rank.
///
/// # Errors
/// Where bytes are missing or damaged.
pub fn of_rank<B: Bytes>(segment: &Segment<B>) -> Result<Vec<MetricGroup>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::groups(segment),
        _ => trace::groups(segment),
    }
}
