//! The time in which no device of a rank works.

use std::sync::OnceLock;

use crate::base::Interval;
use crate::insight::edge::RankEdges;
use crate::insight::walk::JobEdges;
use crate::insight::{JobGraph, RankGraph};
use crate::model::{MachineSide, WorkNode};

/// For each rank the spans in which its devices work, found once they are needed.
#[derive(Debug)]
pub(super) struct IdleTime {
    of_ranks: Vec<OnceLock<Vec<Interval>>>,
}

impl IdleTime {
    pub(super) fn of(graph: &JobGraph) -> Self {
        Self { of_ranks: graph.ranks.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The parts of a span in which no device of the rank at a position works. A slice that waits
    /// does no work.
    pub(super) fn within(&self, edges: &JobEdges<'_>, rank: u32, span: Interval) -> Vec<Interval> {
        let at = rank as usize;
        let work = || work_spans(&edges.graph().ranks[at], &edges.ranks[at]);
        let busy = self.of_ranks[at].get_or_init(work);
        let first = busy.partition_point(|work| work.end.0 <= span.start.0);
        let mut idle = Vec::new();
        let mut from_ps = span.start.0;
        for work in busy[first..].iter().take_while(|work| work.start.0 < span.end.0) {
            if work.start.0 > from_ps {
                idle.push(Interval::new(from_ps, work.start.0));
            }
            from_ps = work.end.0;
        }
        if from_ps < span.end.0 {
            idle.push(Interval::new(from_ps, span.end.0));
        }
        idle
    }
}

/// Parts of spans that lie in both lists, which are in the order of time.
pub(super) fn common(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    let (mut at, mut of) = (0, 0);
    let mut common = Vec::new();
    while let (Some(one), Some(other)) = (a.get(at), b.get(of)) {
        let (start_ps, end_ps) = (one.start.0.max(other.start.0), one.end.0.min(other.end.0));
        if start_ps < end_ps {
            common.push(Interval::new(start_ps, end_ps));
        }
        if one.end.0 <= other.end.0 {
            at += 1;
        } else {
            of += 1;
        }
    }
    common
}

/// The spans in which some device of a rank works, in the order of time.
fn work_spans(rank: &RankGraph, edges: &RankEdges) -> Vec<Interval> {
    let works = |(_, node): &(u32, &WorkNode)| {
        let class = rank.classes[node.class as usize];
        class.side == MachineSide::Device && !class.waits && rank.is_recorded(node)
    };
    let (nodes, mut worked_from) = ((0_u32..).zip(&rank.work.nodes).filter(works), edges.worked_from());
    let mut spans: Vec<Interval> =
        nodes.map(|(at, node)| Interval::new(worked_from.next_ps(at, node), node.end_ps())).collect();
    // An instruction can wait until after the start of the next one.
    spans.sort_unstable_by_key(|span| span.start.0);
    let mut joined: Vec<Interval> = Vec::new();
    for span in spans.into_iter().filter(|span| span.end.0 > span.start.0) {
        match joined.last_mut().filter(|last| span.start.0 <= last.end.0) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}
