//! The answers of a file about the run as a whole. The file has no graph to find them in.

use nprof_engine::exec::Cancel;
use nprof_engine::wire::bundle::BundledWaits;
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_path::RunPath;

use super::super::ranks::Comparing;
use super::super::{ExportError, RanksOf};
use crate::analysis::kept_graph::KeptGraph;
use crate::analysis::{AnalysisError, findings, job_segment};

/// The answer of a file with a part of a profile.
const PART: &str =
    "ranks or tracks are left out of this file, and what is wrong with a run shows only in all";
/// The answer of a file whose ranks are not compared.
const NOT_COMPARED: &str = "the ranks of this profile are not compared, so nobody can tell what is wrong";
/// Most parts of the path: more than a picture of the whole run shows.
const MOST_PARTS: usize = 2_000;
/// Most single waits of a rank.
const MOST_WAITS: usize = 500;

/// Answers about a run, or the reason why there are none.
pub(super) struct RunAnswers {
    pub(super) findings: Result<Findings, Refusal>,
    pub(super) path: Result<RunPath, Refusal>,
    pub(super) waits: Result<Vec<BundledWaits>, Refusal>,
}

impl RunAnswers {
    /// The answers of a file. Without some ranks or tracks, nobody can tell. A run that cannot be
    /// analysed does not fail the export.
    pub(super) fn of(of: RanksOf<'_>, has_job: bool, cancel: Cancel<'_>) -> Result<Self, ExportError> {
        if of.is_part {
            return Ok(Self::unknown(PART));
        }
        if of.comparing == Comparing::Apart {
            // Without the comparison, the analysis can take more memory than a server has for it.
            if job_segment::is_for(of.profile) && !has_job {
                return Ok(Self::unknown(NOT_COMPARED));
            }
            if let Some(reason) = findings::reason_without_graph(of.profile) {
                return Ok(Self::unknown(&reason));
            }
        }
        let found = Self::found(of, cancel);
        cancel.check().map_err(ExportError::Cancelled)?;
        Ok(found.unwrap_or_else(|error| {
            tracing::warn!("the export has no findings: {error}");
            let refusal = error.refusal();
            Self { findings: Err(refusal.clone()), path: Err(refusal.clone()), waits: Err(refusal) }
        }))
    }

    fn found(of: RanksOf<'_>, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let graph = KeptGraph::of(of.profile, cancel)?;
        let findings = findings::message_of(of.profile, graph.replayable(), cancel)?;
        let path = graph.critical_path(None, MOST_PARTS, cancel);
        let waits = graph.waits_of_each(of.profile, MOST_WAITS, cancel);
        Ok(Self { findings: Ok(findings), path, waits })
    }

    fn unknown(reason: &str) -> Self {
        let refusal = Refusal::new(RefusalKind::NotFound, reason);
        Self { findings: Ok(Findings::unknown(reason)), path: Err(refusal.clone()), waits: Err(refusal) }
    }
}
