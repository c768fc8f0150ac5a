//! Communication that no work covers. The saving is the replay with transfers that take no time:
//! the most that an overlap with work could win.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::analysis::InstanceReport;
use crate::base::Result;
use crate::insight::Scenario;
use crate::insight::walk::PathKind;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::ExposedCommunication,
    id: "exposed-communication",
    title: "does the run wait for transfers that no work covers?",
    advice: "overlap the transfers with work that does not need them, send less data or fewer, larger messages",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least saving, as a share of the run. Public guides call a job bound by communication from
/// about a tenth on; half of it is worth a look.
const LEAST_SAVING: f64 = 0.05;
/// Kinds that are listed.
const MOST_KINDS: usize = 3;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let missing = facts.missing_of_ranks();
    if facts.report.operations.is_empty() {
        return Ok(Judgement::of(Vec::new(), missing));
    }
    let mut saving = facts.saving(&Scenario::without_transfers(facts.graph))?;
    let absent = u64::from(facts.coverage.absent_ranks());
    if absent > 0 {
        // A part of a transfer can be the waiting for a rank that nobody recorded.
        let certain = facts.saving(&Scenario::with_most_transfers(beyond_the_shortest(facts)))?;
        saving.low_ps = saving.low_ps.min(certain.low_ps);
    }
    if saving.middle_ps <= facts.part_ps(LEAST_SAVING) {
        return Ok(Judgement::of(Vec::new(), missing));
    }
    let mut finding = facts.finding(RuleName::ExposedCommunication, Place::default(), Some(saving));
    finding.evidence.push(FindingEvidence::new(
        EvidenceMeasure::OfRun,
        EvidenceValue::Share(facts.share(saving.middle_ps)),
    ));
    if absent > 0 {
        let absent = EvidenceValue::Count(absent);
        finding.evidence.push(FindingEvidence::new(EvidenceMeasure::AbsentRanks, absent));
    }
    for (kind, ps) in on_path(facts).into_iter().take(MOST_KINDS) {
        finding.evidence.push(FindingEvidence::about(
            EvidenceMeasure::Exposed,
            kind,
            EvidenceValue::Time(ps),
        ));
    }
    Ok(Judgement::Found(vec![finding]))
}

/// For each operation the time by which its transfer is longer than the shortest one of its kind
/// and size, in picoseconds.
fn beyond_the_shortest(facts: &Facts<'_>) -> FxHashMap<u32, i64> {
    let operations = &facts.report.operations;
    let mut shortest_ps: FxHashMap<u32, i64> = FxHashMap::default();
    for of in operations {
        let known_ps = shortest_ps.entry(of.signature).or_insert(i64::MAX);
        *known_ps = (*known_ps).min(of.transfer_ps());
    }
    let beyond = |of: &InstanceReport| of.transfer_ps().saturating_sub(shortest_ps[&of.signature]);
    (0..).zip(operations.iter().map(beyond)).collect()
}

/// Time of transfers on the critical path by kind, the longest first.
fn on_path<'f>(facts: &'f Facts<'_>) -> Vec<(&'f str, i64)> {
    let mut by_kind: FxHashMap<&str, i64> = FxHashMap::default();
    for part in facts.path.parts.iter().filter(|part| part.kind == PathKind::Transfer) {
        if let Some(call) = facts.edges.call(part.rank, part.node) {
            let signature = facts.graph.meetings[call.meeting as usize].signature;
            let kind = facts.job.signatures[signature as usize].kind.name();
            let sum_ps = by_kind.entry(kind).or_default();
            *sum_ps = sum_ps.saturating_add(part.duration_ps());
        }
    }
    let mut kinds: Vec<(&str, i64)> = by_kind.into_iter().collect();
    kinds.sort_unstable_by_key(|(kind, ps)| (std::cmp::Reverse(*ps), *kind));
    kinds
}

fn words(of: &Finding) -> String {
    let kinds: Vec<String> = of
        .all(EvidenceMeasure::Exposed)
        .map(|one| format!("{} {}", one.of.as_deref().unwrap_or_default(), one.quantity.words()))
        .collect();
    let list = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let share = of.words(EvidenceMeasure::OfRun);
    let absent = match of.measured(EvidenceMeasure::AbsentRanks).map(|one| one.quantity) {
        Some(EvidenceValue::Count(1)) => {
            "; some of it can be the waiting for a rank that is not in the profile".to_owned()
        }
        Some(EvidenceValue::Count(count)) => {
            format!("; some of it can be the waiting for {count} ranks that are not in the profile")
        }
        _ => String::new(),
    };
    format!("{share} of the run are transfers that no work covers{list}{absent}")
}
