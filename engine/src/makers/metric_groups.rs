//! Rows of side tables as groups of metrics.

use crate::metrics::{Metric, MetricGroup};
use crate::model::Unit;

use super::rows::NamedValues;
use super::table::TableSchema;

/// The fields of a table with one row.
pub fn single(
    key: &'static str,
    title: &'static str,
    table: &TableSchema,
    rows: &[NamedValues<'_>],
) -> MetricGroup {
    let fields = rows.first().into_iter().flatten();
    let metrics = fields.map(|(name, value)| {
        let field = table.fields.iter().find(|field| field.name == *name);
        let (unit, doc) = field.map_or((Unit::None, ""), |field| (field.unit, field.doc));
        Metric::new(name, value.clone(), unit, doc)
    });
    MetricGroup { key, title, has_names_of_trace: false, metrics: metrics.collect() }
}

/// Metrics that have names of the trace.
pub fn by_name(key: &'static str, title: &'static str, metrics: Vec<Metric>) -> MetricGroup {
    MetricGroup { key, title, has_names_of_trace: true, metrics }
}
