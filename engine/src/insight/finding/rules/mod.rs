//! The rules, one file each: what counts as found, from which threshold on and why, and the words
//! for it.

mod array_idleness;
mod byte_replay;
mod capture_loss;
mod chip_limit;
mod chip_wait;
mod compute_bound;
mod dma_wait;
mod exposed_communication;
mod exposed_preparation;
mod hardware_error;
mod host_blocks;
mod ideal_times;
mod idle_gap;
mod input_bound;
mod late_rank;
mod launch_bound;
mod low_flops;
mod low_occupancy;
mod memory_bound;
mod outlier_collective;
mod own_transfer;
mod path_gap;
mod reload;
mod repeated_load;
mod slow_link;
mod slow_step;
mod small_dmas;
mod spill;
mod start_up;
mod tensor_idle;
mod weight_reload;
mod wrong_clock;

use super::data_gap::DataGap;
use super::facts::Facts;
use super::rule_name::RuleName;
use super::verdict::{Finding, Judgement};
use crate::base::Result;
use crate::metrics::{DeviceMetrics, RankMeasures};

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
    /// Measurements that it looks at, which not all devices have.
    pub needs: MetricsNeed,
    pub(super) words: fn(&Finding) -> String,
}

/// Judges a run.
type RuleCheck = fn(&Facts<'_>) -> Result<Judgement>;

/// Measurements without which a rule is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsNeed {
    /// None: it looks at the work alone.
    Nothing,
    /// Calls of hosts that launch work.
    Hosts,
    /// Queues of transfers beside engines.
    Transfers,
    /// Metrics of engines and transfers.
    Device,
    /// Launch parameters of kernels.
    Kernels,
    /// The use of arrays for matrix products.
    Arrays,
    /// Errors of the hardware.
    Errors,
}

impl MetricsNeed {
    /// Whether the trace is of a kind that has them. Data that it lacks then is a gap.
    pub(super) fn is_met(self, facts: &Facts<'_>) -> bool {
        let RankMeasures { devices, kernels, arrays, errors, tensors: _ } = facts.measures();
        match self {
            Self::Nothing => true,
            Self::Hosts => facts.has_launches(),
            Self::Transfers => facts.has_transfers(),
            Self::Device => !devices.is_empty(),
            Self::Kernels => kernels.is_some(),
            Self::Arrays => arrays.is_some(),
            Self::Errors => errors.is_some(),
        }
    }
}

/// Makes two tables of the rules, both in the order of [`RuleName`]: the words of a finding, and
/// what finds it. A program that only says the words does not carry the checks.
macro_rules! tables {
    ($count:literal: $($rule:ident),* $(,)?) => {
        /// All rules.
        pub static RULES: [FindingRule; $count] = [$($rule::RULE),*];

        /// The checks of all rules.
        static CHECKS: [RuleCheck; $count] = [$($rule::check),*];
    };
}

tables! {
    27:
    late_rank,
    slow_link,
    chip_wait,
    dma_wait,
    exposed_communication,
    launch_bound,
    host_blocks,
    idle_gap,
    slow_step,
    start_up,
    outlier_collective,
    tensor_idle,
    chip_limit,
    low_flops,
    small_dmas,
    spill,
    reload,
    memory_bound,
    compute_bound,
    weight_reload,
    hardware_error,
    input_bound,
    low_occupancy,
    array_idleness,
    exposed_preparation,
    wrong_clock,
    capture_loss,
}

/// The judgement of a rule about the metrics of each rank: that of the rank which could save most.
fn measured(
    facts: &Facts<'_>,
    found: impl Fn(&Facts<'_>, &DeviceMetrics) -> Option<Finding>,
) -> Result<Judgement> {
    let devices = &facts.measures().devices;
    if devices.is_empty() {
        return Ok(Judgement::CannotTell(DataGap::DeviceMetrics));
    }
    // Rules about parts of the run look at more than a half percent of it.
    let is_worth = |one: &Finding| one.saving.is_some_and(|of| of.high_ps >= facts.least_worth_ps());
    let found = devices.iter().filter_map(|of| found(facts, of)).filter(is_worth);
    // The first one of equals.
    let most = found.reduce(|most, one| if one.saved_ps() > most.saved_ps() { one } else { most });
    Ok(most.map_or(Judgement::Nothing, |one| Judgement::Found(vec![one])))
}

impl RuleName {
    /// The rule of this name.
    #[must_use]
    pub fn rule(self) -> &'static FindingRule {
        &RULES[self as usize]
    }

    /// Judges a run by the rule of this name.
    pub(super) fn check(self, facts: &Facts<'_>) -> Result<Judgement> {
        CHECKS[self as usize](facts)
    }
}

impl Finding {
    /// The finding in a sentence, without its saving.
    #[must_use]
    pub fn text(&self) -> String {
        (self.rule.rule().words)(self)
    }
}
