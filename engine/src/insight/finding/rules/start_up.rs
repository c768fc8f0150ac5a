//! Time before the first work: the run has begun, and its devices have nothing to do yet.
//!
//! The run begins with the first work of a device. If that is a single instruction, and nothing
//! follows for a long time, the run waits for its input or for its program. The saving is between
//! nothing and all of that time: a part of it is needed once.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::StartUp,
    id: "start-up",
    title: "does the run spend much time before its work begins?",
    advice: "record several iterations, or keep the program loaded, so that the start-up is paid once",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least share of the run.
const LEAST_SHARE: f64 = 0.1;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let first_ps = facts.path.span_ps.0;
    let begin_ps = facts.begin_ps();
    let idle_ps = begin_ps.saturating_sub(first_ps);
    if facts.share(idle_ps) < LEAST_SHARE {
        return Ok(Judgement::Nothing);
    }
    let saving = Bracket { low_ps: 0, middle_ps: idle_ps, high_ps: idle_ps };
    let place = Place::of_span(first_ps, begin_ps);
    let mut finding = facts.finding(RuleName::StartUp, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::Idle, EvidenceValue::Time(idle_ps)),
        FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(facts.share(idle_ps))),
    ];
    Ok(Judgement::Found(vec![finding]))
}

fn words(of: &Finding) -> String {
    format!(
        "the run spends {}, {} of it, before its work begins",
        of.words(EvidenceMeasure::Idle),
        of.words(EvidenceMeasure::OfRun)
    )
}
