//! The operations that decide about clocks: the shortest ones of each group and part of the time.

use std::cmp::Reverse;

use crate::analysis::islands::Islands;
use crate::analysis::{Instances, Job};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::model::WaitingRanks;

/// Parts of the time of a group.
const PARTS: usize = 64;
/// Operations of each part.
const OF_PART: usize = 12;

/// Operations with at least two members that all wait for each other.
#[derive(Debug)]
pub(super) struct OperationSample {
    pub(super) instances: Vec<u32>,
    /// Transfer times: the shortest stay of a member.
    pub(super) transfers_ps: Vec<i64>,
    /// For each rank its calls: position in the sample, and end.
    pub(super) of_rank: Vec<Vec<(u32, i64)>>,
    /// Rank that the others are compared with: the first one that meets others on the largest
    /// island.
    pub(super) reference: usize,
}

/// A job with the sample of its operations that decides about its clocks.
#[derive(Clone, Copy)]
pub(super) struct SampledJob<'a> {
    pub(super) job: &'a Job,
    pub(super) instances: &'a Instances,
    pub(super) sample: &'a OperationSample,
}

/// Whether all members of an instance wait for each other.
pub(super) fn is_meeting(job: &Job, instances: &Instances, at: usize) -> bool {
    instances.count(at) > 1
        && instances
            .members(at)
            .all(|one| job.signature_of(one.rank, one.call).kind.waiting() == WaitingRanks::ForAll)
}

/// The shortest stay of a member of an instance.
fn transfer(job: &Job, instances: &Instances, at: usize) -> i64 {
    let stays = instances.members(at).map(|one| job.ranks[one.rank].calls.durations_ps[one.call]);
    stays.min().unwrap_or(0)
}

pub(super) fn of(
    job: &Job,
    instances: &Instances,
    islands: &Islands,
    cancel: Cancel<'_>,
) -> Result<OperationSample> {
    let mut by_group: Vec<Vec<(i64, u32)>> = vec![Vec::new(); job.groups.len()];
    for (number, at) in (0_u32..).zip(0..instances.len()) {
        cancel.check()?;
        if is_meeting(job, instances, at) {
            let of = &mut by_group[instances.groups[at] as usize];
            of.push((transfer(job, instances, at), number));
        }
    }
    let mut chosen: Vec<(u32, i64)> = Vec::new();
    for group in by_group {
        for part in group.chunks(group.len().div_ceil(PARTS).max(1)) {
            // With few operations all of them count. Instances are in the order of time.
            let mut part: Vec<(Reverse<usize>, i64, u32)> = part
                .iter()
                .map(|&(transfer, at)| (Reverse(instances.count(at as usize)), transfer, at))
                .collect();
            part.sort_unstable_by_key(|&(count, transfer, at)| (transfer, count, at));
            chosen.extend(part.into_iter().take(OF_PART).map(|(_, transfer, at)| (at, transfer)));
        }
    }
    chosen.sort_unstable();
    let mut of_rank = vec![Vec::new(); job.ranks.len()];
    for (at, (instance, _)) in (0_u32..).zip(&chosen) {
        for one in instances.members(*instance as usize) {
            of_rank[one.rank].push((at, job.ranks[one.rank].calls.end_ps(one.call)));
        }
    }
    let meeting = (0..of_rank.len()).filter(|&rank| !of_rank[rank].is_empty());
    let sizes = islands.sizes();
    let reference = meeting.max_by_key(|&rank| (sizes[rank], Reverse(rank))).unwrap_or(0);
    let (instances, transfers_ps) = chosen.into_iter().unzip();
    Ok(OperationSample { instances, transfers_ps, of_rank, reference })
}

impl OperationSample {
    /// Number of operations of a rank.
    pub(super) fn calls(&self, rank: usize) -> u32 {
        narrow(self.of_rank[rank].len())
    }
}
