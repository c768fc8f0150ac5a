//! A device that waits for launches: its host does not launch work as fast as the device could take
//! it. The saving is the replay in which no work waits for its launch.

use super::super::data_gap::DataGap;
use super::super::evidence::{EvidenceMeasure, EvidenceValue, FindingEvidence};
use super::super::facts::Facts;
use super::super::place::Place;
use super::super::rule_name::RuleName;
use super::super::verdict::{Finding, Judgement};
use super::FindingRule;
use super::idle_gap::LEAST_GAP;
use crate::base::Result;
use crate::insight::Scenario;
use crate::insight::walk::{PathKind, PathPart};

pub(super) const RULE: FindingRule = FindingRule {
    name: RuleName::LaunchBound,
    id: "launch-bound",
    title: "do devices wait for their hosts to launch work?",
    advice: "launch fewer, larger kernels: fuse them, compile the model, or record a graph of launches; take \
             work off the launching thread",
    check,
    words,
};

/// The least share of the critical path that hosts take, and the least saving, as a share of the
/// run.
const LEAST_SHARE: f64 = 0.05;

fn check(facts: &Facts<'_>) -> Result<Judgement> {
    if facts.graph.ranks.iter().all(|rank| rank.host.is_empty()) {
        return Ok(Judgement::CannotTell(DataGap::Launches));
    }
    // A host that makes no call for long is no matter of launches: see `idle-gap`.
    let is_of_launches = |part: &&PathPart| match part.kind {
        PathKind::Call => true,
        PathKind::Host => facts.share(part.duration_ps()) < LEAST_GAP,
        PathKind::Work | PathKind::Transfer | PathKind::Gap => false,
    };
    let of_hosts = facts.path.parts.iter().filter(is_of_launches);
    let (count, host_ps) = of_hosts.fold((0_u64, 0_i64), |(count, sum_ps), part| {
        (count + u64::from(part.kind == PathKind::Call), sum_ps.saturating_add(part.duration_ps()))
    });
    if facts.share(host_ps) < LEAST_SHARE {
        return Ok(Judgement::Nothing);
    }
    let saving = facts.saving(&Scenario::with_free_launches())?;
    if saving.middle_ps <= facts.part_ps(LEAST_SHARE) {
        return Ok(Judgement::Nothing);
    }
    let place = match &facts.graph.ranks[..] {
        [only] => Place::of_rank(only.rank),
        _ => Place::default(),
    };
    let mut finding = facts.finding(RuleName::LaunchBound, place, Some(saving));
    finding.evidence = vec![
        FindingEvidence::new(EvidenceMeasure::OfRun, EvidenceValue::Share(facts.share(host_ps))),
        FindingEvidence::new(EvidenceMeasure::Count, EvidenceValue::Count(count)),
    ];
    Ok(Judgement::Found(vec![finding]))
}

fn words(of: &Finding) -> String {
    format!(
        "devices wait for launches: {} of the critical path is the host with its {} calls, and the time between \
         them",
        of.words(EvidenceMeasure::OfRun),
        of.words(EvidenceMeasure::Count)
    )
}
