//! Conditions of `nprof findings --fail-on`, such as `late-rank > 2%`.

use std::io::Write;
use std::str::FromStr;

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::finding::{Finding, Judgement, RULES, RuleName, RuleVerdict};

use super::failed_condition::{Failing, Undecided};
use super::limit::CostLimit;

/// A rule, or all rules, with the cost from which on the command fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FindingCondition {
    /// `None` for any rule.
    rule: Option<RuleName>,
    /// `None` if anything that is found fails.
    limit: Option<CostLimit>,
}

impl FromStr for FindingCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, limit) = match text.split_once('>') {
            Some((name, limit)) => (name.trim(), Some(limit.trim().parse()?)),
            None => (text.trim(), None),
        };
        if name == "any" {
            return Ok(Self { rule: None, limit });
        }
        let known = RULES.iter().find(|rule| rule.id == name);
        let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let wrong = || format!("\"{name}\" is no rule; write any, {}", names.join(", "));
        Ok(Self { rule: Some(known.ok_or_else(wrong)?.name), limit })
    }
}

impl FindingCondition {
    fn is_about(&self, one: &RuleVerdict) -> bool {
        self.rule.is_none_or(|rule| rule == one.rule)
    }

    /// Whether a finding costs more than the limit.
    fn is_broken_by(&self, one: &Finding, length_ps: i64) -> bool {
        self.limit.is_none_or(|limit| one.saving.is_some_and(|saving| saving.middle_ps > limit.ps(length_ps)))
    }
}

/// Checks the conditions after the output is complete. A rule that cannot tell does not pass.
pub(super) fn judge(
    conditions: &[FindingCondition],
    of: &[RuleVerdict],
    length_ps: i64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (mut broken, mut undecided) = (Vec::new(), Vec::new());
    for condition in conditions {
        for one in of.iter().filter(|one| condition.is_about(one)) {
            let id = one.rule.rule().id;
            match &one.verdict {
                Judgement::Found(found) => {
                    let found = found.iter().filter(|found| condition.is_broken_by(found, length_ps));
                    broken.extend(found.map(|found| described(id, found)));
                }
                Judgement::CannotTell(missing) => {
                    undecided.push(format!("cannot tell {id}: {}", missing.words()))
                }
                Judgement::Nothing => {}
            }
        }
    }
    if broken.is_empty() && undecided.is_empty() {
        return Ok(());
    }
    out.flush()?;
    undecided.dedup();
    match broken.is_empty() {
        false => Err(Failing(broken.join("; ")).into()),
        true => Err(Undecided(undecided.join("; ")).into()),
    }
}

fn described(id: &str, found: &Finding) -> String {
    match found.saving {
        Some(saving) => format!("{id} costs {}: {}", short_duration(saving.middle_ps as f64), found.text()),
        None => format!("{id}: {}", found.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
