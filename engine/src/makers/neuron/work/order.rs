//! Order of the instructions of an engine, whose lines and tracks are one queue.

use super::instruction::OrderedInstruction;
use crate::model::stated_edge::NO_SEMAPHORE;
use crate::model::{Certainty, EdgeList, EdgeReason, NodePoint, StatedEdge};

/// For each node the start of the instruction before it on its engine.
#[derive(Debug, Default)]
pub(super) struct StartsBefore {
    /// By node; [`Self::NONE`] without such an instruction.
    starts_ps: Vec<i64>,
}

impl StartsBefore {
    const NONE: i64 = i64::MIN;

    /// The start of the instruction before a node, in picoseconds.
    pub(super) fn of(&self, node: u32) -> Option<i64> {
        self.starts_ps.get(node as usize).copied().filter(|start_ps| *start_ps != Self::NONE)
    }

    fn insert(&mut self, node: u32, start_ps: i64) {
        let at = node as usize;
        if self.starts_ps.len() <= at {
            self.starts_ps.resize(at + 1, Self::NONE);
        }
        self.starts_ps[at] = start_ps;
    }
}

/// Adds the edges of an engine's order that no line has: to the start of an instruction from the
/// one before it, and to the end of one that waits for all before it. Notes the start of the
/// instruction before each.
pub(super) fn add_edges(
    instructions: &mut [OrderedInstruction],
    starts_before: &mut StartsBefore,
    edges: &mut EdgeList,
) {
    instructions.sort_unstable();
    let mut running: Vec<OrderedInstruction> = Vec::new();
    for pair in instructions.windows(2) {
        let (before, of) = (pair[0], pair[1]);
        starts_before.insert(of.node, before.start_ps);
        let has_ended = before.end_ps <= of.start_ps;
        if before.line != of.line || !has_ended {
            let from_point = if has_ended { NodePoint::End } else { NodePoint::Start };
            edges.push(edge(&before, from_point, &of, NodePoint::Start));
        }
        if of.drains {
            running.retain(|one| one.end_ps > of.start_ps);
            running.extend(Some(before).filter(|before| before.end_ps > of.start_ps));
            let last = running.iter().filter(|one| one.end_ps <= of.end_ps).max_by_key(|one| one.end_ps);
            edges.extend(last.map(|last| edge(last, NodePoint::End, &of, NodePoint::End)));
        } else if !has_ended {
            running.push(before);
        }
        if running.len() > MOST_RUNNING {
            running.retain(|one| one.end_ps > of.start_ps);
        }
    }
}

/// Instructions of an engine that can run at once. Older ones are looked through.
const MOST_RUNNING: usize = 16;

fn edge(
    from: &OrderedInstruction,
    from_point: NodePoint,
    of: &OrderedInstruction,
    at: NodePoint,
) -> StatedEdge {
    StatedEdge {
        node: of.node,
        at,
        from: from.node,
        from_point,
        reason: EdgeReason::Order,
        certainty: Certainty::Recorded,
        semaphore: NO_SEMAPHORE,
        since_ps: None,
        met_ps: if at == NodePoint::Start { of.start_ps } else { of.end_ps },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_engine_follow_each_other() {
        let instruction = |node: u32, line: u32, start_ps: i64, end_ps: i64, drains: bool| {
            OrderedInstruction { start_ps, row: node, end_ps, node, line: (line, 0), drains }
        };
        let mut instructions = [
            instruction(0, 0, 0, 10, false),
            instruction(1, 1, 3, 40, false),
            instruction(2, 0, 12, 45, true),
            instruction(3, 0, 46, 50, false),
        ];
        let mut edges = EdgeList::default();
        let mut starts = StartsBefore::default();
        add_edges(&mut instructions, &mut starts, &mut edges);
        assert_eq!([0, 1, 2, 3, 4].map(|node| starts.of(node)), [None, Some(0), Some(3), Some(12), None]);
        let found: Vec<_> =
            edges.iter().map(|edge| (edge.from, edge.from_point, edge.node, edge.at)).collect();
        use NodePoint::{End, Start};
        assert_eq!(found, [(0, Start, 1, Start), (1, Start, 2, Start), (1, End, 2, End)]);
    }
}
