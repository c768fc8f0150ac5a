//! The findings about the run of a profile: answers of the engine's rules about all ranks.

use indicatif::HumanCount;
use nprof_engine::base::Error;
use nprof_engine::exec::Cancel;
use nprof_engine::insight::finding::sentence::NO_WORK;
use nprof_engine::insight::finding::{Coverage, Facts, RuleVerdict, findings};
use nprof_engine::wire::findings::Findings;

use super::graph::{Replayable, replayable};
use super::job_segment;
use super::regions::regions_of_job;
use super::{Analysed, AnalysisError, on_all_cores};
use crate::store::Profile;

/// Events of a profile whose findings a server computes. Graph and replay take some hundred bytes
/// for each.
const MOST_EVENTS: u64 = 4_000_000;

/// The answers of all rules about the run of a profile.
#[derive(Debug)]
pub struct JudgedRun {
    /// The answers, those with the largest saving first.
    pub verdicts: Vec<RuleVerdict>,
    /// Length of the run in picoseconds.
    pub length_ps: i64,
    /// The recorded part of the run.
    pub coverage: Coverage,
    /// The analysis of the calls of all ranks.
    pub analysed: Analysed,
}

impl JudgedRun {
    /// Asks all rules. `None` if the profile has no work.
    pub fn of(profile: &Profile, cancel: Cancel<'_>) -> Result<Option<Self>, AnalysisError> {
        let failed = |source: Error| AnalysisError::Segment { path: profile.dir.clone(), source };
        let of = replayable(profile, cancel)?;
        if of.graph.is_empty() {
            return Ok(None);
        }
        let facts = facts_of(profile, &of, cancel)?;
        let verdicts = findings(&facts).map_err(failed)?;
        let (length_ps, coverage) = (facts.length_ps(), facts.coverage);
        Ok(Some(Self { verdicts, length_ps, coverage, analysed: of.analysed }))
    }

    /// The message about all rules.
    #[must_use]
    pub fn message(&self) -> Findings {
        Findings::of(&self.verdicts, self.length_ps, &self.coverage)
    }
}

/// The message about a profile.
pub fn message_of(profile: &Profile, cancel: Cancel<'_>) -> Result<Findings, AnalysisError> {
    let judged = JudgedRun::of(profile, cancel)?;
    Ok(judged.map_or_else(|| Findings::unknown(NO_WORK), |run| run.message()))
}

/// Like [`message_of`], in the memory of a server: a larger profile is not looked at.
pub fn message_within(profile: &Profile, cancel: Cancel<'_>) -> Result<Findings, AnalysisError> {
    let events: u64 = profile.manifest.ranks.iter().map(|rank| rank.events).sum();
    if events <= MOST_EVENTS {
        return message_of(profile, cancel);
    }
    let name = profile.manifest.slug();
    Ok(Findings::unknown(&format!(
        "the profile has {} events, and a server looks at {}; `nprof findings {name}` has no limit",
        HumanCount(events),
        HumanCount(MOST_EVENTS)
    )))
}

/// The facts, with the steps of the first rank that has some if the operations of the ranks tell
/// none.
pub fn facts_of<'g>(
    profile: &Profile,
    of: &'g Replayable,
    cancel: Cancel<'g>,
) -> Result<Facts<'g>, AnalysisError> {
    let failed = |source: Error| AnalysisError::Segment { path: profile.dir.clone(), source };
    let facts =
        Facts::new(&of.analysed.job, &of.analysed.report, &of.graph, on_all_cores(cancel)).map_err(failed)?;
    if !facts.lacks_steps() {
        return Ok(facts);
    }
    for file in &profile.manifest.ranks {
        for of in regions_of_job(profile, &[file], &of.analysed, cancel)? {
            if let Ok(steps) = &of.regions.steps {
                return Ok(facts.with_steps_of(of.rank, steps));
            }
        }
    }
    Ok(facts)
}

/// Key of the answer about a profile. It changes with what the analysis of all ranks reads, and with
/// the place of the profile.
#[must_use]
pub fn key_of(profile: &Profile) -> String {
    blake3::hash(job_segment::path_of(profile).as_os_str().as_encoded_bytes()).to_hex().to_string()
}
