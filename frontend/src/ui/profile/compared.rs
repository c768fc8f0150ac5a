//! Times by name in a span of one rank, beside those of other ranks. Pure.

use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::selection::{NameTotal, SelectionSummary, Side};

use super::data::content::texts;
use crate::view::table::{DataTable, TableColumn};

/// Key of the column of names.
pub const NAME: &str = "name";
/// Key of the column of self times.
pub const SELF: &str = "self";
/// Key of the column of longest slices.
pub const LONGEST: &str = "longest";
/// Key of the column of differences.
const DIFFERENCE: &str = "difference";

/// Statistics of a span in several ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Summaries {
    /// Of the current rank.
    pub own: SelectionSummary,
    /// Of the other ranks that are shown, with their numbers.
    pub beside: Vec<(u32, SelectionSummary)>,
}

impl Summaries {
    /// The sides of the machine that have names, devices first. Each has a table of its own.
    #[must_use]
    pub fn sides(&self) -> Vec<Option<Side>> {
        let beside = self.beside.iter().flat_map(|(_, summary)| &summary.by_name);
        let sides: BTreeSet<_> = self.own.by_name.iter().chain(beside).map(|total| total.side).collect();
        let known = sides.iter().copied().filter(Option::is_some);
        // A span without slices has an empty table.
        let unknown = (sides.is_empty() || sides.contains(&None)).then_some(None);
        known.chain(unknown).collect()
    }
}

/// Times by name on one side of the machine, in the order of names, and the longest slice of each
/// name in the current rank. A name of any of the ranks has a row. One other rank also gets a
/// column of differences.
#[must_use]
pub fn by_name(summaries: &Summaries, side: Option<Side>) -> (DataTable, Vec<Option<u32>>) {
    fn on(summary: &SelectionSummary, side: Option<Side>) -> impl Iterator<Item = &NameTotal> {
        summary.by_name.iter().filter(move |total| total.side == side)
    }
    let mut totals: BTreeMap<&str, Option<&NameTotal>> = BTreeMap::new();
    for total in summaries.beside.iter().flat_map(|(_, summary)| on(summary, side)) {
        totals.insert(&total.name, None);
    }
    totals.extend(on(&summaries.own, side).map(|total| (total.name.as_str(), Some(total))));
    let column = |of: fn(&NameTotal) -> u64| -> Vec<i64> {
        totals.values().map(|total| total.map_or(0, |total| picoseconds(of(total)))).collect()
    };
    let own = column(|total| total.self_ps);
    let names = texts(totals.keys().map(|&name| name.to_owned()).collect());
    let counts = totals.values().map(|total| total.map_or(0, |total| total.count)).collect();
    let title = match side {
        Some(Side::Device) => "Name on devices",
        Some(Side::Host) => "Name on host threads",
        None => "Name",
    };
    let mut columns = vec![
        TableColumn::new(NAME, title, "", names),
        TableColumn::new("count", "Count", "count", ColumnValues::Uints(counts))
            .explained("Slices that overlap the span"),
        TableColumn::new(SELF, "Self", "ps", ColumnValues::Ints(own.clone()))
            .explained("Time inside the span without the calls inside: no time counts twice on a thread"),
    ];
    for (rank, summary) in &summaries.beside {
        let of: BTreeMap<&str, u64> =
            on(summary, side).map(|total| (total.name.as_str(), total.self_ps)).collect();
        let other: Vec<i64> =
            totals.keys().map(|name| picoseconds(of.get(name).copied().unwrap_or(0))).collect();
        let difference = own.iter().zip(&other).map(|(own, other)| own.saturating_sub(*other)).collect();
        let (key, title) = (format!("{SELF}_{rank}"), format!("In rank {rank}"));
        columns.push(
            TableColumn::new(&key, &title, "ps", ColumnValues::Ints(other))
                .explained("Self time of the same span in the other rank that is shown"),
        );
        if summaries.beside.len() == 1 {
            columns.push(
                TableColumn::new(DIFFERENCE, "Difference", "ps", ColumnValues::Ints(difference))
                    .explained("Self time in this rank, less that in the other rank"),
            );
        }
    }
    columns.extend([
        TableColumn::new("union", "Union", "ps", ColumnValues::Ints(column(|total| total.union_ps)))
            .explained("As the total, where calls of the same name inside do not count again")
            .extra(),
        TableColumn::new("total", "Total", "ps", ColumnValues::Ints(column(|total| total.total_ps)))
            .explained("Sum of the durations inside the span: calls inside calls count in each"),
        TableColumn::new(LONGEST, "Longest", "ps", ColumnValues::Ints(column(|total| total.longest_ps)))
            .explained("The longest slice, with what lies outside of the span")
            .extra(),
    ]);
    let longest = totals.values().map(|total| total.map(|total| total.longest_row)).collect();
    (DataTable { columns, rows: u32::try_from(totals.len()).unwrap_or(u32::MAX) }, longest)
}

/// Picoseconds as a signed number.
#[must_use]
pub fn picoseconds(ps: u64) -> i64 {
    i64::try_from(ps).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(names: &[(&str, u64)]) -> SelectionSummary {
        let total = |&(name, self_ps): &(&str, u64)| NameTotal {
            name: name.to_owned(),
            side: None,
            count: 1,
            total_ps: self_ps,
            union_ps: self_ps,
            self_ps,
            longest_ps: self_ps,
            longest_row: 7,
        };
        let by_name = names.iter().map(total).collect();
        SelectionSummary { start_ps: 0, end_ps: 100, count: 2, by_name, by_track: Vec::new() }
    }

    /// The rows of these columns.
    fn shown(table: &DataTable, keys: &[&str]) -> Vec<Vec<i64>> {
        let column = |key: &&str| table.columns.iter().find(|column| column.key == *key).unwrap();
        (0..table.rows).map(|row| keys.iter().map(|key| column(key).int(row).unwrap()).collect()).collect()
    }

    #[test]
    fn a_second_rank_has_its_times_and_the_difference_beside() {
        let own = summary(&[("matmul", 30), ("add", 5)]);
        let other = summary(&[("matmul", 20), ("wait", 9)]);
        let one = Summaries { own: own.clone(), beside: vec![(3, other.clone())] };
        let (table, longest) = by_name(&one, None);
        // Names of both ranks: add, matmul, wait.
        assert_eq!(shown(&table, &["self", "self_3", "difference"]), [[5, 0, 5], [30, 20, 10], [0, 9, -9]]);
        assert_eq!(longest, [Some(7), Some(7), None]);
        let two = Summaries { own: own.clone(), beside: vec![(3, other.clone()), (4, other)] };
        let keys: Vec<String> =
            by_name(&two, None).0.columns.iter().map(|column| column.key.clone()).collect();
        assert_eq!(keys, ["name", "count", "self", "self_3", "self_4", "union", "total", "longest"]);
        let (alone, _) = by_name(&Summaries { own, beside: Vec::new() }, None);
        assert_eq!((alone.columns.len(), alone.rows), (6, 2));
    }

    #[test]
    fn devices_and_hosts_have_a_table_each() {
        let empty = Summaries { own: summary(&[]), beside: Vec::new() };
        assert_eq!(empty.sides(), [None]);
        let mut own = summary(&[("step", 40), ("matmul", 30), ("step", 50)]);
        own.by_name[0].side = Some(Side::Device);
        own.by_name[1].side = Some(Side::Device);
        own.by_name[2].side = Some(Side::Host);
        let both = Summaries { own, beside: Vec::new() };
        assert_eq!(both.sides(), [Some(Side::Device), Some(Side::Host)]);
        assert_eq!(shown(&by_name(&both, Some(Side::Device)).0, &["self"]), [[30], [40]]);
        assert_eq!(shown(&by_name(&both, Some(Side::Host)).0, &["self"]), [[50]]);
    }
}
