//! Data that leaves the state buffer because it is full, and comes back about as often.
//!
//! Data that comes back several times is of the rule `reload`. At most the time of the transfers is
//! saved, at the rate of all transfers.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::byte_replay::replayed;
use super::repeated_load::{LEAST_RELOADED, comes_back_often};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::DeviceMetrics;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Spill,
    id: "spill",
    title: "does data leave the state buffer because it is full?",
    advice: "use smaller tiles or shorter lives of tensors, so that what is needed next stays",
    needs: MetricsNeed::Device,
    words,
};

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    // Without spills, nothing has to come back.
    replayed(facts, measured(facts, found)?, |tensor| {
        if tensor.stored_bytes > 0 { tensor.loaded_bytes as f64 } else { 0.0 }
    })
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let of_bytes = of.transfers?;
    let share = of_bytes.reloaded_bytes / of_bytes.read_bytes.max(1.0);
    if share < LEAST_RELOADED || comes_back_often(&of_bytes) {
        return None;
    }
    let moved = (of_bytes.read_bytes + of_bytes.written_bytes).max(1.0);
    let part = ((of_bytes.spilled_bytes + of_bytes.reloaded_bytes) / moved).min(1.0);
    let time_ps = (of_bytes.active_ps as f64 * part) as i64;
    let saving = Bracket { low_ps: 0, middle_ps: time_ps, high_ps: time_ps };
    let mut finding = facts.finding_of_rank(RuleName::Spill, of.rank, saving);
    let measure = EvidenceMeasure::OfBytes;
    finding.evidence = vec![
        FindingEvidence::about(measure, "reads that are reloads", EvidenceValue::Share(share)),
        FindingEvidence::about(measure, "bytes that are spilled or reloaded", EvidenceValue::Share(part)),
    ];
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = |at: usize| match of.evidence.get(at).map(|one| one.quantity) {
        Some(EvidenceValue::Share(share)) => percent(share),
        _ => String::new(),
    };
    format!("{} of what memory moves is spilled or reloaded, {} of its reads are reloads", share(1), share(0))
}
