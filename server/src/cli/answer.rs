//! Parts that all answers about the dependency graph share: their form, their limit, the ends of
//! their lists.

use nprof_engine::insight::JobGraph;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::wait::Party;
use serde_json::{Map, Value, json};

use crate::analysis::graph::Replayable;
use crate::store::Profile;

/// Version of the keys of answers.
const VERSION: u32 = 1;
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

/// The first keys of an answer about a profile with a list of rows.
pub(super) fn head(profile: &Profile, shown: usize, total: usize) -> Map<String, Value> {
    let mut keys = scope(profile);
    keys.insert("shown".to_owned(), json!(shown));
    keys.insert("total".to_owned(), json!(total));
    keys
}

/// The first keys of an answer about a profile.
pub(super) fn scope(profile: &Profile) -> Map<String, Value> {
    let keys = [
        ("version", json!(VERSION)),
        ("unit", json!("ps")),
        ("scope", json!({"profile": profile.manifest.slug()})),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The name of a party: that of a track, or the rank's number.
pub(super) fn name_of(graph: &JobGraph, party: &Party) -> String {
    match party {
        Party::Rank(at) => format!("rank {}", graph.ranks[*at as usize].rank),
        Party::Queue { rank, queue } => graph.ranks[*rank as usize].work.party(*queue).to_owned(),
    }
}
