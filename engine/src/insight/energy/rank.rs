//! The activity of a rank: the work that ran on its device, and the parts of it that only waited.

use rustc_hash::FxHashMap;

use super::parts::{EnergyPart, RestSpan, WorkSpan};
use crate::base::{Interval, narrow};
use crate::insight::edge::EdgeKind;
use crate::insight::walk::JobEdges;
use crate::model::MachineSide;

/// The activity of a rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankActivity {
    /// Work, without the parts in which it only waits.
    pub work: Vec<WorkSpan>,
    /// The spans without work whose reason is known: the parts of calls and instructions that only
    /// wait, and idle time until a host has launched the next work.
    pub rests: Vec<RestSpan>,
    /// The texts of the names of the work.
    pub names: Vec<String>,
}

impl RankActivity {
    /// The activity of the rank at a position of the job: of its devices, or of its threads without
    /// any.
    #[must_use]
    pub fn of(edges: &JobEdges<'_>, position: u32) -> Self {
        let graph = &edges.graph.ranks[position as usize];
        let has_device = graph.classes.iter().any(|class| class.side == MachineSide::Device);
        let side = if has_device { MachineSide::Device } else { MachineSide::Host };
        let mut activity = Self::default();
        // The end of the work so far. Nothing was idle before the first.
        let mut busy_ps = None;
        let mut numbers = FxHashMap::default();
        for (at, node) in (0_u32..).zip(&graph.work.nodes) {
            let class = &graph.classes[node.class as usize];
            if class.side != side || !graph.is_recorded(node) {
                continue;
            }
            let span = Interval::new(node.start_ps, node.end_ps());
            let arrival = edges.call(position, at).and_then(|call| edges.awaited(position, call));
            let awaited = edges.ranks[position as usize].end(at).filter(|edge| edge.kind.is_wait());
            let free_ps = match (arrival, awaited) {
                _ if class.waits => span.end.0,
                (Some(arrival), _) => arrival.start_ps,
                (None, Some(edge)) => edge.free_ps,
                (None, None) => span.start.0,
            };
            let free_ps = free_ps.clamp(span.start.0, span.end.0);
            let (wait, work) = (Interval::new(span.start.0, free_ps), Interval::new(free_ps, span.end.0));
            let launch = edges.ranks[position as usize].starts[at as usize];
            if let (Some(edge), Some(busy_ps)) =
                (launch.filter(|edge| edge.kind == EdgeKind::Launch), busy_ps)
            {
                let idle = Interval::new(busy_ps, edge.free_ps.min(span.start.0));
                activity.rest(idle, EnergyPart::Launch);
            }
            busy_ps = busy_ps.max(Some(span.end.0));
            activity.rest(wait, EnergyPart::Waiting);
            if work.duration_ps() > 0 {
                let name = graph.work.classes[node.class as usize].name;
                let name = *numbers.entry(name).or_insert_with(|| {
                    activity.names.push(graph.name(node).to_owned());
                    narrow(activity.names.len() - 1)
                });
                activity.work.push(WorkSpan { span: work, name });
            }
        }
        activity
    }

    fn rest(&mut self, span: Interval, part: EnergyPart) {
        if span.duration_ps() > 0 {
            self.rests.push(RestSpan { span, part });
        }
    }
}
