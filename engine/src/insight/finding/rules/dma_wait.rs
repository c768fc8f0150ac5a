//! Engines that wait for transfers of data. The saving is the replay in which nothing waits for the
//! awaited queue, on any rank.

use super::super::facts::Facts;
use super::super::rule_name::RuleName;
use super::super::verdict::Judgement;
use super::{FindingRule, MetricsNeed, chip_wait};
use crate::base::Result;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::DmaWait,
    id: "dma-wait",
    title: "do engines wait for transfers of data?",
    advice: "issue transfers earlier and keep two buffers, so that the next tile is there when the engine needs it; \
             make small transfers larger, and spread them over more queues",
    needs: MetricsNeed::Transfers,
    words: chip_wait::words,
};

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    chip_wait::judged(facts, RuleName::DmaWait, true)
}
