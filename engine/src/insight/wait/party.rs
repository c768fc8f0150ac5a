//! Those who wait or are awaited.

use rustc_hash::FxHashMap;

use super::super::graph::{JobGraph, RankGraph};
use crate::base::narrow;

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
    /// For each queue the first one of its party.
    first: Vec<u32>,
}

impl<'g> RankParties<'g> {
    /// The parties of the rank at a position.
    pub(super) fn of(graph: &'g JobGraph, rank: u32) -> Self {
        let graph = &graph.ranks[rank as usize];
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let queues = 0..narrow(graph.work.queues.len());
        let first = queues.map(|at| *known.entry(graph.work.party(at)).or_insert(at)).collect();
        Self { graph, rank, first }
    }

    /// The first queue of the party of a node.
    pub(super) fn queue_of(&self, node: u32) -> u32 {
        let class = self.graph.work.nodes[node as usize].class;
        self.first[self.graph.classes[class as usize].queue as usize]
    }

    /// The party of a node.
    pub(super) fn of_node(&self, node: u32) -> Party {
        Party::Queue { rank: self.rank, queue: self.queue_of(node) }
    }
}
