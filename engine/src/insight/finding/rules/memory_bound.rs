//! A program whose memory takes longer than its arithmetic.
//!
//! At its peak, the memory needs more time for the bytes than the engine for matrix products needs
//! for the operations. At most the time is saved that is left of the active time beside the
//! operations at their peak; most likely the time that the memory needs more.

use super::super::evidence::EvidenceMeasure;
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::byte_replay::replayed_without_transfers;
use super::ideal_times::{IdealTimes, bound_evidence, numbers};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::MemoryBound,
    id: "memory-bound",
    title: "does the memory limit the run more than its arithmetic?",
    advice: "read each byte less often: larger tiles, fused operations, smaller types",
    needs: MetricsNeed::Device,
    words,
};

/// Share of the active time that the memory needs at its peak, at least.
const LEAST_NEEDED: f64 = 0.6;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    replayed_without_transfers(facts, measured(facts, found)?)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let IdealTimes { arithmetic_ps, memory_ps, intensity, balance } = IdealTimes::of(of)?;
    if intensity >= balance || (memory_ps as f64) < LEAST_NEEDED * of.active_ps as f64 {
        return None;
    }
    let (middle_ps, high_ps) = (memory_ps - arithmetic_ps, of.active_ps - arithmetic_ps);
    let saving = Bracket { low_ps: 0, middle_ps: middle_ps.min(high_ps), high_ps };
    let mut finding = facts.finding_of_rank(RuleName::MemoryBound, of.rank, saving);
    finding.evidence = bound_evidence(memory_ps, of.active_ps, intensity, balance);
    Some(finding)
}

fn words(of: &Finding) -> String {
    format!(
        "the memory at its peak would need {} of the active time: {} operations a byte, and the device is \
         balanced at {}",
        of.words(EvidenceMeasure::Active),
        numbers(of, 0),
        numbers(of, 1)
    )
}
