//! Stated edges, packed.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::stated_edge::{Certainty, EdgeReason, NO_SEMAPHORE, NOBODY, NodePoint, StatedEdge};
use crate::base::Result;
use crate::exec::{Exec, sort_by_key};
use crate::spill::{Shelf, Shelved};

/// Bits of the code of an edge: its point, the point that it comes from, whether it has a time from
/// which on the node waited, then reason and certainty.
const AT_END: u32 = 1;
const FROM_END: u32 = 2;
const HAS_SINCE: u32 = 4;
const REASON: u32 = 8;
const CERTAINTY: u32 = 32;

const REASONS: [EdgeReason; 4] =
    [EdgeReason::Semaphore, EdgeReason::Transfer, EdgeReason::Trigger, EdgeReason::Order];
const CERTAINTIES: [Certainty; 3] = [Certainty::Recorded, Certainty::Derived, Certainty::Assumed];

/// The facts about an edge that are no numbers, as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub struct EdgeCode(u32);

impl EdgeCode {
    /// The code of an edge.
    #[must_use]
    pub fn of(edge: &StatedEdge) -> Self {
        let place = |found: Option<usize>| found.unwrap_or(0) as u32;
        let reason = place(REASONS.iter().position(|one| *one == edge.reason));
        let certainty = place(CERTAINTIES.iter().position(|one| *one == edge.certainty));
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        Self(
            bit(edge.at == NodePoint::End, AT_END)
                + bit(edge.from_point == NodePoint::End, FROM_END)
                + bit(edge.since_ps.is_some(), HAS_SINCE)
                + reason * REASON
                + certainty * CERTAINTY,
        )
    }

    /// The code with this number. `None` if no edge has it.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        let code = Self(number);
        let is_known = code.reason().is_some() && code.certainty().is_some();
        is_known.then_some(code)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// Whether the edge has a time from which on its node waited.
    #[must_use]
    pub fn has_since(self) -> bool {
        self.0 & HAS_SINCE != 0
    }

    /// An edge with this code, without its nodes and times.
    #[must_use]
    pub fn edge(self) -> StatedEdge {
        StatedEdge {
            node: NOBODY,
            at: self.point(AT_END),
            from: NOBODY,
            from_point: self.point(FROM_END),
            reason: self.reason().unwrap_or(EdgeReason::Order),
            certainty: self.certainty().unwrap_or(Certainty::Assumed),
            semaphore: NO_SEMAPHORE,
            since_ps: None,
            met_ps: 0,
        }
    }

    fn point(self, bit: u32) -> NodePoint {
        if self.0 & bit == 0 { NodePoint::Start } else { NodePoint::End }
    }

    fn reason(self) -> Option<EdgeReason> {
        REASONS.get((self.0 % CERTAINTY / REASON) as usize).copied()
    }

    fn certainty(self) -> Option<Certainty> {
        CERTAINTIES.get((self.0 / CERTAINTY) as usize).copied()
    }
}

/// An edge in 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct PackedEdge {
    met_ps: i64,
    since_ps: i64,
    node: u32,
    from: u32,
    semaphore: u32,
    code: EdgeCode,
}

impl PackedEdge {
    fn edge(&self) -> StatedEdge {
        StatedEdge {
            node: self.node,
            from: self.from,
            semaphore: self.semaphore,
            met_ps: self.met_ps,
            since_ps: self.code.has_since().then_some(self.since_ps),
            ..self.code.edge()
        }
    }
}

impl From<StatedEdge> for PackedEdge {
    fn from(edge: StatedEdge) -> Self {
        let StatedEdge { node, from, semaphore, met_ps, since_ps, .. } = edge;
        Self { met_ps, since_ps: since_ps.unwrap_or(0), node, from, semaphore, code: EdgeCode::of(&edge) }
    }
}

/// Edges of a list.
#[derive(Debug, Clone, Copy)]
pub struct EdgeSlice<'l>(&'l [PackedEdge]);

impl<'l> EdgeSlice<'l> {
    /// The edges at places `from..to`.
    #[inline]
    pub fn range(self, from: usize, to: usize) -> impl Iterator<Item = StatedEdge> + use<'l> {
        self.0.get(from..to).unwrap_or_default().iter().map(PackedEdge::edge)
    }
}

/// Edges in an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeList {
    edges: Shelved<PackedEdge>,
}

impl EdgeList {
    /// Number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are no edges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edges.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = StatedEdge> {
        self.edges.iter().map(PackedEdge::edge)
    }

    /// The edges as they lie in memory.
    #[must_use]
    pub fn as_slice(&self) -> EdgeSlice<'_> {
        EdgeSlice(&self.edges)
    }

    /// Adds an edge.
    pub fn push(&mut self, edge: StatedEdge) {
        self.edges.make_mut().push(edge.into());
    }

    /// Adds the edges of another list behind those of this one.
    pub fn append(&mut self, other: Self) {
        match self.is_empty() {
            true => *self = other,
            false => self.edges.make_mut().extend_from_slice(&other.edges),
        }
    }

    /// Keeps the edges that are wanted. Those on a shelf stay there if all are.
    pub fn retain(&mut self, is_wanted: impl Fn(&StatedEdge) -> bool) {
        if !self.iter().all(|edge| is_wanted(&edge)) {
            self.edges.make_mut().retain(|edge| is_wanted(&edge.edge()));
        }
    }

    /// Changes all edges.
    pub fn change(&mut self, change: impl Fn(StatedEdge) -> StatedEdge) {
        for edge in self.edges.make_mut() {
            *edge = change(edge.edge()).into();
        }
    }

    /// Sorts the edges by their nodes, then by their points.
    pub fn sort(&mut self, exec: &dyn Exec) {
        let key = |edge: &PackedEdge| (edge.node, edge.code.point(AT_END));
        if !self.edges.is_sorted_by_key(key) {
            sort_by_key(exec, self.edges.make_mut(), key);
        }
    }

    /// Puts the edges on a shelf.
    pub fn shelve(&mut self, shelf: &dyn Shelf) -> Result<()> {
        self.edges.shelve(shelf)
    }
}

impl FromIterator<StatedEdge> for EdgeList {
    fn from_iter<I: IntoIterator<Item = StatedEdge>>(edges: I) -> Self {
        Self { edges: edges.into_iter().map(PackedEdge::from).collect() }
    }
}

impl Extend<StatedEdge> for EdgeList {
    fn extend<I: IntoIterator<Item = StatedEdge>>(&mut self, edges: I) {
        self.edges.make_mut().extend(edges.into_iter().map(PackedEdge::from));
    }
}
