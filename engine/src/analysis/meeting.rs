//! Later meetings of ranks: proof that the job went on.
//!
//! A trace with lost calls cannot tell a lost call from one that never came. Causality can. An
//! operation that waits for all does not end before all have come. If a rank meets another one of
//! the group after the operation has ended, nobody waits for the rank there: the trace lacks its
//! call. In a broadcast or a message, the same meeting shows that the rank held nobody up.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrival::ArrivalFacts;
use crate::base::{Result, Time};

/// For ranks and their groups the last time when the rank met another rank of the group.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    /// By rank and group, in picoseconds of the shared clock.
    last_ps: FxHashMap<(usize, u32), i64>,
}

/// Operations of a rank in a group that are kept. A member that lacks so many calls in a row has
/// ended.
const MOST_MET: usize = 64;

/// The last operations of a rank with others of a group, each with the position of its call.
#[derive(Debug, Default)]
struct Last {
    met: Vec<(usize, usize)>,
    /// The last call for which all members have one.
    complete: Option<usize>,
}

impl Last {
    fn add(&mut self, call: usize, at: usize, is_complete: bool) {
        if self.complete.is_some_and(|complete| call < complete) {
            return;
        }
        if is_complete {
            self.complete = Some(call);
            self.met.retain(|(met, _)| *met > call);
        }
        self.met.push((call, at));
        if self.met.len() > MOST_MET {
            self.met.remove(0);
        }
    }
}

impl Meetings {
    /// The meetings of some ranks. In each of their groups those operations are looked at that come
    /// after the last one with calls of all members, and that one. An earlier one has no later
    /// meeting.
    pub(super) fn of(scene: &ArrivalFacts<'_>, ranks: impl Iterator<Item = usize>) -> Result<Self> {
        let ranks: FxHashSet<usize> = ranks.collect();
        let mut meetings = Self::default();
        if ranks.is_empty() {
            return Ok(meetings);
        }
        let mut last: FxHashMap<(usize, u32), Last> = FxHashMap::default();
        for at in (0..scene.instances.len()).filter(|&at| scene.instances.count(at) > 1) {
            scene.cancel.check()?;
            let group = scene.instances.groups[at];
            let is_complete = scene.instances.count(at) == scene.job.members[group as usize].len();
            for one in scene.instances.members(at).filter(|one| ranks.contains(&one.rank)) {
                last.entry((one.rank, group)).or_default().add(one.call, at, is_complete);
            }
        }
        for (&(rank, _), last) in &last {
            for &(_, at) in &last.met {
                scene.cancel.check()?;
                meetings.add(scene, rank, at);
            }
        }
        Ok(meetings)
    }

    /// Adds the other members of an operation of a rank.
    fn add(&mut self, scene: &ArrivalFacts<'_>, rank: usize, at: usize) {
        let job = scene.job;
        for other in scene.instances.members(at).filter(|other| other.rank != rank) {
            let start = job.ranks[other.rank].calls.starts_ps[other.call];
            let start_ps = scene.clocks[other.rank].to_shared(Time(start)).0;
            for &(group, _) in &job.ranks[rank].groups {
                let is_of_group = u16::try_from(other.rank)
                    .is_ok_and(|other| job.members[group as usize].binary_search(&other).is_ok());
                if is_of_group {
                    let known = self.last_ps.entry((rank, group)).or_insert(start_ps);
                    *known = start_ps.max(*known);
                }
            }
        }
    }

    /// The last time when another rank of a group began an operation together with this rank.
    /// `None` if no trace has one.
    pub(super) fn last_ps(&self, rank: usize, group: u32) -> Option<i64> {
        self.last_ps.get(&(rank, group)).copied()
    }
}
