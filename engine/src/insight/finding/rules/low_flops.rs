//! Matrix products that are none of the model's.
//!
//! Transposes and padding take the time of the engine for matrix products, at most their share of
//! its operations.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::{DeviceMetrics, TensorFlops};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::LowFlops,
    id: "low-flops",
    title: "are the operations of the engine for matrix products those of the model?",
    advice: "choose layouts that need no transposes, and sizes that fill the tiles",
    needs: MetricsNeed::Device,
    words,
};

/// Share of the operations that are transposes, at most.
const MOST_TRANSPOSES: f64 = 0.1;
/// Share of the operations that are the model's, at least.
const LEAST_MODEL: f64 = 0.5;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let TensorFlops { hardware, transposes, model } = of.flops?;
    let (transposes, model) = (transposes / hardware, model.map_or(1.0, |flops| flops / hardware));
    if transposes <= MOST_TRANSPOSES && model >= LEAST_MODEL {
        return None;
    }
    let lost = transposes.max(1.0 - model).clamp(0.0, 1.0);
    let lost_ps = (of.tensor_ps as f64 * lost) as i64;
    let saving = Bracket { low_ps: 0, middle_ps: lost_ps, high_ps: lost_ps };
    let mut finding = facts.finding_of_rank(RuleName::LowFlops, of.rank, saving);
    let share = |name: &str, share: f64| {
        FindingEvidence::about(EvidenceMeasure::OfOperations, name, EvidenceValue::Share(share))
    };
    finding.evidence = vec![share("model", model), share("transposes", transposes)];
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = |at: usize| match of.evidence.get(at).map(|one| one.quantity) {
        Some(EvidenceValue::Share(share)) => percent(share),
        _ => String::new(),
    };
    format!("{} of the operations of Tensor are the model's, {} are transposes", share(0), share(1))
}
