//! Weights that are loaded more often than once.
//!
//! At most the time of the transfers of the repeated bytes is saved.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::WeightsReloaded,
    id: "weights-reloaded",
    title: "are weights loaded several times?",
    advice: "keep weights in the state buffer, or order the work so that all uses of a weight follow each other",
    needs: MetricsNeed::Device,
    check,
    words,
};

/// Loads of all weights in each pass through the program, at least.
const LEAST_LOADS: f64 = 2.0;

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let bytes = of.transfers?;
    let needed = bytes.weights_size * bytes.passes.max(1.0);
    let loads = bytes.weight_bytes / needed;
    if needed <= 0.0 || loads < LEAST_LOADS {
        return None;
    }
    let moved = (bytes.read_bytes + bytes.written_bytes).max(1.0);
    let part = ((bytes.weight_bytes - needed) / moved).clamp(0.0, 1.0);
    let time_ps = (bytes.active_ps as f64 * part) as i64;
    let saving = Bracket { low_ps: 0, middle_ps: time_ps, high_ps: time_ps };
    let mut finding = facts.finding_of_rank(RuleName::WeightsReloaded, of.rank, saving);
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::LongerTimes, EvidenceValue::Factor(loads)),
        FindingEvidence::new(EvidenceMeasure::OfBytes, EvidenceValue::Share(part)),
    ];
    Some(finding)
}

fn words(of: &Finding) -> String {
    format!(
        "each pass loads the weights {}: {} of what memory moves are weights that were there before",
        of.words(EvidenceMeasure::LongerTimes),
        of.words(EvidenceMeasure::OfBytes)
    )
}
