//! The row of an answer that is nearest in time to a slice of another track.

use nprof_engine::wire::rows::{ColumnValues, RowColumnRole, TableRows};

/// The number of the row whose start is nearest to a timestamp.
#[must_use]
pub fn nearest_row(rows: &TableRows, start_ps: i64) -> Option<u32> {
    let column = |role: RowColumnRole| {
        let column = rows.columns.iter().find(|column| column.role == role)?;
        if let ColumnValues::Ints(values) = &column.values { Some(values) } else { None }
    };
    let both = column(RowColumnRole::Row)?.iter().zip(column(RowColumnRole::Start)?);
    let (row, _) = both.min_by_key(|(_, start)| start.abs_diff(start_ps))?;
    u32::try_from(*row).ok()
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::rows::{Presence, RowColumn};

    use super::*;

    #[track_caller]
    fn check(starts: &[i64], start_ps: i64, expected: Option<u32>) {
        let column = |role, values: Vec<i64>| RowColumn {
            role,
            name: String::new(),
            unit: String::new(),
            doc: String::new(),
            present: Presence::All,
            values: ColumnValues::Ints(values),
        };
        let numbers = (0..starts.len() as i64).map(|at| at + 40).collect();
        let columns =
            vec![column(RowColumnRole::Row, numbers), column(RowColumnRole::Start, starts.to_vec())];
        let rows = starts.len() as u32;
        let rows =
            TableRows { table: "call".to_owned(), rows, total: rows.into(), truncated: false, columns };
        assert_eq!(nearest_row(&rows, start_ps), expected);
    }

    #[test]
    fn the_nearest_start_wins() {
        check(&[], 5, None);
        check(&[100, 200, 300], 0, Some(40));
        check(&[100, 200, 300], 160, Some(41));
        check(&[i64::MIN, i64::MAX], 1, Some(41));
    }
}
