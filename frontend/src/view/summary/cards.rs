//! The cards of a summary: which of its values each one shows.

use std::ops::RangeInclusive;

use nprof_engine::base::order::sort_by;
use nprof_engine::makers::job::metrics::MEDIAN_RANK;
use nprof_engine::makers::{CardRow, SummaryCard, SummaryLayout, SummaryTarget, summary_target};
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::{
    MetricEntry, MetricGroupEntry, MetricPlaceEntry, MetricRowEntry, MetricTableEntry, Summary,
};

use super::collectives::CollectivePicture;
use super::number_target::{NumberSubject, NumberTarget};
use super::roofline::Roofline;
use crate::view::metric_share::shares;

/// Cards that are shown at first, those of double width counted twice.
const MOST_CARDS: usize = 5;
/// Rows of a card at most, so that the first screen shows all cards.
const MOST_ROWS: usize = 9;
/// Unit of times.
const SECONDS: &str = "s";

/// A card with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownCard {
    /// The heading, with the name of the thing if the card is about one.
    pub title: String,
    /// The rows.
    pub lines: Vec<CardLine>,
    /// The picture below them.
    pub picture: Option<CardPicture>,
    /// Width in cards.
    pub width: usize,
}

/// A picture of a card.
#[derive(Debug, Clone, PartialEq)]
pub enum CardPicture {
    /// Work by its intensity and rate.
    Roofline(Roofline),
    /// Collective operations by size and time.
    Collectives(CollectivePicture),
    /// Ranks over time. It is asked for apart from the values.
    Activity,
}

impl CardPicture {
    /// The least and the largest width in cards.
    fn widths(&self) -> RangeInclusive<usize> {
        match self {
            Self::Activity => 2..=2,
            Self::Collectives(_) => 1..=2,
            Self::Roofline(_) => 1..=1,
        }
    }
}

/// A value with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct CardLine {
    /// Exported name of a metric, or a name of the trace.
    pub name: String,
    /// Key of its group or table.
    pub group: String,
    /// The label that the card gives it.
    pub label: Option<&'static str>,
    /// Whether the name is one of the trace.
    pub is_name_of_trace: bool,
    /// The thing of the trace that it is about: a kernel, a track, a rank.
    pub subject: Option<String>,
    /// The value.
    pub value: FieldContent,
    /// Symbol of its unit.
    pub unit: String,
    /// Definition and computation.
    pub doc: String,
    /// Length of its bar, from 0 to 1.
    pub bar: Option<f64>,
    /// Place of a mark on the bar, from 0 to 1: the value of the median rank.
    pub mark: Option<f64>,
    /// Share of the active stretch, if it is a part of it.
    pub of_active: Option<f64>,
    /// The place that shows it.
    pub place: Option<MetricPlaceEntry>,
}

impl CardLine {
    /// Share of a whole of `whole_s` seconds, if the value is a time within it.
    #[must_use]
    pub fn share_of(&self, whole_s: f64) -> Option<f64> {
        let share = seconds(&self.value).filter(|_| self.unit == SECONDS)? / whole_s;
        (0.0..=1.0).contains(&share).then_some(share)
    }

    /// The place to which the number leads.
    #[must_use]
    pub fn target(&self) -> Option<NumberTarget> {
        NumberTarget::of(NumberSubject {
            group: &self.group,
            metric: &self.name,
            row: self.subject.as_deref(),
            value: &self.value,
            place: self.place.as_ref(),
        })
    }
}

/// The first cards of a summary with values. `active_s` is the length of the active stretch.
#[must_use]
pub fn shown_cards(layout: &SummaryLayout, summary: &Summary, active_s: f64) -> Vec<ShownCard> {
    let of = CardValues { summary, active_s };
    let mut room = MOST_CARDS;
    let cards = layout.cards.iter().filter_map(|card| of.card(card));
    let placed = |card: ShownCard| {
        let widths = card.picture.as_ref().map_or(1..=1, CardPicture::widths);
        let width = room.min(*widths.end());
        room -= width;
        (width >= *widths.start()).then_some(ShownCard { width, ..card })
    };
    cards.map_while(placed).collect()
}

struct CardValues<'s> {
    summary: &'s Summary,
    active_s: f64,
}

impl CardValues<'_> {
    fn card(&self, card: &SummaryCard) -> Option<ShownCard> {
        let mut title = card.title.to_owned();
        let mut lines = Vec::new();
        let mut picture = None;
        let mut subject = None;
        for row in card.rows {
            match *row {
                CardRow::Metric(group, name) => lines.extend(self.metric(group, name)),
                CardRow::Part(group, name, label) => {
                    let line = self.metric(group, name).and_then(|line| self.part(line));
                    lines.extend(line.map(|line| CardLine { label: Some(label), ..line }));
                }
                CardRow::PartOfPeak { group, metric, label, peak } => {
                    let line = self.metric(group, metric).and_then(|line| self.part_of_peak(line, peak));
                    lines.extend(line.map(|line| CardLine { label: Some(label), ..line }));
                }
                CardRow::Group { group, most } => lines.extend(self.group(group, most)),
                CardRow::BesideMedian { group, most } => lines.extend(self.beside_median(group, most)),
                CardRow::Column { table, column, most } => lines.extend(self.column(table, column, most)),
                CardRow::Absent(key, label, lack) => lines.extend(self.absent(key, label, lack)),
                CardRow::Roofline => picture = Roofline::of(self.summary).map(CardPicture::Roofline),
                CardRow::Collectives => {
                    picture = CollectivePicture::of(self.summary).map(CardPicture::Collectives);
                }
                CardRow::Activity => picture = Some(CardPicture::Activity),
                CardRow::FirstRow(table) => {
                    let Some((table, row)) = self.row_of(table, |_| true) else { continue };
                    subject = Some(row.name.as_str());
                    if table.rows.len() > 1 {
                        // The begin of a track's name is that of its device, which all have.
                        let own = row.name.rsplit(" / ").next().unwrap_or(&row.name);
                        title = format!("{title}, {own}");
                    }
                    lines.extend(self.values_of(table, row));
                }
                CardRow::SameRow(table) => {
                    let same = self.row_of(table, |row| Some(row.name.as_str()) == subject);
                    lines.extend(same.into_iter().flat_map(|(table, row)| self.values_of(table, row)));
                }
            }
        }
        lines.truncate(MOST_ROWS);
        let has_values = !lines.is_empty() || picture.is_some();
        has_values.then_some(ShownCard { title, lines, picture, width: 1 })
    }

    fn group_of(&self, key: &str) -> Option<&MetricGroupEntry> {
        self.summary.groups.iter().find(|group| group.key == key)
    }

    fn table_of(&self, key: &str) -> Option<&MetricTableEntry> {
        self.summary.tables.iter().find(|table| table.key == key)
    }

    fn metric(&self, group: &str, name: &str) -> Option<CardLine> {
        let group = self.group_of(group)?;
        let at = group.metrics.iter().position(|metric| metric.name == name)?;
        Some(line(group, &group.metrics[at], shares(group)[at]))
    }

    /// The line of metrics that the recording lacks. Its explanation says what would give them.
    fn absent(&self, key: &str, label: &'static str, lack: &str) -> Option<CardLine> {
        let absent = self.summary.absent.iter().find(|absent| absent.key == key)?;
        Some(CardLine {
            name: absent.title.clone(),
            group: absent.key.clone(),
            label: Some(label),
            is_name_of_trace: false,
            subject: None,
            value: FieldContent::Text(lack.to_owned()),
            unit: String::new(),
            doc: absent.reason.clone(),
            bar: None,
            mark: None,
            of_active: None,
            place: None,
        })
    }

    fn group(&self, group: &str, most: usize) -> Vec<CardLine> {
        let Some(group) = self.group_of(group) else { return Vec::new() };
        let mut metrics: Vec<_> = group.metrics.iter().zip(shares(group)).collect();
        // Tracks stand in their order; a card has room for the busiest.
        if summary_target(&group.key, "") == Some(SummaryTarget::TrackOfName) {
            sort_by(&mut metrics, |(a, _), (b, _)| {
                let value = |of: &MetricEntry| number(&of.value).unwrap_or(0.0);
                value(b).total_cmp(&value(a))
            });
        }
        metrics.into_iter().take(most).map(|(metric, bar)| line(group, metric, bar)).collect()
    }

    /// The times of the first ranks of a group, with the median rank marked on each bar and as the
    /// last line.
    fn beside_median(&self, group: &str, most: usize) -> Vec<CardLine> {
        let mut lines = self.group(group, usize::MAX);
        let Some(median) = lines.pop_if(|line| line.name == MEDIAN_RANK) else { return Vec::new() };
        lines.truncate(most);
        lines.push(CardLine { is_name_of_trace: false, ..median.clone() });
        lines.into_iter().map(|line| CardLine { mark: median.bar, ..line }).collect()
    }

    /// A time as a part of the active stretch. A part without time says nothing.
    fn part(&self, line: CardLine) -> Option<CardLine> {
        let share = seconds(&line.value)? / self.active_s;
        let share = (0.0..=1.0).contains(&share).then_some(share);
        Some(CardLine { bar: share, of_active: share, ..line }).filter(|_| share != Some(0.0))
    }

    /// Operations as a part of those that are possible in the active stretch. Without a peak they
    /// have no share.
    fn part_of_peak(&self, line: CardLine, peak: &str) -> Option<CardLine> {
        let mut metrics = self.summary.groups.iter().flat_map(|group| &group.metrics);
        let possible = metrics.find(|metric| metric.name == peak).and_then(|rate| number(&rate.value));
        let share = possible.and_then(|rate| Some(number(&line.value)? / (rate * self.active_s)));
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        Some(CardLine { bar: share, of_active: share, ..line })
            .filter(|line| number(&line.value) != Some(0.0))
    }

    fn column(&self, table: &str, column: &str, most: usize) -> Vec<CardLine> {
        let Some(table) = self.table_of(table) else { return Vec::new() };
        let Some(at) = table.columns.iter().position(|known| known.name == column) else { return Vec::new() };
        let values = table.rows.iter().filter_map(|row| Some((row, row.values.get(at)?.as_ref()?)));
        let longest = table.rows.iter().filter_map(|row| seconds(row.values.get(at)?.as_ref()?));
        let longest = longest.fold(0.0, f64::max);
        let line = |(row, value): (&MetricRowEntry, &FieldContent)| {
            let share = seconds(value).filter(|_| longest > 0.0).map(|of| of / longest);
            CardLine {
                name: row.name.clone(),
                group: table.key.clone(),
                label: None,
                is_name_of_trace: true,
                subject: Some(row.name.clone()),
                value: value.clone(),
                unit: table.columns[at].unit.clone(),
                doc: table.columns[at].doc.clone(),
                mark: None,
                bar: share.filter(|share| (0.0..=1.0).contains(share)),
                of_active: None,
                place: None,
            }
        };
        values.take(most).map(line).collect()
    }

    /// The first row of a table that is wanted.
    fn row_of(
        &self,
        table: &str,
        is_wanted: impl Fn(&&MetricRowEntry) -> bool,
    ) -> Option<(&MetricTableEntry, &MetricRowEntry)> {
        let table = self.table_of(table)?;
        Some((table, table.rows.iter().find(is_wanted)?))
    }

    /// A line for each value of a row.
    fn values_of(&self, table: &MetricTableEntry, row: &MetricRowEntry) -> Vec<CardLine> {
        let values = table.columns.iter().zip(&row.values);
        let lines = values.filter_map(|(column, value)| {
            let of_table = CardLine {
                name: column.name.clone(),
                group: table.key.clone(),
                label: None,
                is_name_of_trace: false,
                subject: Some(row.name.clone()),
                value: value.clone()?,
                unit: column.unit.clone(),
                doc: column.doc.clone(),
                bar: None,
                mark: None,
                of_active: None,
                place: None,
            };
            let as_part = self.part(of_table.clone()).filter(|_| column.unit == SECONDS);
            Some(as_part.unwrap_or(of_table))
        });
        lines.collect()
    }
}

fn line(group: &MetricGroupEntry, metric: &MetricEntry, bar: Option<f64>) -> CardLine {
    CardLine {
        name: metric.name.clone(),
        group: group.key.clone(),
        label: None,
        is_name_of_trace: group.has_names_of_trace,
        subject: group.has_names_of_trace.then(|| metric.name.clone()),
        value: metric.value.clone(),
        unit: metric.unit.clone(),
        doc: metric.doc.clone(),
        bar,
        mark: None,
        of_active: None,
        place: metric.place.clone(),
    }
}

/// The value of a count.
fn number(value: &FieldContent) -> Option<f64> {
    match *value {
        FieldContent::Float(number) => Some(number),
        FieldContent::Int(number) => Some(number as f64),
        _ => None,
    }
}

/// The value of a time in seconds.
pub(super) fn seconds(value: &FieldContent) -> Option<f64> {
    match *value {
        FieldContent::Float(seconds) => Some(seconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::makers::{summary_layout, summary_layout_of_job};
    use nprof_engine::wire::rank_ref::RankRef;
    use nprof_engine::wire::summary::{AbsentMetricsEntry, MetricColumnEntry};

    use super::*;

    fn metric(name: &str, value: f64, unit: &str) -> MetricEntry {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        MetricEntry {
            name,
            value: FieldContent::Float(value),
            unit,
            doc: "A metric.".to_owned(),
            place: None,
        }
    }

    fn group(key: &str, has_names_of_trace: bool, metrics: Vec<MetricEntry>) -> MetricGroupEntry {
        MetricGroupEntry { key: key.to_owned(), title: key.to_owned(), has_names_of_trace, metrics }
    }

    fn table(key: &str, row: &str, columns: &[&str], rows: &[(&str, &[f64])]) -> MetricTableEntry {
        let column = |name: &&str| MetricColumnEntry {
            name: (*name).to_owned(),
            unit: "s".to_owned(),
            doc: "A column.".to_owned(),
        };
        let row_of = |(name, values): &(&str, &[f64])| MetricRowEntry {
            name: (*name).to_owned(),
            values: values.iter().map(|value| Some(FieldContent::Float(*value))).collect(),
        };
        MetricTableEntry {
            key: key.to_owned(),
            title: key.to_owned(),
            row: row.to_owned(),
            columns: columns.iter().map(column).collect(),
            rows: rows.iter().map(row_of).collect(),
        }
    }

    /// The cards as text: `title: name bar, name bar`, bars in percent.
    fn drawn(summary: &Summary, active_s: f64) -> String {
        let percent = |bar: Option<f64>| bar.map_or_else(String::new, |bar| format!(" {:.0}", bar * 100.0));
        let line = |line: &CardLine| format!("{}{}", line.name, percent(line.bar));
        let card = |card: &ShownCard| {
            format!("{}: {}", card.title, card.lines.iter().map(line).collect::<Vec<_>>().join(", "))
        };
        let cards = shown_cards(summary_layout("kineto"), summary, active_s);
        cards.iter().map(card).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn cards_have_the_values_that_there_are() {
        let summary = Summary {
            rank: 0.into(),
            groups: vec![
                group("kernel_kinds", false, vec![metric("compute_alone_time", 6.0, "s")]),
                group(
                    "device_time",
                    false,
                    vec![metric("idle_time", 2.0, "s"), metric("comp_comm_overlap", 0.5, "ratio")],
                ),
                group(
                    "self_time_by_name_host",
                    true,
                    vec![metric("aten::mm", 4.0, "s"), metric("step", 1.0, "s")],
                ),
            ],
            tables: vec![
                table(
                    "idle_by_stream",
                    "stream",
                    &["host_wait", "other_wait"],
                    &[("GPU 0 / stream 7", &[1.0, 0.0]), ("GPU 0 / stream 8", &[9.0, 9.0])],
                ),
                table(
                    "queue_by_stream",
                    "stream",
                    &["longest_queue"],
                    &[("GPU 0 / stream 8", &[5.0]), ("GPU 0 / stream 7", &[4.0])],
                ),
                table("kernels_by_name", "kernel", &["sum"], &[("gemm", &[4.0]), ("add", &[2.0])]),
            ],
            absent: Vec::new(),
        };
        let expected = "Time of the devices: compute_alone_time 75, idle_time 25, comp_comm_overlap 50 | \
            Idle because of, stream 7: host_wait 12, other_wait, longest_queue 50 | Kernels: gemm 100, add 50 | \
            Time of host threads by name: aten::mm 100, step 25";
        assert_eq!(drawn(&summary, 8.0), expected);
        let none = Summary { rank: 0.into(), groups: Vec::new(), tables: Vec::new(), absent: Vec::new() };
        assert_eq!(drawn(&none, 0.0), "");
    }

    #[test]
    fn operations_are_parts_of_the_peak_of_the_active_stretch() {
        let rate = metric("tensor_engine_peak_rate", 1_000.0, "FLOP/s");
        let [unused, throttled, none] = ["unused", "active_throttled", "inactive_throttled"]
            .map(|part| format!("tensor_engine_{part}_flops"));
        let parts = [(&unused, 500.0), (&throttled, 3_000.0), (&none, 0.0)];
        let mut metrics = vec![rate];
        metrics.extend(parts.map(|(name, flops)| metric(name, flops, "FLOP")));
        let groups = vec![group("tensor_engine", false, metrics)];
        let summary = Summary { rank: 0.into(), groups, tables: Vec::new(), absent: Vec::new() };
        let cards = shown_cards(summary_layout("neuron"), &summary, 2.0);
        let lines: Vec<_> = cards[0].lines.iter().map(|line| (line.label.unwrap(), line.of_active)).collect();
        // The start-up can have more than the active stretch has room for.
        assert_eq!(lines, [("unused", Some(0.25)), ("throttled", None)]);
    }

    #[test]
    fn a_metric_that_the_recording_lacks_says_so() {
        let absent = AbsentMetricsEntry {
            key: "neuron_model_flops".to_owned(),
            title: "MFU".to_owned(),
            reason: "a NEFF does".to_owned(),
        };
        let summary =
            Summary { rank: 0.into(), groups: Vec::new(), tables: Vec::new(), absent: vec![absent] };
        let cards = shown_cards(summary_layout("neuron"), &summary, 1.0);
        let [line] = &cards[0].lines[..] else { panic!("{cards:?}") };
        let expected = (Some("MFU"), FieldContent::Text("no NEFF".to_owned()), "a NEFF does");
        assert_eq!((line.label, line.value.clone(), line.doc.as_str()), expected);
    }

    #[test]
    fn the_heat_map_of_all_ranks_takes_the_room_of_two_cards() {
        let ranks = [("rank 7", 8.0), ("rank 2", 4.0), (MEDIAN_RANK, 2.0)];
        let of = |key| group(key, true, ranks.map(|(name, time)| metric(name, time, "s")).to_vec());
        let groups = ["job_causes", "job_awaited", "job_mismatches"].map(of).to_vec();
        let summary = Summary { rank: RankRef::All, groups, tables: Vec::new(), absent: Vec::new() };
        let cards = shown_cards(summary_layout_of_job(), &summary, 1.0);
        let drawn: Vec<_> = cards.iter().map(|card| (card.title.as_str(), card.width)).collect();
        let titles = ["Where waiting began", "Mismatches", "Causes of waiting"];
        assert_eq!(drawn, [[("Ranks over time", 2)].as_slice(), &titles.map(|title| (title, 1))].concat());
        // The median rank is a mark on each bar, and the last line.
        let lines = cards[1].lines.iter().map(|line| (line.name.as_str(), line.bar, line.mark));
        let quarter = Some(0.25);
        let expected =
            [("rank 7", Some(1.0), quarter), ("rank 2", Some(0.5), quarter), (MEDIAN_RANK, quarter, quarter)];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }
}
