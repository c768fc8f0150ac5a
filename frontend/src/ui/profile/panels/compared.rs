//! Times by name in a span of one rank, beside those of other ranks. Pure.

use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::base::order::gathered;
use nprof_engine::base::{clamped, narrow};
use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::selection::{NameTotal, SelectionSummary, Side};

use crate::ui::profile::data::content::texts;
use crate::ui::text::format;
use crate::view::state::orders::SELF;
use crate::view::table::{DataTable, TableColumn};

/// Key of the column of names.
pub const NAME: &str = "name";
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
    /// The marked slice, if a slice is marked and each rank was asked for its own one.
    pub slice: Option<MarkedSlice>,
}

/// A slice whose span is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedSlice {
    /// Its name.
    pub name: String,
    /// Ranks without a slice of this name. They were asked for the span of the current rank's.
    pub lacking: Vec<u32>,
}

impl Summaries {
    /// Which spans are compared, in words. `None` if it is the same span of all ranks.
    #[must_use]
    pub fn spans(&self) -> Option<String> {
        let MarkedSlice { name, lacking } = self.slice.as_ref()?;
        let duration = |summary: &SelectionSummary| summary.end_ps.saturating_sub(summary.start_ps);
        let own_ps = duration(&self.own);
        let mut said = vec![format!("{name} of each rank: {} here", format::duration(own_ps))];
        for (rank, summary) in self.beside.iter().filter(|(rank, _)| !lacking.contains(rank)) {
            let longer = signed(duration(summary).saturating_sub(own_ps), ["longer", "shorter"]);
            let later = signed(summary.start_ps.saturating_sub(self.own.start_ps), ["later", "earlier"]);
            let took = format::duration(duration(summary));
            said.push(format!("{took} in rank {rank} ({longer}, starts {later})"));
        }
        for rank in lacking {
            said.push(format!("rank {rank} has none, so the same span there"));
        }
        Some(said.join("; "))
    }
}

/// A time with a word for its direction: `3 µs longer`.
fn signed(ps: i64, [more, less]: [&str; 2]) -> String {
    let word = if ps < 0 { less } else { more };
    format!("{} {word}", format::duration(clamped(ps.unsigned_abs())))
}

impl Summaries {
    /// The sides of the machine that have names, devices first. Each has a table of its own.
    #[must_use]
    pub fn sides(&self) -> Vec<Option<Side>> {
        let beside = self.beside.iter().flat_map(|(_, summary)| &summary.by_name);
        let sides: BTreeSet<_> = gathered(self.own.by_name.iter().chain(beside).map(|total| total.side));
        let known = sides.iter().copied().filter(Option::is_some);
        // A span without slices has an empty table.
        let unknown = (sides.is_empty() || sides.contains(&None)).then_some(None);
        known.chain(unknown).collect()
    }

    /// Title of the names on a side of the machine.
    fn title(&self, side: Option<Side>) -> &'static str {
        match side {
            Some(Side::Device) => "Name on devices",
            Some(Side::Host) => "Name on host threads",
            None if self.sides().len() > 1 => "Name on other tracks",
            None => "Name",
        }
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
        totals.values().map(|total| total.map_or(0, |total| clamped(of(total)))).collect()
    };
    let own = column(|total| total.self_ps);
    let names = texts(totals.keys().map(|&name| name.to_owned()).collect());
    let counts = totals.values().map(|total| total.map_or(0, |total| total.count)).collect();
    let mut columns = vec![
        TableColumn::new(NAME, summaries.title(side), "", names),
        TableColumn::new("count", "Count", "count", ColumnValues::Uints(counts))
            .explained("Slices that overlap the span"),
        TableColumn::new(SELF, "Self", "ps", ColumnValues::Ints(own.clone()))
            .explained("Time inside the span without the calls inside: no time counts twice on a thread"),
    ];
    for (rank, summary) in &summaries.beside {
        let of: BTreeMap<&str, u64> =
            gathered(on(summary, side).map(|total| (total.name.as_str(), total.self_ps)));
        let other: Vec<i64> = totals.keys().map(|name| clamped(of.get(name).copied().unwrap_or(0))).collect();
        let difference = own.iter().zip(&other).map(|(own, other)| own.saturating_sub(*other)).collect();
        let has_own = summaries.slice.as_ref().is_some_and(|slice| !slice.lacking.contains(rank));
        let doc = match has_own {
            true => "Self time in the slice of the same name in the other rank that is shown",
            false => "Self time of the same span in the other rank that is shown",
        };
        let (key, title) = (format!("{SELF}_{rank}"), format!("In rank {rank}"));
        columns.push(TableColumn::new(&key, &title, "ps", ColumnValues::Ints(other)).explained(doc));
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
    (DataTable { columns, rows: narrow(totals.len()) }, longest)
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
        let one = Summaries { own: own.clone(), beside: vec![(3, other.clone())], slice: None };
        let (table, longest) = by_name(&one, None);
        // Names of both ranks: add, matmul, wait.
        assert_eq!(shown(&table, &["self", "self_3", "difference"]), [[5, 0, 5], [30, 20, 10], [0, 9, -9]]);
        assert_eq!(longest, [Some(7), Some(7), None]);
        let two = Summaries { own: own.clone(), beside: vec![(3, other.clone()), (4, other)], slice: None };
        let keys: Vec<String> =
            by_name(&two, None).0.columns.iter().map(|column| column.key.clone()).collect();
        assert_eq!(keys, ["name", "count", "self", "self_3", "self_4", "union", "total", "longest"]);
        let (alone, _) = by_name(&Summaries { own, beside: Vec::new(), slice: None }, None);
        assert_eq!((alone.columns.len(), alone.rows), (6, 2));
    }

    #[test]
    fn devices_and_hosts_have_a_table_each() {
        let empty = Summaries { own: summary(&[]), beside: Vec::new(), slice: None };
        assert_eq!(empty.sides(), [None]);
        let mut own = summary(&[("step", 40), ("matmul", 30), ("step", 50)]);
        own.by_name[0].side = Some(Side::Device);
        own.by_name[1].side = Some(Side::Device);
        own.by_name[2].side = Some(Side::Host);
        let both = Summaries { own, beside: Vec::new(), slice: None };
        assert_eq!(both.sides(), [Some(Side::Device), Some(Side::Host)]);
        assert_eq!(shown(&by_name(&both, Some(Side::Device)).0, &["self"]), [[30], [40]]);
        assert_eq!(shown(&by_name(&both, Some(Side::Host)).0, &["self"]), [[50]]);
        let title = |summaries, side| by_name(summaries, side).0.columns[0].title.clone();
        let mut annotated = both;
        annotated.own.by_name[0].side = None;
        assert_eq!(title(&annotated, None), "Name on other tracks");
        assert_eq!(title(&empty, None), "Name");
    }

    #[test]
    fn the_spans_of_a_marked_slice_are_told() {
        let span = |start_ps, end_ps| SelectionSummary { start_ps, end_ps, ..summary(&[]) };
        let (own, longer, none) = (span(0, 100_000_000), span(-2_000_000, 101_000_000), span(0, 100_000_000));
        let slice = MarkedSlice { name: "step#1".to_owned(), lacking: vec![4] };
        let summaries = Summaries { own, beside: vec![(3, longer), (4, none)], slice: Some(slice) };
        let expected = "step#1 of each rank: 100 µs here; 103 µs in rank 3 (3 µs longer, starts 2 µs earlier); \
                        rank 4 has none, so the same span there";
        assert_eq!(summaries.spans().as_deref(), Some(expected));
        assert_eq!(Summaries { slice: None, ..summaries }.spans(), None);
    }
}
