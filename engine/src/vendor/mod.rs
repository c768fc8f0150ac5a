//! What only profiles of one vendor have: tables, tracks, words and metrics. A folder each; importers write by it,
//! metrics read by it, exports print by it.

pub mod neuron;

use crate::base::Result;
use crate::metrics::{MetricGroup, trace};
use crate::segment::{Bytes, Segment};

/// All metrics that apply to a rank, in the order of their display.
///
/// # Errors
/// Where bytes are missing or damaged.
pub fn metrics<B: Bytes>(segment: &Segment<B>) -> Result<Vec<MetricGroup>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::metrics::groups(segment),
        _ => trace::groups(segment),
    }
}
