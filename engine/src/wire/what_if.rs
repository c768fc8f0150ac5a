//! The length of a run under edits. [`WhatIf::of`] alone makes this message, so the command line,
//! the API and the page give the same answer. A sweep has one of each change that it tried.

use serde::{Deserialize, Serialize};

use super::findings::BracketEntry;
use super::message_times::{TimeField, Timed};
use crate::insight::edit::Subject;
use crate::insight::{Edit, Prediction, SweptEdit, prediction_sentence};

/// The length of a run if some of its work took another time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The answer in a sentence.
    pub answer: String,
    /// The time by which the run gets shorter or longer, with its bounds, in words.
    pub change: String,
    /// How well the replay does, in sentences.
    pub fidelity: Vec<String>,
    /// The edits, which hold together.
    pub edits: Vec<String>,
    /// The recorded length of the run in picoseconds: from its first to its last work.
    pub recorded_ps: i64,
    /// The replay of the unchanged run, in picoseconds.
    pub unchanged_ps: i64,
    /// The length of the run under the edits.
    pub predicted_ps: BracketEntry,
    /// Time by which the run gets shorter. Negative if it gets longer.
    pub saving_ps: BracketEntry,
    /// Operations that were cut, because each of their ranks waited for another one.
    pub cut_operations: u64,
}

impl WhatIf {
    /// The message about a prediction.
    #[must_use]
    pub fn of(found: &Prediction, edits: &[Edit]) -> Self {
        Self {
            answer: prediction_sentence::answer(found),
            change: prediction_sentence::change(found),
            fidelity: prediction_sentence::fidelity(found),
            edits: edits.iter().map(Edit::to_string).collect(),
            recorded_ps: found.recorded_ps,
            unchanged_ps: found.unchanged_ps,
            predicted_ps: found.predicted.into(),
            saving_ps: found.saving().into(),
            cut_operations: found.cuts,
        }
    }
}

/// The changes that would shorten a run most, one at a time: the one that saves most comes first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIfSweep {
    /// Number of all changes that were tried.
    pub total: u64,
    /// The run under each of the first changes.
    pub sweep: Vec<WhatIf>,
}

impl WhatIfSweep {
    /// The message about these changes: at most `most` of them.
    #[must_use]
    pub fn of(swept: &[SweptEdit], most: usize) -> Self {
        let one = |one: &SweptEdit| WhatIf::of(&one.prediction, std::slice::from_ref(&one.edit));
        Self { total: swept.len() as u64, sweep: swept.iter().take(most).map(one).collect() }
    }
}

/// The left sides of the edits that change a slice.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditSubjects {
    /// The left sides of edits, such as `kernel:gemm`, the narrowest first. Empty if nothing of the
    /// slice is replayed.
    pub subjects: Vec<String>,
}

impl EditSubjects {
    /// The message about these subjects.
    #[must_use]
    pub fn of(subjects: &[Subject]) -> Self {
        Self { subjects: subjects.iter().map(Subject::to_string).collect() }
    }
}

/// A prediction has lengths, which no clock moves.
impl Timed for WhatIf {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

/// As a prediction.
impl Timed for WhatIfSweep {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

impl Timed for EditSubjects {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
