//! The rules, one file each: what counts as found, from which threshold on and why, and the words
//! for it.

mod chip_wait;
mod exposed_communication;
mod host_blocks;
mod idle_gap;
mod late_rank;
mod launch_bound;
mod outlier_collective;
mod recording;
mod slow_link;
mod slow_step;
mod start_up;

use super::facts::Facts;
use super::verdict::{Finding, Verdict};
use crate::base::Result;

/// Names of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleName {
    /// A rank for which the others wait.
    LateRank,
    /// Ranks with slow transfers between them.
    SlowLink,
    /// Engines or queues of a chip that wait for each other.
    ChipWait,
    /// Communication that no work covers.
    ExposedCommunication,
    /// A device that waits for launches.
    LaunchBound,
    /// A host that waits for its device before it launches more work.
    HostBlocks,
    /// A device without work for no reason that is known.
    IdleGap,
    /// A step that takes longer than the others.
    SlowStep,
    /// Time before the first work.
    StartUp,
    /// One operation whose transfer takes much longer than those of its like.
    OutlierCollective,
    /// A recording that lacks parts of the run.
    Recording,
}

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: RuleName,
    /// The name for JSON and the command line.
    pub id: &'static str,
    /// The question that it answers.
    pub title: &'static str,
    /// What helps.
    pub advice: &'static str,
    pub(super) check: fn(&Facts<'_>) -> Result<Verdict>,
    pub(super) words: fn(&Finding) -> String,
}

/// All rules, in the order of [`RuleName`].
pub static RULES: [Rule; 11] = [
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
    recording::RULE,
];

impl RuleName {
    /// The rule of this name.
    #[must_use]
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}
