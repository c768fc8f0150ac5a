//! Data that left the state buffer once and comes back several times.
//!
//! It is one finding with `spill` never: the reloaded bytes are at least twice the spilled ones. At
//! most the time of the transfers of the repeated bytes is saved.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::byte_replay::replayed;
use super::repeated_load::{
    LEAST_RELOADED, RepeatedLoads, again_bytes, comes_back_often, saving, tensor_in_words,
};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Reload,
    id: "reload",
    title: "does spilled data come back several times?",
    advice: "order the work so that all uses of a spilled tensor follow each other, or keep it and spill another one",
    needs: MetricsNeed::Device,
    words,
};

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    replayed(facts, measured(facts, found)?, |tensor| {
        if tensor.stored_bytes > 0 { again_bytes(facts, tensor) } else { 0.0 }
    })
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let bytes = of.transfers?;
    let share = bytes.reloaded_bytes / bytes.read_bytes.max(1.0);
    if share < LEAST_RELOADED || !comes_back_often(&bytes) {
        return None;
    }
    let moved = (bytes.read_bytes + bytes.written_bytes).max(1.0);
    let part = ((bytes.reloaded_bytes - bytes.spilled_bytes) / moved).min(1.0);
    let tensors = RepeatedLoads::of(facts, bytes.passes.max(1.0), |tensor| tensor.stored_bytes > 0);
    let saving = saving(&bytes, part, tensors.as_ref());
    let mut finding = facts.finding_of_rank(RuleName::Reload, of.rank, saving);
    finding.evidence = vec![
        FindingEvidence::about(
            EvidenceMeasure::OfBytes,
            "reads that are reloads",
            EvidenceValue::Share(share),
        ),
        FindingEvidence::about(
            EvidenceMeasure::OfBytes,
            "bytes that are reloaded again",
            EvidenceValue::Share(part),
        ),
    ];
    // A trace that does not say what was spilled has no number of loads.
    if bytes.spilled_bytes > 0.0 {
        let loads = EvidenceValue::Factor(bytes.reloaded_bytes / bytes.spilled_bytes);
        finding.evidence.push(FindingEvidence::new(EvidenceMeasure::LongerTimes, loads));
    }
    if let Some(tensors) = tensors {
        tensors.most.explain(&mut finding);
    }
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = of.words(EvidenceMeasure::OfBytes);
    let loads = match of.measured(EvidenceMeasure::LongerTimes) {
        Some(loads) => format!("spilled data comes back {}", loads.quantity.words()),
        None => "data comes back that was spilled before".to_owned(),
    };
    let tensor = tensor_in_words(of).map_or_else(String::new, |tensor| format!("; {tensor}"));
    format!("{loads}: {share} of the reads from memory are reloads{tensor}")
}
