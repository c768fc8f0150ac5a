//! A chip that limits its engines.
//!
//! A limit of k of n slots makes work take n / k of its time. At most the whole run is longer by
//! that; more likely the time in which the engine for matrix products works.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::measured::MeasuredRank;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, LEAST_WORTH, measured};
use crate::base::Result;
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Throttled,
    id: "throttled",
    title: "does the chip limit its engines?",
    advice: "check power and temperature of the chip, and spread bursts of matrix products",
    needs_metrics: true,
    check,
    words,
};

/// Part of the peak that is lost on average, from which on it counts.
const LEAST_LOST: f64 = 0.01;

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &MeasuredRank) -> Option<Finding> {
    let limits = of.like("throttle_avg_util_limit_nc", "_percent");
    let lost = 1.0 - limits.fold(1.0, f64::min);
    if lost <= LEAST_LOST {
        return None;
    }
    let part = |ps: i64| (ps as f64 * lost) as i64;
    let (total_ps, active_ps) = (of.ps("total_time")?, of.ps("tensor_engine_active_time")?);
    // A chip that computes nothing may be limited as long as it likes.
    if facts.share(part(active_ps)) < LEAST_WORTH {
        return None;
    }
    let saving = Bracket { low_ps: 0, middle_ps: part(active_ps), high_ps: part(total_ps) };
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
