//! A device that waits for the input of its program: its host loads data.
//!
//! The gaps on the critical path count in which the host was in a loader of data, and all of them
//! together. The saving is the replay without them.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, beginning};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::path_gap::{IdleGap, host_gaps, idle_ps, operator, other_stretches, saving};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::InputBound,
    id: "input-bound",
    title: "does the run wait for its input?",
    advice: "load data in more processes and ahead of the step: more workers, pinned memory, prefetching",
    needs: MetricsNeed::Hosts,
    words,
};

/// Words in the names of loaders of data.
const LOADERS: [&str; 4] = ["dataloader", "data_loader", "dataiter", "prefetch"];
/// Share of the run, at least.
const LEAST_SHARE: f64 = 0.05;
/// Gaps that are looked at, the longest first: each one reads what its host did.
const MOST_GAPS: usize = 256;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let gaps = input_gaps(facts);
    let Some(longest) = gaps.first() else { return Ok(facts.unless_launches_lack()) };
    let idle_ps = idle_ps(&gaps);
    let saving = saving(facts, &gaps)?;
    let rank = &facts.graph.ranks[longest.part.rank as usize];
    let place = Place {
        rank: Some(rank.rank),
        others_ps: other_stretches(&gaps),
        ..Place::of_span(longest.longest.start.0, longest.longest.end.0)
    };
    let name = operator(facts, longest).unwrap_or_default();
    let mut finding = facts.finding(RuleName::InputBound, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::about(EvidenceMeasure::Idle, &beginning(&name), EvidenceValue::Time(idle_ps)),
        FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(facts.share(idle_ps))),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(gaps.len() as u64)),
    ];
    Ok(Judgement::Found(vec![finding]))
}

/// The gaps in which the host loads data, the longest first. None if they are too little together.
pub(super) fn input_gaps<'f>(facts: &'f Facts<'_>) -> Vec<IdleGap<'f>> {
    let mut gaps = host_gaps(facts);
    gaps.truncate(MOST_GAPS);
    gaps.retain(|gap| operator(facts, gap).is_some_and(|name| is_loader(&name)));
    let is_worth = facts.share(idle_ps(&gaps)) >= LEAST_SHARE;
    gaps.retain(|_| is_worth);
    gaps
}

/// Whether a name is that of a loader of data.
fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    LOADERS.iter().any(|word| name.contains(word))
}

fn words(of: &Finding) -> String {
    let name = of.measured(EvidenceMeasure::Idle).and_then(|one| one.of.clone()).unwrap_or_default();
    format!(
        "devices wait for input in {} gaps, {} in all, {} of the run: the host is in `{name}`",
        of.words(EvidenceMeasure::Count),
        of.words(EvidenceMeasure::Idle),
        of.words(EvidenceMeasure::OfRun)
    )
}
