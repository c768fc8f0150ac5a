//! Conditions of `nprof findings --fail-on`, such as `late-rank > 2%`.

use std::str::FromStr;

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use nprof_engine::insight::finding::{RULES, RuleName, percent, sentence};
use nprof_engine::wire::findings::{FindingEntry, Findings, RuleState};

use super::limit::CostLimit;
use super::metric_list::nearest;
use crate::print::condition_report::CheckedCondition;

/// Begins a condition about a rule where other conditions are allowed, too.
pub(super) const FINDING: &str = "finding:";

/// A rule, or all rules, with the cost from which on the command fails.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FindingCondition {
    /// `None` for any rule.
    rule: Option<RuleName>,
    /// `None` if anything that is found fails.
    limit: Option<WrittenLimit>,
    /// The words of the user.
    text: String,
}

/// A limit with the words of the user.
#[derive(Debug, Clone, PartialEq)]
struct WrittenLimit {
    limit: CostLimit,
    text: String,
}

impl FromStr for WrittenLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self { limit: text.parse()?, text: text.to_owned() })
    }
}

impl FromStr for FindingCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let rule = text.strip_prefix(FINDING).unwrap_or(text);
        let (name, limit) = match rule.split_once('>') {
            Some((name, limit)) => (name.trim(), Some(limit.trim().parse()?)),
            None => (rule.trim(), None),
        };
        if name == "any" {
            return Ok(Self { rule: None, limit, text: text.to_owned() });
        }
        let known = RULES.iter().find(|rule| rule.id == name);
        let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let nearest = nearest(name, names.iter().copied()).unwrap_or_default();
        let wrong =
            || format!("\"{name}\" is no rule; the nearest is {nearest}; write any, {}", names.join(", "));
        Ok(Self { rule: Some(known.ok_or_else(wrong)?.name), limit, text: text.to_owned() })
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
        let Some(limit) = &self.limit else { return LimitExcess::Certain };
        let limit_ps = limit.limit.ps(length_ps);
        match saving {
            // A gain at most has no bound from below: its most likely value counts.
            Some(saving) if saving.low_ps > limit_ps => LimitExcess::Certain,
            Some(saving) if saving.low_ps <= 0 && saving.middle_ps > limit_ps => LimitExcess::Certain,
            Some(saving) if saving.high_ps > limit_ps => LimitExcess::Possible,
            Some(_) | None => LimitExcess::None,
        }
    }

    /// The limit in the words of the user, and as a time. Empty without one.
    fn limit_text(&self, length_ps: i64) -> String {
        let Some(WrittenLimit { limit, text }) = &self.limit else { return String::new() };
        match limit {
            CostLimit::Share(_) => format!("more than {text} ({})", time(limit.ps(length_ps))),
            CostLimit::Time(_) => format!("more than {text}"),
        }
    }
}

/// Whether a cost is larger than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitExcess {
    Certain,
    /// The limit lies within the bracket.
    Possible,
    None,
}

/// Checks the conditions. A rule that cannot tell keeps none.
pub(super) fn checked(conditions: &[FindingCondition], of: &Findings) -> Vec<CheckedCondition> {
    let length_ps = of.recorded_ps.unwrap_or(0);
    let checked = |condition: &FindingCondition| {
        let (mut broken, mut undecided) = (Vec::new(), Vec::new());
        let limit = condition.limit_text(length_ps);
        for one in of.findings.iter().filter(|one| condition.is_about(one)) {
            let FindingEntry { rule, text, .. } = one;
            let saving = one.saving_ps.map(Bracket::from);
            match one.state {
                RuleState::Found => match condition.excess(saving, length_ps) {
                    LimitExcess::Certain => {
                        let cost = described(one, saving, &limit, length_ps);
                        broken.push(format!("{}: {cost}", condition.text));
                    }
                    LimitExcess::Possible => {
                        let between = saving.as_ref().map(sentence::between).unwrap_or_default();
                        undecided.push(format!(
                            "{}: cannot tell whether {rule} costs {limit}: it costs {between}: {text}",
                            condition.text
                        ));
                    }
                    LimitExcess::None => {}
                },
                RuleState::CannotTell => {
                    let reason = one.reason.as_deref().unwrap_or_default();
                    undecided.push(format!("cannot tell {rule}: {reason}"));
                }
                RuleState::Nothing => {}
            }
        }
        CheckedCondition::of(&condition.text, broken, undecided)
    };
    conditions.iter().map(checked).collect()
}

/// The cost of a finding, the limit if there is one, and the finding.
fn described(found: &FindingEntry, saving: Option<Bracket>, limit: &str, length_ps: i64) -> String {
    let FindingEntry { rule, text, .. } = found;
    let Some(saving) = saving else { return format!("{rule}: {text}") };
    let part = match length_ps {
        0 => String::new(),
        length_ps => format!(" ({})", percent(saving.middle_ps as f64 / length_ps as f64)),
    };
    let limit = if limit.is_empty() { String::new() } else { format!(", {limit}") };
    format!("{rule} costs {}{part}{limit}: {text}", time(saving.middle_ps))
}

fn time(ps: i64) -> String {
    short_duration(ps as f64)
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
        assert_eq!(excess("any > 25%", between), LimitExcess::Possible);
        assert_eq!(excess("any > 35%", between), LimitExcess::Possible);
        assert_eq!(excess("any > 40%", between), LimitExcess::None);
        // A gain at most: nothing is known from below.
        let at_most = Some(Bracket::around(0, 30, 40));
        assert_eq!(excess("any > 25%", at_most), LimitExcess::Certain);
        assert_eq!(excess("any > 35%", at_most), LimitExcess::Possible);
        assert_eq!(excess("any > 0%", None), LimitExcess::None);
    }

    #[test]
    fn conditions_name_a_rule_and_a_limit() {
        for good in ["any", "finding:any > 10%", "late-rank", "late-rank>2%", "slow-link > 5 ms"] {
            assert!(good.parse::<FindingCondition>().is_ok(), "{good}");
        }
        for wrong in ["", "late", "late-rank > ", "late-rank > 5", "late-rank < 5%", "any > 101%"] {
            assert!(wrong.parse::<FindingCondition>().is_err(), "{wrong}");
        }
    }
}
