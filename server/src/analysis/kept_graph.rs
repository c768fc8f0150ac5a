//! The dependency graph of a profile, as a server keeps it. Its answers cost no reading.

use std::sync::OnceLock;

use nprof_engine::base::{Error, Interval};
use nprof_engine::exec::Cancel;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::wait::AskedWaits;
use nprof_engine::insight::walk::{CriticalPath, JobEdges};
use nprof_engine::insight::{Edit, EditError, Predictions, Scenario, subjects_of};
use nprof_engine::wire::bundle::BundledWaits;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_path::RunPath;
use nprof_engine::wire::run_waits::RunWaits;
use nprof_engine::wire::what_if::{EditSubjects, WhatIf};

use super::graph::{self, MOST_EVENTS, Replayable};
use super::graph_meter::GraphMeter;
use super::kept_answers::KeptAnswer;
use super::run_waits::{MOST_ROWS, run_waits, unknown_rank, waits_of_each};
use super::{AnalysisError, on_all_cores};
use crate::store::Profile;

/// A dependency graph, with what answers from it share. That is made for the first one that needs
/// it: findings need neither.
#[derive(Debug)]
pub struct KeptGraph {
    of: Replayable,
    /// The replay of the unchanged run, in picoseconds.
    unchanged_ps: OnceLock<i64>,
    path: OnceLock<CriticalPath>,
}

impl KeptGraph {
    /// Reads the work of all ranks of a profile.
    pub fn of(profile: &Profile, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        Self::metered(profile, &GraphMeter::default(), cancel)
    }

    /// The same, with a meter of its progress.
    pub fn metered(profile: &Profile, meter: &GraphMeter, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let of = graph::metered(profile, meter, cancel)?;
        Ok(Self { of, unchanged_ps: OnceLock::new(), path: OnceLock::new() })
    }

    /// The length of the run under edits.
    pub fn what_if(&self, edits: &[Edit], cancel: Cancel<'_>) -> Result<WhatIf, Refusal> {
        let Replayable { graph, analysed } = self.with_work()?;
        let wrong = |error: EditError| Refusal::new(RefusalKind::BadQuestion, error.to_string());
        let scenario = Scenario::new(graph, &analysed.job, edits).map_err(wrong)?;
        let unchanged_ps = made(&self.unchanged_ps, || Ok(Predictions::of(graph, cancel)?.unchanged_ps()))?;
        let found = Predictions::known(graph, *unchanged_ps).under(&scenario, cancel)?;
        Ok(WhatIf::of(&found, edits))
    }

    /// The critical path: its parts within a span, at most `most`.
    pub fn critical_path(
        &self,
        span: Option<Interval>,
        most: usize,
        cancel: Cancel<'_>,
    ) -> Result<RunPath, Refusal> {
        let graph = &self.with_work()?.graph;
        let path = made(&self.path, || Ok(CriticalPath::of(&JobEdges::of(graph, on_all_cores(cancel))?)))?;
        Ok(RunPath::of(graph, path, span, most))
    }

    /// The waits of a run: sums, and the single waits within a span.
    pub fn run_waits(
        &self,
        profile: &Profile,
        asked: &AskedWaits<'_>,
        cancel: Cancel<'_>,
    ) -> Result<RunWaits, Refusal> {
        let graph = &self.with_work()?.graph;
        if let Some(reason) = asked.ranks.and_then(|ranks| unknown_rank(graph, ranks)) {
            return Err(Refusal::new(RefusalKind::NotFound, reason));
        }
        let edges = JobEdges::of(graph, on_all_cores(cancel))?;
        run_waits(profile, &edges, asked, MOST_ROWS, cancel).map_err(|error| error.refusal())
    }

    /// The waits of all ranks together, and of each with its longest single waits, at most `most`.
    pub fn waits_of_each(
        &self,
        profile: &Profile,
        most: usize,
        cancel: Cancel<'_>,
    ) -> Result<Vec<BundledWaits>, Refusal> {
        let graph = &self.with_work()?.graph;
        let edges = JobEdges::of(graph, on_all_cores(cancel))?;
        waits_of_each(profile, &edges, most, cancel).map_err(|error| error.refusal())
    }

    fn with_work(&self) -> Result<&Replayable, Refusal> {
        if self.of.graph.is_empty() {
            return Err(Refusal::new(RefusalKind::NotFound, NO_WORK));
        }
        Ok(&self.of)
    }

    /// The left sides of the edits that change the slice of this row of a rank.
    #[must_use]
    pub fn edit_subjects(&self, rank: u32, row: u32) -> EditSubjects {
        EditSubjects::of(&subjects_of(&self.of.graph, &self.of.analysed.job, rank, row))
    }

    /// The graph and the analysis behind it.
    #[must_use]
    pub fn replayable(&self) -> &Replayable {
        &self.of
    }
}

/// Weighs as many events as it has.
impl KeptAnswer for KeptGraph {
    fn weight(&self) -> u64 {
        self.of.graph.len() as u64
    }

    const CAPACITY: u64 = MOST_EVENTS;
}

/// A value that is made once. Two that need it at the same time make the same one.
fn made<T>(kept: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    if let Some(value) = kept.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(kept.get_or_init(|| value))
}
