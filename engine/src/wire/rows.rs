//! The rows of a table, column by column.

use serde::{Deserialize, Serialize};

use super::detail::FieldContent;
use super::message_times::{TimeField, Timed};

/// The first rows of a table that match a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableRows {
    /// Name of the table.
    pub table: String,
    /// Number of rows in each column.
    pub rows: u32,
    /// Number of rows that match.
    pub total: u64,
    /// Whether the limit, or the memory of an answer, left rows out.
    pub truncated: bool,
    /// Columns in display order.
    pub columns: Vec<RowColumn>,
}

/// One column of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowColumn {
    /// Meaning of the values.
    pub role: RowColumnRole,
    /// Exported name.
    pub name: String,
    /// Symbol of the unit; empty if there is none.
    pub unit: String,
    /// Explanation in one sentence.
    pub doc: String,
    /// Rows that have a value.
    pub present: RowPresence,
    /// Values of the rows that have one, in the order of rows.
    pub values: ColumnValues,
}

/// Meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowColumnRole {
    /// Number of the row in the rank.
    Row,
    /// Start of a slice or time of a sample, in picoseconds.
    Start,
    /// Duration of a slice, in picoseconds.
    Duration,
    /// Path of the track: names of its groups and of itself, joined by `/`.
    Track,
    /// Name of a slice.
    Name,
    /// Value of a sample, in the unit of its track.
    Value,
    /// A field of the table.
    Field,
}

/// Rows of a column that have a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowPresence {
    /// Every row.
    All,
    /// No row.
    None,
    /// The rows that are `true`; one entry a row.
    Some(Vec<bool>),
}

/// Values of a column, in the order of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ColumnValues {
    /// Signed integers.
    Ints(Vec<i64>),
    /// Unsigned integers.
    Uints(Vec<u64>),
    /// Floats; `null` in JSON for what is not a number.
    Floats(#[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))] Vec<f64>),
    /// True or false.
    Bools(Vec<bool>),
    /// Texts.
    Texts(Texts),
    /// Nested values, as JSON texts.
    Json(Texts),
    /// Values of several types.
    Mixed(Vec<FieldContent>),
}

/// Texts, each stored once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Texts {
    /// The texts.
    pub texts: Vec<String>,
    /// Position in `texts` of each value.
    pub codes: Vec<u32>,
}

impl TableRows {
    /// The column of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&RowColumn> {
        self.columns.iter().find(|column| column.role == RowColumnRole::Field && column.name == name)
    }
}

/// Durations stay on the clock of the rank: they stand in a column of their own.
impl Timed for TableRows {
    fn each_time(&mut self, f: &mut dyn FnMut(TimeField<'_>)) {
        for column in self.columns.iter_mut().filter(|column| column.role == RowColumnRole::Start) {
            if let ColumnValues::Ints(times) = &mut column.values {
                times.iter_mut().for_each(|time_ps| f(TimeField::Instant(time_ps)));
            }
        }
    }
}
