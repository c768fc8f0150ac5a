//! Many small transfers.
//!
//! A transfer below 32 KiB takes about as long as one of 32 KiB: its set-up is the limit. At most
//! the time is saved that larger transfers of the same bytes would not need.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, percent};
use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed, measured};
use crate::base::Result;
use crate::insight::Bracket;
use crate::metrics::{DeviceMetrics, TransferMetrics};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::SmallDmas,
    id: "small-dmas",
    title: "are transfers large enough for the bandwidth of the memory?",
    advice: "move more bytes at once: larger tiles, neighbouring rows, fewer descriptors",
    needs: MetricsNeed::Device,
    words,
};

/// Bytes from which on the set-up of a transfer is not the limit.
const LARGE_BYTES: f64 = 32_768.0;
/// Transfers that are many.
const MANY: f64 = 100.0;
/// Share of the active time in which transfers run, from which on they matter.
const LEAST_ACTIVE: f64 = 0.05;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    measured(facts, found)
}

fn found(facts: &Facts<'_>, of: &DeviceMetrics) -> Option<Finding> {
    let TransferMetrics { active_ps, count, mean_bytes: bytes, .. } = of.transfers?;
    let total_ps = of.active_ps;
    let is_active = active_ps as f64 >= LEAST_ACTIVE * total_ps as f64;
    if bytes >= LARGE_BYTES || count < MANY || !is_active {
        return None;
    }
    let lost_ps = (active_ps as f64 * (1.0 - bytes / LARGE_BYTES)) as i64;
    let saving = Bracket { low_ps: 0, middle_ps: lost_ps, high_ps: lost_ps };
    let mut finding = facts.finding_of_rank(RuleName::SmallDmas, of.rank, saving);
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::Bytes, EvidenceValue::Count(bytes as u64)),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(count as u64)),
        FindingEvidence::new(
            EvidenceMeasure::OfRun,
            EvidenceValue::Share(active_ps as f64 / total_ps.max(1) as f64),
        ),
    ];
    Some(finding)
}

fn words(of: &Finding) -> String {
    let share = match of.measured(EvidenceMeasure::OfRun).map(|one| one.quantity) {
        Some(EvidenceValue::Share(share)) => percent(share),
        _ => String::new(),
    };
    format!(
        "{} transfers move {} bytes each on average, and run for {share} of the active time",
        of.words(EvidenceMeasure::Count),
        of.words(EvidenceMeasure::Bytes)
    )
}
