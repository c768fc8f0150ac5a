//! Preparation of kernels while nothing else works.
//!
//! At most that time is saved.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::PreparationExposed,
    id: "preparation-exposed",
    title: "does the device stand still while kernels are prepared?",
    advice: "prepare the next kernel while the last one runs, or join kernels",
    needs: MetricsNeed::Arrays,
    words,
};

/// Share of the time of the device, at least.
const LEAST_SHARE: f64 = 0.1;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let Some(of) = facts.measures().arrays else {
        return Ok(Judgement::CannotTell(DataGap::DeviceMetrics));
    };
    let share = of.preparation_ps as f64 / of.total_ps.max(1) as f64;
    if share < LEAST_SHARE {
        return Ok(Judgement::Nothing);
    }
    let saving = Bracket { low_ps: 0, middle_ps: of.preparation_ps, high_ps: of.preparation_ps };
    let mut finding = facts.finding_of_rank(RuleName::PreparationExposed, of.rank, saving);
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::Exposed, EvidenceValue::Time(of.preparation_ps)),
        FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(share)),
    ];
    Ok(Judgement::Found(vec![finding]))
}

fn words(of: &Finding) -> String {
    format!(
        "kernels are prepared while nothing else works for {}, {} of the time of the device",
        of.words(EvidenceMeasure::Exposed),
        of.words(EvidenceMeasure::OfRun)
    )
}
