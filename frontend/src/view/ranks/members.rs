//! The calls of an operation as a table: who came when, waited how long, and left when.

use nprof_engine::base::narrow;
use nprof_engine::wire::detail::OperationMember;
use nprof_engine::wire::rows::ColumnValues;

use crate::view::table::{DataTable, TableColumn};

/// Key of the column of arrivals.
pub const ARRIVAL: &str = "arrival";
/// Key of the column of ranks.
pub const RANK: &str = "rank";

/// A row for each member. Times count from the first arrival.
#[must_use]
pub fn members_table(members: &[OperationMember]) -> DataTable {
    let first_ps = members.iter().map(|one| one.start_ps).min().unwrap_or_default();
    let column = |key: &str, title: &str, unit: &str, doc: &str, of: &dyn Fn(&OperationMember) -> i64| {
        let values = ColumnValues::Ints(members.iter().map(of).collect());
        TableColumn::new(key, title, unit, values).explained(doc)
    };
    let since = |time_ps: i64| time_ps.saturating_sub(first_ps);
    let columns = vec![
        column(RANK, "Rank", "", "Number of the rank.", &|one| i64::from(one.rank)),
        column(ARRIVAL, "Arrival", "ps", "Time from the first arrival to this one.", &|one| {
            since(one.start_ps)
        }),
        column("wait", "Wait", "ps", "Time that the rank waited.", &|one| one.wait_ps),
        column("end", "End", "ps", "Time from the first arrival to the end of the call.", &|one| {
            since(one.end_ps)
        }),
    ];
    DataTable { columns, rows: narrow(members.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::state::orders::PanelTable;
    use crate::view::table::sorted;

    #[test]
    fn times_count_from_the_first_arrival_and_the_latest_rank_is_on_top() {
        let member = |rank, start_ps, wait_ps| OperationMember {
            rank,
            row: 0,
            call: 0,
            start_ps,
            wait_ps,
            end_ps: 900,
            is_awaited: false,
        };
        let table = members_table(&[member(0, 150, 50), member(7, 100, 100), member(9, 200, 0)]);
        let latest_first = PanelTable::Arrivals.first_order();
        let order = sorted(&table, (0..table.rows).collect(), latest_first.as_ref());
        let line =
            |row: u32| table.columns.iter().map(|column| column.text(row)).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = order.into_iter().map(line).collect();
        assert_eq!(lines, ["9 100 0 800", "0 50 50 800", "7 0 100 800"]);
        assert_eq!(members_table(&[]).rows, 0);
    }
}
