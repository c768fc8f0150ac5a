//! A recording that lacks parts of the run. It costs nothing, but what was not recorded can hide a
//! cause.

use super::super::coverage::RankCoverage;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Recording,
    id: "recording",
    title: "was all of the run recorded?",
    advice: "record all ranks and hosts, start the recordings before the run, and give them larger buffers",
    needs: MetricsNeed::Nothing,
    words,
};

/// From this share on, a text says that nothing is lost: it has one decimal of a percent.
const WHOLE: f64 = 0.9995;
/// Share of a rank's calls that may be lost without a finding of its own.
const MOST_LOST: f64 = 0.05;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let coverage = &facts.coverage;
    if coverage.is_complete() {
        return Ok(Judgement::Nothing);
    }
    let mut whole = facts.finding(RuleName::Recording, Place::default(), None);
    whole.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::RecordedTime, EvidenceValue::Share(coverage.of_own_time())),
        FindingEvidence::new(EvidenceMeasure::RecordedCalls, EvidenceValue::Share(coverage.of_own_calls())),
    ];
    if coverage.absent_ranks() > 0 {
        let absent = EvidenceValue::Count(coverage.absent_ranks().into());
        whole.evidence.push(FindingEvidence::new(EvidenceMeasure::AbsentRanks, absent));
    }
    if coverage.ranks.iter().any(RankCoverage::lacks_launches) {
        let lost = EvidenceValue::Share(coverage.unlaunched());
        whole.evidence.push(FindingEvidence::new(EvidenceMeasure::Unlaunched, lost));
    }
    let is_short =
        |rank: &&RankCoverage| rank.late_ps > 0 || rank.cut_ps > 0 || 1.0 - rank.of_calls() > MOST_LOST;
    let of_rank = |rank: &RankCoverage| {
        let mut finding = facts.finding(RuleName::Recording, Place::of_rank(rank.rank), None);
        finding.evidence = vec![
            FindingEvidence::new(EvidenceMeasure::RecordedTime, EvidenceValue::Share(rank.time)),
            FindingEvidence::new(EvidenceMeasure::RecordedCalls, EvidenceValue::Share(rank.of_calls())),
        ];
        if rank.late_ps > 0 {
            finding.evidence.push(FindingEvidence::new(
                EvidenceMeasure::RecordedLater,
                EvidenceValue::Time(rank.late_ps),
            ));
        }
        finding
    };
    let short = coverage.ranks.iter().filter(is_short).map(of_rank);
    Ok(Judgement::Found(std::iter::once(whole).chain(short).collect()))
}

fn words(of: &Finding) -> String {
    let whose = of.place.rank.map_or_else(String::new, |rank| format!(" of rank {rank}"));
    let lost = |measure, what: &str| match of.measured(measure)?.quantity {
        EvidenceValue::Share(recorded) if recorded < WHOLE => {
            Some(format!("{} of {what}", percent(1.0 - recorded)))
        }
        _ => None,
    };
    let unlaunched = of.measured(EvidenceMeasure::Unlaunched).map(|one| one.quantity.words());
    let lost = [
        lost(EvidenceMeasure::RecordedTime, "the time"),
        lost(EvidenceMeasure::RecordedCalls, "the calls of operations"),
        unlaunched.map(|share| format!("the launches of {share} of the work of devices")),
    ];
    let lost: Vec<String> = lost.into_iter().flatten().collect();
    let mut text = match lost.is_empty() {
        true => format!("the recording{whose} is whole"),
        false => format!("the recording{whose} lacks {}", lost.join(" and ")),
    };
    if of.measured(EvidenceMeasure::RecordedLater).is_some() {
        text.push_str(&format!("; it begins {} late", of.words(EvidenceMeasure::RecordedLater)));
    }
    if let Some(EvidenceValue::Count(absent)) =
        of.measured(EvidenceMeasure::AbsentRanks).map(|one| one.quantity)
    {
        let noun = if absent == 1 { "rank is" } else { "ranks are" };
        text.push_str(&format!("; {absent} {noun} not in the profile"));
    }
    text
}
