//! A device without work for no reason that is known: neither other work, nor a launch, nor another
//! rank held it back. The gaps on the critical path count. The saving is the replay without them.

use rustc_hash::FxHashMap;

use super::super::evidence::{Evidence, Measure, Quantity, short_name};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::verdict::{Finding, Verdict};
use super::{Rule, RuleName};
use crate::base::Result;
use crate::insight::Scenario;
use crate::insight::node_change::NodeChange;
use crate::insight::walk::{PathKind, PathPart};

pub(super) const RULE: Rule = Rule {
    name: RuleName::IdleGap,
    id: "idle-gap",
    title: "is a device idle for no reason that is known?",
    advice: "look at what the host did at that time: loading of data, checkpoints, evaluation, garbage \
             collection, other jobs",
    check,
    words,
};

/// A gap stands out from this share of the run on.
const LEAST_GAP: f64 = 0.02;
/// All gaps together do from this share of the run on.
const LEAST_SUM: f64 = 0.1;
/// Gaps that are listed.
const MOST_GAPS: usize = 8;

fn check(facts: &Facts<'_>) -> Result<Verdict> {
    // Nothing is known about the time before the first work of a rank.
    let has_before =
        |part: &&PathPart| facts.edges.ranks[part.rank as usize].starts[part.node as usize].is_some();
    let gaps = facts.path.parts.iter().filter(|part| part.kind == PathKind::Gap).filter(has_before);
    let mut gaps: Vec<&PathPart> = gaps.collect();
    gaps.sort_by_key(|part| (std::cmp::Reverse(part.duration_ps()), part.start_ps));
    let sum_ps = gaps.iter().map(|part| part.duration_ps()).fold(0, i64::saturating_add);
    let long = gaps.iter().filter(|part| facts.share(part.duration_ps()) >= LEAST_GAP).take(MOST_GAPS);
    let mut found = Vec::new();
    for part in long {
        found.push(finding(facts, &[part])?);
    }
    if found.is_empty() && facts.share(sum_ps) >= LEAST_SUM {
        found.push(finding(facts, &gaps)?);
    }
    Ok(Verdict::of(found, None))
}

/// The finding of some gaps, the longest first.
fn finding(facts: &Facts<'_>, gaps: &[&PathPart]) -> Result<Finding> {
    let mut changes: FxHashMap<usize, Vec<NodeChange>> = FxHashMap::default();
    for part in gaps {
        let rank = part.rank as usize;
        let nodes = facts.graph.ranks[rank].work.nodes.len();
        let of_rank = changes.entry(rank).or_insert_with(|| vec![NodeChange::default(); nodes]);
        of_rank[part.node as usize].gap_ps -= part.duration_ps();
    }
    let saving = facts.saving(&Scenario::with_changes(changes))?;
    let idle_ps = gaps.iter().map(|part| part.duration_ps()).fold(0, i64::saturating_add);
    let place = match gaps {
        [part] => {
            let graph = &facts.graph.ranks[part.rank as usize];
            let node = &graph.work.nodes[part.node as usize];
            let queue = graph.classes[node.class as usize].queue;
            Place {
                rank: Some(graph.rank),
                track: Some(graph.work.queue_names[queue as usize].trim().to_owned()),
                row: graph.row_of(part.node),
                ..Place::of_span(part.start_ps, part.end_ps)
            }
        }
        _ => Place::default(),
    };
    let next = gaps.first().map(|part| facts.name_of(&facts.graph.ranks[part.rank as usize], part.node));
    let mut finding = facts.finding(RuleName::IdleGap, place, Some(saving));
    finding.evidence = vec![
        Evidence::about(Measure::Idle, next.unwrap_or_default(), Quantity::Time(idle_ps)),
        Evidence::new(Measure::Count, Quantity::Count(gaps.len() as u64)),
    ];
    Ok(finding)
}

fn words(of: &Finding) -> String {
    let name =
        of.measured(Measure::Idle).and_then(|one| one.of.as_deref()).map(short_name).unwrap_or_default();
    let idle = of.words(Measure::Idle);
    match of.place.rank {
        Some(rank) => {
            format!("the device of rank {rank} is idle for {idle} before `{name}`, and nothing says why")
        }
        None => format!(
            "devices are idle for {idle} in {} gaps of the critical path, the longest before `{name}`, and nothing \
             says why",
            of.words(Measure::Count)
        ),
    }
}
