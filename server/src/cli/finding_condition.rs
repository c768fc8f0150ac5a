//! Conditions of `nprof findings --fail-on`, such as `late-rank > 2%`.

use std::str::FromStr;

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::{RULES, RuleName, sentence};
use nprof_engine::wire::findings::{FindingEntry, Findings, RuleState};

use super::limit::CostLimit;
use crate::print::condition_report::CheckedCondition;

/// A rule, or all rules, with the cost from which on the command fails.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FindingCondition {
    /// `None` for any rule.
    rule: Option<RuleName>,
    /// `None` if anything that is found fails.
    limit: Option<CostLimit>,
    /// The words of the user.
    text: String,
}

impl FromStr for FindingCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, limit) = match text.split_once('>') {
            Some((name, limit)) => (name.trim(), Some(limit.trim().parse()?)),
            None => (text.trim(), None),
        };
        if name == "any" {
            return Ok(Self { rule: None, limit, text: text.trim().to_owned() });
        }
        let known = RULES.iter().find(|rule| rule.id == name);
        let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let wrong = || format!("\"{name}\" is no rule; write any, {}", names.join(", "));
        Ok(Self { rule: Some(known.ok_or_else(wrong)?.name), limit, text: text.trim().to_owned() })
    }
}

impl FindingCondition {
    /// The words of the user.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn is_about(&self, one: &FindingEntry) -> bool {
        self.rule.is_none_or(|rule| rule.rule().id == one.rule)
    }

    /// Whether a finding costs more than the limit.
    fn excess(&self, saving: Option<Bracket>, length_ps: i64) -> LimitExcess {
        let Some(limit) = self.limit else { return LimitExcess::Certain };
        let limit_ps = limit.ps(length_ps);
        match saving {
            // A gain at most has no bound from below: its most likely value counts.
            Some(saving) if saving.low_ps > limit_ps => LimitExcess::Certain,
            Some(saving) if saving.low_ps <= 0 && saving.middle_ps > limit_ps => LimitExcess::Certain,
            Some(saving) if saving.high_ps > limit_ps => LimitExcess::Possible { limit_ps },
            Some(_) | None => LimitExcess::None,
        }
    }
}

/// Whether a cost is larger than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitExcess {
    Certain,
    /// The limit lies within the bracket.
    Possible {
        limit_ps: i64,
    },
    None,
}

/// Checks the conditions. A rule that cannot tell keeps none.
pub(super) fn checked(conditions: &[FindingCondition], of: &Findings) -> Vec<CheckedCondition> {
    let length_ps = of.recorded_ps.unwrap_or(0);
    let checked = |condition: &FindingCondition| {
        let (mut broken, mut undecided) = (Vec::new(), Vec::new());
        for one in of.findings.iter().filter(|one| condition.is_about(one)) {
            let saving = one.saving_ps.map(Bracket::from);
            match one.state {
                RuleState::Found => match condition.excess(saving, length_ps) {
                    LimitExcess::Certain => broken.push(described(one, saving)),
                    LimitExcess::Possible { limit_ps } => {
                        undecided.push(undecided_cost(one, saving, limit_ps));
                    }
                    LimitExcess::None => {}
                },
                RuleState::CannotTell => {
                    let reason = one.reason.as_deref().unwrap_or_default();
                    undecided.push(format!("cannot tell {}: {reason}", one.rule));
                }
                RuleState::Nothing => {}
            }
        }
        CheckedCondition::of(&condition.text, broken, undecided)
    };
    conditions.iter().map(checked).collect()
}

fn described(found: &FindingEntry, saving: Option<Bracket>) -> String {
    let FindingEntry { rule, text, .. } = found;
    match saving {
        Some(saving) => format!("{rule} costs {}: {text}", short_duration(saving.middle_ps as f64)),
        None => format!("{rule}: {text}"),
    }
}

fn undecided_cost(found: &FindingEntry, saving: Option<Bracket>, limit_ps: i64) -> String {
    let FindingEntry { rule, text, .. } = found;
    let between = saving.as_ref().map(sentence::between).unwrap_or_default();
    let limit = short_duration(limit_ps as f64);
    format!("cannot tell whether {rule} costs more than {limit}: it costs {between}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_within_the_bracket_is_undecided() {
        let excess = |limit: &str, saving| limit.parse::<FindingCondition>().unwrap().excess(saving, 100);
        let between = Some(Bracket::around(20, 30, 40));
        assert_eq!(excess("any", between), LimitExcess::Certain);
        assert_eq!(excess("any > 19%", between), LimitExcess::Certain);
        assert_eq!(excess("any > 25%", between), LimitExcess::Possible { limit_ps: 25 });
        assert_eq!(excess("any > 35%", between), LimitExcess::Possible { limit_ps: 35 });
        assert_eq!(excess("any > 40%", between), LimitExcess::None);
        // A gain at most: nothing is known from below.
        let at_most = Some(Bracket::around(0, 30, 40));
        assert_eq!(excess("any > 25%", at_most), LimitExcess::Certain);
        assert_eq!(excess("any > 35%", at_most), LimitExcess::Possible { limit_ps: 35 });
        assert_eq!(excess("any > 0%", None), LimitExcess::None);
    }

    #[test]
    fn conditions_name_a_rule_and_a_limit() {
        for good in ["any", "any > 10%", "late-rank", "late-rank>2%", "slow-link > 5 ms"] {
            assert!(good.parse::<FindingCondition>().is_ok(), "{good}");
        }
        for wrong in ["", "late", "late-rank > ", "late-rank > 5", "late-rank < 5%", "any > 101%"] {
            assert!(wrong.parse::<FindingCondition>().is_err(), "{wrong}");
        }
    }
}
