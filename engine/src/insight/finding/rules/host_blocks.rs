//! A host that waits for its device before it launches more work, so that the device runs empty.
//! The saving is the replay in which no call of a host waits for a device.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::Scenario;
use crate::model::MachineSide;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::HostBlocks,
    id: "host-blocks",
    title: "does a host wait for its device before it launches more work?",
    advice: "take calls that wait out of the loop: copies to the host, `.item()`, prints of values, explicit \
             synchronization",
    needs: MetricsNeed::Nothing,
    check,
    words,
};

/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.02;

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    if facts.graph.ranks.iter().all(|rank| rank.work.host.is_empty()) {
        return Ok(Judgement::CannotTell(DataGap::Launches));
    }
    let mut calls: Vec<BlockingCall> = Vec::new();
    for (rank, edges) in (0..).zip(&facts.edges.ranks) {
        let graph = &facts.graph.ranks[rank];
        let of_host = edges.ends.iter().filter(|(node, _)| {
            graph.classes[graph.work.nodes[*node as usize].class as usize].side == MachineSide::Host
        });
        calls.extend(of_host.map(|(node, _)| BlockingCall { rank, node: *node }));
    }
    // A wait at the end of the run holds no launch back.
    calls.retain(|call| call.end_ps(facts) < facts.last_start_ps());
    if calls.is_empty() {
        return Ok(facts.unless_launches_lack());
    }
    let saving = facts.saving(&Scenario::with_hosts_that_never_wait())?;
    if saving.middle_ps <= facts.part_ps(LEAST_SAVING) {
        return Ok(facts.unless_launches_lack());
    }
    let Some(longest) = calls.iter().max_by_key(|call| call.duration_ps(facts)) else {
        return Ok(Judgement::Nothing);
    };
    let graph = &facts.graph.ranks[longest.rank];
    let node = &graph.work.nodes[longest.node as usize];
    let place = Place::of_node(graph, longest.node, node.start_ps, node.end_ps());
    let waited_ps = calls.iter().map(|call| call.duration_ps(facts)).fold(0, i64::saturating_add);
    let mut finding = facts.finding(RuleName::HostBlocks, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::about(EvidenceMeasure::Waited, graph.name(node), EvidenceValue::Time(waited_ps)),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(calls.len() as u64)),
    ];
    Ok(Judgement::Found(vec![finding]))
}

/// A call of a host that waits for its device.
#[derive(Debug, Clone, Copy)]
struct BlockingCall {
    rank: usize,
    node: u32,
}

impl BlockingCall {
    fn duration_ps(self, facts: &Facts<'_>) -> i64 {
        facts.graph.ranks[self.rank].work.nodes[self.node as usize].duration_ps
    }

    fn end_ps(self, facts: &Facts<'_>) -> i64 {
        facts.graph.ranks[self.rank].work.nodes[self.node as usize].end_ps()
    }
}

fn words(of: &Finding) -> String {
    let name = of.measured(EvidenceMeasure::Waited).and_then(|one| one.of.clone()).unwrap_or_default();
    let waited = of.words(EvidenceMeasure::Waited);
    match of.measured(EvidenceMeasure::Count).map(|one| one.quantity) {
        Some(EvidenceValue::Count(1)) => {
            format!(
                "a host waits for its device for {waited} in `{name}`; the device runs empty before the next launch"
            )
        }
        _ => format!(
            "hosts wait for their devices in {} calls, {waited} over all threads, the longest in `{name}`; the \
             devices run empty before the next launch",
            of.words(EvidenceMeasure::Count)
        ),
    }
}
