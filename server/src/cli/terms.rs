//! The terms of the page and the exports: metrics, tables and fields, each with its unit and
//! meaning.

use std::io::Write;

use anyhow::Context;
use nprof_capture::device::simulation::{Simulation, capture};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::BuildOptions;
use nprof_engine::makers::neuron::schema;
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::{SegmentFile, Taking, write_segment_while};
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;
use serde_json::json;

use crate::print::json::document;
use crate::print::text::{self, Align};

/// Number of events in the simulated rank that the metrics are taken from. This many events cover
/// all kinds of tracks.
const EVENTS: u64 = 2_000;

/// A term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The heading on the page.
    pub(super) group: String,
    pub(super) name: String,
    /// A symbol; empty for a plain number or text.
    pub(super) unit: String,
    pub(super) meaning: String,
}

/// Prints the table of terms as text.
pub(super) fn write_text(out: &mut dyn Write) -> anyhow::Result<()> {
    let mut rows = vec![["GROUP", "TERM", "UNIT", "MEANING"].map(str::to_owned).to_vec()];
    rows.extend(all()?.into_iter().map(|term| vec![term.group, term.name, term.unit, term.meaning]));
    Ok(text::table(out, &[Align::Left; 4], &rows)?)
}

/// Prints the table of terms as JSON: `{"terminology": [{"group", "name", "unit", "meaning"}]}`.
pub(super) fn write_json(out: &mut dyn Write) -> anyhow::Result<()> {
    let terms: Vec<_> = all()?
        .into_iter()
        .map(|term| {
            json!({"group": term.group, "name": term.name, "unit": term.unit, "meaning": term.meaning})
        })
        .collect();
    Ok(document(&json!({ "terminology": terms }), out)?)
}

/// All terms: the metrics first, then the tables with their fields.
fn all() -> anyhow::Result<Vec<Term>> {
    let mut terms = metrics()?;
    for table in schema::TABLES {
        let group = format!("table {}", table.name);
        let spec = table.spec();
        let mut add = |name: &str, unit: &str, meaning: &str| {
            // The list already holds the metrics that the summary computes.
            if table.name != schema::SUMMARY.name || terms.iter().all(|term| term.name != name) {
                let (name, unit, meaning) = (name.to_owned(), unit.to_owned(), meaning.to_owned());
                terms.push(Term { group: group.clone(), name, unit, meaning });
            }
        };
        add(table.name, "", &spec.doc);
        for field in table.fields {
            add(field.name, field.unit.symbol(), field.doc);
        }
    }
    Ok(terms)
}

/// The metrics of a Neuron profile, taken from a simulated rank: the definitions stand next to the
/// formulas.
pub(super) fn metrics() -> anyhow::Result<Vec<Term>> {
    of_simulation()
        .context("cannot compute the metrics of a simulated profile; check the free space of TMPDIR")
}

fn of_simulation() -> anyhow::Result<Vec<Term>> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("rank_0.nseg");
    let simulation = Simulation { ranks: 2, events_per_rank: EVENTS, ..Simulation::default() };
    write_segment_while(&path, BuildOptions::default(), Taking::Reader, Cancel::NEVER, |sink, _| {
        capture(&simulation, 0, sink, &mut |_| {})
    })
    .map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let segment = SegmentFile::open_file(&path)?;
    let summary = answer::summary(RankView::of(&segment), 0, &MetricScope::default(), Work::IN_PLACE)?;
    let of_group = summary.groups.into_iter().flat_map(|group| {
        let title = group.title;
        group.metrics.into_iter().map(move |metric| Term {
            group: title.clone(),
            name: metric.name,
            unit: metric.unit,
            meaning: metric.doc,
        })
    });
    Ok(of_group.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_explained_once_in_its_group() {
        let terms = all().unwrap();
        for term in &terms {
            assert!(term.meaning.ends_with('.'), "{term:?}");
        }
        let mut names: Vec<(&str, &str)> =
            terms.iter().map(|term| (term.group.as_str(), term.name.as_str())).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a term twice");
        for (group, name) in [("Tensor engine", "tensor_engine_active_time"), ("table dma", "queue_type")] {
            assert!(names.contains(&(group, name)), "{group}: {name}");
        }
    }
}
