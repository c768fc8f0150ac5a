//! The numbers of several regions beside each other. Pure.

use std::sync::Arc;

use nprof_engine::makers::SummaryLayout;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::summary::Summary;

use super::cards::{CardLine, shown_cards};
use super::time_bar::TimeBar;

/// Rows of a card that are taken over: those of names differ from region to region.
const MOST_ROWS: usize = 24;

/// A row of numbers, one for each region.
#[derive(Debug, Clone, PartialEq)]
pub struct BesideRow {
    /// The metric, as the first region with it has it.
    pub line: CardLine,
    /// The value in each region.
    pub values: Vec<Option<FieldContent>>,
}

impl BesideRow {
    /// How much larger the value of a region is than that of the first one, as a part of it.
    #[must_use]
    pub fn change(&self, region: usize) -> Option<f64> {
        let number = |at: usize| self.values.get(at)?.as_ref()?.number();
        let (first, own) = (number(0)?, number(region)?);
        (region > 0 && first != 0.0).then(|| (own - first) / first)
    }
}

/// The rows of the numbers of these regions: the parts of the time, then the values of the cards.
#[must_use]
pub fn beside_rows(layout: &SummaryLayout, regions: &[Option<Arc<Summary>>]) -> Vec<BesideRow> {
    let lines = |summary: &Summary| {
        let bar = TimeBar::of(layout, summary);
        let active_s = bar.as_ref().map_or(0.0, |bar| bar.active_s);
        let cards = shown_cards(layout, summary, active_s).into_iter().flat_map(|card| card.lines);
        time_lines(bar.as_ref()).into_iter().chain(cards).collect::<Vec<CardLine>>()
    };
    let all: Vec<Vec<CardLine>> =
        regions.iter().map(|of| of.as_deref().map(lines).unwrap_or_default()).collect();
    let is_same = |one: &CardLine, other: &CardLine| one.name == other.name && one.group == other.group;
    let mut rows: Vec<BesideRow> = Vec::new();
    // Two rows of one title cannot be told apart: the part of the time is the one that stays.
    let is_titled_alike = |one: &CardLine, other: &CardLine| one.label.is_some() && one.label == other.label;
    for line in all.iter().flatten() {
        if rows.iter().any(|row| is_same(&row.line, line) || is_titled_alike(&row.line, line)) {
            continue;
        }
        let value =
            |of: &Vec<CardLine>| of.iter().find(|own| is_same(own, line)).map(|own| own.value.clone());
        rows.push(BesideRow { line: line.clone(), values: all.iter().map(value).collect() });
    }
    rows.truncate(MOST_ROWS);
    rows
}

/// The whole time, and its parts.
fn time_lines(bar: Option<&TimeBar>) -> Vec<CardLine> {
    let Some(bar) = bar else { return Vec::new() };
    let line = |name: &str, title: &'static str, seconds: f64| CardLine {
        name: name.to_owned(),
        group: "time".to_owned(),
        label: Some(title),
        is_name_of_trace: false,
        subject: None,
        value: FieldContent::Float(seconds),
        unit: "s".to_owned(),
        doc: "Time of the region.".to_owned(),
        bar: None,
        mark: None,
        of_active: None,
        place: None,
    };
    let parts = bar.parts.iter().filter_map(|of| Some((of.part.title(), of.seconds?)));
    let parts: Vec<(&'static str, f64)> = parts.collect();
    let whole = parts.iter().map(|(_, seconds)| seconds).sum();
    let whole = (!parts.is_empty()).then(|| line("time", "length", whole));
    whole.into_iter().chain(parts.into_iter().map(|(title, seconds)| line(title, title, seconds))).collect()
}

#[cfg(test)]
mod tests {
    use nprof_engine::makers::summary_layout;
    use nprof_engine::wire::summary::{MetricEntry, MetricGroupEntry};

    use super::*;

    fn summary(metrics: &[(&str, f64)]) -> Option<Arc<Summary>> {
        let metric = |(name, value): &(&str, f64)| MetricEntry {
            name: (*name).to_owned(),
            value: FieldContent::Float(*value),
            unit: "s".to_owned(),
            doc: String::new(),
            place: None,
        };
        let group = MetricGroupEntry {
            key: "time".to_owned(),
            title: String::new(),
            has_names_of_trace: false,
            metrics: metrics.iter().map(metric).collect(),
        };
        let of = Summary { rank: 0.into(), groups: vec![group], tables: Vec::new(), absent: Vec::new() };
        Some(Arc::new(of))
    }

    #[test]
    fn each_region_has_its_value_of_each_row() {
        let first = summary(&[("time_computing", 2.0), ("time_idle", 2.0)]);
        let second = summary(&[("time_computing", 3.0), ("time_waiting", 1.0)]);
        let rows = beside_rows(summary_layout("neuron"), &[first, second, None]);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| {
                let number = |at: usize| row.values[at].as_ref().and_then(FieldContent::number);
                (row.line.label.unwrap_or_default(), number(0), number(1), number(2), row.change(1))
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("length", Some(4.0), Some(4.0), None, Some(0.0)),
                ("compute", Some(2.0), Some(3.0), None, Some(0.5)),
                ("idle", Some(2.0), None, None, None),
                ("wait", None, Some(1.0), None, None),
            ]
        );
        assert_eq!(beside_rows(summary_layout("neuron"), &[None]), []);
    }
}
