//! The rows of a table, column by column.

use serde::{Deserialize, Serialize};

use super::allowance::Allowance;
use super::detail::FieldContent;
use super::row_columns::{bytes_of_row, columns};
use crate::base::{Error, Interval, Result, narrow};
use crate::exec::Work;
use crate::model::TrackId;
use crate::query::{self, RowFilter};
use crate::rank::RankView;
use crate::segment::Bytes;

/// The first rows of a table that match a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRows {
    /// Name of the table.
    pub table: String,
    /// Number of rows in each column.
    pub rows: u32,
    /// Number of rows that match.
    pub total: u64,
    /// Whether the limit left rows out.
    pub truncated: bool,
    /// Columns in display order.
    pub columns: Vec<RowColumn>,
}

/// One column of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[serde(rename_all = "snake_case")]
pub enum ColumnValues {
    /// Signed integers.
    Ints(Vec<i64>),
    /// Unsigned integers.
    Uints(Vec<u64>),
    /// Floats.
    Floats(Vec<f64>),
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
pub struct Texts {
    /// The texts.
    pub texts: Vec<String>,
    /// Position in `texts` of each value.
    pub codes: Vec<u32>,
}

/// Rows that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsWanted<'a> {
    /// Only rows that overlap this span.
    pub span: Option<Interval>,
    /// Only rows of these tracks.
    pub tracks: Option<&'a [u32]>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// The first rows of a table: of slices and samples in the order of time, of side tables in the
/// order of row numbers. As many rows as an answer has memory for, at most the limit. Decodes only
/// blocks with such rows, and blocks at the edges of the span.
///
/// # Errors
/// `Invalid` if there is no such table, if it is a side table and a span or tracks are given, or if
/// the texts of the rows take more memory than an answer may;
/// `Cancelled` if the work was cancelled; otherwise if bytes are missing or damaged.
pub fn table_rows<B: Bytes>(
    RankView { segment, .. }: RankView<'_, B>,
    table: &str,
    wanted: RowsWanted<'_>,
    work: Work<'_>,
) -> Result<TableRows> {
    let id = segment.table(table).ok_or(Error::Invalid { what: "the table does not exist" })?;
    let tracks: Option<Vec<TrackId>> =
        wanted.tracks.map(|tracks| tracks.iter().copied().map(TrackId).collect());
    let filter = RowFilter { span: wanted.span, tracks: tracks.as_deref() };
    let left = Allowance::of_answer();
    // Half of the memory is for texts.
    let limit = wanted.limit.min(left.fitting(2 * bytes_of_row(segment, id)));
    let listing = query::listing::list(segment, id, filter, limit, work)?;
    Ok(TableRows {
        table: table.to_owned(),
        rows: narrow(listing.rows.len()),
        total: listing.total,
        truncated: (listing.rows.len() as u64) < listing.total,
        columns: columns(segment, id, &listing.rows, &left, work)?,
    })
}
