//! The order in which a replay comes to the starts and ends of a rank's work.

use crate::base::narrow;
use crate::model::{NodePoint, WorkNode};

/// A pass over the points of a rank. Work that ends when other work starts ends before it.
#[derive(Debug, Clone)]
pub(in crate::insight) struct PointOrder<'g> {
    nodes: &'g [WorkNode],
    ends: &'g [u32],
    next_start: usize,
    next_end: usize,
}

impl<'g> PointOrder<'g> {
    /// A pass before the first point. `ends` has the positions of the nodes by their ends.
    pub(in crate::insight) fn new(nodes: &'g [WorkNode], ends: &'g [u32]) -> Self {
        Self { nodes, ends, next_start: 0, next_end: 0 }
    }

    /// The node that ends next.
    pub(in crate::insight) fn ending(&self) -> Option<u32> {
        self.ends.get(self.next_end).copied()
    }

    /// The next point.
    #[inline]
    pub(in crate::insight) fn peek(&self) -> Option<(u32, NodePoint)> {
        let start_ps = self.nodes.get(self.next_start).map(|node| node.start_ps);
        let ending = self.ending().filter(|end| {
            let is_started = (*end as usize) < self.next_start;
            is_started && start_ps.is_none_or(|start_ps| self.nodes[*end as usize].end_ps() <= start_ps)
        });
        let end = ending.map(|node| (node, NodePoint::End));
        end.or_else(|| start_ps.map(|_| (narrow(self.next_start), NodePoint::Start)))
    }

    /// Goes on behind a point, which is the next one.
    #[inline]
    pub(in crate::insight) fn pass(&mut self, point: NodePoint) {
        match point {
            NodePoint::Start => self.next_start += 1,
            NodePoint::End => self.next_end += 1,
        }
    }
}

impl Iterator for PointOrder<'_> {
    type Item = (u32, NodePoint);

    fn next(&mut self) -> Option<(u32, NodePoint)> {
        let point = self.peek()?;
        self.pass(point.1);
        Some(point)
    }
}
