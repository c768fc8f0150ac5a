//! The saving of a run in which transfers move less bytes.
//!
//! The time of the bytes at the rate of all transfers is the most that is saved: transfers run
//! beside each other and beside work. The replay with shorter transfers tells the likely saving, if
//! the recording states which instructions wait for transfers.

use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::verdict::Judgement;
use crate::base::Result;
use crate::insight::edge::{EdgeKind, RankEdges};
use crate::insight::node_change::NodeChange;
use crate::insight::{Bracket, RankGraph, Scenario};
use crate::metrics::TensorTraffic;
use crate::model::{Role, WorkClass, WorkNode};

/// A judgement whose findings have the saving of the replay as the likely one. `unneeded_bytes`
/// tells how many of the loaded bytes of a tensor need not be loaded.
pub(super) fn replayed(
    facts: &Facts<'_>,
    judgement: Judgement,
    unneeded_bytes: impl Fn(&TensorTraffic) -> f64,
) -> Result<Judgement> {
    let part = |of: &TensorTraffic| unneeded_bytes(of) / (of.loaded_bytes as f64).max(1.0);
    let tensors = facts.measures().tensors.iter();
    let parts: FxHashMap<&str, f64> =
        tensors.map(|of| (of.name.as_str(), part(of).clamp(0.0, 1.0))).collect();
    // The slices of a transfer have the name of its tensor.
    with_replay(facts, judgement, |graph, class| {
        graph.work.name(class.name).and_then(|name| parts.get(name)).copied().unwrap_or(0.0)
    })
}

/// The same if no byte had to be moved: the most that faster transfers could save.
pub(super) fn replayed_without_transfers(facts: &Facts<'_>, judgement: Judgement) -> Result<Judgement> {
    with_replay(facts, judgement, |graph, class| {
        f64::from(graph.work.queues[class.queue as usize].identity.role == Role::Queue)
    })
}

/// Findings with the saving of the replay in which transfers of each class need a part of their
/// time less. They stay as they are if no instruction is known to wait for such transfers.
fn with_replay(
    facts: &Facts<'_>,
    judgement: Judgement,
    part_of: impl Fn(&RankGraph, &WorkClass) -> f64,
) -> Result<Judgement> {
    let Judgement::Found(mut found) = judgement else { return Ok(judgement) };
    let parts = |graph: &RankGraph| {
        let parts = graph.work.classes.iter().map(|class| part_of(graph, class));
        parts.collect::<Vec<f64>>()
    };
    let of_ranks: Vec<Vec<f64>> = facts.graph.ranks.iter().map(parts).collect();
    let mut ranks = facts.edges.ranks.iter().zip(&facts.graph.ranks).zip(&of_ranks);
    if !ranks.any(|((edges, graph), parts)| are_awaited(edges, graph, parts)) {
        return Ok(Judgement::of(found, None));
    }
    let changes = facts.graph.ranks.iter().zip(&of_ranks).map(|(graph, parts)| shorter(graph, parts));
    let replay = facts.saving(&Scenario::with_changes(changes.enumerate()))?.not_negative();
    for finding in &mut found {
        finding.saving = finding.saving.map(|most| {
            let Bracket { low_ps, middle_ps, .. } = replay.at_most(most.high_ps);
            Bracket { low_ps, middle_ps: middle_ps.min(most.middle_ps), high_ps: most.high_ps }
        });
    }
    Ok(Judgement::of(found, None))
}

/// Whether an instruction waits for transfers that get shorter.
fn are_awaited(edges: &RankEdges, graph: &RankGraph, parts: &[f64]) -> bool {
    let ends = edges.ends.iter().map(|(_, edge)| edge);
    let mut waits = edges.starts.iter().flatten().chain(ends);
    waits.any(|edge| {
        let from = &graph.work.nodes[edge.from as usize];
        edge.kind == EdgeKind::Transfer && parts[from.class as usize] > 0.0
    })
}

/// For each node of a rank by how much it gets shorter.
fn shorter(graph: &RankGraph, parts: &[f64]) -> Vec<NodeChange> {
    let change = |node: &WorkNode| {
        let saved_ps = (node.duration_ps as f64 * parts[node.class as usize]) as i64;
        NodeChange { duration_ps: -saved_ps, ..NodeChange::default() }
    };
    graph.work.nodes.iter().map(change).collect()
}
