//! Slow links: a group of ranks whose transfers take longer than those of their like (kind, size
//! and number of ranks), although all of the group had come, or a rank whose own part of its
//! transfers takes longer than that of the others.
//!
//! `nprof ranks` finds the groups, with its thresholds. The saving is the replay in which each slow
//! transfer takes the usual time.

use rustc_hash::FxHashMap;

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, ranks_in_words};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::own_transfer::{SlowPart, slow_parts};
use super::{FindingRule, MOST_ALONE, MetricsNeed};
use crate::analysis::{Cost, LinkReport, Suspect, costs, is_slow_transfer};
use crate::base::{Result, narrow};
use crate::insight::Scenario;
use crate::insight::node_change::NodeChange;
use crate::metrics::UsualTime;

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::SlowLink,
    id: "slow-link",
    title: "are transfers between some ranks slower than those between others?",
    advice: "check the cables, switches and adapters between these ranks, and who else uses them",
    needs: MetricsNeed::Nothing,
    words,
};

/// Operations that make a link. A single slow one is an outlier.
pub(super) const LEAST_OPERATIONS: u64 = 2;
/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.001;
/// Links that are replayed.
const MOST_LINKS: usize = 8;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let missing = facts.missing_of_ranks();
    let usual = facts.usual_transfers();
    let mut found = Vec::new();
    for link in links(facts).into_iter().take(MOST_LINKS) {
        let slow = slow_transfers(facts, link.group, &usual);
        let saving = facts.saving(&Scenario::with_most_transfers(slow))?;
        if saving.middle_ps > facts.part_ps(LEAST_SAVING) {
            found.push(finding(
                facts,
                link,
                facts.finding(RuleName::SlowLink, place(facts, link), Some(saving)),
            ));
        }
    }
    found.extend(slow_ranks(facts)?);
    Ok(Judgement::of(found, missing))
}

/// The ranks whose own part of their operations is slow: each alone, and all together if they cover
/// each other.
fn slow_ranks(facts: &Facts<'_>) -> Result<Vec<Finding>> {
    let mut slow = slow_parts(facts);
    slow.retain(|(_, parts)| parts.len() as u64 >= LEAST_OPERATIONS);
    let (mut found, mut alone_ps, mut most_alone_ps) = (Vec::new(), 0_i64, 0_i64);
    for of in &slow {
        let saving = facts.saving(&without(facts, std::slice::from_ref(of), |part| part.alone_ps))?;
        alone_ps = alone_ps.saturating_add(saving.middle_ps.max(0));
        most_alone_ps = most_alone_ps.max(saving.middle_ps);
        if saving.middle_ps > facts.part_ps(LEAST_SAVING) {
            let place = place_of_part(facts, of.0, &of.1);
            found.push(part_finding(&of.1, facts.finding(RuleName::SlowLink, place, Some(saving))));
        }
    }
    let [(first, parts), _, ..] = slow.as_slice() else { return Ok(found) };
    let saving = facts.saving(&without(facts, &slow, |part| part.longer_ps))?;
    let covers = alone_ps as f64 <= saving.middle_ps as f64 * MOST_ALONE;
    if covers && saving.middle_ps > facts.part_ps(LEAST_SAVING) {
        let ranks = facts.numbers(slow.iter().map(|(rank, _)| *rank as usize));
        let place = Place { ranks, ..place_of_part(facts, *first, parts) };
        let mut both = part_finding(parts, facts.finding(RuleName::SlowLink, place, Some(saving)));
        both.evidence
            .push(FindingEvidence::new(EvidenceMeasure::Alone, EvidenceValue::Time(most_alone_ps.max(0))));
        found.push(both);
    }
    Ok(found)
}

/// The run in which these ranks, by their positions, take less time for their parts: each part by
/// `shorter_ps`. An operation is shorter by as much as the slowest of its parts.
fn without(facts: &Facts<'_>, slow: &[(u32, Vec<SlowPart>)], shorter_ps: fn(&SlowPart) -> i64) -> Scenario {
    let mut most_ps: FxHashMap<u32, i64> = FxHashMap::default();
    for part in slow.iter().flat_map(|(_, parts)| parts) {
        let transfer_ps = facts.report.operations[part.operation as usize].transfer_ps();
        let usual_ps = transfer_ps.saturating_sub(shorter_ps(part)).max(0);
        most_ps.entry(part.operation).and_modify(|ps| *ps = usual_ps.min(*ps)).or_insert(usual_ps);
    }
    let scenario = Scenario::with_most_transfers(most_ps);
    slow.iter().fold(scenario, |scenario, (rank, parts)| {
        let nodes = &facts.graph.ranks[*rank as usize].work.nodes;
        let mut changes = vec![NodeChange::default(); nodes.len()];
        for part in parts {
            let shorter = shorter_ps(part) as f64 / part.own_ps.max(1) as f64;
            for &step in &part.steps {
                let by_ps = (nodes[step as usize].duration_ps as f64 * shorter) as i64;
                changes[step as usize].duration_ps = -by_ps;
            }
        }
        scenario.and_changes(*rank as usize, changes)
    })
}

/// The place of a rank's slow part: its slowest operation.
fn place_of_part(facts: &Facts<'_>, rank: u32, slow: &[SlowPart]) -> Place {
    let worst = slow.iter().max_by_key(|part| part.longer_ps);
    let span = worst.map(|part| facts.report.operations[part.operation as usize].span);
    let span_ps = span.map(|span| (span.last_ps, span.end_ps));
    Place { span_ps, ..Place::of_rank(facts.job.ranks[rank as usize].rank) }
}

fn part_finding(slow: &[SlowPart], of: Finding) -> Finding {
    let count = slow.len().max(1) as u64;
    let longer_ps: i64 = slow.iter().map(|part| part.longer_ps).fold(0, i64::saturating_add);
    let mean_ps = longer_ps / count.cast_signed();
    let evidence = vec![
        FindingEvidence::new(EvidenceMeasure::LongerBy, EvidenceValue::Time(mean_ps)),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(count)),
    ];
    Finding { evidence, ..of }
}

/// The links that stand out.
pub(super) fn links<'f>(facts: &'f Facts<'_>) -> Vec<&'f LinkReport> {
    let link = |cost: &Cost| match cost.culprit {
        Suspect::Link(group) => facts.report.links.iter().find(|link| link.group == group),
        Suspect::Rank(_) => None,
    };
    let costs = costs(facts.report);
    let found = costs.iter().filter(|cost| cost.stands_out).filter_map(link);
    found.filter(|link| link.operations >= LEAST_OPERATIONS).collect()
}

/// The slow transfers of a group, each with the usual time.
fn slow_transfers(facts: &Facts<'_>, group: u32, usual: &[UsualTime]) -> FxHashMap<u32, i64> {
    let operations = facts.report.operations.iter().zip(usual).enumerate();
    let of_group = operations.filter(|(_, (one, usual))| {
        one.group == group && is_slow_transfer(one.transfer_ps() as f64, usual.ps as f64)
    });
    of_group.map(|(at, (_, usual))| (narrow(at), usual.ps)).collect()
}

fn place(facts: &Facts<'_>, link: &LinkReport) -> Place {
    let worst = link.worst.map(|at| &facts.report.operations[at as usize]);
    let rank = worst.and_then(|one| Some(facts.job.ranks[one.last.or(one.first)? as usize].rank));
    Place {
        rank,
        ranks: facts.job.groups[link.group as usize].ranks(),
        span_ps: worst.map(|one| (one.span.last_ps, one.span.end_ps)),
        ..Place::default()
    }
}

fn finding(facts: &Facts<'_>, link: &LinkReport, of: Finding) -> Finding {
    let name = Suspect::Link(link.group).name(facts.job);
    let slower =
        FindingEvidence::about(EvidenceMeasure::LongerBy, &name, EvidenceValue::Time(link.slower_ps as i64));
    let evidence = vec![
        slower,
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(link.operations)),
        FindingEvidence::new(
            EvidenceMeasure::Waited,
            EvidenceValue::Time((link.root_blame_ps + link.excess_ps) as i64),
        ),
    ];
    Finding { evidence, ..of }
}

fn words(of: &Finding) -> String {
    if of.measured(EvidenceMeasure::Alone).is_some() {
        return format!(
            "the links of {} are slow and cover each other, so that one alone costs at most {}: their own parts of {} \
             operations take {} longer each than those of the other ranks",
            ranks_in_words(&of.place.ranks),
            of.words(EvidenceMeasure::Alone),
            of.words(EvidenceMeasure::Count),
            of.words(EvidenceMeasure::LongerBy)
        );
    }
    if let (Some(rank), true) = (of.place.rank, of.place.ranks.is_empty()) {
        return format!(
            "the link of rank {rank} is slow: its own part of {} operations takes {} longer each than that of any \
             other rank",
            of.words(EvidenceMeasure::Count),
            of.words(EvidenceMeasure::LongerBy)
        );
    }
    let name = of.measured(EvidenceMeasure::LongerBy).and_then(|one| one.of.clone()).unwrap_or_default();
    format!(
        "the {name} is slow: {} operations take {} longer each than those of their like, which costs the ranks \
         {}, summed over them",
        of.words(EvidenceMeasure::Count),
        of.words(EvidenceMeasure::LongerBy),
        of.words(EvidenceMeasure::Waited)
    )
}
