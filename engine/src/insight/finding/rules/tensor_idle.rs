//! An engine for matrix products that idles while the chip is active.
//!
//! At most the time is saved in which the busiest engine is idle. If another engine works as long
//! as Tensor idles, it is the limit, and nothing is sure to be saved.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::measured::MeasuredRank;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, measured};
use crate::base::Result;
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::TensorIdle,
    id: "tensor-idle",
    title: "does the engine for matrix products idle while the chip is active?",
    advice: "give it larger tiles, load weights ahead, and move element-wise work to the other engines",
    needs_metrics: true,
    check,
    words,
};

/// Share of the active time that Tensor works at least.
const LEAST_ACTIVE: f64 = 0.7;
/// The other engines.
const OTHERS: [&str; 3] = ["vector", "scalar", "gpsimd"];

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &MeasuredRank) -> Option<Finding> {
    let (total_ps, active_ps) = (of.ps("total_active_time")?, of.ps("tensor_engine_active_time")?);
    let share = active_ps as f64 / total_ps.max(1) as f64;
    if active_ps == 0 || share >= LEAST_ACTIVE {
        return None;
    }
    let other = |engine: &'static str| Some((of.ps(&format!("{engine}_engine_active_time"))?, engine));
    let (other_ps, engine) = OTHERS.into_iter().filter_map(other).max()?;
    let high_ps = (total_ps - active_ps.max(other_ps)).max(0);
    let middle_ps = (total_ps - active_ps - other_ps).max(0);
    let saving = Bracket { low_ps: 0, middle_ps, high_ps };
    let mut finding = facts.finding_of_rank(RuleName::TensorIdle, of.rank, saving);
    let busy = |name: &str, ps: i64| {
        let share = EvidenceValue::Share(ps as f64 / total_ps.max(1) as f64);
        FindingEvidence::about(EvidenceMeasure::Active, name, share)
    };
    finding.evidence = vec![busy("Tensor", active_ps), busy(engine, other_ps)];
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = |at: usize| match of.evidence.get(at).map(|one| (one.of.clone(), one.quantity)) {
        Some((name, EvidenceValue::Share(share))) => (name.unwrap_or_default(), percent(share)),
        _ => (String::new(), String::new()),
    };
    let ((_, tensor), (engine, other)) = (share(0), share(1));
    format!("Tensor works for {tensor} of the active time; the busiest other engine, {engine}, for {other}")
}
