//! Parts that all answers about the dependency graph share: their form, their limit, the ends of
//! their lists.

use nprof_engine::insight::finding::sentence::NO_WORK;

use crate::analysis::graph::Replayable;

/// The limit of a list unless told otherwise.
pub(super) const USUAL_LIMIT: &str = "200";

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AnswerFormat {
    /// Sentences.
    Text,
    /// One document.
    Json,
}

/// The profile, if it has work that can be replayed.
pub(super) fn with_work(of: Replayable) -> anyhow::Result<Replayable> {
    anyhow::ensure!(!of.graph().is_empty(), NO_WORK);
    Ok(of)
}
