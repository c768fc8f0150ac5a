//! Findings that came or went between two stored runs.

use nprof_engine::exec::Cancel;
use nprof_engine::wire::finding_changes::{FindingChange, MOST_EVENTS_UNASKED, finding_changes};

use super::AnalysisError;
use super::comparison::ComparedPart;
use super::findings::{kept, of_profile};

/// The changes of findings between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedFindings {
    /// The changes, the largest first.
    Known(Vec<FindingChange>),
    /// Nobody looked; this is the reason.
    Unknown(String),
    /// Findings are those of whole runs with work, and these are none.
    Absent,
}

impl ChangedFindings {
    /// The changes from the first to the second run. Findings of large runs are compared if they
    /// are kept, because finding them takes longer than to compare the runs.
    pub fn of(a: &ComparedPart, b: &ComparedPart, cancel: Cancel<'_>) -> Result<Self, AnalysisError> {
        let are_two_runs = a.is_whole() && b.is_whole() && a.profile.manifest.id != b.profile.manifest.id;
        if !are_two_runs {
            return Ok(Self::Absent);
        }
        let parts = [a, b];
        let events: u64 =
            parts.iter().flat_map(|part| &part.ranks).map(|rank| rank.events).fold(0, u64::saturating_add);
        if events > MOST_EVENTS_UNASKED {
            let unknown = parts.iter().find(|part| kept(&part.profile).is_none());
            if let Some(part) = unknown {
                let name = part.profile.manifest.slug();
                return Ok(Self::Unknown(format!(
                    "findings are not compared, because the runs are large: run `nprof findings {name}` once"
                )));
            }
        }
        let [a, b] = [of_profile(&a.profile, cancel)?.message, of_profile(&b.profile, cancel)?.message];
        match a.recorded_ps.is_some() && b.recorded_ps.is_some() {
            true => Ok(Self::Known(finding_changes(&a, &b))),
            false => Ok(Self::Absent),
        }
    }

    /// The changes as sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let sentence = |of: &FindingChange| {
            let cost = of.cost();
            let cost = if cost.is_empty() { cost } else { format!(", {cost}") };
            format!("{} finding {}{cost}: {}", of.kind.word(), of.rule, of.text)
        };
        match self {
            Self::Known(changes) if changes.is_empty() => vec!["both runs have the same findings".to_owned()],
            Self::Known(changes) => changes.iter().map(sentence).collect(),
            Self::Unknown(reason) => vec![reason.clone()],
            Self::Absent => Vec::new(),
        }
    }
}
