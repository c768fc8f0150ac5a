//! A program whose arithmetic takes longer than its memory.
//!
//! The engine for matrix products is near its peak. At most the time is saved that is left of the
//! active time beside the bytes at the peak of the memory.

use super::super::evidence::EvidenceMeasure;
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::ideal_times::{IdealTimes, bound_evidence, numbers};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::ComputeBound,
    id: "compute-bound",
    title: "does the arithmetic limit the run more than its memory?",
    advice: "use fewer or cheaper operations: smaller types, sparsity, another algorithm; more memory bandwidth does not help",
    needs: MetricsNeed::Device,
    words,
};

/// Share of the active time that the operations need at their peak, at least.
const LEAST_NEEDED: f64 = 0.6;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let IdealTimes { arithmetic_ps, memory_ps, intensity, balance } = IdealTimes::of(of)?;
    if intensity < balance || (arithmetic_ps as f64) < LEAST_NEEDED * of.active_ps as f64 {
        return None;
    }
    let (middle_ps, high_ps) = (arithmetic_ps - memory_ps, of.active_ps - memory_ps);
    let saving = Bracket { low_ps: 0, middle_ps: middle_ps.min(high_ps), high_ps };
    let mut finding = facts.finding_of_rank(RuleName::ComputeBound, of.rank, saving);
    finding.evidence = bound_evidence(arithmetic_ps, of.active_ps, intensity, balance);
    Some(finding)
}

fn words(of: &Finding) -> String {
    format!(
        "the operations at their peak would need {} of the active time: {} operations a byte, and the device \
         is balanced at {}",
        of.words(EvidenceMeasure::Active),
        numbers(of, 0),
        numbers(of, 1)
    )
}
