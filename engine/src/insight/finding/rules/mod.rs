//! The rules, one file each: what counts as found, from which threshold on and why, and the words
//! for it.

mod capture_loss;
mod chip_wait;
mod exposed_communication;
mod host_blocks;
mod idle_gap;
mod late_rank;
mod launch_bound;
mod outlier_collective;
mod own_transfer;
mod slow_link;
mod slow_step;
mod start_up;

use super::facts::Facts;
use super::rule_name::RuleName;
use super::verdict::{Finding, Judgement};
use crate::base::Result;

/// Causes cover each other if they cost at most this part of their cost together, one at a time.
const MOST_ALONE: f64 = 0.6;

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct FindingRule {
    /// Its name.
    pub name: RuleName,
    /// The name for JSON and the command line.
    pub id: &'static str,
    /// The question that it answers.
    pub title: &'static str,
    /// Advice: a way to get rid of the cause.
    pub advice: &'static str,
    pub(super) check: fn(&Facts<'_>) -> Result<Judgement>,
    pub(super) words: fn(&Finding) -> String,
}

/// All rules, in the order of [`RuleName`].
pub static RULES: [FindingRule; 11] = [
    late_rank::RULE,
    slow_link::RULE,
    chip_wait::RULE,
    exposed_communication::RULE,
    launch_bound::RULE,
    host_blocks::RULE,
    idle_gap::RULE,
    slow_step::RULE,
    start_up::RULE,
    outlier_collective::RULE,
    capture_loss::RULE,
];

impl RuleName {
    /// The rule of this name.
    #[must_use]
    pub fn rule(self) -> &'static FindingRule {
        &RULES[self as usize]
    }
}

impl Finding {
    /// The finding in a sentence, without its saving.
    #[must_use]
    pub fn text(&self) -> String {
        (self.rule.rule().words)(self)
    }
}
