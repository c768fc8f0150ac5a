//! All rules.

use super::facts::Facts;
use super::rule_name::RuleName;
use super::rules::RULES;
use super::verdict::{Finding, Judgement, RuleVerdict};
use crate::base::Result;

/// The answers of all rules, those with the largest saving first, then those without, then those
/// that found nothing and those that cannot tell.
pub fn findings(facts: &Facts<'_>) -> Result<Vec<RuleVerdict>> {
    // Measurements that only some devices have are no gap of the others.
    if facts.has_several_queues() {
        // Two rules look at them. Found before, they take all cores, and nobody finds them twice.
        facts.chip_waits()?;
    }
    let asked: Vec<RuleName> =
        RULES.iter().filter(|rule| rule.needs.is_met(facts)).map(|rule| rule.name).collect();
    let verdict = |at: usize| Ok(RuleVerdict { rule: asked[at], verdict: verdict_of(facts, asked[at])? });
    let mut all = facts.work.gather(asked.len(), verdict)?;
    let rank = |one: &RuleVerdict| match &one.verdict {
        Judgement::Found(found) => {
            (0, std::cmp::Reverse(found.iter().map(Finding::saved_ps).max().flatten()))
        }
        Judgement::CannotTell(_) => (1, std::cmp::Reverse(None)),
        Judgement::Nothing => (2, std::cmp::Reverse(None)),
    };
    all.sort_by_key(rank);
    Ok(all)
}

/// The answer of one rule, the largest saving first. A small saving beside a large one stays: it
/// can show once the large one is gone, as with two late ranks.
pub fn verdict_of(facts: &Facts<'_>, rule: RuleName) -> Result<Judgement> {
    let mut found = match rule.check(facts)? {
        Judgement::Found(found) => found,
        other => return Ok(other),
    };
    let most_ps = found.iter().filter_map(Finding::saved_ps).max();
    if most_ps.is_some_and(|most_ps| most_ps < facts.least_worth_ps()) {
        found.retain(|one| one.saving.is_none());
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.saved_ps()));
    Ok(Judgement::of(found, None))
}
