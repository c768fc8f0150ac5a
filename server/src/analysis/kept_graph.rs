//! The dependency graph of a profile, as a server keeps it. Its answers cost no reading.

use nprof_engine::base::Interval;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::walk::{CriticalPath, JobEdges};
use nprof_engine::insight::{Edit, EditError, Prediction, Predictions, Scenario, subjects_of};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_path::RunPath;
use nprof_engine::wire::what_if::{EditSubjects, WhatIf};

use super::graph::{MOST_EVENTS, Replayable, replayable};
use super::kept_answers::KeptAnswer;
use super::{AnalysisError, on_all_cores};
use crate::store::Profile;

/// A dependency graph with the replay of the unchanged run.
#[derive(Debug)]
pub struct KeptGraph {
    of: Replayable,
    unchanged_ps: i64,
    path: CriticalPath,
}

impl KeptGraph {
    /// Reads the work of all ranks of a profile and replays it.
    pub fn of(profile: &Profile, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let of = replayable(profile, cancel)?;
        let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
        let unchanged_ps = Predictions::of(&of.graph, cancel).map_err(failed)?.unchanged_ps();
        let path = CriticalPath::of(&JobEdges::of(&of.graph, on_all_cores(cancel)).map_err(failed)?);
        Ok(Self { of, unchanged_ps, path })
    }

    /// The length of the run under edits.
    pub fn what_if(&self, edits: &[Edit], cancel: Cancel<'_>) -> Result<WhatIf, Refusal> {
        let Replayable { graph, analysed } = &self.of;
        if graph.is_empty() {
            return Err(Refusal::new(RefusalKind::NotFound, NO_WORK));
        }
        let wrong = |error: EditError| Refusal::new(RefusalKind::BadQuestion, error.to_string());
        let scenario = Scenario::new(graph, &analysed.job, edits).map_err(wrong)?;
        let found: Prediction = Predictions::known(graph, self.unchanged_ps).under(&scenario, cancel)?;
        Ok(WhatIf::of(&found, edits))
    }

    /// The critical path: its parts within a span, at most `most`.
    pub fn critical_path(&self, span: Option<Interval>, most: usize) -> Result<RunPath, Refusal> {
        if self.of.graph.is_empty() {
            return Err(Refusal::new(RefusalKind::NotFound, NO_WORK));
        }
        Ok(RunPath::of(&self.of.graph, &self.path, span, most))
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
