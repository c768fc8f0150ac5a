//! The rows of a table.

use super::limit::{DEFAULT_LIMIT, at_most};
use crate::base::Interval;
use crate::exec::Work;
use crate::wire::ask::{Ask, AskRank, Manner, Rank, Weight};
use crate::wire::grammar::{Number, Numbers, SpanIfAny, Text, parameters};
use crate::wire::refusal::Refusal;
use crate::wire::rows::TableRows;
use crate::wire::table_rows::{RowsWanted, table_rows};

/// Maximum number of rows in one answer.
const MAX_ROWS: u32 = 1_000_000;

parameters! {
    /// The rows of a table, column by column. Slices and samples come in the order of time over all
    /// tracks, then of row numbers; rows of side tables in the order of row numbers.
    pub struct RowsQuestion {
        /// Name of the table, as the rank lists it.
        pub table: String = Text::in_path("table"),
        /// At most this many rows, never more than 1,000,000, and no more than 128 MiB of memory
        /// hold.
        pub limit: u32 = Number::or("limit", DEFAULT_LIMIT),
        /// Only rows that overlap it are listed. Rows of side tables have no time.
        pub span: Option<Interval> = SpanIfAny,
        /// Numbers of the tracks to read, separated by commas; by default all. Rows of side tables
        /// have no track.
        pub tracks: Option<Vec<u32>> = Numbers("tracks"),
    }
}

impl Ask for RowsQuestion {
    type Answer = TableRows;

    const PATH: &'static str = of_rank!("/tables/{table}");
    const MANNER: Manner = Manner::of("readTable", Weight::Heavy);
}

impl AskRank for RowsQuestion {
    fn answer(&self, rank: &impl Rank, work: Work<'_>) -> Result<TableRows, Refusal> {
        let Self { table, limit, span, tracks } = self;
        let limit = at_most(*limit, MAX_ROWS);
        let wanted = RowsWanted { span: *span, tracks: tracks.as_deref(), limit };
        table_rows(rank.view(), table, wanted, work).map_err(|error| rank.refusal(error))
    }
}

impl RowsQuestion {
    /// The first rows of a table, at most `limit`, over all time and tracks.
    #[must_use]
    pub fn of_table(table: impl Into<String>, limit: u32) -> Self {
        Self { table: table.into(), limit, span: None, tracks: None }
    }
}
