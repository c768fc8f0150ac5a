//! The answers of rules.

use super::data_gap::DataGap;
use super::evidence::{EvidenceMeasure, FindingEvidence};
use super::place::Place;
use super::rule_name::RuleName;
use super::severity::Severity;
use crate::insight::Bracket;

/// Something that is wrong, with its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: RuleName,
    /// How much it matters.
    pub severity: Severity,
    /// The place to look at.
    pub place: Place,
    /// The numbers behind it.
    pub evidence: Vec<FindingEvidence>,
    /// Time by which the run would be shorter without it, in picoseconds. `None` if it costs
    /// nothing that is known.
    pub saving: Option<Bracket>,
}

impl Finding {
    /// The most likely saving in picoseconds. `None` if it costs nothing that is known.
    #[must_use]
    pub fn saved_ps(&self) -> Option<i64> {
        self.saving.map(|saving| saving.middle_ps)
    }

    /// The first number of a measure.
    #[must_use]
    pub fn measured(&self, measure: EvidenceMeasure) -> Option<&FindingEvidence> {
        self.evidence.iter().find(|one| one.measure == measure)
    }

    /// All numbers of a measure.
    pub fn all(&self, measure: EvidenceMeasure) -> impl Iterator<Item = &FindingEvidence> {
        self.evidence.iter().filter(move |one| one.measure == measure)
    }

    /// A number in words; empty without it.
    pub(super) fn words(&self, measure: EvidenceMeasure) -> String {
        self.measured(measure).map(|one| one.quantity.words()).unwrap_or_default()
    }
}

/// The answer of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Findings; not empty.
    Found(Vec<Finding>),
    /// All data is there, and nothing was found.
    Nothing,
    /// Nothing was found, but data is missing.
    CannotTell(DataGap),
}

impl Judgement {
    /// The verdict of a rule that found some things, or lacks some data.
    #[must_use]
    pub(super) fn of(found: Vec<Finding>, missing: Option<DataGap>) -> Self {
        match (found.is_empty(), missing) {
            (false, _) => Self::Found(found),
            (true, Some(missing)) => Self::CannotTell(missing),
            (true, None) => Self::Nothing,
        }
    }

    /// The findings.
    #[must_use]
    pub fn found(&self) -> &[Finding] {
        match self {
            Self::Found(found) => found,
            Self::Nothing | Self::CannotTell(_) => &[],
        }
    }
}

/// A rule with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleVerdict {
    /// The rule.
    pub rule: RuleName,
    /// Its answer.
    pub verdict: Judgement,
}
