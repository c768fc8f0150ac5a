//! A device that waits for launches: its host does not launch work as fast as the device could take
//! it. The saving is the replay in which no work waits for its launch, without what long pauses of
//! hosts between two calls cost: those are no matter of launches.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence, beginning};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::idle_gap::{self, LEAST_GAP};
use super::{FindingRule, MetricsNeed};
use crate::base::Result;
use crate::insight::walk::{PathKind, PathPart};
use crate::insight::{Bracket, Scenario};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::LaunchBound,
    id: "launch-bound",
    title: "do devices wait for their hosts to launch work?",
    advice: "launch fewer, larger kernels: fuse them, compile the model, or record a graph of launches; take \
             work off the launching thread; load kernels in a warm-up, before the run",
    needs: MetricsNeed::Nothing,
    words,
};

/// The least share of the critical path that hosts take, and the least saving, as a share of the
/// run.
const LEAST_SHARE: f64 = 0.05;

pub(super) fn check(facts: &Facts<'_>) -> Result<Judgement> {
    if facts.graph.ranks.iter().all(|rank| rank.work.host.is_empty()) {
        return Ok(Judgement::CannotTell(DataGap::Launches));
    }
    // A host that makes no call for long is no matter of launches: see `idle-gap`.
    let is_of_launches = |part: &PathPart| match part.kind {
        PathKind::Call => true,
        PathKind::Host => facts.share(part.duration_ps()) < LEAST_GAP,
        PathKind::Work | PathKind::Transfer | PathKind::Gap => false,
    };
    let of_hosts = facts.path.parts.iter().filter(|part| is_of_launches(part));
    let (count, host_ps) = of_hosts.fold((0_u64, 0_i64), |(count, sum_ps), part| {
        (count + u64::from(part.kind == PathKind::Call), sum_ps.saturating_add(part.duration_ps()))
    });
    if facts.share(host_ps) < LEAST_SHARE {
        return Ok(facts.unless_launches_lack());
    }
    // The critical path gets shorter by at most its parts that become free: what the replay saves
    // beyond them is the start of the program, or another pause.
    let of_all = facts.saving(&Scenario::with_free_launches())?;
    let saving = without(of_all, idle_gap::saving_of_hosts(facts)?).at_most(host_ps);
    if saving.middle_ps <= facts.part_ps(LEAST_SHARE) {
        return Ok(facts.unless_launches_lack());
    }
    let longest = facts.path.parts.iter().filter(|part| part.kind == PathKind::Call);
    let longest = longest.max_by_key(|part| part.duration_ps());
    let longest = longest.filter(|part| part.duration_ps() >= host_ps / 2);
    let place = longest.map_or_else(
        || place_of_stretch(facts, is_of_launches),
        |part| {
            let rank = &facts.graph.ranks[part.rank as usize];
            Place::of_node(rank, part.node, part.start_ps, part.end_ps)
        },
    );
    let mut finding = facts.finding(RuleName::LaunchBound, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(facts.share(host_ps))),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(count)),
    ];
    finding.evidence.extend(longest.map(|part| {
        let name = facts.name_of(&facts.graph.ranks[part.rank as usize], part.node);
        FindingEvidence::about(EvidenceMeasure::LongestCall, name, EvidenceValue::Time(part.duration_ps()))
    }));
    Ok(Judgement::Found(vec![finding]))
}

/// The stretch of the path with the most time of wanted parts beyond that of the others.
fn place_of_stretch(facts: &Facts<'_>, is_wanted: impl Fn(&PathPart) -> bool) -> Place {
    let Some(parts) = densest(&facts.path.parts, is_wanted) else { return Place::default() };
    let first = parts.first().map_or(0, |part| part.rank);
    let is_of_one = parts.iter().all(|part| part.rank == first);
    let (start_ps, end_ps) = (parts[0].start_ps, parts[parts.len() - 1].end_ps);
    let rank = is_of_one.then(|| facts.graph.ranks[first as usize].rank);
    Place { rank, ..Place::of_span(start_ps, end_ps) }
}

/// The saving of a change beyond that of another one, which is a part of it.
fn without(whole: Bracket, part: Bracket) -> Bracket {
    let of = |whole_ps: i64, part_ps: i64| whole_ps.saturating_sub(part_ps);
    let (low_ps, high_ps) = (of(whole.low_ps, part.high_ps), of(whole.high_ps, part.low_ps));
    Bracket::around(low_ps, of(whole.middle_ps, part.middle_ps), high_ps).not_negative()
}

/// The parts of that stretch. `None` without any.
fn densest(parts: &[PathPart], is_wanted: impl Fn(&PathPart) -> bool) -> Option<&[PathPart]> {
    let (mut best, mut best_ps) = (0..0, 0_i64);
    let (mut from, mut sum_ps) = (0, 0_i64);
    for (at, part) in parts.iter().enumerate() {
        let length_ps = part.duration_ps();
        sum_ps = sum_ps.saturating_add(if is_wanted(part) { length_ps } else { -length_ps });
        if sum_ps <= 0 {
            (from, sum_ps) = (at + 1, 0);
        } else if sum_ps > best_ps {
            (best, best_ps) = (from..at + 1, sum_ps);
        }
    }
    Some(&parts[best]).filter(|parts| !parts.is_empty())
}

fn words(of: &Finding) -> String {
    let of_run = of.words(EvidenceMeasure::OfRun);
    let longest = of.measured(EvidenceMeasure::LongestCall);
    if let Some((call, name)) = longest.and_then(|one| Some((one, one.of.as_deref()?))) {
        let (time, name) = (call.quantity.words(), beginning(name));
        return format!(
            "devices wait for launches: {time} for one call of `{name}`; hosts are {of_run} of the critical path"
        );
    }
    format!(
        "devices wait for launches: {of_run} of the critical path is the host with its {} calls, and the time between \
         them",
        of.words(EvidenceMeasure::Count)
    )
}
