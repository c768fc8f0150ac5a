//! Transfers: which of them are slow.

use rustc_hash::FxHashMap;

use super::arrival::{Arrival, ArrivalFacts};
use super::root::{SLOW, SLOW_PS};
use super::{InstanceReport, Job};
use crate::metrics::UsualTime;
use crate::model::{CollectiveKind, WaitingRanks};

/// For each operation the median transfer of those that are alike in kind, size and number of
/// ranks. An operation with the call of one rank only has its own, if no other is like it: the end
/// of such a call tells nothing of when the transfer began.
#[must_use]
pub fn usual_transfers(job: &Job, operations: &[InstanceReport]) -> Vec<UsualTime> {
    let key = |one: &InstanceReport| {
        let signature = &job.signatures[one.signature as usize];
        (signature.kind, signature.count, job.groups[one.group as usize].size())
    };
    let mut like: FxHashMap<(CollectiveKind, u64, u32), Vec<i64>> = FxHashMap::default();
    for one in operations.iter().filter(|one| !one.is_alone()) {
        like.entry(key(one)).or_default().push(one.transfer_ps());
    }
    like.values_mut().for_each(|transfers| transfers.sort_unstable());
    let usual = |one: &InstanceReport| {
        let known = like.get(&key(one)).and_then(|like| UsualTime::of_sorted(like));
        known.unwrap_or(UsualTime { ps: one.transfer_ps(), like: 1 })
    };
    operations.iter().map(usual).collect()
}

/// Whether a transfer is slow beside the usual one.
#[must_use]
pub fn is_slow_transfer(transfer_ps: f64, usual_ps: f64) -> bool {
    transfer_ps - usual_ps > (SLOW - 1.0) * usual_ps + SLOW_PS
}

/// Time by which the transfer of an operation is longer than usual, in picoseconds; 0 if it is not
/// slow. `lost` are members whose traces lack the call. Members that were not recorded can have
/// come late, so a transfer without them is not known to be slow.
pub(super) fn excess_of(
    scene: &ArrivalFacts<'_>,
    one: &InstanceReport,
    usual_ps: f64,
    lost: &[usize],
) -> f64 {
    let job = scene.job;
    let waits_for_all = job.signatures[one.signature as usize].kind.waiting() == WaitingRanks::ForAll;
    let excess_ps = one.transfer_ps() as f64 - usual_ps;
    if !waits_for_all || !is_slow_transfer(one.transfer_ps() as f64, usual_ps) {
        return 0.0;
    }
    let is_unseen = match job.groups[one.group as usize].is_stated() {
        true => one.state.absent as usize > lost.len(),
        false => job.world as usize > job.ranks.len(),
    };
    let has_others = !one.is_alone() || !lost.is_empty();
    if has_others && !is_unseen { excess_ps } else { 0.0 }
}

/// Positions of the members of an operation whose traces lack the call.
pub(super) fn lost_of(scene: &ArrivalFacts<'_>, one: &InstanceReport, arrivals: &[Arrival]) -> Vec<usize> {
    if one.state.absent == 0 {
        return Vec::new();
    }
    let members = scene.job.members[one.group as usize].iter().map(|&rank| usize::from(rank));
    let is_absent = |rank: &usize| arrivals.binary_search_by_key(rank, |one| one.member.rank).is_err();
    members.filter(is_absent).collect()
}
