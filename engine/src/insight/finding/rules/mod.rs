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
    pub(super) check: fn(&Facts<'_>) -> Result<Judgement>,
    pub(super) words: fn(&Finding) -> String,
}

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
        let RankMeasures { device, kernels, arrays, errors, tensors: _ } = facts.measures();
        match self {
            Self::Nothing => true,
            Self::Hosts => facts.has_launches(),
            Self::Transfers => facts.has_transfers(),
            Self::Device => device.is_some(),
            Self::Kernels => kernels.is_some(),
            Self::Arrays => arrays.is_some(),
            Self::Errors => errors.is_some(),
        }
    }
}

/// All rules, in the order of [`RuleName`].
pub static RULES: [FindingRule; 27] = [
    late_rank::RULE,
    slow_link::RULE,
    chip_wait::RULE,
    dma_wait::RULE,
    exposed_communication::RULE,
    launch_bound::RULE,
    host_blocks::RULE,
    idle_gap::RULE,
    slow_step::RULE,
    start_up::RULE,
    outlier_collective::RULE,
    tensor_idle::RULE,
    chip_limit::RULE,
    low_flops::RULE,
    small_dmas::RULE,
    spill::RULE,
    reload::RULE,
    memory_bound::RULE,
    compute_bound::RULE,
    weight_reload::RULE,
    hardware_error::RULE,
    input_bound::RULE,
    low_occupancy::RULE,
    array_idleness::RULE,
    exposed_preparation::RULE,
    wrong_clock::RULE,
    capture_loss::RULE,
];

/// The judgement of a rule about the metrics of a rank.
fn measured(
    facts: &Facts<'_>,
    found: impl Fn(&Facts<'_>, &DeviceMetrics) -> Option<Finding>,
) -> Result<Judgement> {
    let Some(of) = &facts.measures().device else { return Ok(Judgement::CannotTell(DataGap::DeviceMetrics)) };
    // Rules about parts of the run look at more than a half percent of it.
    let is_worth = |one: &Finding| one.saving.is_some_and(|of| of.high_ps >= facts.least_worth_ps());
    let found: Vec<Finding> = found(facts, of).into_iter().filter(is_worth).collect();
    Ok(if found.is_empty() { Judgement::Nothing } else { Judgement::Found(found) })
}

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
