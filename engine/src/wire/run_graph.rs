//! The dependency graph of a run with what its answers share, in a server and in a page without
//! one. Answers cost no reading.

use std::sync::OnceLock;

use super::comparison::ComparedSide;
use super::paired_tracks::{PairedRun, PairedTracks};
use super::refusal::{Refusal, RefusalKind};
use super::run_path::RunPath;
use super::what_if::{EditSubjects, WhatIf, WhatIfSweep};
use super::work_slack::WorkSlack;
use crate::base::{Interval, Result};
use crate::exec::{Cancel, Work};
use crate::insight::finding::sentence::NO_WORK;
use crate::insight::run_match::predicted_run;
use crate::insight::slack::JobSlack;
use crate::insight::walk::{CriticalPath, JobEdges};
use crate::insight::{Edit, EditError, JobGraph, Predictions, Scenario, subjects_of, sweep};

/// Most events of a profile whose graph a page makes.
pub const MOST_EVENTS_IN_PAGE: u64 = 4_000_000;

/// A dependency graph. The replay of the unchanged run, the path and the slack are made for the
/// first answer that needs them: findings need none.
#[derive(Debug)]
pub struct RunGraph {
    graph: JobGraph,
    /// The replay of the unchanged run, in picoseconds.
    unchanged_ps: OnceLock<i64>,
    path: OnceLock<CriticalPath>,
    slack: OnceLock<JobSlack>,
}

impl From<JobGraph> for RunGraph {
    fn from(graph: JobGraph) -> Self {
        Self { graph, unchanged_ps: OnceLock::new(), path: OnceLock::new(), slack: OnceLock::new() }
    }
}

impl RunGraph {
    /// The length of the run under edits.
    pub fn what_if(&self, edits: &[Edit], cancel: Cancel<'_>) -> std::result::Result<WhatIf, Refusal> {
        let scenario = self.scenario(edits)?;
        let found = self.predictions(cancel)?.under(&scenario, cancel)?;
        Ok(WhatIf::of(&found, edits))
    }

    /// The changes that would shorten the run most, at most `most`.
    pub fn sweep(&self, most: usize, work: Work<'_>) -> std::result::Result<WhatIfSweep, Refusal> {
        Ok(WhatIfSweep::of(&sweep(&self.predictions(work.cancel)?, work)?, most))
    }

    /// The tracks of a rank under edits beside the recorded ones, within a span of the clock that
    /// all ranks share.
    pub fn predicted_tracks(
        &self,
        side: ComparedSide,
        edits: &[Edit],
        rank: u32,
        span: Option<Interval>,
        work: Work<'_>,
    ) -> std::result::Result<PairedTracks, Refusal> {
        let nothing = |what: &str| Refusal::new(RefusalKind::NotFound, what);
        let scenario = self.scenario(edits)?;
        let at = self.graph.ranks.iter().position(|of| of.rank == rank);
        let at = at.ok_or_else(|| nothing("the run has no such rank"))?;
        let found = predicted_run(&self.graph, at, &scenario, span, work)?;
        let found = found.ok_or_else(|| nothing("the rank has no work here that a replay moves"))?;
        let edits: Vec<String> = edits.iter().map(Edit::to_string).collect();
        let recorded = PairedRun::new(side.clone(), rank, "as recorded", found.recorded);
        let predicted = PairedRun::new(side, rank, &edits.join(", "), found.predicted);
        Ok(PairedTracks::of(found.tracks, recorded, predicted))
    }

    fn scenario(&self, edits: &[Edit]) -> std::result::Result<Scenario, Refusal> {
        let wrong = |error: EditError| Refusal::new(RefusalKind::BadQuestion, error.to_string());
        Scenario::new(self.with_work()?, edits).map_err(wrong)
    }

    /// Predictions for the run, whose unchanged replay is made once.
    fn predictions(&self, cancel: Cancel<'_>) -> std::result::Result<Predictions<'_>, Refusal> {
        let graph = self.with_work()?;
        let unchanged_ps = made(&self.unchanged_ps, || Ok(Predictions::of(graph, cancel)?.unchanged_ps()))?;
        Ok(Predictions::known(graph, *unchanged_ps))
    }

    /// The critical path: its parts within a span, at most `most`.
    pub fn critical_path(
        &self,
        span: Option<Interval>,
        most: usize,
        work: Work<'_>,
    ) -> std::result::Result<RunPath, Refusal> {
        let graph = self.with_work()?;
        Ok(RunPath::of(graph, self.path(work)?, span, most))
    }

    fn path(&self, work: Work<'_>) -> Result<&CriticalPath> {
        made(&self.path, || Ok(CriticalPath::of(&JobEdges::of(&self.graph, work)?)))
    }

    /// The slack of the slice of this row of a rank. `None` if nothing of it is replayed.
    pub fn slack(
        &self,
        rank: u32,
        row: u32,
        work: Work<'_>,
    ) -> std::result::Result<Option<WorkSlack>, Refusal> {
        let graph = self.with_work()?;
        let Some((rank, node)) = graph.node_at(rank, row) else { return Ok(None) };
        let is_on_path = self.path(work)?.leads_through(rank, node);
        let slack = made(&self.slack, || JobSlack::of(graph, work.cancel))?;
        Ok(Some(WorkSlack::of(slack.ranks[rank as usize].of(node), is_on_path)))
    }

    /// The left sides of the edits that change the slice of this row of a rank.
    #[must_use]
    pub fn edit_subjects(&self, rank: u32, row: u32) -> EditSubjects {
        EditSubjects::of(&subjects_of(&self.graph, rank, row))
    }

    /// The graph. One without work is refused.
    pub fn with_work(&self) -> std::result::Result<&JobGraph, Refusal> {
        if self.graph.is_empty() {
            return Err(Refusal::new(RefusalKind::NotFound, NO_WORK));
        }
        Ok(&self.graph)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &JobGraph {
        &self.graph
    }

    /// The graph alone.
    #[must_use]
    pub fn into_graph(self) -> JobGraph {
        self.graph
    }
}

/// A value that is made once. Two that need it at the same time make the same one.
fn made<T>(kept: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = kept.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(kept.get_or_init(|| value))
}
