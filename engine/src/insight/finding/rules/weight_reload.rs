//! Weights and inputs that are loaded more often than once.
//!
//! All weights together are loaded again, or single tensors that the transfers name. At most the
//! time of the transfers of the repeated bytes is saved.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::byte_replay::replayed;
use super::repeated_load::{RepeatedLoads, again_bytes, saving, tensor_in_words};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::metrics::{DeviceMetrics, TransferMetrics};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::WeightsReloaded,
    id: "weights-reloaded",
    title: "are weights loaded several times?",
    advice: "keep weights in the state buffer, or order the work so that all uses of a weight follow each other",
    needs: MetricsNeed::Device,
    words,
};

/// Loads of all weights in each pass through the program, at least.
const LEAST_LOADS: f64 = 2.0;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    // Tensors that were stored are those of `spill` and `reload`.
    replayed(facts, measured(facts, found)?, |tensor| {
        if tensor.stored_bytes == 0 { again_bytes(facts, tensor) } else { 0.0 }
    })
}

/// Loads of all weights in each pass, and the bytes that are loaded again. `None` if they are few.
fn of_all(bytes: &TransferMetrics) -> Option<(f64, f64)> {
    let needed = bytes.weights_size * bytes.passes.max(1.0);
    let loads = bytes.weight_bytes / needed;
    (needed > 0.0 && loads >= LEAST_LOADS).then_some((loads, bytes.weight_bytes - needed))
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let bytes = of.transfers?;
    let weights = of_all(&bytes);
    // Tensors that were stored are those of `spill` and `reload`.
    let tensors = RepeatedLoads::of(facts, bytes.passes.max(1.0), |tensor| tensor.stored_bytes == 0);
    let again = [weights.map(|(_, again)| again), tensors.map(|tensors| tensors.again_bytes)];
    let again = again.into_iter().flatten().reduce(f64::max)?;
    let moved = (bytes.read_bytes + bytes.written_bytes).max(1.0);
    let part = (again / moved).clamp(0.0, 1.0);
    let saving = saving(&bytes, part, tensors.as_ref());
    let mut finding = facts.finding_of_rank(RuleName::WeightsReloaded, of.rank, saving);
    let loads = weights.map(|(loads, _)| EvidenceValue::Factor(loads));
    finding.evidence.extend(loads.map(|loads| FindingEvidence::new(EvidenceMeasure::LongerTimes, loads)));
    finding.evidence.push(FindingEvidence::new(EvidenceMeasure::OfBytes, EvidenceValue::Share(part)));
    if let Some(tensors) = tensors {
        tensors.most.explain(&mut finding);
    }
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = of.words(EvidenceMeasure::OfBytes);
    let weights = of.measured(EvidenceMeasure::LongerTimes).map(|loads| {
        let loads = loads.quantity.words();
        format!("each pass loads the weights {loads}: {share} of what memory moves are weights that were there before")
    });
    match (weights, tensor_in_words(of)) {
        (Some(weights), Some(tensor)) => format!("{weights}; {tensor}"),
        (Some(weights), None) => weights,
        (None, Some(tensor)) => format!("{tensor}: {share} of what memory moves was there before"),
        (None, None) => String::new(),
    }
}
