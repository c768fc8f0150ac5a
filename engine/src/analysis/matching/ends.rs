//! Matching by ends: calls of one group that end together on the shared clock.
//!
//! The sweep goes through all ends of the group in the order of time. A call joins the operation
//! whose calls end nearest, if kind, type and size are equal and its rank came to no later
//! operation of the group before.
//!
//! Threads of hosts do not end together. Their calls match by order and by overlap.

use super::cluster::{Cluster, ComparedEnd, EndedCall};
use super::{is_anchor, root_calls, tolerance};
use crate::analysis::clock::line::ClockLine;
use crate::analysis::overlap::{SharedCall, operations};
use crate::analysis::{Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;

/// Operations that are so far back that no call can join them are not looked at.
const OPEN: usize = 64;

/// Adds the instances of the ranks of a group.
pub(super) fn matched(
    job: &Job,
    group: u32,
    ranks: &[u16],
    lines: &[ClockLine],
    found: &mut Instances,
    cancel: Cancel<'_>,
) -> Result<()> {
    let mut calls = Vec::new();
    for &rank in ranks {
        let own = &job.ranks[usize::from(rank)].calls;
        let line = &lines[usize::from(rank)];
        let anchors =
            job.calls_in(rank.into(), group).iter().filter(|&&call| is_anchor(job, rank.into(), call));
        calls.extend(anchors.map(|&call| {
            let at = call as usize;
            let class = job.classes[own.signatures[at] as usize];
            let (end_ps, duration_ps) = (line.shared(own.end_ps(at)), own.durations_ps[at]);
            EndedCall { end_ps, rank, call, duration_ps, class }
        }));
    }
    calls.sort_unstable();
    let is_stated = job.groups[group as usize].is_stated();
    let reach = if is_stated { ComparedEnd::First } else { ComparedEnd::Last };
    let is_of_hosts = is_stated && ranks.iter().all(|&rank| job.is_timed_by_host(rank.into()));
    let mut clusters = match is_of_hosts {
        true => overlapping(&calls, if job.have_one_clock(ranks) { ONE_CLOCK_PS } else { APART_PS }, cancel)?,
        false => swept(&calls, lines.len(), reach, cancel)?,
    };
    if is_stated {
        join_suspects(&mut clusters, ranks.len(), cancel)?;
    }
    let rooted = root_calls::matched(job, group, ranks, lines, &clusters, cancel)?;
    for mut members in clusters.into_iter().map(|cluster| cluster.members).chain(rooted) {
        if !members.is_empty() {
            found.push(group, &mut members);
        }
    }
    Ok(())
}

/// Most that timestamps of one host's clock can be wrong.
const ONE_CLOCK_PS: i64 = 20_000_000;
/// Most that the clocks of hosts are assumed to be wrong against each other.
const APART_PS: i64 = 3_000_000_000;

/// The operations of calls that match by order and by overlap.
fn overlapping(calls: &[EndedCall], slack_ps: i64, cancel: Cancel<'_>) -> Result<Vec<Cluster>> {
    let mut by_class: Vec<(u32, SharedCall)> = Vec::with_capacity(calls.len());
    by_class.extend(calls.iter().map(|call| {
        let start_ps = call.end_ps.saturating_sub(call.duration_ps);
        (call.class, SharedCall { start_ps, end_ps: call.end_ps, rank: call.rank, call: call.call })
    }));
    by_class.sort_unstable_by_key(|(class, call)| (*class, call.rank, call.start_ps, call.call));
    let mut clusters = Vec::new();
    for of_class in by_class.chunk_by(|a, b| a.0 == b.0) {
        let of_rank = |calls: &[(u32, SharedCall)]| calls.iter().map(|(_, call)| *call).collect();
        let of_ranks = of_class.chunk_by(|a, b| a.1.rank == b.1.rank).map(of_rank).collect();
        let found = operations(of_ranks, slack_ps, cancel)?;
        clusters.extend(found.into_iter().map(|one| Cluster {
            class: of_class[0].0,
            first_end_ps: one.first_end_ps,
            last_end_ps: one.last_end_ps,
            shortest_ps: one.first_end_ps.saturating_sub(one.last_start_ps),
            members: one.members,
        }));
    }
    clusters.sort_by_key(|one| (one.first_end_ps, one.last_end_ps));
    Ok(clusters)
}

fn swept(calls: &[EndedCall], ranks: usize, reach: ComparedEnd, cancel: Cancel<'_>) -> Result<Vec<Cluster>> {
    let mut clusters: Vec<Cluster> = Vec::new();
    // The first cluster that a rank can still join.
    let mut next_of: Vec<usize> = vec![0; ranks];
    for call in calls {
        cancel.check()?;
        let from = next_of[usize::from(call.rank)].max(clusters.len().saturating_sub(OPEN));
        let fitting = (from..clusters.len()).rev().filter(|&at| clusters[at].takes(call, reach));
        let nearest = fitting.min_by_key(|&at| call.end_ps - clusters[at].last_end_ps);
        let at = match nearest {
            Some(at) => at,
            None => {
                clusters.push(Cluster {
                    class: call.class,
                    first_end_ps: call.end_ps,
                    last_end_ps: call.end_ps,
                    shortest_ps: call.duration_ps,
                    members: Vec::new(),
                });
                clusters.len() - 1
            }
        };
        let cluster = &mut clusters[at];
        cluster.last_end_ps = call.end_ps;
        cluster.shortest_ps = cluster.shortest_ps.min(call.duration_ps);
        cluster.members.push((call.rank, call.call));
        next_of[usize::from(call.rank)] = at + 1;
    }
    Ok(clusters)
}

/// Joins a few calls with another kind or size to the operation of the majority that ended at the
/// same time without their ranks.
fn join_suspects(clusters: &mut [Cluster], ranks: usize, cancel: Cancel<'_>) -> Result<()> {
    for at in 0..clusters.len() {
        cancel.check()?;
        let count = clusters[at].members.len();
        if count == 0 || count * 2 >= ranks {
            continue;
        }
        let near = at.saturating_sub(4)..clusters.len().min(at + 5);
        let larger = near.filter(|&other| {
            let (few, many) = (&clusters[at], &clusters[other]);
            let apart = few.first_end_ps.abs_diff(many.first_end_ps) as f64;
            other != at
                && many.members.len() > count
                && few.class != many.class
                && apart <= tolerance(few.shortest_ps.min(many.shortest_ps))
                && few.members.iter().all(|(rank, _)| many.members.iter().all(|(other, _)| other != rank))
        });
        if let Some(other) = larger.max_by_key(|&other| clusters[other].members.len()) {
            let members = std::mem::take(&mut clusters[at].members);
            clusters[other].members.extend(members);
        }
    }
    Ok(())
}
