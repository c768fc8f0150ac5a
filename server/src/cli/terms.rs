//! The metrics of a Neuron profile whose names depend on its engines, each with its unit and
//! meaning.

use anyhow::Context;
use nprof_capture::device::simulation::{Simulation, capture};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::BuildOptions;
use nprof_engine::metrics::MetricScope;
use nprof_engine::native::{SegmentFile, Taking, write_segment_while};
use nprof_engine::rank::RankView;
use nprof_engine::wire::answer;

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
        let terms = metrics().unwrap();
        for term in &terms {
            assert!(term.meaning.ends_with('.'), "{term:?}");
        }
        let mut names: Vec<(&str, &str)> =
            terms.iter().map(|term| (term.group.as_str(), term.name.as_str())).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a term twice");
        for name in ["tensor_engine_active_time", "tensor_engine_unused_flops"] {
            assert!(names.contains(&("Tensor engine", name)), "{name}");
        }
    }
}
