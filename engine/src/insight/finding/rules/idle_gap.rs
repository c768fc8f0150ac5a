//! A device without work although nothing of the machine held it back: neither other work, nor
//! another rank, nor a launch that took its time. Either nothing is known about the gap, or its
//! host was between two calls all the time, as while it loads data.
//!
//! The gaps on the critical path count, as far as no device of their rank works in them. The saving
//! is the replay without them: the launch in a gap comes when the gap begins, or its work does if
//! it has no launch. If nothing works on any rank meanwhile and the replay saves less, the middle
//! is that time.

use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, beginning, short_name};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::input_bound::input_gaps;
use super::path_gap::{IdleGap, idle_gaps, idle_ps, operator, other_stretches, saving, scenario_without};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::Bracket;
use crate::insight::walk::{PathKind, PathPart};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::IdleGap,
    id: "idle-gap",
    title: "is a device idle although nothing of the machine holds it back?",
    advice: "look at what the host did at that time: loading of data, checkpoints, evaluation, garbage \
             collection, other jobs",
    needs: MetricsNeed::Nothing,
    words,
};

/// A gap stands out from this share of the run on.
pub(super) const LEAST_GAP: f64 = 0.02;
/// All gaps together do from this share of the run on.
const LEAST_SUM: f64 = 0.1;
/// Gaps with a finding of their own. More of them are one finding.
const MOST_GAPS: usize = 3;
/// The least saving, as a share of the run.
const LEAST_SAVING: f64 = 0.01;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    let mut gaps = gaps(facts);
    // The input of the program is a cause of its own.
    let input: Vec<(u32, u32)> = input_gaps(facts).iter().map(IdleGap::place).collect();
    gaps.retain(|gap| !input.contains(&gap.place()));
    let long = gaps.partition_point(|gap| facts.share(gap.idle_ps) >= LEAST_GAP);
    let mut found = Vec::new();
    match long {
        0 if facts.share(idle_ps(&gaps)) >= LEAST_SUM => found.push(finding(facts, &gaps)?),
        0 => {}
        few if few <= MOST_GAPS => {
            for gap in gaps[..few].chunks(1) {
                found.push(finding(facts, gap)?);
            }
        }
        many => found.push(finding(facts, &gaps[..many])?),
    }
    found.retain(|one| one.saving.is_some_and(|saving| saving.middle_ps > facts.part_ps(LEAST_SAVING)));
    Ok(Judgement::of(found, None))
}

/// The gaps of the path in which a device is idle for no known reason, the longest first.
fn gaps<'f>(facts: &'f Facts<'_>) -> Vec<IdleGap<'f>> {
    idle_gaps(facts, |part| part.kind == PathKind::Gap || is_pause(facts, part))
}

/// Whether a host makes no call for so long that it is no matter of launches.
fn is_pause(facts: &Facts<'_>, part: &PathPart) -> bool {
    part.kind == PathKind::Host && facts.share(part.duration_ps()) >= LEAST_GAP
}

/// Time that a run would save without the long pauses of hosts between two calls.
pub(super) fn saving_of_hosts(facts: &Facts<'_>) -> Result<Bracket> {
    let mut pauses = gaps(facts);
    pauses.retain(|gap| gap.part.kind == PathKind::Host);
    if pauses.is_empty() {
        return Ok(Bracket::around(0, 0, 0));
    }
    facts.saving(&scenario_without(facts, &pauses))
}

/// The finding of some gaps, the longest first.
fn finding(facts: &Facts<'_>, gaps: &[IdleGap<'_>]) -> Result<Finding> {
    let saving = saving(facts, gaps)?;
    let Some(first @ IdleGap { part, longest, .. }) = gaps.first() else {
        return Ok(facts.finding(RuleName::IdleGap, Place::default(), Some(saving)));
    };
    let rank = &facts.graph.ranks[part.rank as usize];
    let (start_ps, end_ps) = (longest.start.0, longest.end.0);
    let mut place = match (gaps.len(), &facts.graph.ranks[..]) {
        (1, _) => Place::of_node(rank, part.node, start_ps, end_ps),
        (_, [only]) => Place { rank: Some(only.rank), ..Place::of_span(start_ps, end_ps) },
        _ => Place::of_span(start_ps, end_ps),
    };
    place.others_ps = other_stretches(gaps);
    let of_host = gaps.iter().filter(|gap| gap.part.kind == PathKind::Host).map(|gap| gap.idle_ps);
    let next = facts.name_of(rank, part.node);
    let mut finding = facts.finding(RuleName::IdleGap, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::about(EvidenceMeasure::Idle, next, EvidenceValue::Time(idle_ps(gaps))),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(gaps.len() as u64)),
        FindingEvidence::new(
            EvidenceMeasure::OfHost,
            EvidenceValue::Time(of_host.fold(0, i64::saturating_add)),
        ),
    ];
    finding.evidence.extend(operator(facts, first).map(|name| {
        let time = EvidenceValue::Time(longest.duration_ps());
        FindingEvidence::about(EvidenceMeasure::HostOperator, &name, time)
    }));
    Ok(finding)
}

fn words(of: &Finding) -> String {
    let idle = of.measured(EvidenceMeasure::Idle);
    let name = idle.and_then(|one| one.of.as_deref()).map(short_name).unwrap_or_default();
    let idle_ps = idle.map(|one| one.quantity);
    let operator = of.measured(EvidenceMeasure::HostOperator).and_then(|one| one.of.as_deref());
    let count = of.measured(EvidenceMeasure::Count).map(|one| one.quantity);
    let is_one = count == Some(EvidenceValue::Count(1));
    let why = match (of.measured(EvidenceMeasure::OfHost).map(|one| one.quantity), operator) {
        (_, Some(operator)) if is_one => format!("its host was in `{}`", beginning(operator)),
        (_, Some(operator)) => format!("in the longest one the host was in `{}`", beginning(operator)),
        (Some(host), None) if Some(host) == idle_ps => "its host was between two calls".to_owned(),
        (Some(EvidenceValue::Time(0)) | None, None) => "nothing says why".to_owned(),
        (Some(_), None) => "hosts were between calls for a part of it".to_owned(),
    };
    let idle = of.words(EvidenceMeasure::Idle);
    match of.place.rank.filter(|_| is_one) {
        Some(rank) => format!("nothing works on rank {rank} for {idle} before `{name}`; {why}"),
        None => format!(
            "nothing works for {idle} in {} gaps of the critical path, the longest before `{name}`; {why}",
            of.words(EvidenceMeasure::Count)
        ),
    }
}
