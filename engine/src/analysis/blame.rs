//! Waiting, blame and bandwidth of all instances and ranks.

use rustc_hash::FxHashMap;

use super::arrival::{Arrival, ArrivalFacts, judge, likely_root, span_of};
use super::chance::Chance;
use super::delays;
use super::exposure::{WaitUnion, open_part};
use super::report::{InstanceReport, LinkReport, OperationState, RankReport, Report};
use super::root::{Cause, OperationFacts, RootBlame};
use super::slow_transfers::{excess_of, lost_of, usual_transfers};
use super::state::{Absence, states};
use super::{Instances, Job, JobClocks, MatchedJob, steps};
use crate::base::{ClockFit, Interval, Result, narrow};
use crate::exec::Cancel;
use crate::model::{CollectiveKind, WaitingRanks};

/// Reports on matched calls.
pub fn report(job: &Job, matched: MatchedJob, cancel: Cancel<'_>) -> Result<Report> {
    let MatchedJob { instances, clocks } = matched;
    let used = used_clocks(job, &clocks);
    let scene = ArrivalFacts { job, instances: &instances, clocks: &used, cancel };
    let mut operations = basic(&scene)?;
    let (contradictions, absences) = states(&scene, &mut operations)?;
    steps::find(job, &mut operations);
    let mut ranks: Vec<RankReport> = job.ranks.iter().map(of_rank).collect();
    for Absence { rank, lost } in absences {
        ranks[rank].lost = lost;
    }
    let (links, cuts) = blame(&scene, &mut operations, &mut ranks)?;
    let parts = parts_of(job, &instances, &operations);
    let mut report =
        Report { clocks, used, instances, operations, ranks, links, parts, contradictions, cuts };
    delays::add(job, &mut report, cancel)?;
    Ok(report)
}

/// See [`Report::parts`].
fn parts_of(job: &Job, instances: &Instances, operations: &[InstanceReport]) -> u32 {
    let of_all = (0..operations.len()).filter(|&at| is_of_all(job, instances, &operations[at], at)).count();
    let mut steps: Vec<u32> = operations.iter().filter_map(|one| one.step).collect();
    steps.sort_unstable();
    steps.dedup();
    narrow(of_all.max(steps.len()).max(1))
}

/// Whether all ranks of the job take part in an operation.
fn is_of_all(job: &Job, instances: &Instances, one: &InstanceReport, at: usize) -> bool {
    let (group, ranks) = (&job.groups[one.group as usize], job.ranks.len());
    instances.count(at) == ranks
        || group.pair.is_none() && group.size() as usize >= ranks && group.size() >= job.world
}

/// Clocks by hand replace those that the calls show. If the reference has one, the others follow.
fn used_clocks(job: &Job, clocks: &JobClocks) -> Vec<ClockFit> {
    let base = job.ranks.get(clocks.reference).and_then(|rank| rank.given);
    let ranks = job.ranks.iter().zip(&clocks.ranks);
    ranks
        .map(|(rank, found)| {
            let follow = |base: ClockFit| {
                let offset = found.fit.offset_ps().saturating_add(base.offset_ps());
                let drift = found.fit.drift_ppb().saturating_add(base.drift_ppb());
                ClockFit::new(found.fit.at_ps(), offset, drift, found.fit.bound_ps()).unwrap_or(found.fit)
            };
            rank.given.unwrap_or_else(|| base.map_or(found.fit, follow))
        })
        .collect()
}

fn of_rank(rank: &super::JobRank) -> RankReport {
    let rest = &rank.rest;
    let exposed_ps = rest.busy_ps - rest.compute_ps;
    RankReport {
        rank: rank.rank,
        compute_ps: rest.compute_ps,
        communication_ps: rest.communication_ps,
        overlap_ps: rest.communication_ps - exposed_ps,
        exposed_ps,
        copy_ps: rest.copy_ps,
        idle_ps: rest.span_ps - rest.busy_ps - rest.copy_ps,
        span_ps: rest.span_ps,
        ..RankReport::default()
    }
}

/// Operations that have the same root: group, kind, and the first rank of a group that is not
/// stated.
type RootKey = (u32, CollectiveKind, Option<usize>);

/// Times, signatures and roots of all instances.
fn basic(scene: &ArrivalFacts<'_>) -> Result<Vec<InstanceReport>> {
    let job = scene.job;
    let mut arrivals = Vec::new();
    let mut rooted: FxHashMap<RootKey, Vec<usize>> = FxHashMap::default();
    let mut operations = Vec::with_capacity(scene.instances.len());
    for at in 0..scene.instances.len() {
        scene.cancel.check()?;
        scene.arrivals(at, &mut arrivals);
        let signature = majority(job, &arrivals);
        let of = &job.signatures[signature as usize];
        if of.kind.waiting() != WaitingRanks::ForAll {
            // Groups that share a stream have roots of their own.
            let first = arrivals.first().filter(|_| !job.groups[of.group as usize].is_stated());
            let key = (of.group, of.kind, first.map(|one| one.member.rank));
            rooted.entry(key).or_default().push(at);
        }
        let stated = of.root.filter(|_| of.kind.waiting() != WaitingRanks::ForAll);
        let stated = stated.and_then(|root| job.position(root));
        operations.push(InstanceReport {
            group: scene.instances.groups[at],
            signature,
            span: span_of(&arrivals),
            first: first_of(&arrivals),
            last: last_of(&arrivals),
            root: stated.and_then(|root| u32::try_from(root).ok()),
            wait_ps: 0,
            state: OperationState::default(),
            step: steps::stated(job, &arrivals),
        });
    }
    for ((_, kind, _), of) in rooted {
        let unstated = of.iter().any(|&at| operations[at].root.is_none());
        let likely = if unstated { likely_root(scene, &of, kind.waiting())? } else { None };
        let likely = likely.and_then(|root| u32::try_from(root).ok());
        for at in of {
            operations[at].root = operations[at].root.or(likely);
        }
    }
    Ok(operations)
}

/// The most frequent signature; the first one of several.
fn majority(job: &Job, arrivals: &[Arrival]) -> u32 {
    let of = |one: &Arrival| job.ranks[one.member.rank].calls.signatures[one.member.call];
    let first = arrivals.first().map_or(0, of);
    if arrivals.iter().all(|one| of(one) == first) {
        return first;
    }
    let mut counts: FxHashMap<u32, (usize, u32)> = FxHashMap::default();
    for signature in arrivals.iter().map(of) {
        let count = counts.entry(job.classes[signature as usize]).or_insert((0, signature));
        *count = (count.0 + 1, count.1.min(signature));
    }
    let best = counts.into_iter().max_by_key(|(class, (count, _))| (*count, std::cmp::Reverse(*class)));
    best.map_or(first, |(_, (_, signature))| signature)
}

fn first_of(arrivals: &[Arrival]) -> Option<u32> {
    let first = arrivals.iter().min_by_key(|one| one.start_ps);
    first.and_then(|one| u32::try_from(one.member.rank).ok())
}

fn last_of(arrivals: &[Arrival]) -> Option<u32> {
    let last = arrivals.iter().max_by_key(|one| one.start_ps).filter(|_| arrivals.len() > 1);
    last.and_then(|one| u32::try_from(one.member.rank).ok())
}

/// Waits and blame of all kinds, in one pass in the order of last arrivals.
fn blame(
    scene: &ArrivalFacts<'_>,
    operations: &mut [InstanceReport],
    ranks: &mut [RankReport],
) -> Result<(Vec<LinkReport>, u64)> {
    let job = scene.job;
    let usual = usual_transfers(scene.job, operations);
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.sort_unstable_by_key(|&at| (operations[at].span.last_ps, at));
    let mut root = RootBlame::new(ranks.len());
    let mut cuts = 0;
    let mut exposed = vec![WaitUnion::default(); ranks.len()];
    let mut chance = Chance::new(operations.len());
    let mut arrivals = Vec::new();
    for at in order {
        scene.cancel.check()?;
        let one = &mut operations[at];
        let kind = job.signatures[one.signature as usize].kind;
        scene.arrivals(at, &mut arrivals);
        cuts += judge(&mut arrivals, kind, one.root.map(|root| root as usize));
        one.wait_ps = arrivals.iter().map(|arrival| arrival.wait_ps).sum();
        credit(one, kind, &arrivals, ranks);
        chance.add(at, &arrivals, ranks);
        let lost = lost_of(scene, one, &arrivals);
        let excess_ps = excess_of(scene, one, usual[at].ps as f64, &lost);
        let is_of_all = is_of_all(job, scene.instances, one, at);
        let step = OperationFacts { at, group: one.group, span: one.span, excess_ps, is_of_all };
        root.add(step, &arrivals, &lost, |rank, from, to| open_of(scene, rank, Interval::new(from, to)));
        for arrival in arrivals.iter().filter(|arrival| arrival.wait_ps > 0) {
            let rank = &job.ranks[arrival.member.rank];
            let start = rank.calls.starts_ps[arrival.member.call];
            let wait = Interval::lasting(start, arrival.wait_ps);
            exposed[arrival.member.rank].add(wait, |span| open_part(&rank.rest.covered_ps, span));
        }
    }
    for (rank, exposed) in ranks.iter_mut().zip(exposed) {
        rank.exposed_wait_ps = exposed.sum_ps();
    }
    chance.finish(scene.instances, ranks);
    Ok((links_of(root, ranks), cuts))
}

/// Length of the recorded part of a shared span in which a rank does not compute.
fn open_of(scene: &ArrivalFacts<'_>, rank: usize, shared: Interval) -> i64 {
    let (clock, rest) = (&scene.clocks[rank], &scene.job.ranks[rank].rest);
    let span = Interval::new(clock.to_local(shared.start).0, clock.to_local(shared.end).0);
    let recorded = Interval::new(rest.recorded_ps.0, rest.recorded_ps.1);
    open_part(&rest.covered_ps, span.intersection(recorded))
}

/// Gives the ranks their root blame. Returns the links, the largest cost first.
fn links_of(root: RootBlame, ranks: &mut [RankReport]) -> Vec<LinkReport> {
    let empty = |group| LinkReport {
        group,
        root_blame_ps: 0.0,
        excess_ps: 0.0,
        operations: 0,
        slower_ps: 0.0,
        worst: None,
    };
    let mut links: FxHashMap<u32, LinkReport> = FxHashMap::default();
    for (cause, root_blame_ps) in root.causes {
        match cause {
            Cause::Rank(rank) => ranks[rank].root_blame_ps = root_blame_ps,
            Cause::Link(group) => {
                links.entry(group).or_insert_with(|| empty(group)).root_blame_ps = root_blame_ps;
            }
        }
    }
    for (group, excess) in root.excess {
        let link = links.entry(group).or_insert_with(|| empty(group));
        (link.excess_ps, link.operations) = (excess.of_ranks_ps, excess.operations);
        link.slower_ps = excess.of_operations_ps / excess.operations.max(1) as f64;
        link.worst = excess.worst.and_then(|(at, _)| u32::try_from(at).ok());
    }
    let mut links: Vec<LinkReport> = links.into_values().collect();
    let cost = |link: &LinkReport| link.root_blame_ps + link.excess_ps;
    links.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.group.cmp(&b.group)));
    links
}

/// Adds an operation to the sums of its ranks.
fn credit(one: &InstanceReport, kind: CollectiveKind, arrivals: &[Arrival], ranks: &mut [RankReport]) {
    for arrival in arrivals {
        let rank = &mut ranks[arrival.member.rank];
        rank.collectives += 1;
        rank.wait_ps += arrival.wait_ps;
        rank.blame_ps += arrival.blame_ps;
        let is_first = arrival.start_ps == one.span.first_ps && arrivals.len() > 1;
        rank.first += u64::from(is_first && kind.waiting() == WaitingRanks::ForAll);
    }
    let to_blame = match kind.waiting() {
        WaitingRanks::ForAll => one.last,
        WaitingRanks::ForRoot => one.root,
        WaitingRanks::RootForAll => arrivals
            .iter()
            .filter(|arrival| u32::try_from(arrival.member.rank).ok() != one.root)
            .min_by_key(|arrival| arrival.start_ps)
            .and_then(|arrival| u32::try_from(arrival.member.rank).ok()),
    };
    let Some(last) = to_blame.and_then(|rank| ranks.get_mut(rank as usize)) else { return };
    last.last_takes_all_ps += one.wait_ps as f64;
    if kind.waiting() == WaitingRanks::ForAll {
        last.last += 1;
        let margin = one.span.last_ps.saturating_sub(one.span.second_last_ps) as f64;
        last.saving_ps += (arrivals.len() - 1) as f64 * margin;
    }
}
