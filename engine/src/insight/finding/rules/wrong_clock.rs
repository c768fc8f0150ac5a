//! Durations that were computed with another frequency than the slices show.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::severity::Severity;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::metrics::ArrayUse;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::WrongClock,
    id: "wrong-clock",
    title: "were durations computed with the frequency of the device?",
    advice: "ingest the trace again with the frequency that was found: `--freq`",
    needs: MetricsNeed::Arrays,
    words,
};

/// Difference of the frequencies, at least.
const LEAST_OFF: f64 = 0.005;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let is_known = |of: &ArrayUse| of.used_hz > 0.0 && of.found_hz > 0.0;
    let Some(of) = facts.measures().arrays.filter(is_known) else {
        return Ok(Judgement::CannotTell(DataGap::CycleCounters));
    };
    let off = (of.used_hz / of.found_hz - 1.0).abs();
    if off <= LEAST_OFF {
        return Ok(Judgement::Nothing);
    }
    let finding = Finding {
        rule: RuleName::WrongClock,
        severity: Severity::Note,
        place: Place::of_rank(of.rank),
        evidence: vec![
            FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(off)),
            FindingEvidence::about(
                EvidenceMeasure::Count,
                "Hz used",
                EvidenceValue::Count(of.used_hz as u64),
            ),
            FindingEvidence::about(
                EvidenceMeasure::Count,
                "Hz found",
                EvidenceValue::Count(of.found_hz as u64),
            ),
        ],
        saving: None,
    };
    Ok(Judgement::Found(vec![finding]))
}

fn words(of: &Finding) -> String {
    let megahertz = |at: usize| match of.all(EvidenceMeasure::Count).nth(at).map(|one| one.quantity) {
        Some(EvidenceValue::Count(hertz)) => format!("{:.1} MHz", hertz as f64 / 1e6),
        _ => String::new(),
    };
    format!(
        "durations were computed with {}, and the slices show {}: they are off by {}",
        megahertz(0),
        megahertz(1),
        of.words(EvidenceMeasure::OfRun)
    )
}
