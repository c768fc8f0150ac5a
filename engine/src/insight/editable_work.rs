//! Editable work: the parts of a slice that an edit can change.

use super::edit::{NameGlob, Subject};
use super::graph::JobGraph;
use super::names::{ClassName, all_names};
use crate::model::{MachineSide, RankWork, WorkClass};

/// The subjects of edits that change a slice of a rank, the narrowest first: its name, its layer,
/// its engine or queue, its operation, its rank. Empty if nothing of it is replayed.
#[must_use]
pub fn subjects_of(graph: &JobGraph, rank: u32, row: u32) -> Vec<Subject> {
    if !graph.ranks.iter().any(|of| of.rank == rank) {
        return Vec::new();
    }
    let mut subjects = Vec::new();
    if let Some((position, at)) = graph.node_at(rank, row) {
        let of = &graph.ranks[position as usize];
        match of.call(at) {
            Some(call) => {
                let signature = graph.meetings[call.meeting as usize].signature;
                let kind = graph.kinds[signature as usize];
                subjects.push(Subject::Transfer(kind.name().to_owned()));
            }
            None => subjects.extend(of_class(graph, &of.work, of.work.nodes[at as usize].class)),
        }
    }
    if graph.ranks.len() > 1 {
        subjects.push(Subject::Rank(rank));
    }
    subjects
}

/// The name, layer, engine and queue of work of a device.
fn of_class(graph: &JobGraph, work: &RankWork, class: u32) -> impl Iterator<Item = Subject> {
    let WorkClass { queue, name, .. } = work.classes[class as usize];
    let on_device = work.queues[queue as usize].side == MachineSide::Device;
    [
        (None, Subject::Kernel as fn(NameGlob) -> Subject),
        (Some(ClassName::Layer), Subject::Layer),
        (Some(ClassName::Engine), Subject::Engine),
        (Some(ClassName::DmaQueue), Subject::DmaQueue),
    ]
    .into_iter()
    .filter_map(move |(of, subject)| {
        let own = of.map_or_else(|| work.name(name), |of| of.of(work, class as usize));
        let own = own.filter(|name| on_device && is_writable(name))?;
        Some(subject(NameGlob::only(own, all_names(graph, of))))
    })
}

/// Whether an edit can have this name: edits are separated by the ends of lines.
fn is_writable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['\n', '\r'])
}
