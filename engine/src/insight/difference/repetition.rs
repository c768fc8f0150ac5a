//! The repetitions of a rank that a comparison uses.

use crate::base::Interval;
use crate::insight::region::{RankRegions, StepShape, WorkStep};

/// Work of a step relative to the median one. Steps with less are cut, those with more do something
/// else beside it.
const USUAL_WORK: std::ops::RangeInclusive<f64> = 0.8..=1.25;
/// Steps behind the warm-up that are enough to leave it out.
const ENOUGH_STEADY: usize = 2;

/// Name of the repetition of a run without steps whose start-up and tear-down are left out.
const ACTIVE_PART: &str = "active part";

/// One of the times that a rank did the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRepetition {
    /// Name of the step or the region.
    pub name: String,
    /// Its times, on the clock of the work.
    pub span: Interval,
    /// Whether the time from its last work to the next step is missing, as in the last step of a
    /// recording.
    pub is_open: bool,
}

impl RunRepetition {
    /// The active part of a run without steps.
    #[must_use]
    pub fn active_part(span: Interval) -> Self {
        Self { name: ACTIVE_PART.to_owned(), span, is_open: false }
    }
}

/// Whether these are the names of the repetitions of a run of which only the active part counts.
pub(super) fn are_active_part(names: &[String]) -> bool {
    names == [ACTIVE_PART]
}

/// The steps of a rank that can be compared: those with the usual work, without the warm-up if
/// enough are left. Empty if the rank has none.
#[must_use]
pub fn repetitions(of: &RankRegions) -> Vec<RunRepetition> {
    let Ok(steps) = &of.steps else { return Vec::new() };
    let usual = || steps.all.iter().filter(|step| step.shape == StepShape::Usual);
    let mut nodes: Vec<usize> = usual().map(|step| step.nodes).collect();
    nodes.sort_unstable();
    let median = nodes.get(nodes.len() / 2).copied().unwrap_or_default();
    let has_usual_work = |step: &WorkStep| {
        step.shape == StepShape::Usual
            && (median == 0 || USUAL_WORK.contains(&(step.nodes as f64 / median as f64)))
    };
    let last = steps.all.len() - 1;
    let whole: Vec<usize> = (0..=last).filter(|at| has_usual_work(&steps.all[*at])).collect();
    let steady: Vec<usize> = whole.iter().copied().filter(|at| *at >= steps.steady_from).collect();
    let chosen = if steady.len() >= ENOUGH_STEADY { steady } else { whole };
    let repetition = |at: usize| {
        let step = &steps.all[at];
        RunRepetition { name: step.name.clone(), span: step.span, is_open: at == last && last > 0 }
    };
    chosen.into_iter().map(repetition).collect()
}
