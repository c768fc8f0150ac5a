//! Errors that the hardware reported: results can be wrong, so nothing else matters as much.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::severity::Severity;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::metrics::DeviceError;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::Errors,
    id: "errors",
    title: "did the hardware report errors?",
    advice: "look at the program at the place: an index out of bounds, a value that is not a number, a damaged device",
    needs: MetricsNeed::Errors,
    words,
};

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let Some(errors) = &facts.measures().errors else {
        return Ok(Judgement::CannotTell(DataGap::ErrorRecords));
    };
    let finding = |error: &DeviceError| {
        let place = Place {
            row: Some(error.row),
            ..Place { rank: Some(error.rank), ..Place::of_span(error.start_ps, error.start_ps) }
        };
        let count = EvidenceValue::Count(error.count);
        Finding {
            rule: RuleName::Errors,
            severity: Severity::High,
            place,
            evidence: vec![FindingEvidence::about(EvidenceMeasure::Count, &error.name, count)],
            saving: None,
        }
    };
    Ok(Judgement::of(errors.iter().map(finding).collect(), None))
}

fn words(of: &Finding) -> String {
    let one = of.measured(EvidenceMeasure::Count);
    let name = one.and_then(|one| one.of.as_deref()).unwrap_or_default();
    match one.map(|one| one.quantity) {
        Some(EvidenceValue::Count(1)) | None => format!("the hardware reported `{name}`"),
        Some(count) => format!("the hardware reported `{name}` {} times", count.words()),
    }
}
