//! Findings that came or went between two runs.

use serde::Serialize;

use super::findings::{FindingEntry, Findings, RuleState};
use crate::base::time::short_duration;

/// Events of both runs up to which their findings are compared without being asked for: each needs
/// a dependency graph.
pub const MOST_EVENTS_UNASKED: u64 = 4_000_000;
/// Changes that are shown.
const MOST_CHANGES: usize = 6;
/// Smallest change of a cost, as a share of the larger one: less is noise of the replay.
const LEAST_CHANGE: f64 = 0.1;

/// The change of all findings of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingChange {
    /// Id of the rule.
    pub rule: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// Their cost in the first run, in picoseconds.
    pub a_ps: i64,
    /// Their cost in the second one.
    pub b_ps: i64,
    /// The first of them in a sentence.
    pub text: String,
}

/// How findings of a rule changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The second run has them, the first one does not.
    Came,
    /// The first run has them, the second one does not.
    Went,
    /// Both have them, and their cost is another.
    Changed,
}

impl ChangeKind {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Came => "new",
            Self::Went => "gone",
            Self::Changed => "changed",
        }
    }
}

impl FindingChange {
    /// The costs for people. Empty if none is known.
    #[must_use]
    pub fn cost(&self) -> String {
        let time = |ps: i64| if ps > 0 { short_duration(ps as f64) } else { String::new() };
        match self.kind {
            ChangeKind::Came => time(self.b_ps),
            ChangeKind::Went => time(self.a_ps),
            ChangeKind::Changed => format!("{} → {}", time(self.a_ps), time(self.b_ps)),
        }
    }
}

/// The changes from the first to the second run, the largest first. A rule that cannot tell about a
/// run says nothing about it.
#[must_use]
pub fn finding_changes(a: &Findings, b: &Findings) -> Vec<FindingChange> {
    let rules = |of: &Findings| of.findings.iter().map(|one| one.rule.clone()).collect::<Vec<_>>();
    let mut all = rules(a);
    all.extend(rules(b));
    all.sort_unstable();
    all.dedup();
    let mut changes: Vec<FindingChange> = all.into_iter().filter_map(|rule| change(a, b, rule)).collect();
    changes.sort_by_key(|of| (std::cmp::Reverse(of.b_ps.abs_diff(of.a_ps)), of.rule.clone()));
    changes.truncate(MOST_CHANGES);
    changes
}

fn change(a: &Findings, b: &Findings, rule: String) -> Option<FindingChange> {
    let state = |of: &Findings| of.findings.iter().find(|one| one.rule == rule).map(|one| one.state);
    let cost = |of: &Findings| {
        let found = of.in_state(RuleState::Found).filter(|one| one.rule == rule);
        found.filter_map(FindingEntry::saved_ps).fold(0, i64::saturating_add)
    };
    let (a_ps, b_ps) = (cost(a), cost(b));
    let kind = match (state(a)?, state(b)?) {
        (RuleState::Nothing, RuleState::Found) => ChangeKind::Came,
        (RuleState::Found, RuleState::Nothing) => ChangeKind::Went,
        (RuleState::Found, RuleState::Found) => {
            let is_large = b_ps.abs_diff(a_ps) as f64 > LEAST_CHANGE * a_ps.max(b_ps) as f64;
            is_large.then_some(ChangeKind::Changed)?
        }
        _ => return None,
    };
    let of = if kind == ChangeKind::Went { a } else { b };
    let text = of.in_state(RuleState::Found).find(|one| one.rule == rule)?.text.clone();
    Some(FindingChange { rule, kind, a_ps, b_ps, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::findings::BracketEntry;

    /// Answers of rules: found with a cost, nothing, or nobody can tell.
    fn findings(rules: &[(&str, RuleState, i64)]) -> Findings {
        let entry = |(rule, state, cost): &(&str, RuleState, i64)| FindingEntry {
            rule: (*rule).to_owned(),
            state: *state,
            saving_ps: (*cost > 0).then_some(BracketEntry { low: 0, middle: *cost, high: *cost }),
            text: format!("{rule} is there"),
            ..FindingEntry::default()
        };
        Findings { findings: rules.iter().map(entry).collect(), ..Findings::default() }
    }

    #[test]
    fn findings_come_go_and_change() {
        use RuleState::{CannotTell, Found, Nothing};
        let a = findings(&[
            ("spill", Found, 50),
            ("late-rank", Nothing, 0),
            ("launch-bound", Found, 10),
            ("idle-gap", Found, 100),
            ("slow-step", CannotTell, 0),
            ("errors", Nothing, 0),
        ]);
        let b = findings(&[
            ("spill", Nothing, 0),
            ("late-rank", Found, 30),
            ("launch-bound", Found, 9),
            ("idle-gap", Found, 40),
            ("idle-gap", Found, 20),
            ("slow-step", Found, 500),
            ("errors", Found, 0),
        ]);
        let changes = finding_changes(&a, &b);
        let drawn: Vec<_> = changes.iter().map(|of| (of.rule.as_str(), of.kind, of.a_ps, of.b_ps)).collect();
        let expected = [
            ("spill", ChangeKind::Went, 50, 0),
            ("idle-gap", ChangeKind::Changed, 100, 60),
            ("late-rank", ChangeKind::Came, 0, 30),
            ("errors", ChangeKind::Came, 0, 0),
        ];
        assert_eq!(drawn, expected);
        assert_eq!(changes[0].text, "spill is there");
        let costs: Vec<String> = changes.iter().map(FindingChange::cost).collect();
        assert_eq!(costs, ["50 ps", "100 ps → 60 ps", "30 ps", ""]);
        assert_eq!(finding_changes(&a, &a), []);
    }
}
