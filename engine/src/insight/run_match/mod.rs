//! The tracks of two runs beside each other: which work of one is which of the other, and where the
//! second run falls behind or catches up.
//!
//! Two programs are matched by their names, track by track. A pair of matched slices ties a moment
//! of the first run to one of the second run, and the stretches between such moments say where time
//! is lost. One repetition of one rank stands for a run. A replay has the same work as its
//! recording, so nothing is matched there.

mod paired_track;
mod predicted_run;
mod program_match;
mod stretch;
mod track_match;
mod track_program;

pub use paired_track::{PairedRuns, PairedTrack, TrackBars, paired_runs};
pub use predicted_run::{PredictedRun, predicted_run};
pub use stretch::{PairedStretch, StretchCause};
pub use track_program::{ProgramSlice, RepeatedProgram, RunProgram};

use super::difference::RunRepetition;

/// The repetition that stands for a run: the one of median length. `None` without any.
#[must_use]
pub fn usual_repetition(of: &[RunRepetition]) -> Option<&RunRepetition> {
    // The last one lacks the time to the next, so it counts only if it is the only one.
    let is_alone = of.len() == 1;
    let mut whole: Vec<&RunRepetition> = of.iter().filter(|one| is_alone || !one.is_open).collect();
    whole.sort_by_key(|one| (one.span.duration_ps(), one.span.start));
    whole.get(whole.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Interval;

    #[test]
    fn the_repetition_of_median_length_stands_for_a_run() {
        let of = |spans: &[(i64, i64, bool)]| {
            let all: Vec<RunRepetition> = spans
                .iter()
                .map(|&(start, end, is_open)| RunRepetition {
                    name: start.to_string(),
                    span: Interval::new(start, end),
                    is_open,
                })
                .collect();
            usual_repetition(&all).map(|one| one.span.start.0)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, 9, true)]), Some(0), "the only one counts although it is cut");
        assert_eq!(of(&[(0, 100, false), (100, 110, false), (110, 130, false)]), Some(110));
        assert_eq!(of(&[(0, 100, false), (100, 110, false), (110, 111, true)]), Some(100));
    }
}
