//! The values of a table of a summary by the names of its columns.

use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{MetricRowEntry, MetricTableEntry};

/// Finds the values of a row.
pub(super) struct TableColumns<'t>(pub(super) &'t MetricTableEntry);

impl TableColumns<'_> {
    /// The value of a column. `None` if the row or the table lacks it.
    pub(super) fn value<'r>(&self, row: &'r MetricRowEntry, name: &str) -> Option<&'r FieldContent> {
        let at = self.0.columns.iter().position(|column| column.name == name)?;
        row.values.get(at)?.as_ref()
    }

    /// A number of any type.
    pub(super) fn number(&self, row: &MetricRowEntry, name: &str) -> Option<f64> {
        match *self.value(row, name)? {
            FieldContent::Float(number) => Some(number),
            FieldContent::Int(number) => Some(number as f64),
            FieldContent::Uint(number) => Some(number as f64),
            _ => None,
        }
    }

    /// A number above 0.
    pub(super) fn above_zero(&self, row: &MetricRowEntry, name: &str) -> Option<f64> {
        self.number(row, name).filter(|number| number.is_finite() && *number > 0.0)
    }

    /// A text; an empty one without it.
    pub(super) fn text<'r>(&self, row: &'r MetricRowEntry, name: &str) -> &'r str {
        match self.value(row, name) {
            Some(FieldContent::Text(text)) => text,
            _ => "",
        }
    }
}
