//! Tables, tracks, words and metrics of the profiles of each maker, in a folder of its own.
//! Importers, metrics and exports use these definitions.

#[macro_use]
pub mod table;

pub mod aiu;
mod call_book;
mod call_columns;
mod columns;
mod device_time;
pub mod job;
pub mod kineto;
pub mod neuron;
mod rows;

use crate::base::{Interval, Result};
use crate::exec::{Cancel, Work};
use crate::metrics::{MetricGroup, trace};
use crate::model::{RankCalls, TrackId};
use crate::segment::{Bytes, Segment};
use crate::tile::TileId;

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
        job::SOURCE => job::metrics::groups(segment, work),
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
        neuron::SOURCE | aiu::SOURCE | job::SOURCE => Ok(None),
        _ => kineto::host::read(segment, cancel),
    }
}

/// The name of a metric for people, if its exported name misleads.
#[must_use]
pub fn shown_name_of_metric(name: &str) -> Option<String> {
    neuron::metrics::shown_name(name)
}

/// Whether a metric of a ratio is a limit: no part of the time or of a whole.
#[must_use]
pub fn is_limit(metric: &str) -> bool {
    neuron::metrics::is_limit(metric)
}

/// A period in which a device may use only a part of its peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// The period, or the cell whose short periods are summed up.
    pub span: Interval,
    /// Number of the name of the period, of the longest one of several.
    pub name: u32,
    /// Its row.
    pub row: u32,
    /// Share of the peak that is allowed, from 0 to 1.
    pub share: f32,
    /// Part of the span in which the limit holds, from 0 to 1.
    pub part: f32,
}

/// The limits of a track in the span of a tile, by start. `None` if the track does not show limits.
/// Time without a limit is not listed.
///
/// # Errors
/// If bytes are missing or damaged, or the work is cancelled.
pub fn limits<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    id: TileId,
    cancel: Cancel<'_>,
) -> Result<Option<Vec<Limit>>> {
    match segment.footer().rank.source.as_str() {
        neuron::SOURCE => neuron::limits_of(segment, track, id, cancel),
        _ => Ok(None),
    }
}

/// The heading over a table in lists of tables, e.g. "Device".
#[must_use]
pub fn table_group(source: &str, table: &str) -> &'static str {
    let of_vendor = match source {
        neuron::SOURCE => neuron::schema::heading_of(table),
        aiu::SOURCE => aiu::schema::heading_of(table),
        job::SOURCE => job::schema::heading_of(table),
        _ => None,
    };
    of_vendor.unwrap_or("Trace")
}
