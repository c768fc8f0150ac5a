//! The edges that a recording states, as far as its times bear them out.
//!
//! An edge whose source comes after its target is dropped and counted: clocks are wrong, or the
//! edge is. The edges that are left have no cycles, because each leads forward in the order of the
//! replay.

use super::point_order::PointOrder;
use super::time_slots::TimeSlots;
use crate::base::{Result, narrow};
use crate::model::stated_edge::NOBODY;
use crate::model::{EdgeList, EdgeSlice, NodePoint, RankWork, StatedEdge, WorkNode};
use crate::spill::{Shelf, Shelved};

/// Bits of [`StatedEdges::awaited`] that tell which points of a node others wait for.
const STARTS: u32 = 1;
const ENDS: u32 = 2;
/// Number of these bits.
const POINT_BITS: u32 = 2;

/// The edges of a rank.
#[derive(Debug, Default)]
pub(in crate::insight) struct StatedEdges {
    /// By node, then by point.
    edges: EdgeList,
    /// For each node the position of its first edge, and the number of all. Empty without edges.
    first: Shelved<u32>,
    /// For each node the position of its first point in [`Self::slot_of`], above the bits of its
    /// points that others wait for. Empty without edges.
    awaited: Shelved<u32>,
    /// For each point that others wait for the slot of its time in a replay.
    slot_of: Shelved<u32>,
    /// Number of slots.
    pub(in crate::insight) slots: u32,
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
        let nodes = &work.nodes[..];
        let places = PointPlaces::of(nodes, ends);
        edges.retain(|edge| edge.from == NOBODY || places.are_in_order(edge));
        drop(places);
        stated.dropped = (all - edges.len()) as u64;
        stated.first = first_edges(&edges, nodes.len()).into();
        let mut awaited = vec![0; nodes.len()];
        for edge in edges.iter().filter(|edge| edge.from != NOBODY) {
            awaited[edge.from as usize] |= bit_of(edge.from_point);
        }
        let mut points = 0;
        for of in awaited.iter_mut().filter(|of| **of != 0) {
            let count = of.count_ones();
            *of |= points << POINT_BITS;
            points += count;
        }
        stated.edges = edges;
        stated.awaited = awaited.into();
        stated.assign_slots(points as usize, nodes, ends);
        stated
    }

    /// Gives each point that others wait for a slot, from its time to the last of those that wait.
    fn assign_slots(&mut self, points: usize, nodes: &[WorkNode], ends: &[u32]) {
        let (mut waiting, mut slot_of) = (vec![0_u32; points], vec![0_u32; points]);
        let view = self.view();
        for edge in self.edges.iter() {
            if let Some(at) = view.awaited_point(edge.from, edge.from_point) {
                waiting[at] += 1;
            }
        }
        let mut slots = TimeSlots::default();
        for (node, point) in PointOrder::new(nodes, ends) {
            if let Some(at) = view.awaited_point(node, point) {
                slot_of[at] = slots.take();
            }
            for edge in view.to(node, point) {
                if let Some(at) = view.awaited_point(edge.from, edge.from_point) {
                    waiting[at] -= 1;
                    if waiting[at] == 0 {
                        slots.give_back(slot_of[at]);
                    }
                }
            }
        }
        self.slots = slots.len;
        self.slot_of = slot_of.into();
    }

    /// The edges to read them.
    pub(in crate::insight) fn view(&self) -> StatedView<'_> {
        StatedView {
            edges: self.edges.as_slice(),
            first: &self.first,
            awaited: &self.awaited,
            slot_of: &self.slot_of,
        }
    }

    /// Puts all lists on a shelf.
    pub(super) fn shelve(&mut self, shelf: &dyn Shelf) -> Result<()> {
        self.edges.shelve(shelf)?;
        self.first.shelve(shelf)?;
        self.awaited.shelve(shelf)?;
        self.slot_of.shelve(shelf)
    }
}

/// The lists of the edges of a rank, as slices: a replay reads them for each point.
#[derive(Debug, Clone, Copy)]
pub(in crate::insight) struct StatedView<'g> {
    edges: EdgeSlice<'g>,
    first: &'g [u32],
    awaited: &'g [u32],
    slot_of: &'g [u32],
}

impl<'g> StatedView<'g> {
    /// The edges to a point of a node.
    #[inline]
    pub(in crate::insight) fn to(
        self,
        node: u32,
        at: NodePoint,
    ) -> impl Iterator<Item = StatedEdge> + use<'g> {
        let place = |node: usize| self.first.get(node).map_or(0, |first| *first as usize);
        let of = self.edges.range(place(node as usize), place(node as usize + 1));
        of.filter(move |edge| edge.at == at)
    }

    /// Whether others wait for a point of a node.
    #[inline]
    pub(in crate::insight) fn is_awaited(self, node: u32) -> bool {
        self.awaited.get(node as usize).is_some_and(|of| *of != 0)
    }

    /// The slot of the time of a point, if others wait for it.
    #[inline]
    pub(in crate::insight) fn slot(self, node: u32, point: NodePoint) -> Option<usize> {
        Some(self.slot_of[self.awaited_point(node, point)?] as usize)
    }

    /// Position of a point of a node among those that others wait for.
    #[inline]
    fn awaited_point(self, node: u32, point: NodePoint) -> Option<usize> {
        let of = self.awaited.get(node as usize).filter(|of| **of & bit_of(point) != 0)?;
        let is_second = point == NodePoint::End && of & STARTS != 0;
        Some((of >> POINT_BITS) as usize + usize::from(is_second))
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
fn first_edges(edges: &EdgeList, nodes: usize) -> Vec<u32> {
    let mut first = Vec::with_capacity(nodes + 1);
    for (at, edge) in edges.iter().enumerate() {
        first.resize(first.len().max(edge.node as usize + 1), narrow(at));
    }
    first.resize(nodes + 1, narrow(edges.len()));
    first
}

/// For each point of the nodes its place in the order of the replay.
struct PointPlaces {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl PointPlaces {
    fn of(nodes: &[WorkNode], ends: &[u32]) -> Self {
        let mut places = Self { starts: vec![0; nodes.len()], ends: vec![0; nodes.len()] };
        for (place, (node, point)) in (0_u32..).zip(PointOrder::new(nodes, ends)) {
            match point {
                NodePoint::Start => places.starts[node as usize] = place,
                NodePoint::End => places.ends[node as usize] = place,
            }
        }
        places
    }

    fn place(&self, node: u32, point: NodePoint) -> Option<u32> {
        let of = if point == NodePoint::Start { &self.starts } else { &self.ends };
        of.get(node as usize).copied()
    }

    /// Whether the replay knows the source of an edge when it comes to the target.
    fn are_in_order(&self, edge: &StatedEdge) -> bool {
        let (from, to) = (self.place(edge.from, edge.from_point), self.place(edge.node, edge.at));
        matches!((from, to), (Some(from), Some(to)) if from < to)
    }
}
