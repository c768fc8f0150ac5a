//! Vendor-specific parts of profiles: tables, tracks, words and metrics, in one folder per vendor.
//! Importers, metrics and exports use these definitions.

#[macro_use]
pub mod table;

pub mod aiu;
mod call_book;
mod call_columns;
mod columns;
mod device_time;
pub mod joint;
pub mod kineto;
pub mod neuron;
mod rows;

use crate::base::Result;
use crate::exec::{Cancel, Work};
use crate::metrics::{MetricGroup, trace};
use crate::model::RankCalls;
use crate::segment::{Bytes, Segment};

pub use call_book::CallIds;
pub(crate) use call_columns::FieldColumns;

/// All metrics of a rank, in display order.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn metrics<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<Vec<MetricGroup>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::metrics::groups(segment, work.cancel),
        aiu::SOURCE => aiu::metrics::groups(segment, work),
        joint::SOURCE => joint::metrics::groups(segment, work),
        _ => trace::groups(segment, work),
    }
}

/// The collective operations of a rank, by the typed identities of tracks and by fields. Empty if
/// the trace has none.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn collectives<B: Bytes>(
    segment: &Segment<B>,
    rank: u32,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankCalls> {
    let mut calls = match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::collectives::read(segment, rank, ids, cancel)?,
        aiu::SOURCE => aiu::collectives::read(segment, rank, ids, cancel)?,
        _ => kineto::collectives::read(segment, ids, cancel)?,
    };
    let span = trace::span(segment);
    calls.recorded_ps = (span.start.0, span.end.0);
    Ok(calls)
}

/// The host on which a rank ran, if its trace states it.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn host<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Option<String>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE | aiu::SOURCE | joint::SOURCE => Ok(None),
        _ => kineto::host::read(segment, cancel),
    }
}

/// The heading over a table in lists of tables, e.g. "Device".
#[must_use]
pub fn table_group(source: &str, table: &str) -> &'static str {
    let of_vendor = match source {
        neuron::SOURCE => neuron::schema::heading_of(table),
        aiu::SOURCE => aiu::schema::heading_of(table),
        joint::SOURCE => joint::schema::heading_of(table),
        _ => None,
    };
    of_vendor.unwrap_or("Trace")
}
