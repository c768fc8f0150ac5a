//! A device without work although nothing of the machine held it back: neither other work, nor
//! another rank, nor a launch that took its time. Either nothing is known about the gap, or its
//! host was between two calls all the time, as while it loads data.
//!
//! The gaps on the critical path count. The saving is the replay without them: the launch in a gap
//! comes when the gap begins, or its work does if it has no launch.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, short_name};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::FindingRule;
use crate::base::Result;
use crate::insight::Scenario;
use crate::insight::node_change::NodeChange;
use crate::insight::walk::{PathKind, PathPart};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::IdleGap,
    id: "idle-gap",
    title: "is a device idle although nothing of the machine holds it back?",
    advice: "look at what the host did at that time: loading of data, checkpoints, evaluation, garbage \
             collection, other jobs",
    check,
    words,
};

/// A gap stands out from this share of the run on.
pub(super) const LEAST_GAP: f64 = 0.02;
/// All gaps together do from this share of the run on.
const LEAST_SUM: f64 = 0.1;
/// Gaps with a finding of their own. More of them are one finding.
const MOST_GAPS: usize = 3;
/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.01;

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let begin_ps = facts.begin_ps();
    // Nothing is known about the time before the first work of a rank.
    let has_before =
        |part: &&PathPart| facts.edges.ranks[part.rank as usize].starts[part.node as usize].is_some();
    let is_long_host =
        |part: &PathPart| part.kind == PathKind::Host && facts.share(part.duration_ps()) >= LEAST_GAP;
    let gaps = facts.path.parts.iter().filter(|part| part.kind == PathKind::Gap || is_long_host(part));
    let gaps = gaps.filter(has_before).filter(|part| part.end_ps > begin_ps);
    let mut gaps: Vec<&PathPart> = gaps.collect();
    gaps.sort_by_key(|part| (std::cmp::Reverse(part.duration_ps()), part.start_ps));
    let long = gaps.partition_point(|part| facts.share(part.duration_ps()) >= LEAST_GAP);
    let sum_ps = sum_ps(&gaps);
    let mut found = Vec::new();
    match long {
        0 if facts.share(sum_ps) >= LEAST_SUM => found.push(finding(facts, &gaps)?),
        0 => {}
        few if few <= MOST_GAPS => {
            for part in &gaps[..few] {
                found.push(finding(facts, &[part])?);
            }
        }
        many => found.push(finding(facts, &gaps[..many])?),
    }
    found.retain(|one| one.saving.is_some_and(|saving| saving.middle_ps > facts.part_ps(LEAST_SAVING)));
    Ok(Judgement::of(found, None))
}

fn sum_ps(gaps: &[&PathPart]) -> i64 {
    gaps.iter().map(|part| part.duration_ps()).fold(0, i64::saturating_add)
}

/// The finding of some gaps, the longest first.
fn finding(facts: &Facts<'_>, gaps: &[&PathPart]) -> Result<Finding> {
    let mut changes: FxHashMap<usize, Vec<NodeChange>> = FxHashMap::default();
    for part in gaps {
        let graph = &facts.graph.ranks[part.rank as usize];
        let nodes = graph.work.nodes.len();
        let of_rank = changes.entry(part.rank as usize).or_insert_with(|| vec![NodeChange::default(); nodes]);
        let node =
            if part.kind == PathKind::Gap { graph.held_back(part.node, part.start_ps) } else { part.node };
        let late_ps = graph.work.nodes[node as usize].start_ps.min(part.end_ps).saturating_sub(part.start_ps);
        let change = &mut of_rank[node as usize];
        change.gap_ps = change.gap_ps.saturating_sub(late_ps);
    }
    let saving = facts.saving(&Scenario::with_changes(changes))?;
    let first = gaps.first().copied();
    let place = match (first, gaps.len(), &facts.graph.ranks[..]) {
        (Some(part), 1, ranks) => {
            Place::of_node(&ranks[part.rank as usize], part.node, part.start_ps, part.end_ps)
        }
        (Some(part), _, ranks) => Place {
            rank: if let [only] = ranks { Some(only.rank) } else { None },
            ..Place::of_span(part.start_ps, part.end_ps)
        },
        (None, ..) => Place::default(),
    };
    let next = first.map(|part| facts.name_of(&facts.graph.ranks[part.rank as usize], part.node));
    let of_host = gaps.iter().filter(|part| part.kind == PathKind::Host).map(|part| part.duration_ps());
    let mut finding = facts.finding(RuleName::IdleGap, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::about(
            EvidenceMeasure::Idle,
            next.unwrap_or_default(),
            EvidenceValue::Time(sum_ps(gaps)),
        ),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(gaps.len() as u64)),
        FindingEvidence::new(
            EvidenceMeasure::OfHost,
            EvidenceValue::Time(of_host.fold(0, i64::saturating_add)),
        ),
    ];
    Ok(finding)
}

fn words(of: &Finding) -> String {
    let idle = of.measured(EvidenceMeasure::Idle);
    let name = idle.and_then(|one| one.of.as_deref()).map(short_name).unwrap_or_default();
    let idle_ps = idle.map(|one| one.quantity);
    let why = match of.measured(EvidenceMeasure::OfHost).map(|one| one.quantity) {
        Some(host) if Some(host) == idle_ps => "its host was between two calls",
        Some(EvidenceValue::Time(0)) | None => "nothing says why",
        Some(_) => "hosts were between calls for a part of it",
    };
    let idle = of.words(EvidenceMeasure::Idle);
    match (of.measured(EvidenceMeasure::Count).map(|one| one.quantity), of.place.rank) {
        (Some(EvidenceValue::Count(1)), Some(rank)) => {
            format!("the device of rank {rank} is idle for {idle} before `{name}`; {why}")
        }
        _ => format!(
            "devices are idle for {idle} in {} gaps of the critical path, the longest before `{name}`; {why}",
            of.words(EvidenceMeasure::Count)
        ),
    }
}
