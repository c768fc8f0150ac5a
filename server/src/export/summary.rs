//! Metrics as `neuron-profile view --output-format summary-text` and `summary-json` write them. The
//! text of profiles of other vendors has headings and units in addition.

use std::io::{self, Write};

use nprof_engine::exec::Work;
use nprof_engine::makers::{Tool, imitated_tool};
use nprof_engine::metrics::MetricScope;
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use nprof_engine::wire::summary::{MetricEntry, Summary};
use serde_json::{Map, Value as Json};

use super::{ExportChoices, ExportError, OpenedRank, PreparedExport, RanksOf};
use crate::print::json::content;
use crate::store::RankFile;
use crate::summary::summary_of;
use crate::terminal::{cell, visible};

/// Longest name of a metric in the text form. The JSON form has the whole name.
const MAX_NAME_CHARS: usize = 200;

/// All metrics of a rank by name. If a name of the trace is taken already, it has its group before
/// it: hosts and devices can have slices of one name.
#[must_use]
pub fn metrics(summary: &Summary) -> Map<String, Json> {
    let mut all = Map::new();
    for group in &summary.groups {
        for metric in &group.metrics {
            let is_taken = group.has_names_of_trace && all.contains_key(&metric.name);
            let key = if is_taken { format!("{}.{}", group.key, metric.name) } else { metric.name.clone() };
            all.insert(key, content(&metric.value));
        }
    }
    all
}

/// The metrics of these ranks as a table, with a heading per rank if there are several.
pub fn prepare_text<'a>(
    of: RanksOf<'a>,
    _: &'a ExportChoices,
    work: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    // Scripts read the text of neuron-profile as lines of a name and a value.
    let is_plain = imitated_tool(&of.profile.manifest.source) == Some(Tool::NeuronProfile);
    let ranks = summaries(of, work)?;
    Ok(PreparedExport::new(move |out| {
        for (at, (rank, summary)) in ranks.iter().enumerate() {
            if ranks.len() > 1 {
                writeln!(
                    out,
                    "{}rank {} ({})",
                    if at > 0 { "\n" } else { "" },
                    rank.rank,
                    visible(&rank.id)
                )?;
            }
            if is_plain {
                write_text(&metrics(summary), out)?;
            } else {
                write_groups(summary, out)?;
            }
        }
        Ok(())
    }))
}

/// The metrics under the headings of their groups, each with its unit. Groups can have metrics of
/// the same name.
fn write_groups(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let groups = || summary.groups.iter().filter(|group| !group.metrics.is_empty());
    let name = |metric: &MetricEntry| cell(&metric.name, MAX_NAME_CHARS);
    let all = groups().flat_map(|group| &group.metrics);
    let width = all.map(|metric| name(metric).chars().count()).max().unwrap_or(0);
    for (at, group) in groups().enumerate() {
        writeln!(out, "{}{}", if at > 0 { "\n" } else { "" }, visible(&group.title))?;
        for metric in &group.metrics {
            let value = match content(&metric.value) {
                Json::String(text) => text,
                value => value.to_string(),
            };
            let gap = " ".repeat(width - name(metric).chars().count());
            let line = format!("{}{gap}  {} {}", name(metric), visible(&value), visible(&metric.unit));
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

fn write_text(metrics: &Map<String, Json>, out: &mut dyn Write) -> io::Result<()> {
    // Names come from the trace: long names and line breaks must not break the table.
    let names: Vec<String> = metrics.keys().map(|name| cell(name, MAX_NAME_CHARS)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, value) in names.iter().zip(metrics.values()) {
        let gap = " ".repeat(width - name.chars().count());
        match value {
            Json::String(text) => writeln!(out, "{name}{gap}  {}", visible(text))?,
            value => writeln!(out, "{name}{gap}  {}", visible(&value.to_string()))?,
        }
    }
    Ok(())
}

/// The metrics of these ranks: `{"n_<hash>": {metric: value}}`.
pub fn prepare_json<'a>(
    of: RanksOf<'a>,
    _: &'a ExportChoices,
    work: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    let all = by_rank(&summaries(of, work)?);
    Ok(PreparedExport::new(move |out| {
        serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
        Ok(writeln!(out)?)
    }))
}

/// The metrics of each rank under its id.
#[must_use]
pub fn by_rank(ranks: &[(&RankFile, Summary)]) -> Map<String, Json> {
    by_rank_as(ranks, |_, summary| metrics(summary))
}

/// An object for each rank under its id.
#[must_use]
pub fn by_rank_as(
    ranks: &[(&RankFile, Summary)],
    object: impl Fn(&RankFile, &Summary) -> Map<String, Json>,
) -> Map<String, Json> {
    let mut all = Map::new();
    for (rank, summary) in ranks {
        // Ranks of the same input have the same id. The rank's number keeps them apart.
        let key = if all.contains_key(&rank.id) {
            format!("{}_rank_{}", rank.id, rank.rank)
        } else {
            rank.id.clone()
        };
        all.insert(key, Json::Object(object(rank, summary)));
    }
    all
}

/// Each rank with its kept metrics.
pub fn summaries<'a>(of: RanksOf<'a>, work: Work<'_>) -> Result<Vec<(&'a RankFile, Summary)>, ExportError> {
    let measured = of.each().map(|opened| {
        let opened = opened?;
        let rank = opened.rank;
        opened.read(|segment| Ok((rank, summary_of(opened.place(), segment, work)?)))
    });
    measured.collect()
}

/// The metrics of a rank in a scope. They are not kept.
pub fn summary_within(
    opened: &OpenedRank<'_>,
    scope: &MetricScope,
    work: Work<'_>,
) -> Result<Summary, ExportError> {
    opened.read(|segment| Ok(answer::summary(RankView::of(segment), opened.place().rank(), scope, work)?))
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::detail::FieldContent;
    use nprof_engine::wire::summary::MetricGroupEntry;

    use super::*;

    fn summary(groups: Vec<MetricGroupEntry>) -> Summary {
        Summary { rank: 0.into(), groups, tables: Vec::new(), absent: Vec::new() }
    }

    fn group(title: &str, metrics: Vec<MetricEntry>) -> MetricGroupEntry {
        let title = title.to_owned();
        MetricGroupEntry { key: String::new(), title, has_names_of_trace: false, metrics }
    }

    fn metric(name: &str, value: FieldContent, unit: &str) -> MetricEntry {
        MetricEntry { name: name.to_owned(), value, unit: unit.to_owned(), doc: String::new(), place: None }
    }

    #[test]
    fn metrics_of_all_groups_keep_their_order_and_types() {
        let summary = summary(vec![
            group(
                "",
                vec![
                    metric("total_time", FieldContent::Float(0.25), "s"),
                    metric("b", FieldContent::Int(-1), ""),
                ],
            ),
            group(
                "",
                vec![
                    metric("nan", FieldContent::Float(f64::NAN), ""),
                    metric("list", FieldContent::Json("[1]".to_owned()), ""),
                ],
            ),
        ]);
        let text = Json::Object(metrics(&summary)).to_string();
        assert_eq!(text, r#"{"total_time":0.25,"b":-1,"nan":"NaN","list":[1]}"#);
    }

    #[test]
    fn a_name_of_the_trace_in_two_groups_is_written_twice() {
        let of = |key: &str, seconds: f64| MetricGroupEntry {
            key: key.to_owned(),
            has_names_of_trace: true,
            ..group("", vec![metric("step", FieldContent::Float(seconds), "s")])
        };
        let text = Json::Object(metrics(&summary(vec![of("device", 0.25), of("host", 2.5)]))).to_string();
        assert_eq!(text, r#"{"step":0.25,"host.step":2.5}"#);
    }

    #[test]
    fn groups_have_headings_and_metrics_units() {
        let summary = summary(vec![
            group("Clock", vec![metric("start", FieldContent::Int(3), "ns")]),
            group("Empty", vec![]),
            group(
                "Kernels",
                vec![
                    metric("start", FieldContent::Text("a\nb".to_owned()), ""),
                    metric("longest", FieldContent::Float(0.5), "s"),
                ],
            ),
        ]);
        let mut text = Vec::new();
        write_groups(&summary, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("Clock\nstart    3 ns\n\nKernels\nstart    a"), "{text}");
        assert!(text.ends_with("\nlongest  0.5 s\n") && text.lines().count() == 6, "{text}");
    }
}
