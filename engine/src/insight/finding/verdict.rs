//! The answers of rules.

use super::evidence::{Evidence, Measure};
use super::facts::Facts;
use super::missing::Missing;
use super::place::Place;
use super::rules::{RULES, RuleName};
use super::severity::Severity;
use crate::base::Result;
use crate::insight::Bracket;

/// Something that is wrong, with its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: RuleName,
    /// How much it matters.
    pub severity: Severity,
    /// Where to look.
    pub place: Place,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// Time by which the run would be shorter without it, in picoseconds. `None` if it costs
    /// nothing that is known.
    pub saving: Option<Bracket>,
}

impl Finding {
    /// The first number of a measure.
    #[must_use]
    pub fn measured(&self, measure: Measure) -> Option<&Evidence> {
        self.evidence.iter().find(|one| one.measure == measure)
    }

    /// All numbers of a measure.
    pub fn all(&self, measure: Measure) -> impl Iterator<Item = &Evidence> {
        self.evidence.iter().filter(move |one| one.measure == measure)
    }

    /// A number in words; empty without it.
    pub(super) fn words(&self, measure: Measure) -> String {
        self.measured(measure).map(|one| one.quantity.words()).unwrap_or_default()
    }

    /// The finding in a sentence, without its saving.
    #[must_use]
    pub fn text(&self) -> String {
        (self.rule.rule().words)(self)
    }
}

/// The answer of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// What it found; not empty.
    Found(Vec<Finding>),
    /// All data is there, and nothing was found.
    Nothing,
    /// Nothing was found, but data is missing.
    CannotTell(Missing),
}

impl Verdict {
    /// What was found, or, without anything, whether that is known.
    #[must_use]
    pub(super) fn of(found: Vec<Finding>, missing: Option<Missing>) -> Self {
        match (found.is_empty(), missing) {
            (false, _) => Self::Found(found),
            (true, Some(missing)) => Self::CannotTell(missing),
            (true, None) => Self::Nothing,
        }
    }

    /// Name of the state for JSON.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match self {
            Self::Found(_) => "found",
            Self::Nothing => "nothing",
            Self::CannotTell(_) => "cannot-tell",
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
    pub verdict: Verdict,
}

/// The answers of all rules, those with the largest saving first, then those without, then those
/// that found nothing and those that cannot tell.
pub fn findings(facts: &Facts<'_>) -> Result<Vec<RuleVerdict>> {
    let mut all = Vec::with_capacity(RULES.len());
    for rule in &RULES {
        facts.cancel.check()?;
        let verdict = facts.verdict(rule.name)?;
        all.push(RuleVerdict { rule: rule.name, verdict });
    }
    let rank = |one: &RuleVerdict| match &one.verdict {
        Verdict::Found(found) => (0, std::cmp::Reverse(found.iter().map(saving_ps).max().unwrap_or(0))),
        Verdict::CannotTell(_) => (1, std::cmp::Reverse(0)),
        Verdict::Nothing => (2, std::cmp::Reverse(0)),
    };
    all.sort_by_key(rank);
    Ok(all)
}

fn saving_ps(of: &Finding) -> i64 {
    of.saving.map_or(i64::MIN, |saving| saving.middle_ps)
}
