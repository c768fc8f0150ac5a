//! Arrays for matrix products that compute less than half of the time of their kernels.
//!
//! At most the time is saved that the kernels take beyond their ideal cycles.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::severity::LEAST_WORTH;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::PtArraysUnused,
    id: "pt-arrays-unused",
    title: "do kernels use the arrays for matrix products?",
    advice: "look at the categories with the lowest use: shapes that do not fill the arrays, data that comes late, operations that no array computes",
    needs: MetricsNeed::Arrays,
    words,
};

/// Ideal time over measured time, at least.
const LEAST_USE: f64 = 0.5;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let Some(of) = facts.measures().arrays.filter(|of| of.ideal_ps > 0) else {
        return Ok(Judgement::CannotTell(DataGap::IdealCycles));
    };
    let share = of.ideal_ps as f64 / of.real_ps.max(1) as f64;
    let lost_ps = of.real_ps - of.ideal_ps;
    if share >= LEAST_USE || facts.share(lost_ps) < LEAST_WORTH {
        return Ok(Judgement::Nothing);
    }
    let lost_ps = lost_ps.min(facts.length_ps());
    let saving = Bracket { low_ps: 0, middle_ps: lost_ps, high_ps: lost_ps };
    let mut finding = facts.finding_of_rank(RuleName::PtArraysUnused, of.rank, saving);
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::Active, EvidenceValue::Share(share)),
        FindingEvidence::new(EvidenceMeasure::Usual, EvidenceValue::Time(of.ideal_ps)),
        FindingEvidence::new(EvidenceMeasure::LongerBy, EvidenceValue::Time(lost_ps)),
    ];
    Ok(Judgement::Found(vec![finding]))
}

fn words(of: &Finding) -> String {
    format!(
        "the PT arrays compute for {} of the time of kernels whose ideal cycles are known: ideal would be {}",
        of.words(EvidenceMeasure::Active),
        of.words(EvidenceMeasure::Usual)
    )
}
