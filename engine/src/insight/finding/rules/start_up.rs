//! Time before the first work: the run has begun, and its devices have nothing to do yet.
//!
//! The run begins with the first work of a device. Where that is a single instruction, and nothing
//! follows for a long time, the run waits for its input or for its program. The saving is between
//! nothing and all of that time: a part of it is needed once.

use super::super::evidence::{Evidence, Measure, Quantity};
use super::super::facts::Facts;
use super::super::missing::Missing;
use super::super::place::Place;
use super::super::verdict::{Finding, Verdict};
use super::{Rule, RuleName};
use crate::base::Result;
use crate::insight::{Bracket, RankGraph};
use crate::model::{MachineSide, WorkNode};

pub(super) const RULE: Rule = Rule {
    name: RuleName::StartUp,
    id: "start-up",
    title: "does the run spend much time before its work begins?",
    advice: "record several iterations, or keep the program loaded, so that the start-up is paid once",
    check,
    words,
};

/// The least share of the run.
const LEAST_SHARE: f64 = 0.1;
/// A run has begun once a rank has worked for longer than this share of it.
const BEGUN: f64 = 0.01;

fn check(facts: &Facts<'_>) -> Result<Verdict> {
    let first_ps = facts.path.span_ps.0;
    let begins = facts.graph.ranks.iter().filter_map(|rank| begin_ps(rank, facts.part_ps(BEGUN)));
    let Some(begin_ps) = begins.min() else { return Ok(Verdict::CannotTell(Missing::DeviceWork)) };
    let idle_ps = begin_ps.saturating_sub(first_ps);
    if facts.share(idle_ps) < LEAST_SHARE {
        return Ok(Verdict::Nothing);
    }
    let saving = Bracket { low_ps: 0, middle_ps: idle_ps, high_ps: idle_ps };
    let place = Place::of_span(first_ps, begin_ps);
    let mut finding = facts.finding(RuleName::StartUp, place, Some(saving));
    finding.evidence = vec![
        Evidence::new(Measure::Idle, Quantity::Time(idle_ps)),
        Evidence::new(Measure::OfRun, Quantity::Share(facts.share(idle_ps))),
    ];
    Ok(Verdict::Found(vec![finding]))
}

/// The start of the slice with which a rank has worked for longer than `least_ps`. `None` if it
/// never does.
fn begin_ps(rank: &RankGraph, least_ps: i64) -> Option<i64> {
    let mut worked_ps = 0_i64;
    let works = |node: &&WorkNode| {
        let class = rank.classes[node.class as usize];
        class.side == MachineSide::Device && !class.waits && rank.is_recorded(node)
    };
    let mut nodes = rank.work.nodes.iter().filter(works);
    let begin = nodes.find(|node| {
        worked_ps = worked_ps.saturating_add(node.duration_ps);
        worked_ps > least_ps
    });
    begin.map(|node| node.start_ps)
}

fn words(of: &Finding) -> String {
    format!(
        "the run spends {}, {} of it, before its work begins",
        of.words(Measure::Idle),
        of.words(Measure::OfRun)
    )
}
