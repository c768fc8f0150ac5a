//! Times by name in a span of one rank, beside those of other ranks and regions. Pure.

use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::base::order::gathered;
use nprof_engine::base::{clamped, narrow};
use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::selection::{NameTotal, SelectionSummary, Side};

use crate::ui::text::format;
use crate::view::source_id::SourceId;
use crate::view::state::orders::SELF;
use crate::view::table::{DataTable, TableColumn, texts};

/// Key of the column of names.
pub const NAME: &str = "name";
/// Key of the column of longest slices.
pub const LONGEST: &str = "longest";
/// Key of the column of differences.
const DIFFERENCE: &str = "difference";
/// Key of the column of counts.
const COUNT: &str = "count";

/// Columns in the order in which they give way if not all have room. The others stay.
const GIVING_WAY: [&str; 4] = ["total", "union", LONGEST, COUNT];

/// Statistics of a span in several ranks, and of regions.
#[derive(Debug, Clone, PartialEq)]
pub struct Summaries {
    /// Statistics of the current rank.
    pub own: SelectionSummary,
    /// Statistics of the other ranks that are shown, and of the regions beside the span.
    pub beside: Vec<OtherSummary>,
    /// Name of the marked slice, if a slice is marked and each rank was asked for its own one.
    pub slice: Option<String>,
}

/// Statistics of another rank or region.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherSummary {
    /// The rank or region.
    pub part: OtherPart,
    /// The statistics.
    pub summary: SelectionSummary,
}

/// A part of the run beside a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherPart {
    /// Another rank.
    Rank {
        /// The rank.
        source: SourceId,
        /// The rank in words.
        words: String,
        /// Whether the span is that of its own slice of the marked name. Otherwise it is the span
        /// of the current rank.
        has_slice: bool,
    },
    /// A region of the current rank.
    Region {
        /// Its position among those that the address names.
        at: usize,
        /// Its name.
        name: String,
    },
}

impl OtherPart {
    /// Key and title of the column of self times, and its explanation.
    fn column(&self) -> (String, String, &'static str) {
        match self {
            Self::Rank { source, words, has_slice: true } => (
                format!("{SELF}_{source}"),
                format!("In {words}"),
                "Self time in the slice of the same name in the other rank that is shown",
            ),
            Self::Rank { source, words, has_slice: false } => (
                format!("{SELF}_{source}"),
                format!("In {words}"),
                "Self time of the same span in the other rank that is shown",
            ),
            Self::Region { at, name } => (
                format!("{SELF}_beside_{at}"),
                format!("In {name}"),
                "Self time in the region beside the span",
            ),
        }
    }
}

impl Summaries {
    /// Which spans are compared, in words. `None` if it is the same span of all ranks.
    #[must_use]
    pub fn spans(&self) -> Option<String> {
        let own_ps = length_ps(&self.own);
        let regions = self.beside.iter().filter_map(|other| match &other.part {
            OtherPart::Region { name, .. } => Some(lasting(&other.summary, own_ps, name, "")),
            OtherPart::Rank { .. } => None,
        });
        let regions: Vec<String> = regions.collect();
        let mut said = match &self.slice {
            Some(name) => vec![format!("{name} of each rank: {} here", format::duration(own_ps))],
            None if regions.is_empty() => return None,
            None => vec![format!("{} here", format::duration(own_ps))],
        };
        if self.slice.is_some() {
            said.extend(self.spans_of_ranks(own_ps));
        }
        said.extend(regions);
        Some(said.join("; "))
    }

    /// The slices of the marked name in other ranks; those that have one come first.
    fn spans_of_ranks(&self, own_ps: i64) -> Vec<String> {
        let (mut having, mut lacking) = (Vec::new(), Vec::new());
        for OtherSummary { part, summary } in &self.beside {
            match part {
                OtherPart::Rank { words, has_slice: true, .. } => {
                    let since_ps = summary.start_ps.saturating_sub(self.own.start_ps);
                    let starts = format!(", starts {}", signed(since_ps, ["later", "earlier"]));
                    having.push(lasting(summary, own_ps, words, &starts));
                }
                OtherPart::Rank { words, has_slice: false, .. } => {
                    lacking.push(format!("{words} has none, so the same span there"));
                }
                OtherPart::Region { .. } => {}
            }
        }
        having.append(&mut lacking);
        having
    }
}

fn length_ps(summary: &SelectionSummary) -> i64 {
    summary.end_ps.saturating_sub(summary.start_ps)
}

/// The length of a part beside the own span, and what else is said about it:
/// `103 µs in rank 3 (3 µs longer, starts 2 µs later)`.
fn lasting(summary: &SelectionSummary, own_ps: i64, part: &str, more: &str) -> String {
    let longer = signed(length_ps(summary).saturating_sub(own_ps), ["longer", "shorter"]);
    format!("{} in {part} ({longer}{more})", format::duration(length_ps(summary)))
}

/// A time with a word for its direction: `3 µs longer`.
fn signed(ps: i64, [more, less]: [&str; 2]) -> String {
    let word = if ps < 0 { less } else { more };
    format!("{} {word}", format::duration(clamped(ps.unsigned_abs())))
}

/// Names that have a table of their own: waits apart from work, and each side of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameGroup {
    /// Whether the names are those of waits.
    pub is_wait: bool,
    /// Whether no side is known. These names come after those of devices and hosts.
    is_elsewhere: bool,
    /// The side of the machine.
    side: Option<Side>,
}

impl NameGroup {
    fn new(is_wait: bool, side: Option<Side>) -> Self {
        Self { is_wait, is_elsewhere: side.is_none(), side }
    }

    fn of(total: &NameTotal) -> Self {
        Self::new(total.is_wait, total.side)
    }
}

impl Summaries {
    /// The groups of names, waits below all work, devices first. A span without work has an empty
    /// table for it.
    #[must_use]
    pub fn groups(&self) -> Vec<NameGroup> {
        let beside = self.beside.iter().flat_map(|other| &other.summary.by_name);
        let mut groups: BTreeSet<_> = gathered(self.own.by_name.iter().chain(beside).map(NameGroup::of));
        if groups.iter().all(|group| group.is_wait) {
            groups.insert(NameGroup::new(false, None));
        }
        groups.into_iter().collect()
    }

    /// Title of the names of a group.
    fn title(&self, group: NameGroup) -> &'static str {
        let is_apart = self.groups().iter().any(|group| group.side.is_some());
        match (group.is_wait, group.side) {
            (false, Some(Side::Device)) => "Name on devices",
            (false, Some(Side::Host)) => "Name on host threads",
            (false, None) if is_apart => "Name on other tracks",
            (false, None) => "Name",
            (true, Some(Side::Device)) => "Wait on devices",
            (true, Some(Side::Host)) => "Wait on host threads",
            (true, None) if is_apart => "Wait on other tracks",
            (true, None) => "Wait",
        }
    }
}

/// Times by name of a group, in the order of names, and the longest slice of each name in the
/// current rank. A name of any of the parts has a row. One other part also gets a column of
/// differences.
#[must_use]
pub fn by_name(summaries: &Summaries, group: NameGroup) -> (DataTable, Vec<Option<u32>>) {
    fn on(summary: &SelectionSummary, group: NameGroup) -> impl Iterator<Item = &NameTotal> {
        summary.by_name.iter().filter(move |total| NameGroup::of(total) == group)
    }
    let mut totals: BTreeMap<&str, Option<&NameTotal>> = BTreeMap::new();
    for total in summaries.beside.iter().flat_map(|other| on(&other.summary, group)) {
        totals.insert(&total.name, None);
    }
    totals.extend(on(&summaries.own, group).map(|total| (total.name.as_str(), Some(total))));
    let column = |of: fn(&NameTotal) -> u64| -> Vec<i64> {
        totals.values().map(|total| total.map_or(0, |total| clamped(of(total)))).collect()
    };
    let own = column(|total| total.self_ps);
    let names = texts(totals.keys().map(|&name| name.to_owned()).collect());
    let counts = totals.values().map(|total| total.map_or(0, |total| total.count)).collect();
    let mut columns = vec![
        TableColumn::new(NAME, summaries.title(group), "", names),
        TableColumn::new(COUNT, "Count", "count", ColumnValues::Uints(counts))
            .explained("Slices that overlap the span"),
        TableColumn::new(SELF, "Self", "ps", ColumnValues::Ints(own.clone()))
            .explained("Time inside the span without the calls inside: no time counts twice on a thread"),
    ];
    for OtherSummary { part, summary } in &summaries.beside {
        let of: BTreeMap<&str, u64> =
            gathered(on(summary, group).map(|total| (total.name.as_str(), total.self_ps)));
        let other: Vec<i64> = totals.keys().map(|name| clamped(of.get(name).copied().unwrap_or(0))).collect();
        let difference = own.iter().zip(&other).map(|(own, other)| own.saturating_sub(*other)).collect();
        let (key, title, doc) = part.column();
        let column = TableColumn::new(&key, &title, "ps", ColumnValues::Ints(other)).explained(doc);
        columns.push(column.giving_way(GIVING_WAY.len()));
        if summaries.beside.len() == 1 {
            columns.push(
                TableColumn::new(DIFFERENCE, "Difference", "ps", ColumnValues::Ints(difference))
                    .explained("Self time in the marked span, less that of the column beside it"),
            );
        }
    }
    columns.extend([
        TableColumn::new("union", "Union", "ps", ColumnValues::Ints(column(|total| total.union_ps)))
            .explained("As the total, where calls of the same name inside do not count again"),
        TableColumn::new("total", "Total", "ps", ColumnValues::Ints(column(|total| total.total_ps)))
            .explained("Sum of the durations inside the span: calls inside calls count in each"),
        TableColumn::new(LONGEST, "Longest", "ps", ColumnValues::Ints(column(|total| total.longest_ps)))
            .explained("The longest slice, with what lies outside of the span"),
    ]);
    for column in &mut columns {
        let order = GIVING_WAY.iter().position(|key| *key == column.key);
        column.gives_way = column.gives_way.or(order);
    }
    let longest = totals.values().map(|total| total.map(|total| total.longest_row)).collect();
    (DataTable { columns, rows: narrow(totals.len()) }, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of work, without sides.
    const WORK: NameGroup = NameGroup { is_wait: false, is_elsewhere: true, side: None };

    fn summary(names: &[(&str, u64)]) -> SelectionSummary {
        let total = |&(name, self_ps): &(&str, u64)| NameTotal {
            name: name.to_owned(),
            side: None,
            is_wait: name.contains("wait"),
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

    fn beside(rank: u32, has_slice: bool, summary: SelectionSummary) -> OtherSummary {
        let (source, words) = (SourceId::of_first(rank), format!("rank {rank}"));
        OtherSummary { part: OtherPart::Rank { source, words, has_slice }, summary }
    }

    #[test]
    fn a_second_rank_has_its_times_and_the_difference_beside() {
        let own = summary(&[("matmul", 30), ("add", 5)]);
        let other = summary(&[("matmul", 20), ("sum", 9)]);
        let one = Summaries { own: own.clone(), beside: vec![beside(3, false, other.clone())], slice: None };
        let (table, longest) = by_name(&one, WORK);
        // Names of both ranks: add, matmul, sum.
        assert_eq!(shown(&table, &["self", "self_3", "difference"]), [[5, 0, 5], [30, 20, 10], [0, 9, -9]]);
        assert_eq!(longest, [Some(7), Some(7), None]);
        let two = Summaries {
            own: own.clone(),
            beside: vec![beside(3, false, other.clone()), beside(4, false, other)],
            slice: None,
        };
        let keys: Vec<String> =
            by_name(&two, WORK).0.columns.iter().map(|column| column.key.clone()).collect();
        assert_eq!(keys, ["name", "count", "self", "self_3", "self_4", "union", "total", "longest"]);
        let (alone, _) = by_name(&Summaries { own, beside: Vec::new(), slice: None }, WORK);
        assert_eq!((alone.columns.len(), alone.rows), (6, 2));
    }

    #[test]
    fn devices_and_hosts_have_a_table_each() {
        let empty = Summaries { own: summary(&[]), beside: Vec::new(), slice: None };
        assert_eq!(empty.groups(), [WORK]);
        let mut own = summary(&[("step", 40), ("matmul", 30), ("step", 50)]);
        own.by_name[0].side = Some(Side::Device);
        own.by_name[1].side = Some(Side::Device);
        own.by_name[2].side = Some(Side::Host);
        let both = Summaries { own, beside: Vec::new(), slice: None };
        let [device, host] = both.groups()[..] else { panic!("{:?}", both.groups()) };
        assert_eq!((device.side, host.side), (Some(Side::Device), Some(Side::Host)));
        assert_eq!(shown(&by_name(&both, device).0, &["self"]), [[30], [40]]);
        assert_eq!(shown(&by_name(&both, host).0, &["self"]), [[50]]);
        let title = |summaries, group| by_name(summaries, group).0.columns[0].title.clone();
        let mut annotated = both;
        annotated.own.by_name[0].side = None;
        assert_eq!(title(&annotated, WORK), "Name on other tracks");
        assert_eq!(title(&empty, WORK), "Name");
    }

    #[test]
    fn waits_have_a_table_below_the_names() {
        let titles = |names: &[(&str, u64)]| -> Vec<&str> {
            let summaries = Summaries { own: summary(names), beside: Vec::new(), slice: None };
            summaries.groups().iter().map(|group| summaries.title(*group)).collect()
        };
        assert_eq!(titles(&[("event_wait", 90), ("add", 5)]), ["Name", "Wait"]);
        assert_eq!(titles(&[("event_wait", 90)]), ["Name", "Wait"]);
        let mut own = summary(&[("event_wait", 90), ("add", 5), ("other_wait", 7)]);
        own.by_name[0].side = Some(Side::Host);
        own.by_name[1].side = Some(Side::Device);
        let summaries = Summaries { own, beside: Vec::new(), slice: None };
        let titles: Vec<_> = summaries.groups().iter().map(|group| summaries.title(*group)).collect();
        assert_eq!(titles, ["Name on devices", "Wait on host threads", "Wait on other tracks"]);
    }

    #[test]
    fn the_spans_of_a_marked_slice_are_told() {
        let span = |start_ps, end_ps| SelectionSummary { start_ps, end_ps, ..summary(&[]) };
        let (own, longer, none) = (span(0, 100_000_000), span(-2_000_000, 101_000_000), span(0, 100_000_000));
        let beside = vec![beside(3, true, longer), beside(4, false, none)];
        let summaries = Summaries { own, beside, slice: Some("step#1".to_owned()) };
        let expected = "step#1 of each rank: 100 µs here; 103 µs in rank 3 (3 µs longer, starts 2 µs earlier); \
                        rank 4 has none, so the same span there";
        assert_eq!(summaries.spans().as_deref(), Some(expected));
        assert_eq!(Summaries { slice: None, ..summaries }.spans(), None);
    }

    #[test]
    fn a_region_beside_the_span_has_a_column_and_its_length() {
        let region = |at: usize, name: &str, summary| OtherSummary {
            part: OtherPart::Region { at, name: name.to_owned() },
            summary,
        };
        let long = SelectionSummary { end_ps: 3_000_000, ..summary(&[("matmul", 40)]) };
        let own = SelectionSummary { end_ps: 1_000_000, ..summary(&[("matmul", 30), ("add", 5)]) };
        let one = Summaries { own, beside: vec![region(0, "layer 3", long)], slice: None };
        let (table, _) = by_name(&one, WORK);
        assert_eq!(shown(&table, &["self", "self_beside_0", "difference"]), [[5, 0, 5], [30, 40, -10]]);
        assert_eq!(table.columns[3].title, "In layer 3");
        assert_eq!(one.spans().as_deref(), Some("1 µs here; 3 µs in layer 3 (2 µs longer)"));
    }
}
