//! A host that waits for its device before it launches more work, so that the device runs empty.
//! The saving is the replay in which no call of a host waits for a device.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, beginning};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::{Interval, Result};
use crate::insight::Scenario;
use crate::insight::edge::EdgeKind;
use crate::model::MachineSide;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::HostBlocks,
    id: "host-blocks",
    title: "does a host wait for its device before it launches more work?",
    advice: "take calls that wait out of the loop: copies to the host, `.item()`, prints of values, explicit \
             synchronization",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.02;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    if facts.graph.ranks.iter().all(|rank| rank.work.host.is_empty()) {
        return Ok(Judgement::CannotTell(DataGap::Launches));
    }
    // A wait at the end of the run holds no launch back.
    let last_start_ps = facts.last_start_ps();
    let waits: Vec<HostWait> =
        host_waits(facts).into_iter().filter(|wait| wait.span.end.0 < last_start_ps).collect();
    let Some(longest) = waits.iter().max_by_key(|wait| wait.span.duration_ps()) else {
        return Ok(facts.unless_launches_lack());
    };
    // Without a call that waits, threads that begin behind their device show no more than an order.
    if waits.iter().all(|wait| wait.point == HeldPoint::Start) {
        return Ok(facts.unless_launches_lack());
    }
    // A run saves at most the time that its hosts wait.
    let waited_ps = total_ps(waits.iter());
    let saving = facts.saving(&Scenario::with_hosts_that_never_wait())?.at_most(waited_ps);
    if saving.middle_ps <= facts.part_ps(LEAST_SAVING) {
        return Ok(facts.unless_launches_lack());
    }
    let graph = &facts.graph.ranks[longest.rank];
    let place = Place::of_node(graph, longest.node, longest.span.start.0, longest.span.end.0);
    let mut finding = facts.finding(RuleName::HostBlocks, place, Some(saving));
    // The longest wait comes first, and names the finding.
    let points = [longest.point, longest.point.other()];
    finding.evidence.extend(points.into_iter().filter_map(|point| waited(facts, &waits, point)));
    finding
        .evidence
        .push(FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(waits.len() as u64)));
    Ok(Judgement::Found(vec![finding]))
}

/// A wait of a thread of a host for its device.
#[derive(Debug, Clone, Copy)]
struct HostWait {
    rank: usize,
    node: u32,
    point: HeldPoint,
    span: Interval,
}

/// The part of a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldPoint {
    /// Its start: the thread makes no call until the device has ended its work.
    Start,
    /// Its end: the call itself waits.
    End,
}

impl HeldPoint {
    fn other(self) -> Self {
        match self {
            Self::Start => Self::End,
            Self::End => Self::Start,
        }
    }

    fn measure(self) -> EvidenceMeasure {
        match self {
            Self::Start => EvidenceMeasure::WaitedBefore,
            Self::End => EvidenceMeasure::Waited,
        }
    }
}

/// All waits of hosts: the scenario takes away each of them.
fn host_waits(facts: &Facts<'_>) -> Vec<HostWait> {
    let mut waits = Vec::new();
    for ((rank, graph), edges) in (0..).zip(&facts.graph.ranks).zip(&facts.edges.ranks) {
        let nodes = &graph.work.nodes;
        let class = |node: u32| graph.classes[nodes[node as usize].class as usize];
        let is_of_host = |node: u32| class(node).side == MachineSide::Host;
        waits.extend(edges.ends.iter().filter(|(node, _)| is_of_host(*node)).map(|(node, _)| {
            let call = &nodes[*node as usize];
            let span = Interval::new(call.start_ps, call.end_ps());
            HostWait { rank, node: *node, point: HeldPoint::End, span }
        }));
        let mut ended_ps = vec![None; graph.work.queues.len()];
        for (at, of) in graph.work.host.iter().enumerate() {
            let node = of.node();
            let (call, queue) = (&nodes[node as usize], class(node).queue as usize);
            let held = edges.starts[node as usize].filter(|edge| edge.kind == EdgeKind::Wait);
            if let (Some(edge), Some(ended_ps)) = (held, ended_ps[queue]) {
                let span = Interval::new(
                    i64::saturating_add(ended_ps, graph.host_call(at).busy_ps),
                    edge.free_ps.min(call.start_ps),
                );
                waits.push(HostWait { rank, node, point: HeldPoint::Start, span });
            }
            ended_ps[queue] = ended_ps[queue].max(Some(call.end_ps()));
        }
    }
    waits
}

/// The time of the waits at a point of calls, of the longest one's name. `None` without any.
fn waited(facts: &Facts<'_>, waits: &[HostWait], point: HeldPoint) -> Option<FindingEvidence> {
    let at_point = || waits.iter().filter(|wait| wait.point == point);
    let longest = at_point().max_by_key(|wait| wait.span.duration_ps())?;
    let graph = &facts.graph.ranks[longest.rank];
    let name = graph.name(&graph.work.nodes[longest.node as usize]);
    Some(FindingEvidence::about(point.measure(), name, EvidenceValue::Time(total_ps(at_point()))))
}

fn total_ps<'w>(waits: impl Iterator<Item = &'w HostWait>) -> i64 {
    waits.map(|wait| wait.span.duration_ps()).fold(0, i64::saturating_add)
}

fn words(of: &Finding) -> String {
    let part = |one: &FindingEvidence, word: &str| {
        format!("{} {word} `{}`", one.quantity.words(), beginning(one.of.as_deref().unwrap_or_default()))
    };
    let is_one = of.measured(EvidenceMeasure::Count).map(|one| one.quantity) == Some(EvidenceValue::Count(1));
    let plural = if is_one { "" } else { " calls such as" };
    let parts = of.evidence.iter().filter_map(|one| match one.measure {
        EvidenceMeasure::Waited => Some(part(one, &format!("in{plural}"))),
        EvidenceMeasure::WaitedBefore => Some(part(one, &format!("before{plural}"))),
        _ => None,
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    if is_one {
        return format!("a host waits for its device: {parts}; the device runs empty before the next launch");
    }
    format!(
        "hosts wait for their devices {} times over all threads: {parts}; the devices run empty before the next \
         launch",
        of.words(EvidenceMeasure::Count)
    )
}
