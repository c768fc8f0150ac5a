//! An engine for matrix products that idles while the chip is active.
//!
//! At most the time is saved in which the busiest engine is idle. If another engine works as long
//! as Tensor idles, it is the limit, and nothing is sure to be saved.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::{DeviceMetrics, EngineTime};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::TensorIdle,
    id: "tensor-idle",
    title: "does the engine for matrix products idle while the chip is active?",
    advice: "give it larger tiles, load weights ahead, and move element-wise work to the other engines",
    needs: MetricsNeed::Device,
    words,
};

/// Share of the active time that Tensor works at least.
const LEAST_ACTIVE: f64 = 0.7;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let (total_ps, tensor_ps) = (of.active_ps, of.tensor_ps);
    let share = tensor_ps as f64 / total_ps.max(1) as f64;
    if tensor_ps == 0 || share >= LEAST_ACTIVE {
        return None;
    }
    let EngineTime { name, time_ps: other_ps } = of.busiest_other?;
    let high_ps = (total_ps - tensor_ps.max(other_ps)).max(0);
    let middle_ps = (total_ps - tensor_ps - other_ps).max(0);
    let saving = Bracket { low_ps: 0, middle_ps, high_ps };
    let mut finding = facts.finding_of_rank(RuleName::TensorIdle, of.rank, saving);
    let busy = |name: &str, ps: i64| {
        let share = EvidenceValue::Share(ps as f64 / total_ps.max(1) as f64);
        FindingEvidence::about(EvidenceMeasure::Active, name, share)
    };
    finding.evidence = vec![busy("Tensor", tensor_ps), busy(name, other_ps)];
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = |at: usize| match of.evidence.get(at).map(|one| (one.of.clone(), one.quantity)) {
        Some((name, EvidenceValue::Share(share))) => (name.unwrap_or_default(), percent(share)),
        _ => (String::new(), String::new()),
    };
    let ((_, tensor), (engine, other)) = (share(0), share(1));
    format!(
        "Tensor works for {tensor} of the time in which any engine does; the busiest other one, {engine}, for {other}"
    )
}
