//! Conditions of `nprof findings --fail-on`, such as `late-rank > 2%`.

use std::str::FromStr;

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::finding::{Finding, Judgement, RULES, RuleName, RuleVerdict, sentence};

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

    fn is_about(&self, one: &RuleVerdict) -> bool {
        self.rule.is_none_or(|rule| rule == one.rule)
    }

    /// Whether a finding costs more than the limit.
    fn excess(&self, one: &Finding, length_ps: i64) -> LimitExcess {
        let Some(limit) = self.limit else { return LimitExcess::Certain };
        let limit_ps = limit.ps(length_ps);
        match one.saving {
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
pub(super) fn checked(
    conditions: &[FindingCondition],
    of: &[RuleVerdict],
    length_ps: i64,
) -> Vec<CheckedCondition> {
    let checked = |condition: &FindingCondition| {
        let (mut broken, mut undecided) = (Vec::new(), Vec::new());
        for one in of.iter().filter(|one| condition.is_about(one)) {
            let id = one.rule.rule().id;
            match &one.verdict {
                Judgement::Found(found) => {
                    found.iter().for_each(|one| match condition.excess(one, length_ps) {
                        LimitExcess::Certain => broken.push(described(id, one)),
                        LimitExcess::Possible { limit_ps } => {
                            undecided.push(undecided_cost(id, one, limit_ps))
                        }
                        LimitExcess::None => {}
                    })
                }
                Judgement::CannotTell(missing) => {
                    undecided.push(format!("cannot tell {id}: {}", missing.words()))
                }
                Judgement::Nothing => {}
            }
        }
        CheckedCondition::of(&condition.text, broken, undecided)
    };
    conditions.iter().map(checked).collect()
}

fn described(id: &str, found: &Finding) -> String {
    match found.saving {
        Some(saving) => format!("{id} costs {}: {}", short_duration(saving.middle_ps as f64), found.text()),
        None => format!("{id}: {}", found.text()),
    }
}

fn undecided_cost(id: &str, found: &Finding, limit_ps: i64) -> String {
    let between = found.saving.as_ref().map(sentence::between).unwrap_or_default();
    let limit = short_duration(limit_ps as f64);
    format!("cannot tell whether {id} costs more than {limit}: it costs {between}: {}", found.text())
}

#[cfg(test)]
mod tests {
    use nprof_engine::insight::Bracket;
    use nprof_engine::insight::finding::{Place, Severity};

    use super::*;

    #[test]
    fn a_limit_within_the_bracket_is_undecided() {
        let (rule, severity, place) = (RuleName::LateRank, Severity::High, Place::default());
        let saving = Some(Bracket::around(20, 30, 40));
        let found = Finding { rule, severity, place, evidence: Vec::new(), saving };
        let excess = |limit: &str| limit.parse::<FindingCondition>().unwrap().excess(&found, 100);
        assert_eq!(excess("any"), LimitExcess::Certain);
        assert_eq!(excess("any > 19%"), LimitExcess::Certain);
        assert_eq!(excess("any > 25%"), LimitExcess::Possible { limit_ps: 25 });
        assert_eq!(excess("any > 35%"), LimitExcess::Possible { limit_ps: 35 });
        assert_eq!(excess("any > 40%"), LimitExcess::None);
        // A gain at most: nothing is known from below.
        let at_most = Finding { saving: Some(Bracket::around(0, 30, 40)), ..found.clone() };
        let excess = |limit: &str| limit.parse::<FindingCondition>().unwrap().excess(&at_most, 100);
        assert_eq!(excess("any > 25%"), LimitExcess::Certain);
        assert_eq!(excess("any > 35%"), LimitExcess::Possible { limit_ps: 35 });
        let free = Finding { saving: None, ..found };
        assert_eq!("any > 0%".parse::<FindingCondition>().unwrap().excess(&free, 100), LimitExcess::None);
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
