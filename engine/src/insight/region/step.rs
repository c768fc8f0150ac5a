//! Steps of a rank: their spans, and which of them stand out.

use std::fmt;

use super::pace::{Paces, StepPace, StepTime, paces};
use crate::base::Interval;

/// One step of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkStep {
    /// The name of the mark, else `iteration` and a number from 0.
    pub name: String,
    /// From the start of its first work on the device to that of the next step. The last step ends
    /// with its work.
    pub span: Interval,
    /// Kernels and copies of the step.
    pub nodes: usize,
    /// Whether the recording shows the usual work of a step.
    pub shape: StepShape,
    /// Its duration beside that of the others.
    pub pace: StepPace,
    /// Times of its mark on the host.
    pub mark: Option<Interval>,
}

impl WorkStep {
    /// The duration in picoseconds.
    #[must_use]
    pub fn duration_ps(&self) -> i64 {
        self.span.end.0.saturating_sub(self.span.start.0)
    }

    /// Whether it takes much longer or shorter than the others, although it has the same to do.
    #[must_use]
    pub fn is_outlier(&self) -> bool {
        matches!(self.pace, StepPace::Slow | StepPace::Fast) && self.shape != StepShape::Prefill
    }
}

/// The work of a step beside that of the other steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepShape {
    /// The usual work, with at most a few kernels that differ.
    Usual,
    /// A part of the usual work: the recording begins or ends within the step.
    Cut,
    /// About as much work in another order, such as that of a first step.
    Unlike,
    /// The prefill of a request to a model that generates text: it takes longer than the steps that
    /// decode a token, and says nothing about them.
    Prefill,
}

/// How steps are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOrigin {
    /// Marks of the program.
    Marks,
    /// The order of the work, which repeats.
    Order,
}

impl StepOrigin {
    /// The word for people and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Marks => "marks",
            Self::Order => "order",
        }
    }
}

/// The steps of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkSteps {
    /// How they are known.
    pub origin: StepOrigin,
    /// The steps by start; at least one.
    pub all: Vec<WorkStep>,
    /// Median duration of the steady steps with the usual work, in picoseconds.
    pub median_ps: i64,
    /// Position of the first step behind the warm-up.
    pub steady_from: usize,
}

impl WorkSteps {
    /// Steps by start, whose paces follow from their durations.
    pub(super) fn new(origin: StepOrigin, mut all: Vec<WorkStep>) -> Self {
        let last = all.len().saturating_sub(1);
        let whole = |(at, step): (usize, &WorkStep)| StepTime {
            ps: (step.shape != StepShape::Cut).then(|| step.duration_ps()),
            // The time from its end to the next step is missing.
            is_short: at == last,
        };
        let Paces { of_steps, median_ps } = paces(&all.iter().enumerate().map(whole).collect::<Vec<_>>());
        let steady_from = of_steps.iter().take_while(|pace| **pace == StepPace::WarmUp).count();
        all.iter_mut().zip(of_steps).for_each(|(step, pace)| step.pace = pace);
        Self { origin, all, median_ps, steady_from }
    }

    /// Steps that take much longer than the median one, without the warm-up and prefills.
    pub fn slow(&self) -> impl Iterator<Item = &WorkStep> {
        self.all.iter().filter(|step| step.pace == StepPace::Slow && step.is_outlier())
    }
}

/// Why a rank has no steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSteps {
    /// The trace has no kernels or copies on streams.
    NoKernels,
    /// Nothing repeats often enough.
    NoRepetition,
    /// The repeating order is a part of a step: the work before and behind it is another.
    OnlyLayers,
}

impl fmt::Display for NoSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoKernels => "the trace has neither marks of steps nor kernels on streams",
            Self::NoRepetition => {
                "the trace has no marks of steps, and no order of kernels repeats three times in most of it"
            }
            Self::OnlyLayers => {
                "the trace has no marks of steps, and the order that repeats is only a part of the work between its \
                 begin and its end, as layers are"
            }
        })
    }
}
