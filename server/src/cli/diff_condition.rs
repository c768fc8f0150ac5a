//! Conditions of `nprof diff --fail-on`: a change such as `total_time > +2%`, or what may be asked
//! of one profile, about the second one.

use std::str::FromStr;

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::{signed_percent, signed_time};
use nprof_engine::wire::comparison::{ComparedEntry, ComparedKind, ComparedRuns, VerdictWord};

use super::limit::CostLimit;
use super::run_condition::{self, KnownFacts, RunCondition};
use super::wrong_condition::WrongCondition;
use crate::analysis::comparison::ComparedPart;
use crate::print::condition_report::CheckedCondition;

/// A condition about two runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DiffCondition {
    /// A change from the first to the second run.
    Change(ChangeCondition),
    /// A condition about the second run.
    Second(RunCondition),
}

/// A time that must not change by more than a limit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChangeCondition {
    subject: ChangeSubject,
    /// Whether the second run must not be shorter, rather than longer.
    is_of_gain: bool,
    limit: CostLimit,
    /// The limit in the words of the user.
    limit_text: String,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ChangeSubject {
    /// The time of the runs.
    Total,
    /// Work with this text in its name.
    Work(String),
}

/// Name of the time of the runs.
const TOTAL: &str = "total_time";
/// Prefix of work.
const WORK: &str = "work:";

impl FromStr for DiffCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.split(['>', '<']).next().unwrap_or_default().trim();
        match name == TOTAL || name.starts_with(WORK) {
            true => text.parse().map(Self::Change),
            false => text.parse().map(Self::Second),
        }
    }
}

impl FromStr for ChangeCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is no condition; write `total_time > +2%`, `total_time < -2%` or `work:NAME > 5 ms`"
            )
        };
        let at = text.rfind(['>', '<']).ok_or_else(wrong)?;
        let is_of_gain = text[at..].starts_with('<');
        let (name, limit_text) = (text[..at].trim(), text[at + 1..].trim());
        let sign = if is_of_gain { '-' } else { '+' };
        let limit = match (limit_text.strip_prefix(sign), limit_text.starts_with(['-', '+'])) {
            (Some(limit), _) => limit.trim(),
            (None, true) => return Err(wrong()),
            // A gain without a sign would read as a time below a limit.
            (None, false) if is_of_gain => return Err(wrong()),
            (None, false) => limit_text,
        };
        let subject = match name.strip_prefix(WORK) {
            Some(name) if !name.trim().is_empty() => ChangeSubject::Work(name.trim().to_owned()),
            None if name == TOTAL => ChangeSubject::Total,
            _ => return Err(wrong()),
        };
        let (limit, limit_text) = (limit.parse()?, limit_text.to_owned());
        Ok(Self { subject, is_of_gain, limit, limit_text, text: text.trim().to_owned() })
    }
}

/// Whether a change is larger than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitState {
    Kept,
    Broken,
    /// It is, but that can be chance.
    Chance,
}

impl ChangeCondition {
    /// The state of a change from a time, in picoseconds.
    fn state(&self, a_ps: i64, difference_ps: i64, is_certain: bool, even_if_noise: bool) -> LimitState {
        let excess_ps = if self.is_of_gain { difference_ps.saturating_neg() } else { difference_ps };
        match excess_ps > self.limit.ps(a_ps) {
            false => LimitState::Kept,
            true if is_certain || even_if_noise => LimitState::Broken,
            true => LimitState::Chance,
        }
    }

    /// The changes that the condition is about, with their names.
    fn changes<'r>(&'r self, of: &'r ComparedRuns) -> Vec<NamedChange<'r>> {
        match &self.subject {
            ChangeSubject::Total => vec![NamedChange {
                name: TOTAL,
                a_ps: of.total.a_ps,
                b_ps: of.total.b_ps,
                is_certain: matches!(of.verdict, VerdictWord::Faster | VerdictWord::Slower),
            }],
            ChangeSubject::Work(text) => {
                let is_meant =
                    |row: &&ComparedEntry| row.kind == ComparedKind::Work && row.title().contains(text);
                let change = |row: &'r ComparedEntry| NamedChange {
                    name: &row.name,
                    a_ps: row.a_ps,
                    b_ps: row.b_ps,
                    is_certain: row.is_certain,
                };
                of.rows.iter().filter(is_meant).map(change).collect()
            }
        }
    }
}

/// A time in both runs, with its name.
struct NamedChange<'r> {
    name: &'r str,
    a_ps: i64,
    b_ps: i64,
    is_certain: bool,
}

/// Checks the conditions, in their order. A difference that can be chance breaks none. A comparison
/// that tells nothing keeps none that is about a change. A condition about the second run needs all
/// of it.
pub(super) fn checked(
    conditions: &[DiffCondition],
    of: &ComparedRuns,
    b: &ComparedPart,
    even_if_noise: bool,
) -> anyhow::Result<Vec<CheckedCondition>> {
    let of_second = conditions.iter().filter_map(|condition| match condition {
        DiffCondition::Second(second) => Some(second.clone()),
        DiffCondition::Change(_) => None,
    });
    let of_second: Vec<RunCondition> = of_second.collect();
    if !of_second.is_empty() && !b.is_whole() {
        let text = "metrics, findings and waits are those of a whole profile; leave out ranks and regions";
        return Err(WrongCondition(text.to_owned()).into());
    }
    let mut of_second = run_condition::checked(&of_second, &b.profile, KnownFacts::default())?.into_iter();
    let checked = conditions.iter().filter_map(|condition| match condition {
        DiffCondition::Change(change) => Some(change.checked(of, even_if_noise)),
        DiffCondition::Second(_) => of_second.next(),
    });
    Ok(checked.collect())
}

impl ChangeCondition {
    fn checked(&self, of: &ComparedRuns, even_if_noise: bool) -> CheckedCondition {
        let mut reasons = Vec::new();
        for NamedChange { name, a_ps, b_ps, is_certain } in self.changes(of) {
            let difference_ps = b_ps.saturating_sub(a_ps);
            if self.state(a_ps, difference_ps, is_certain, even_if_noise) == LimitState::Broken {
                let part = match a_ps {
                    0 => String::new(),
                    a_ps => format!(" ({})", signed_percent(difference_ps as f64 / a_ps as f64)),
                };
                let (change, limit) = (signed_time(difference_ps), self.shown_limit(a_ps));
                let text = &self.text;
                reasons.push(format!("{text}: {name} changed by {change}{part}, more than {limit}"));
            }
        }
        let undecided = match of.verdict {
            VerdictWord::Inconclusive => [&of.answer].into_iter().chain(&of.doubts).cloned().collect(),
            // A misspelt name must not pass for ever.
            _ if self.changes(of).is_empty() => vec![format!("{}: no row has this name", self.text)],
            VerdictWord::Faster | VerdictWord::Slower | VerdictWord::Same => Vec::new(),
        };
        CheckedCondition::of(&self.text, reasons, undecided)
    }

    /// The limit as it is written, and a share as a time, too.
    fn shown_limit(&self, a_ps: i64) -> String {
        match self.limit {
            CostLimit::Share(_) => {
                format!("{} ({})", self.limit_text, short_duration(self.limit.ps(a_ps) as f64))
            }
            CostLimit::Time(_) => self.limit_text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_what_must_not_change_and_a_limit() {
        for good in
            ["total_time > +2%", "total_time>2%", "total_time > 5 ms", "total_time < -2%", "work:a > b > 1%"]
        {
            assert!(good.parse::<ChangeCondition>().is_ok(), "{good}");
        }
        for wrong in [
            "",
            "total_time",
            "total > 2%",
            "total_time > -2%",
            "total_time < 2%",
            "work: > 1%",
            "work:a > 5",
        ] {
            assert!(wrong.parse::<ChangeCondition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_grammar_has_changes_and_what_is_asked_of_one_profile() {
        for second in ["mfu < 30%", "finding:spill > 1%", "wait > 10%", "idle_time > 5 ms"] {
            assert!(matches!(second.parse(), Ok(DiffCondition::Second(_))), "{second}");
        }
        for change in ["total_time > 5 ms", "work:gemm > 1%"] {
            assert!(matches!(change.parse(), Ok(DiffCondition::Change(_))), "{change}");
        }
        for wrong in ["finding:spil", "total_time < 5 ms", "idle_time > +2%"] {
            assert!(wrong.parse::<DiffCondition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_change_that_can_be_chance_breaks_no_limit_unless_it_is_told_to() {
        let of = |text: &str| text.parse::<ChangeCondition>().unwrap();
        let state = |text: &str, by_ps: i64, is_certain: bool, even_if_noise: bool| {
            of(text).state(1_000, by_ps, is_certain, even_if_noise)
        };
        assert_eq!(state("total_time > 2%", 21, true, false), LimitState::Broken);
        assert_eq!(state("total_time > 2%", 20, true, false), LimitState::Kept);
        assert_eq!(state("total_time > 2%", 21, false, false), LimitState::Chance);
        assert_eq!(state("total_time > 2%", 21, false, true), LimitState::Broken);
        assert_eq!(state("total_time < -2%", -21, true, false), LimitState::Broken);
        assert_eq!(state("total_time < -2%", 21, true, false), LimitState::Kept);
    }
}
