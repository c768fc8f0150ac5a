//! The edges that a recording states, as far as its times bear them out.
//!
//! An edge whose source comes after its target is dropped and counted: clocks are wrong, or the
//! edge is. The edges that are left have no cycles, because each leads forward in the order of the
//! replay.

use crate::base::narrow;
use crate::model::stated_edge::NOBODY;
use crate::model::{NodePoint, RankWork, StatedEdge};

/// [`StatedEdges::slot`] of a node for which nothing waits.
const NO_SLOT: u32 = u32::MAX;

/// The edges of a rank.
#[derive(Debug, Default)]
pub(in crate::insight) struct StatedEdges {
    /// By node, then by point.
    edges: Vec<StatedEdge>,
    /// For each node the position of its first edge, and the number of all. Empty without edges.
    first: Vec<u32>,
    /// For each node its position among the nodes that others wait for. Empty without edges.
    slots: Vec<u32>,
    /// Number of nodes that others wait for.
    pub(in crate::insight) awaited: usize,
    /// Edges that the times contradict.
    pub(in crate::insight) dropped: u64,
}

impl StatedEdges {
    /// Takes the edges of a rank's work. `ends` has the nodes in the order of their ends.
    pub(super) fn new(work: &mut RankWork, ends: &[u32]) -> Self {
        let mut edges = std::mem::take(&mut work.edges);
        let (all, mut stated) = (edges.len(), Self::default());
        if all == 0 {
            return stated;
        }
        let mut places = vec![0_u32; ends.len()];
        for (place, &node) in (0_u32..).zip(ends) {
            places[node as usize] = place;
        }
        edges.retain(|edge| edge.from == NOBODY || leads_forward(edge, work, &places));
        stated.dropped = (all - edges.len()) as u64;
        let nodes = work.nodes.len();
        stated.first =
            (0..=narrow(nodes)).map(|node| narrow(edges.partition_point(|edge| edge.node < node))).collect();
        stated.slots = vec![NO_SLOT; nodes];
        for edge in edges.iter().filter(|edge| edge.from != NOBODY) {
            let slot = &mut stated.slots[edge.from as usize];
            if *slot == NO_SLOT {
                *slot = narrow(stated.awaited);
                stated.awaited += 1;
            }
        }
        stated.edges = edges;
        stated
    }

    /// The edges to a point of a node.
    pub(in crate::insight) fn to(&self, node: u32, at: NodePoint) -> impl Iterator<Item = &StatedEdge> {
        let place = |node: usize| self.first.get(node).map_or(0, |first| *first as usize);
        let of = &self.edges[place(node as usize)..place(node as usize + 1)];
        of.iter().filter(move |edge| edge.at == at)
    }

    /// Position of a node among those that others wait for.
    pub(in crate::insight) fn slot(&self, node: u32) -> Option<usize> {
        self.slots.get(node as usize).filter(|slot| **slot != NO_SLOT).map(|slot| *slot as usize)
    }
}

/// Whether the replay knows the source of an edge when it comes to the target. `places` are those
/// of the nodes in the order of ends.
fn leads_forward(edge: &StatedEdge, work: &RankWork, places: &[u32]) -> bool {
    let (Some(from), Some(to)) = (work.nodes.get(edge.from as usize), work.nodes.get(edge.node as usize))
    else {
        return false;
    };
    let is_earlier = edge.from < edge.node;
    match (edge.from_point, edge.at) {
        (NodePoint::Start, NodePoint::Start) => is_earlier,
        (NodePoint::End, NodePoint::Start) => is_earlier && from.end_ps() <= to.start_ps,
        (NodePoint::Start, NodePoint::End) => is_earlier || from.start_ps < to.end_ps(),
        (NodePoint::End, NodePoint::End) => {
            edge.from != edge.node && places[edge.from as usize] < places[edge.node as usize]
        }
    }
}
