//! Targets of the cells of the tables of all ranks. Pure.

use nprof_engine::makers::job::schema::{
    CALLS, CAUSES, CallRow, CauseRow, MISMATCHES, MismatchRow, OPERATIONS, OperationRow, RANKS, RankRow,
    SIZES, SizeRow,
};
use nprof_engine::makers::table::FieldSchema;
use nprof_engine::wire::detail::FieldContent;

use super::content::Content;

/// A place to which a cell leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lead {
    /// The slice of an operation, of which a slice or call has this time.
    Operation {
        /// Number of the operation.
        number: i64,
        /// The time, since the profile's origin.
        at_ps: i64,
    },
    /// The late rank of the operation with a slice in this row.
    Late(u32),
    /// The operation in which others waited longest for a rank.
    Worst(u32),
    /// The operation of a kind and size in which ranks waited longest.
    WorstOfSize {
        /// The kind.
        kind: String,
        /// Bytes, if known.
        bytes: Option<i64>,
        /// Members of the group, if known.
        ranks: Option<i64>,
    },
    /// A rank at a time.
    RankAt {
        /// Number of the rank.
        rank: u32,
        /// The time, since the profile's origin.
        at_ps: i64,
    },
    /// A slice of a rank.
    Slice {
        /// Number of the rank.
        rank: u32,
        /// Row of the slice.
        row: u32,
    },
}

impl Lead {
    /// The place to which a cell of a table leads. `key` is the key of its column. `None` if it
    /// leads nowhere. The start of slices in `content` counts from `zero_ps`.
    #[must_use]
    pub fn of(table: &str, content: &Content, key: &str, row: u32, zero_ps: i64) -> Option<Self> {
        let cell = |key: &str| content.table.column(key)?.1.cell(row);
        let int = |field: &FieldSchema| int_of(cell(field.name)?);
        // Slices have their start in a column of their own.
        let start_ps = || Some(int_of(cell(START)?)?.saturating_add(zero_ps));
        match table {
            name if name == OPERATIONS.name => {
                let (names, ints) = (OperationRow::by(|field| field.name), OperationRow::by(int));
                let number = || content.numbers.get(row as usize).copied();
                match key {
                    key if key == names.operation => operation(ints.operation, start_ps()),
                    key if key == names.last_rank => ints.last_rank.and(number()).map(Self::Late),
                    _ => None,
                }
            }
            name if name == CALLS.name => {
                let (names, ints) = (CallRow::by(|field| field.name), CallRow::by(int));
                match key {
                    key if key == names.operation => operation(ints.operation, start_ps()),
                    key if key == names.rank => {
                        Some(Self::Slice { rank: number_of(ints.rank)?, row: number_of(ints.row)? })
                    }
                    _ => None,
                }
            }
            // Side tables have times since the profile's origin.
            name if name == MISMATCHES.name => {
                let (names, ints) = (MismatchRow::by(|field| field.name), MismatchRow::by(int));
                match key {
                    key if key == names.operation => operation(ints.operation, ints.start),
                    key if key == names.rank => {
                        Some(Self::RankAt { rank: number_of(ints.rank)?, at_ps: ints.start? })
                    }
                    _ => None,
                }
            }
            name if name == RANKS.name => {
                let (names, ints) = (RankRow::by(|field| field.name), RankRow::by(int));
                (key == names.rank).then(|| number_of(ints.rank).map(Self::Worst)).flatten()
            }
            name if name == CAUSES.name => {
                let (names, ints) = (CauseRow::by(|field| field.name), CauseRow::by(int));
                // A link leads to its slowest transfer.
                let lead = || {
                    operation(ints.operation, ints.start).or_else(|| number_of(ints.rank).map(Self::Worst))
                };
                (key == names.cause).then(lead).flatten()
            }
            name if name == SIZES.name => of_size(key, &cell),
            _ => None,
        }
    }

    /// The place to which a row of a table leads: that of its first cell that leads somewhere.
    #[must_use]
    pub fn of_row(table: &str, content: &Content, row: u32, zero_ps: i64) -> Option<Self> {
        let mut keys = content.table.columns.iter().map(|column| column.key.as_str());
        keys.find_map(|key| Self::of(table, content, key, row, zero_ps))
    }

    /// Effect of a click, in words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Operation { .. } => "Show the operation",
            Self::Late(_) => "Show what this rank did while others waited for it",
            Self::Worst(_) => "Show what the rank did when others waited longest for it",
            Self::WorstOfSize { .. } => "Show what the late rank did in the operation with the longest waits",
            Self::RankAt { .. } => "Show the rank at this time",
            Self::Slice { .. } => "Show the call in its rank",
        }
    }
}

/// The place to which a cell of a row of operations by kind and size leads.
fn of_size(key: &str, cell: &dyn Fn(&str) -> Option<FieldContent>) -> Option<Lead> {
    let (names, row) = (SizeRow::by(|field| field.name), SizeRow::by(|field| cell(field.name)));
    match key {
        key if key == names.slowest_rank => number_of(int_of(row.slowest_rank?)).map(Lead::Worst),
        key if key == names.kind => Some(Lead::WorstOfSize {
            kind: text_of(row.kind?)?,
            bytes: row.operation_bytes.and_then(int_of).filter(|bytes| *bytes > 0),
            ranks: row.ranks.and_then(int_of),
        }),
        _ => None,
    }
}

fn operation(number: Option<i64>, at_ps: Option<i64>) -> Option<Lead> {
    Some(Lead::Operation { number: number?, at_ps: at_ps? })
}

fn int_of(content: FieldContent) -> Option<i64> {
    match content {
        FieldContent::Int(value) => Some(value),
        _ => None,
    }
}

fn text_of(content: FieldContent) -> Option<String> {
    match content {
        FieldContent::Text(text) => Some(text),
        _ => None,
    }
}

fn number_of(int: Option<i64>) -> Option<u32> {
    u32::try_from(int?).ok()
}

/// Key of the column of starts.
const START: &str = "start";

/// Whether a table of all ranks has rows for waits beside those of operations.
#[must_use]
pub fn has_waits(table: &str) -> bool {
    table == OPERATIONS.name
}

/// Whether a row is a wait of an operation. Only the transfer has a kind.
#[must_use]
pub fn is_wait(content: &Content, row: u32) -> bool {
    let names = OperationRow::by(|field| field.name);
    content.table.column(names.kind).is_some_and(|(_, kind)| kind.cell(row).is_none())
}

/// Number of rows that are no waits.
#[must_use]
pub fn without_waits(content: &Content) -> u64 {
    (0..content.table.rows).filter(|row| !is_wait(content, *row)).count() as u64
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::{ColumnValues, RowPresence};

    use super::*;
    use crate::view::table::texts;
    use crate::view::table::{DataTable, TableColumn};

    fn ints(key: &str, values: &[i64]) -> TableColumn {
        TableColumn::new(key, key, "", ColumnValues::Ints(values.to_vec()))
    }

    fn words(key: &str, values: &[&str]) -> TableColumn {
        TableColumn::new(key, key, "", texts(values.iter().map(|text| (*text).to_owned()).collect()))
    }

    fn content(columns: Vec<TableColumn>) -> Content {
        let table = DataTable { columns, rows: 2 };
        Content { table, numbers: vec![40, 41], total: 2 }
    }

    #[track_caller]
    fn check(table: &str, content: &Content, key: &str, expected: Option<Lead>) {
        assert_eq!(Lead::of(table, content, key, 1, 1_000), expected, "{table}.{key}");
    }

    #[test]
    fn each_table_leads_to_operations_and_late_ranks() {
        let calls = content(vec![
            ints("start", &[0, 5]),
            ints("operation", &[1, 2]),
            ints("rank", &[3, 4]),
            ints("row", &[8, 9]),
        ]);
        check("call", &calls, "operation", Some(Lead::Operation { number: 2, at_ps: 1_005 }));
        check("call", &calls, "rank", Some(Lead::Slice { rank: 4, row: 9 }));
        check("call", &calls, "row", None);
        check("slice", &calls, "rank", None);
        let operations = content(vec![ints("start", &[0, 5]), ints("last_rank", &[3, 17])]);
        check("operation", &operations, "last_rank", Some(Lead::Late(41)));
        let ranks = content(vec![ints("rank", &[3, 17]), ints("wait", &[3, 17])]);
        check("rank", &ranks, "rank", Some(Lead::Worst(17)));
        check("rank", &ranks, "wait", None);
        assert_eq!(Lead::of_row("rank", &ranks, 0, 0), Some(Lead::Worst(3)));
        let of_link = RowPresence::Some(vec![true, false]);
        let causes = content(vec![
            words("cause", &["link among ranks 0, 1", "rank 17"]),
            ints("operation", &[176]).present(&of_link, 2),
            ints("rank", &[1, 17]),
            ints("start", &[70]).present(&of_link, 2),
        ]);
        check("cause", &causes, "cause", Some(Lead::Worst(17)));
        let slowest = Lead::Operation { number: 176, at_ps: 70 };
        assert_eq!(Lead::of_row("cause", &causes, 0, 0), Some(slowest));
        let sizes = content(vec![
            words("kind", &["all-gather", "all-reduce"]),
            ints("operation_bytes", &[64, 0]),
            ints("ranks", &[2, 4]),
            ints("slowest_rank", &[1, 6]),
        ]);
        let kind = "all-reduce".to_owned();
        check(
            "operation_size",
            &sizes,
            "kind",
            Some(Lead::WorstOfSize { kind, bytes: None, ranks: Some(4) }),
        );
        check("operation_size", &sizes, "slowest_rank", Some(Lead::Worst(6)));
        let mismatches =
            content(vec![ints("operation", &[1, 2]), ints("rank", &[3, 4]), ints("start", &[70, 80])]);
        check("mismatch", &mismatches, "operation", Some(Lead::Operation { number: 2, at_ps: 80 }));
        check("mismatch", &mismatches, "rank", Some(Lead::RankAt { rank: 4, at_ps: 80 }));
    }

    #[test]
    fn a_wait_has_no_kind() {
        let kind = words("kind", &["all-reduce"]).present(&RowPresence::Some(vec![false, true]), 2);
        let both = content(vec![kind]);
        assert!(has_waits("operation") && !has_waits("call"));
        assert_eq!([0, 1].map(|row| is_wait(&both, row)), [true, false]);
        assert_eq!(without_waits(&both), 1);
    }
}
