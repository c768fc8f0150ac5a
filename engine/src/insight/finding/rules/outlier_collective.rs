//! One operation whose transfer takes much longer than those of its like (kind, size and number of
//! ranks), although all its ranks had come. Several of a group are a slow link.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, slow_link};
use crate::analysis::job_segment::numbers;
use crate::base::{Result, narrow};
use crate::insight::Scenario;
use crate::model::WaitingRanks;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::OutlierCollective,
    id: "outlier-collective",
    title: "does one operation take much longer than those of its like?",
    advice: "look at what else used the network at that time, and whether the operation connects for the first \
             time",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least time by which it is longer, as a share of the run.
const LEAST_TIME: f64 = 0.002;
/// Operations that are replayed.
const MOST: usize = 4;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    if facts.report.operations.is_empty() {
        return Ok(Judgement::of(Vec::new(), facts.missing_of_ranks()));
    }
    let of_links: Vec<u32> = slow_link::links(facts).iter().map(|link| link.group).collect();
    let usual = facts.usual_transfers();
    let mut outliers: Vec<(usize, i64)> = Vec::new();
    for (at, (one, usual)) in facts.report.operations.iter().zip(&usual).enumerate() {
        let by_ps = one.transfer_ps().saturating_sub(usual.ps);
        let waits_for_all =
            facts.job.signatures[one.signature as usize].kind.waiting() == WaitingRanks::ForAll;
        // A member that was not recorded can have come late.
        let is_sure = waits_for_all && one.state.absent == 0 && !one.is_alone();
        if is_sure
            && usual.makes_outlier(one.transfer_ps())
            && by_ps > facts.part_ps(LEAST_TIME)
            && !of_links.contains(&one.group)
        {
            outliers.push((at, by_ps));
        }
    }
    outliers.sort_by_key(|(at, by_ps)| (std::cmp::Reverse(*by_ps), *at));
    let mut found = Vec::new();
    for (at, _) in outliers.into_iter().take(MOST) {
        found.push(finding(facts, at, usual[at].ps)?);
    }
    Ok(Judgement::of(found, facts.missing_of_ranks()))
}

fn finding(facts: &Facts<'_>, at: usize, usual_ps: i64) -> Result<Finding> {
    let one = &facts.report.operations[at];
    let bounded = FxHashMap::from_iter([(narrow(at), usual_ps)]);
    let saving = facts.saving(&Scenario::with_most_transfers(bounded))?;
    let place = Place {
        rank: one.last.map(|last| facts.job.ranks[last as usize].rank),
        ranks: facts.numbers(facts.report.instances.members(at).map(|member| member.rank)),
        ..Place::of_span(one.span.last_ps, one.span.end_ps)
    };
    let number = numbers(facts.report)[at];
    let kind = facts.job.signatures[one.signature as usize].kind.name();
    let name = format!("{kind} {number}");
    let evidence = vec![
        FindingEvidence::about(
            EvidenceMeasure::LongerBy,
            &name,
            EvidenceValue::Time(one.transfer_ps().saturating_sub(usual_ps)),
        ),
        FindingEvidence::new(EvidenceMeasure::Usual, EvidenceValue::Time(usual_ps)),
    ];
    Ok(Finding { evidence, ..facts.finding(RuleName::OutlierCollective, place, Some(saving)) })
}

fn words(of: &Finding) -> String {
    let name = of.measured(EvidenceMeasure::LongerBy).and_then(|one| one.of.clone()).unwrap_or_default();
    format!(
        "the transfer of {name} takes {} longer than the {} of its like",
        of.words(EvidenceMeasure::LongerBy),
        of.words(EvidenceMeasure::Usual)
    )
}
