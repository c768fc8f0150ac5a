//! Kernels that leave most of a device empty: a grid with fewer blocks than the device has
//! processors, or so many registers that few warps fit into a processor. Nothing tells what a
//! larger grid would save.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, short_name};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::severity::Severity;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::metrics::FillGap;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::LowOccupancy,
    id: "low-occupancy",
    title: "do kernels leave most of the device empty?",
    advice: "give small kernels more blocks or run them beside each other; use fewer registers and less shared memory in the others",
    needs: MetricsNeed::Kernels,
    words,
};

/// Share of the run that such kernels take, at least.
const LEAST_SHARE: f64 = 0.05;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let Some(fill) = &facts.measures().kernels else {
        return Ok(Judgement::CannotTell(DataGap::LaunchParameters));
    };
    let of = |measure: EvidenceMeasure, gap: &FillGap| {
        let share = facts.share(gap.time_ps);
        (share >= LEAST_SHARE).then(|| {
            let name = short_name(&gap.name);
            Finding {
                rule: RuleName::LowOccupancy,
                severity: Severity::Note,
                place: Place::of_rank(fill.rank),
                evidence: vec![
                    FindingEvidence::about(measure, &name, EvidenceValue::Count(gap.count)),
                    FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(share)),
                ],
                saving: None,
            }
        })
    };
    let found = [of(EvidenceMeasure::SmallGrids, &fill.small), of(EvidenceMeasure::FewWarps, &fill.bound)];
    Ok(Judgement::of(found.into_iter().flatten().collect(), None))
}

fn words(of: &Finding) -> String {
    let share = of.words(EvidenceMeasure::OfRun);
    let about = |measure| {
        let one = of.measured(measure)?;
        Some((one.quantity.words(), one.of.clone().unwrap_or_default()))
    };
    match (about(EvidenceMeasure::SmallGrids), about(EvidenceMeasure::FewWarps)) {
        (Some((count, name)), _) => format!(
            "{count} kernels with fewer blocks than the device has processors take {share} of the run, most \
             of it `{name}`"
        ),
        (None, Some((count, name))) => format!(
            "{count} kernels leave room for few warps on each processor and take {share} of the run, most of \
             it `{name}`"
        ),
        (None, None) => String::new(),
    }
}
