//! Answers a question for the rows of a table.

use super::allowance::AnswerAllowance;
use super::row_columns::{bytes_of_row, columns};
use super::rows::TableRows;
use crate::base::{Error, Interval, Result, narrow};
use crate::exec::Work;
use crate::model::TrackId;
use crate::query::{self, RowFilter};
use crate::rank::RankView;
use crate::segment::Bytes;

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
    let left = AnswerAllowance::of_answer();
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
