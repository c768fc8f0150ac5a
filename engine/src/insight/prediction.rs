//! A prediction: the length of a run under changes, between bounds.

use super::bracket::Bracket;
use super::graph::JobGraph;
use super::replay::{Replayed, replay};
use super::scenario::Scenario;
use crate::base::Result;
use crate::exec::{Cancel, Work};

/// Part of the recorded time by which the clocks of several ranks and their aligning move it.
const OF_CLOCKS: f64 = 1e-3;
/// Part of the change of the length by which it is off if work takes another time.
const OF_WORK: f64 = 1e-2;
/// The same if transfers do: the part of a transfer that does not grow with its data stays as it
/// is.
const OF_TRANSFERS: f64 = 3e-2;
/// Part of the work of ranks before their recording by which it is off if this work changes as much
/// as any.
const OF_UNRECORDED: f64 = 1.5;

/// The length of a run from the first to the last work of devices, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prediction {
    /// As it was recorded.
    pub recorded_ps: i64,
    /// The replay of the unchanged run: its fidelity.
    pub unchanged_ps: i64,
    /// Under the changes.
    pub predicted: Bracket,
    /// Operations that were cut, because each of their ranks waited for another one.
    pub cuts: u64,
}

impl Prediction {
    /// Time by which the run gets shorter, in picoseconds. Negative if it gets longer.
    #[must_use]
    pub fn saving(&self) -> Bracket {
        let saved = |ps: i64| self.recorded_ps.saturating_sub(ps);
        let Bracket { low_ps, middle_ps, high_ps } = self.predicted;
        Bracket { low_ps: saved(high_ps), middle_ps: saved(middle_ps), high_ps: saved(low_ps) }
    }
}

/// Predictions for a job. The unchanged run is replayed once for all of them.
#[derive(Debug)]
pub struct Predictions<'g> {
    graph: &'g JobGraph,
    unchanged_ps: i64,
}

/// Predicts a job under changes: the unchanged run is replayed at the same time.
pub fn predict(graph: &JobGraph, scenario: &Scenario, work: Work<'_>) -> Result<Prediction> {
    let unchanged = Scenario::unchanged();
    let replays = work.gather(2, |at| replay(graph, [&unchanged, scenario][at], work.cancel))?;
    Ok(Predictions::known(graph, replays[0].middle_ps).of_replay(scenario, replays[1]))
}

impl<'g> Predictions<'g> {
    /// Replays the unchanged run.
    pub fn of(graph: &'g JobGraph, cancel: Cancel<'_>) -> Result<Self> {
        Ok(Self { graph, unchanged_ps: replay(graph, &Scenario::unchanged(), cancel)?.middle_ps })
    }

    /// Predictions for a job whose unchanged run was replayed before.
    #[must_use]
    pub fn known(graph: &'g JobGraph, unchanged_ps: i64) -> Self {
        Self { graph, unchanged_ps }
    }

    /// The graph of the job.
    #[must_use]
    pub fn graph(&self) -> &'g JobGraph {
        self.graph
    }

    /// The replay of the unchanged run, in picoseconds.
    #[must_use]
    pub fn unchanged_ps(&self) -> i64 {
        self.unchanged_ps
    }

    /// Replays the job under changes.
    ///
    /// The bracket reaches from the loosest to the strictest model. It is wider by what the models
    /// do not know: the clocks, the fixed part of transfers, and the work of ranks while they were
    /// not recorded.
    pub fn under(&self, scenario: &Scenario, cancel: Cancel<'_>) -> Result<Prediction> {
        Ok(self.of_replay(scenario, replay(self.graph, scenario, cancel)?))
    }

    fn of_replay(&self, scenario: &Scenario, of: Replayed) -> Prediction {
        let Self { graph, unchanged_ps } = *self;
        let Replayed { recorded_ps, loose_ps, middle_ps, strict_ps, cuts } = of;
        let bracket = Bracket::around(loose_ps, middle_ps, strict_ps);
        let changed_ps = recorded_ps.abs_diff(middle_ps) as f64;
        let error_ps = if scenario.is_unchanged() {
            0.0
        } else {
            let share = if scenario.changes_transfers() { OF_TRANSFERS } else { OF_WORK };
            let of_clocks = if graph.ranks.len() > 1 { OF_CLOCKS } else { 0.0 };
            recorded_ps as f64 * of_clocks
                + changed_ps * share
                + graph.unrecorded_ps as f64 * OF_UNRECORDED * scenario.largest_change().min(1.0)
        };
        let predicted = bracket.widened(error_ps.round() as i64);
        Prediction { recorded_ps, unchanged_ps, predicted, cuts }
    }
}
