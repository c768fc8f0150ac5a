//! Rows of stored side tables as metrics.

use crate::metrics::{Metric, MetricGroup};
use crate::model::{OwnedValue, Unit};

use super::table::TableSchema;

/// The fields of a row, by name.
pub type NamedValues<'a> = Vec<(&'a str, OwnedValue)>;

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

/// The value of a field.
pub fn of<'r>(row: &'r NamedValues<'_>, name: &str) -> Option<&'r OwnedValue> {
    row.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// The text of a field.
pub fn text_of(row: &NamedValues<'_>, name: &str) -> Option<String> {
    match of(row, name)? {
        OwnedValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// A number with the precision of a float.
#[expect(clippy::cast_precision_loss, reason = "a metric has the precision of a float")]
pub fn float_of(value: &OwnedValue) -> Option<f64> {
    match value {
        OwnedValue::Int(value) => Some(*value as f64),
        OwnedValue::Uint(value) => Some(*value as f64),
        OwnedValue::Float(value) => Some(*value),
        _ => None,
    }
}

/// A whole number.
pub fn int_of(value: &OwnedValue) -> Option<i64> {
    match value {
        OwnedValue::Int(value) => Some(*value),
        OwnedValue::Uint(value) => i64::try_from(*value).ok(),
        _ => None,
    }
}
