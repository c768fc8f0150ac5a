//! Those who wait or are awaited.

use rustc_hash::FxHashMap;

use super::super::graph::{JobGraph, RankGraph, StatedView};
use crate::base::narrow;
use crate::model::WorkNode;

/// Part of a machine that waits or is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// A track or engine, or a queue on all its engines, by its first queue in the rank's work.
    Queue {
        /// Position of the rank.
        rank: u32,
        /// Position of the queue in [`crate::model::RankWork::queues`].
        queue: u32,
    },
    /// The rank at this position.
    Rank(u32),
}

impl Party {
    /// Name for people: that of the track or engine, or the rank's number.
    #[must_use]
    pub fn name(self, graph: &JobGraph) -> String {
        match self {
            Self::Rank(at) => format!("rank {}", graph.ranks[at as usize].rank),
            Self::Queue { rank, queue } => graph.ranks[rank as usize].work.party(queue).to_owned(),
        }
    }
}

/// The parties of a rank.
pub(super) struct RankParties<'g> {
    pub(super) graph: &'g RankGraph,
    /// Position of the rank.
    pub(super) rank: u32,
    pub(super) nodes: &'g [WorkNode],
    pub(super) stated: StatedView<'g>,
    /// For each queue the first one of its party.
    first: Vec<u32>,
}

/// For each queue of a rank the first one of its party.
pub(in crate::insight) fn first_of_parties(graph: &RankGraph) -> Vec<u32> {
    let mut known: FxHashMap<&str, u32> = FxHashMap::default();
    let queues = 0..narrow(graph.work.queues.len());
    queues.map(|at| *known.entry(graph.work.party(at)).or_insert(at)).collect()
}

impl<'g> RankParties<'g> {
    /// The parties of the rank at a position.
    pub(super) fn of(graph: &'g JobGraph, rank: u32) -> Self {
        let graph = &graph.ranks[rank as usize];
        let (nodes, stated) = (&graph.work.nodes[..], graph.stated.view());
        Self { graph, rank, nodes, stated, first: first_of_parties(graph) }
    }

    /// The first queue of the party of a class.
    pub(super) fn of_class(&self, class: u32) -> u32 {
        self.first[self.graph.classes[class as usize].queue as usize]
    }

    /// The party of a node.
    pub(super) fn of_node(&self, node: u32) -> Party {
        Party::Queue { rank: self.rank, queue: self.of_class(self.nodes[node as usize].class) }
    }
}
