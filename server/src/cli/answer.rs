//! Parts that all answers about the dependency graph share: their form, their limit, the ends of
//! their lists.

use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::wait::Party;

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
    anyhow::ensure!(!of.graph.is_empty(), NO_WORK);
    Ok(of)
}

/// The name of a party: that of a track, or the rank's number.
pub(super) fn name_of(graph: &JobGraph, party: &Party) -> String {
    match party {
        Party::Rank(at) => format!("rank {}", graph.ranks[*at as usize].rank),
        Party::Queue { rank, queue } => graph.ranks[*rank as usize].work.party(*queue).to_owned(),
    }
}
