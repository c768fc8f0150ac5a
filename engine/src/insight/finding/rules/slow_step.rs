//! A step that takes longer than the others. The saving is the time by which it is longer than the
//! median step, give or take the usual deviation.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::{Facts, LEAST_STEPS, RankStep};
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::{Result, lower_median, upper_median};
use crate::insight::Bracket;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::SlowStep,
    id: "slow-step",
    title: "does a step take longer than the others?",
    advice: "compare the step with the one before it: what runs in it that the others do not have",
    needs: MetricsNeed::Nothing,
    words,
};

/// With less steps than this, half of them can be slow. With more, one of [`MOST_SLOW`] can.
const FEW: usize = 6;
const MOST_SLOW: usize = 4;
/// A step is slow from this part of the median beyond it on.
const LEAST_LONGER: f64 = 0.05;
/// The same in median deviations of the steps.
const LEAST_DEVIATIONS: i64 = 5;

/// The least cost of a slow step: this share of the run, or this part of a usual step in a long
/// run. Programs have steps that do a little more now and then.
const LEAST_OF_RUN: f64 = 0.02;
const LEAST_OF_STEP: f64 = 0.25;

/// A step with its bounds, from its begin to that of the next one.
#[derive(Debug, Clone)]
struct BoundedStep {
    /// Number of its rank, if it is not one of all ranks.
    rank: Option<u32>,
    name: String,
    start_ps: i64,
    end_ps: i64,
}

impl BoundedStep {
    fn duration_ps(&self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }
}

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let steps = steps(facts);
    if steps.len() < LEAST_STEPS {
        return Ok(Judgement::CannotTell(match facts.no_steps {
            Some(reason) => DataGap::Steps(reason),
            None => DataGap::FewSteps(steps.len()),
        }));
    }
    let lengths_ps: Vec<i64> = steps.iter().map(BoundedStep::duration_ps).collect();
    let is_few = steps.len() < FEW;
    // The median that the list of regions states is that of the finding, too.
    let usual_ps = match &facts.rank_steps {
        Some(of) => of.median_ps,
        None => middle(lengths_ps.clone(), is_few),
    };
    let deviations_ps = lengths_ps.iter().map(|ps| ps.saturating_sub(usual_ps).saturating_abs()).collect();
    let deviation_ps = middle(deviations_ps, is_few);
    let least_ps = deviation_ps.saturating_mul(LEAST_DEVIATIONS).max((usual_ps as f64 * LEAST_LONGER) as i64);
    let slow = lengths_ps.iter().filter(|ps| ps.saturating_sub(usual_ps) > least_ps).count();
    if slow > if is_few { steps.len() / 2 } else { (steps.len() / MOST_SLOW).max(1) } {
        // Steps of several kinds, such as those that accumulate gradients.
        return Ok(Judgement::Nothing);
    }
    let least_cost_ps = facts.part_ps(LEAST_OF_RUN).min((usual_ps as f64 * LEAST_OF_STEP) as i64);
    let mut found = Vec::new();
    for step in steps {
        let by_ps = step.duration_ps().saturating_sub(usual_ps);
        if by_ps <= least_ps.max(least_cost_ps) {
            continue;
        }
        let saving = Bracket::around(by_ps - deviation_ps, by_ps, by_ps + deviation_ps);
        let place = Place { rank: step.rank, ..Place::of_span(step.start_ps, step.end_ps) };
        let mut finding = facts.finding(RuleName::SlowStep, place, Some(saving));
        finding.evidence = vec![
            FindingEvidence::about(EvidenceMeasure::LongerBy, &step.name, EvidenceValue::Time(by_ps)),
            FindingEvidence::new(EvidenceMeasure::Usual, EvidenceValue::Time(usual_ps)),
        ];
        found.push(finding);
    }
    Ok(Judgement::of(found, None))
}

/// The median. The lower one of a few values: half of them can be slow.
fn middle(mut values: Vec<i64>, is_few: bool) -> i64 {
    if is_few { lower_median(&mut values) } else { upper_median(values, i64::cmp).unwrap_or(0) }
}

/// The steps of a rank as its regions have them. Without any, those of the job from begin to begin,
/// the last one to the end of the run: a step of operations lacks the work before its first one, so
/// it is less sure.
fn steps(facts: &Facts<'_>) -> Vec<BoundedStep> {
    if let Some(of) = &facts.rank_steps {
        let step = |step: &RankStep| BoundedStep {
            rank: Some(of.rank),
            name: step.name.clone(),
            start_ps: step.span.start.0,
            end_ps: step.span.end.0,
        };
        return of.steps.iter().map(step).collect();
    }
    let mut starts: Vec<(i64, u32)> = facts.steps.iter().map(|step| (step.start_ps, step.number)).collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(start_ps, _)| *start_ps).chain([facts.path.span_ps.1]);
    let step = |(&(start_ps, number), end_ps): (&(i64, u32), i64)| BoundedStep {
        rank: None,
        name: format!("step {number}"),
        start_ps,
        end_ps,
    };
    starts.iter().zip(ends).map(step).collect()
}

fn words(of: &Finding) -> String {
    let name = of.measured(EvidenceMeasure::LongerBy).and_then(|one| one.of.clone()).unwrap_or_default();
    format!(
        "{name} takes {} longer than the median step of {}",
        of.words(EvidenceMeasure::LongerBy),
        of.words(EvidenceMeasure::Usual)
    )
}
