//! Presence and consistency of the members of an operation. The majority is right, never the first
//! rank.

use super::Job;
use super::arrival::ArrivalFacts;
use super::meeting::Meetings;
use super::report::{Contradiction, InstanceReport, Mismatch, Presence};
use crate::base::{Result, narrow};

/// Calls that a rank lacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absence {
    pub(super) rank: usize,
    pub(super) lost: u64,
}

/// A tenth: a rank that lacks more of its calls gets no verdict of absence.
const MOST_LOST: u64 = 10;

/// Fills in the states.
pub(super) fn states(
    scene: &ArrivalFacts<'_>,
    operations: &mut [InstanceReport],
) -> Result<(Vec<Contradiction>, Vec<Absence>)> {
    let job = scene.job;
    let calls = calls_by_group(scene);
    let (mut found, mut lost, mut present) = (Vec::new(), vec![0_u64; job.ranks.len()], Vec::new());
    let mut at_end = Vec::new();
    for (number, one) in (0_u32..).zip(operations.iter_mut()) {
        scene.cancel.check()?;
        let group = &job.groups[one.group as usize];
        present.clear();
        for member in scene.instances.members(number as usize) {
            present.push(member.rank);
            if let Some(what) = differs(job, one.signature, member.rank, member.call) {
                one.state.has_other_size |= what == Mismatch::Size;
                one.state.has_other_kind |= what == Mismatch::Kind;
                found.push(Contradiction { instance: number, rank: narrow(member.rank), what });
            }
        }
        if !group.is_stated() {
            continue;
        }
        one.state.absent = group.size().saturating_sub(narrow(present.len()));
        one.state.presence = if one.state.absent > 0 { Presence::Partial } else { Presence::Complete };
        for &(rank, first_ps, last_ps) in &calls[one.group as usize] {
            if present.binary_search(&rank).is_ok() {
                continue;
            }
            let recorded = job.ranks[rank].rest.recorded_ps.1;
            let recorded = scene.clocks[rank].to_shared(crate::base::Time(recorded)).0;
            if one.span.last_ps > last_ps && recorded > one.span.end_ps {
                at_end.push(Contradiction { instance: number, rank: narrow(rank), what: Mismatch::Missing });
            } else if one.span.last_ps >= first_ps && one.span.last_ps <= last_ps {
                one.state.presence = one.state.presence.max(Presence::Lost);
                lost[rank] += 1;
            }
        }
    }
    let meetings = Meetings::of(scene, at_end.iter().map(|one| one.rank as usize))?;
    for contradiction in at_end {
        let one = &mut operations[contradiction.instance as usize];
        let rank = contradiction.rank as usize;
        if meetings.last_ps(rank, one.group).is_some_and(|met_ps| met_ps >= one.span.end_ps) {
            one.state.presence = one.state.presence.max(Presence::Lost);
            lost[rank] += 1;
        } else {
            one.state.presence = Presence::MissingAtEnd;
            found.push(contradiction);
        }
    }
    found.sort_unstable();
    let is_sound = |rank: u32| {
        let calls = job.ranks[rank as usize].calls.len() as u64;
        lost[rank as usize] * MOST_LOST <= calls
    };
    found.retain(|one| one.what != Mismatch::Missing || is_sound(one.rank));
    Ok((found, lost.into_iter().enumerate().map(|(rank, lost)| Absence { rank, lost }).collect()))
}

fn differs(job: &Job, signature: u32, rank: usize, call: usize) -> Option<Mismatch> {
    let own = job.ranks[rank].calls.signatures[call];
    if own == signature {
        return None;
    }
    let (own, of) = (&job.signatures[own as usize], &job.signatures[signature as usize]);
    if own.kind != of.kind {
        Some(Mismatch::Kind)
    } else if !own.is_like(of) {
        Some(Mismatch::Size)
    } else {
        None
    }
}

/// For each group its ranks with the shared times of their first and last call.
fn calls_by_group(scene: &ArrivalFacts<'_>) -> Vec<Vec<(usize, i64, i64)>> {
    let job = scene.job;
    let of_group = |(group, members): (u32, &Vec<u16>)| {
        let of_rank = |&rank: &u16| {
            let rank = usize::from(rank);
            let calls = job.calls_in(rank, group);
            let start = |call: Option<&u32>| {
                let start = call.map_or(0, |&call| job.ranks[rank].calls.starts_ps[call as usize]);
                scene.clocks[rank].to_shared(crate::base::Time(start)).0
            };
            (rank, start(calls.first()), start(calls.last()))
        };
        members.iter().map(of_rank).collect()
    };
    (0..).zip(&job.members).map(of_group).collect()
}
