//! The edges that a recording states, as far as its times bear them out.
//!
//! An edge whose source comes after its target is dropped and counted: clocks are wrong, or the
//! edge is. The edges that are left have no cycles, because each leads forward in the order of the
//! replay.

use crate::base::narrow;
use crate::model::stated_edge::NOBODY;
use crate::model::{NodePoint, RankWork, StatedEdge};

/// Bits of [`StatedEdges::slots`] that tell which points of a node others wait for.
const STARTS: u32 = 1;
const ENDS: u32 = 2;
/// Number of these bits.
const POINT_BITS: u32 = 2;

/// The edges of a rank.
#[derive(Debug, Default)]
pub(in crate::insight) struct StatedEdges {
    /// By node, then by point.
    edges: Vec<StatedEdge>,
    /// For each node the position of its first edge, and the number of all. Empty without edges.
    first: Vec<u32>,
    /// For each node the position of its first point among the points that others wait for, above
    /// the bits of these points. Empty without edges.
    slots: Vec<u32>,
    /// Number of points that others wait for.
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
        stated.first = first_edges(&edges, nodes);
        stated.slots = vec![0; nodes];
        for edge in edges.iter().filter(|edge| edge.from != NOBODY) {
            stated.slots[edge.from as usize] |= bit_of(edge.from_point);
        }
        for slot in stated.slots.iter_mut().filter(|slot| **slot != 0) {
            let points = slot.count_ones() as usize;
            *slot |= narrow(stated.awaited) << POINT_BITS;
            stated.awaited += points;
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

    /// Whether others wait for a point of a node.
    pub(in crate::insight) fn is_awaited(&self, node: u32) -> bool {
        self.slots.get(node as usize).is_some_and(|slot| *slot != 0)
    }

    /// Position of a point of a node among those that others wait for.
    pub(in crate::insight) fn slot(&self, node: u32, point: NodePoint) -> Option<usize> {
        let slot = self.slots.get(node as usize).filter(|slot| **slot & bit_of(point) != 0)?;
        let is_second = point == NodePoint::End && slot & STARTS != 0;
        Some((slot >> POINT_BITS) as usize + usize::from(is_second))
    }
}

fn bit_of(point: NodePoint) -> u32 {
    match point {
        NodePoint::Start => STARTS,
        NodePoint::End => ENDS,
    }
}

/// For each node the position of its first edge, and the number of all. The edges are in the order
/// of nodes.
fn first_edges(edges: &[StatedEdge], nodes: usize) -> Vec<u32> {
    let mut first = Vec::with_capacity(nodes + 1);
    let mut at = 0;
    for node in 0..narrow(nodes) {
        first.push(narrow(at));
        at += edges[at..].iter().take_while(|edge| edge.node == node).count();
    }
    first.push(narrow(edges.len()));
    first
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
