//! Engines of a chip that wait for each other. The saving is the replay in which nothing waits for
//! the awaited one, on any rank.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::{FindingRule, MetricsNeed};
use crate::base::{Result, narrow};
use crate::insight::scenario::RankQueue;
use crate::insight::{RankGraph, Scenario};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::ChipWait,
    id: "chip-wait",
    title: "do engines of a chip wait for each other?",
    advice: "issue the awaited work earlier, split it so that the waiting engine can begin with a part, or give \
             the waiting engine other work first",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least saving, as a share of the run. Engines that depend on each other always wait a little.
const LEAST_SAVING: f64 = 0.05;
/// Awaited parties that are replayed.
const MOST: usize = 4;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    judged(facts, RuleName::ChipWait, false)
}

/// The cost of the waits for transfers, or of those for other engines.
pub(super) fn judged(facts: &Facts<'_>, rule: RuleName, is_for_transfers: bool) -> Result<Judgement> {
    if !facts.has_several_queues() {
        return Ok(Judgement::Nothing);
    }
    let mut found = Vec::new();
    let waits = facts.chip_waits()?.iter().filter(|wait| wait.is_for_transfers == is_for_transfers);
    for wait in waits.take(MOST) {
        let saving = facts.saving(&Scenario::without_waits_for(queues_of_party(facts, wait.awaited)))?;
        if saving.middle_ps <= facts.part_ps(LEAST_SAVING) {
            continue;
        }
        let rank = facts.graph.ranks[wait.rank as usize].rank;
        let place = Place { track: Some(wait.waiter.to_owned()), ..Place::of_rank(rank) };
        let mut finding = facts.finding(rule, place, Some(saving));
        let waited = EvidenceValue::Time(wait.wait_ps);
        finding.evidence = vec![
            FindingEvidence::about(EvidenceMeasure::Waited, wait.awaited, waited),
            FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(wait.ranks)),
        ];
        found.push(finding);
    }
    Ok(Judgement::of(found, None))
}

/// The queues of a party on all ranks: each runs the same program.
fn queues_of_party(facts: &Facts<'_>, party: &str) -> Vec<RankQueue> {
    let ranks = (0_u32..).zip(&facts.graph.ranks);
    let of_rank = |(rank, graph): (u32, &RankGraph)| {
        let queues = 0..narrow(graph.work.queues.len());
        let of_party = queues.filter(|queue| graph.work.party(*queue) == party);
        of_party.map(|queue| RankQueue { rank, queue }).collect::<Vec<_>>()
    };
    ranks.flat_map(of_rank).collect()
}

pub(super) fn words(of: &Finding) -> String {
    let awaited = of.measured(EvidenceMeasure::Waited).and_then(|one| one.of.clone()).unwrap_or_default();
    let waiter = of.place.track.as_deref().unwrap_or_default();
    let rank = of.place.rank.unwrap_or_default();
    let others = match of.measured(EvidenceMeasure::Count).map(|one| one.quantity) {
        Some(EvidenceValue::Count(2)) => ", and so on another rank".to_owned(),
        Some(EvidenceValue::Count(ranks @ 3..)) => format!(", and so on {} other ranks", ranks - 1),
        _ => String::new(),
    };
    format!("{waiter} of rank {rank} waits {} for {awaited}{others}", of.words(EvidenceMeasure::Waited))
}
