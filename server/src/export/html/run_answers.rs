//! The answers of a file about the run as a whole. The file has no graph to find them in.

use nprof_engine::exec::Cancel;
use nprof_engine::insight::GraphOverlay;
use nprof_engine::wire::bundle::BundledWaits;
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::rank_balance::RankBalance;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::run_graph::MOST_EVENTS_IN_PAGE;
use nprof_engine::wire::run_path::RunPath;

use super::super::ranks::Comparing;
use super::super::{ExportError, RanksOf};
use crate::analysis::graph::{events_of, overlay, replayable};
use crate::analysis::{AnalysisError, findings, job_segment, on_all_cores};

/// The answer of a file with a part of a profile.
const PART: &str =
    "ranks or tracks are left out of this file, and what is wrong with a run shows only in all";
/// The answer of a file whose ranks are not compared.
const NOT_COMPARED: &str = "the ranks of this profile are not compared, so nobody can tell what is wrong";
/// Most parts of the path: more than a picture of the whole run shows.
const MOST_PARTS: usize = 2_000;
/// Most single waits of a rank.
const MOST_WAITS: usize = 500;
/// Most names and regions of ranks beside each other.
const MOST_ROWS: usize = 200;

/// Answers about a run, or the reason why there are none.
#[derive(Debug)]
pub(super) struct RunAnswers {
    pub(super) findings: Result<Findings, Refusal>,
    pub(super) path: Result<RunPath, Refusal>,
    pub(super) waits: Result<Vec<BundledWaits>, Refusal>,
    pub(super) balance: Result<RankBalance, Refusal>,
    pub(super) graph: Result<GraphOverlay, Refusal>,
}

/// The answers that a file can have.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedAnswers {
    /// Whether the ranks are compared.
    pub(super) has_job: bool,
    /// Whether the user wants the dependency graph.
    pub(super) has_graph: bool,
}

/// The answer of a file without a graph: it names what answers instead.
fn without_graph(name: &str) -> String {
    format!(
        "this page was written without the dependency graph of the run: `nprof whatif {name} EDIT` answers, and \
         `nprof export {name} --format html --what-if` writes a page that does"
    )
}

impl RunAnswers {
    /// The answers of a file. Without some ranks or tracks, nobody can tell. A run that cannot be
    /// analysed does not fail the export.
    pub(super) fn of(of: RanksOf<'_>, asked: AskedAnswers, cancel: Cancel<'_>) -> Result<Self, ExportError> {
        if of.is_part {
            return Ok(Self::unknown(PART));
        }
        if of.comparing == Comparing::Apart {
            // Without the comparison, the analysis can take more memory than a server has for it.
            if job_segment::is_for(of.profile) && !asked.has_job {
                return Ok(Self::unknown(NOT_COMPARED));
            }
            if let Some(reason) = findings::reason_without_graph(of.profile) {
                let unknown = Self::unknown(&reason);
                let kept = findings::kept(of.profile).map(|kept| Ok(kept.message));
                return Ok(Self { findings: kept.unwrap_or(unknown.findings), ..unknown });
            }
        }
        let found = Self::found(of, asked.has_graph, cancel);
        cancel.check().map_err(ExportError::Cancelled)?;
        Ok(found.unwrap_or_else(|error| {
            tracing::warn!("the export has no findings: {error}");
            let refusal = error.refusal();
            Self::refused(refusal)
        }))
    }

    fn found(of: RanksOf<'_>, has_graph: bool, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let run = replayable(of.profile, cancel)?;
        let kept = findings::kept(of.profile);
        let findings = kept.map_or_else(|| findings::of_run(of.profile, &run, cancel), Ok)?.message;
        let path = run.run.critical_path(None, MOST_PARTS, on_all_cores(cancel));
        let waits = run.waits_of_each(of.profile, MOST_WAITS, cancel);
        let balance = run.rank_balance(of.profile, MOST_ROWS, cancel);
        let name = of.profile.manifest.slug();
        let graph = if !has_graph {
            Err(Refusal::new(RefusalKind::NotFound, without_graph(name)))
        } else if events_of(of.profile) > MOST_EVENTS_IN_PAGE {
            let reason = format!("a page replays a run of at most {MOST_EVENTS_IN_PAGE} events");
            tracing::warn!("the export has no graph to replay: {reason}");
            Err(Refusal::new(RefusalKind::NotFound, format!("{reason}: `nprof whatif {name} EDIT` answers")))
        } else {
            Ok(overlay(of.profile, &run, cancel)?)
        };
        Ok(Self { findings: Ok(findings), path, waits, balance, graph })
    }

    fn unknown(reason: &str) -> Self {
        let refusal = Refusal::new(RefusalKind::NotFound, reason);
        Self { findings: Ok(Findings::unknown(reason)), ..Self::refused(refusal) }
    }

    fn refused(refusal: Refusal) -> Self {
        Self {
            findings: Err(refusal.clone()),
            path: Err(refusal.clone()),
            waits: Err(refusal.clone()),
            balance: Err(refusal.clone()),
            graph: Err(refusal),
        }
    }
}
