//! Vendor-specific parts of profiles: tables, tracks, words and metrics, in one folder per vendor.
//! Importers, metrics and exports use these definitions.

#[macro_use]
pub mod table;
pub mod aiu;
mod columns;
pub mod neuron;

use crate::base::Result;
use crate::metrics::{MetricGroup, trace};
use crate::segment::{Bytes, Segment};

/// All metrics of a rank, in display order.
///
/// # Errors
/// If bytes are missing or damaged.
pub fn metrics<B: Bytes>(segment: &Segment<B>) -> Result<Vec<MetricGroup>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::metrics::groups(segment),
        aiu::SOURCE => aiu::metrics::groups(segment),
        _ => trace::groups(segment),
    }
}

/// The heading over a table in lists of tables, e.g. "Device".
#[must_use]
pub fn table_group(source: &str, table: &str) -> &'static str {
    let of_vendor = match source {
        neuron::SOURCE => neuron::schema::heading_of(table),
        aiu::SOURCE => aiu::schema::heading_of(table),
        _ => None,
    };
    of_vendor.unwrap_or("Trace")
}
