//! A chip that limits its engines.
//!
//! A limit of k of n slots makes work take n / k of its time. At most the whole run is longer by
//! that; more likely the time in which the engine for matrix products works under a limit.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Throttled,
    id: "throttled",
    title: "does the chip limit its engines?",
    advice: "check power and temperature of the chip, and spread bursts of matrix products",
    needs: MetricsNeed::Device,
    words,
};

/// Part of the peak that is lost on average, from which on it counts.
const LEAST_LOST: f64 = 0.01;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let lost = of.lost_peak;
    if lost <= LEAST_LOST {
        return None;
    }
    let part = |ps: i64| (ps as f64 * lost) as i64;
    // A chip that computes nothing may be limited as long as it likes.
    let middle_ps = of.throttled_ps.unwrap_or_else(|| part(of.tensor_ps));
    if middle_ps < facts.least_worth_ps() {
        return None;
    }
    let saving = Bracket { low_ps: 0, middle_ps, high_ps: part(of.total_ps).max(middle_ps) };
    let mut finding = facts.finding_of_rank(RuleName::Throttled, of.rank, saving);
    finding.evidence = vec![FindingEvidence::new(EvidenceMeasure::LostPeak, EvidenceValue::Share(lost))];
    Some(finding)
}

fn words(of: &Finding) -> String {
    format!(
        "the chip limits its engines: {} of their peak is lost on average",
        of.words(EvidenceMeasure::LostPeak)
    )
}
