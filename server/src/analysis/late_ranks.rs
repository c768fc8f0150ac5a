//! The ranks that are late, with what the run would save without them.

use nprof_engine::exec::Cancel;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::{Facts, Finding, Judgement, RuleName, verdict_of};

use super::graph::Replayable;
use super::step_starts::step_starts;
use super::{AnalysisError, on_all_cores};
use crate::store::Profile;

/// Late ranks of a run.
#[derive(Debug)]
pub struct LateRanks {
    /// The answer of the rule about late ranks.
    pub verdict: Judgement,
    /// Time that the run would save without any of them, if there are several.
    pub all: Option<Bracket>,
}

impl LateRanks {
    /// Finds the late ranks of a profile.
    pub fn of(profile: &Profile, of: &Replayable, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
        let work = on_all_cores(cancel);
        let facts = Facts::new(&of.analysed.job, &of.analysed.report, of.graph(), work).map_err(failed)?;
        let facts = facts.with_step_starts(step_starts(profile, &of.analysed, cancel)?);
        let verdict = verdict_of(&facts, RuleName::LateRank).map_err(failed)?;
        let ranks: Vec<u32> = costly(&verdict).filter_map(|one| one.place.rank).collect();
        let all = match ranks.len() {
            0 | 1 => None,
            _ => Some(facts.saving_as_median(&ranks).map_err(failed)?),
        };
        Ok(Self { verdict, all })
    }

    /// The late ranks without which the run would be shorter.
    pub fn costly(&self) -> impl Iterator<Item = &Finding> {
        costly(&self.verdict)
    }
}

fn costly(of: &Judgement) -> impl Iterator<Item = &Finding> {
    // The cost of all together is a line of its own.
    of.found().iter().filter(|one| one.saved_ps() > Some(0) && one.place.ranks.is_empty())
}
