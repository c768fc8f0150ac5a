//! Calls that a trace lacks, although the job shows them: their rank is a member of an operation
//! that others recorded.
//!
//! Work behind such a call waits for the operation as well, so the graph has a node for it. When it
//! came is assumed: as soon as the work before it had ended, and early enough for its transfer. A
//! call before the first work of its rank delays nobody, because nothing is known about its rank at
//! that time.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::meeting::MeetingCall;
use crate::analysis::{Job, Report};
use crate::base::{Result, narrow};
use crate::exec::Cancel;
use crate::model::{MachineSide, RankWork, WorkNode};

/// The time from the end of work to the start of a call behind it, in picoseconds.
const USUAL_GAP_PS: i64 = 1_500_000;
/// Members leave an operation within this time and [`LEAVING_SHARE`] of its transfer.
const LEAVING_PS: i64 = 3_000_000;
const LEAVING_SHARE: i64 = 20;
/// The part of a usual transfer that the shortest one takes, as a fraction.
const SHORTEST: (i64, i64) = (3, 4);
/// Nodes beside a call that are looked at.
const NEAR: usize = 64;

/// A call that a trace lacks. Times are in picoseconds of the shared clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AbsentCall {
    pub(super) meeting: u32,
    pub(super) class: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// Whether others wait for it.
    pub(super) arrives: bool,
}

/// Facts about the calls of a rank that are there.
struct KnownCalls<'w> {
    work: &'w RankWork,
    by_signature: FxHashMap<u32, u32>,
    by_group: FxHashMap<u32, u32>,
    /// Ends of the work of its devices, ascending, once they are needed.
    ends_ps: Option<Vec<i64>>,
}

impl<'w> KnownCalls<'w> {
    fn new(report: &Report, work: &'w RankWork, calls: &[MeetingCall]) -> Self {
        let mut known =
            Self { work, by_signature: FxHashMap::default(), by_group: FxHashMap::default(), ends_ps: None };
        for call in calls {
            let of = &report.operations[call.meeting as usize];
            let class = work.nodes[call.node as usize].class;
            known.by_signature.entry(of.signature).or_insert(class);
            known.by_group.entry(of.group).or_insert(class);
        }
        known
    }

    /// The end of the last work of a device before a time.
    fn last_end_ps(&mut self, time_ps: i64) -> Option<i64> {
        let work = self.work;
        let ends = self.ends_ps.get_or_insert_with(|| {
            let of_device = |node: &&WorkNode| work.queue_of(node).side == MachineSide::Device;
            let mut ends: Vec<i64> = work.nodes.iter().filter(of_device).map(WorkNode::end_ps).collect();
            ends.sort_unstable();
            ends
        });
        let before = ends.partition_point(|end_ps| *end_ps <= time_ps);
        before.checked_sub(1).map(|at| ends[at])
    }

    /// The call in an operation that others left at `end_ps`, after a transfer of `transfer_ps`.
    /// `None` if there is no place for it.
    fn place(&mut self, meeting: u32, class: u32, end_ps: i64, transfer_ps: i64) -> Option<AbsentCall> {
        let nodes = &self.work.nodes;
        let last_start_ps = end_ps.saturating_sub(transfer_ps / SHORTEST.1 * SHORTEST.0);
        let last_end_ps = self.last_end_ps(last_start_ps);
        let leaving_ps = LEAVING_PS + transfer_ps / LEAVING_SHARE;
        let behind = nodes.partition_point(|node| node.start_ps < end_ps.saturating_sub(leaving_ps));
        let near = nodes[behind..].iter().take(NEAR);
        let next = near
            .filter(|node| self.work.queue_of(node).side == MachineSide::Device)
            .map(|node| node.start_ps);
        // Its rank can have left before the others.
        let end_ps = next.min().map_or(end_ps, |next_ps| end_ps.min(next_ps));
        let Some(last_end_ps) = last_end_ps else {
            let start_ps = last_start_ps.min(end_ps);
            return Some(AbsentCall { meeting, class, start_ps, end_ps, arrives: false });
        };
        let mut start_ps = last_start_ps.min(last_end_ps.saturating_add(USUAL_GAP_PS));
        let queue = self.work.classes[class as usize].queue;
        for node in &nodes[behind.saturating_sub(NEAR)..behind] {
            if self.work.classes[node.class as usize].queue == queue {
                start_ps = start_ps.max(node.end_ps());
            }
        }
        // The recording ended before: the job did not go on with it.
        let is_recorded = behind < nodes.len();
        (start_ps <= end_ps && is_recorded).then_some(AbsentCall {
            meeting,
            class,
            start_ps,
            end_ps,
            arrives: true,
        })
    }
}

/// For each signature the usual transfer of its operations, in picoseconds: the lower quartile,
/// because links that are slow for a while and ranks that were not recorded only add to it.
pub(super) fn usual_transfers_ps(job: &Job, report: &Report) -> Vec<i64> {
    let mut of: Vec<Vec<i64>> = vec![Vec::new(); job.signatures.len()];
    for one in report.operations.iter().filter(|one| !one.is_alone()) {
        of[one.signature as usize].push(one.transfer_ps());
    }
    let usual = |mut all: Vec<i64>| {
        let quartile = all.len() / 4;
        if all.is_empty() { 0 } else { *all.select_nth_unstable(quartile).1 }
    };
    of.into_iter().map(usual).collect()
}

/// The absent calls of each rank, in the order of operations. `calls` has the calls that are there.
pub(super) fn absent_calls(
    job: &Job,
    report: &Report,
    transfers: &[i64],
    works: &[RankWork],
    calls: &[Vec<MeetingCall>],
    cancel: Cancel<'_>,
) -> Result<Vec<Vec<AbsentCall>>> {
    let mut absent = vec![Vec::new(); works.len()];
    let mut known: Vec<KnownCalls<'_>> =
        works.iter().zip(calls).map(|(work, calls)| KnownCalls::new(report, work, calls)).collect();
    for (number, one) in report.operations.iter().enumerate() {
        cancel.check()?;
        let group = &job.groups[one.group as usize];
        // Members that nobody lists can be the ones that came late.
        if group.ranks().len() != group.size() as usize {
            continue;
        }
        let transfer_ps = match one.is_alone() {
            true => transfers[one.signature as usize],
            false => one.transfer_ps().min(transfers[one.signature as usize]),
        };
        for at in report.absent_ranks(job, number) {
            let known = &mut known[at];
            let class = known.by_signature.get(&one.signature).or_else(|| known.by_group.get(&one.group));
            let Some(&class) = class else { continue };
            absent[at].extend(known.place(narrow(number), class, one.span.first_end_ps, transfer_ps));
        }
    }
    Ok(absent)
}

impl AbsentCall {
    /// The node of the call. `row` tells it from the rows of the segment.
    pub(super) fn node(&self, row: u32) -> WorkNode {
        WorkNode {
            start_ps: self.start_ps,
            duration_ps: self.end_ps.saturating_sub(self.start_ps),
            class: self.class,
            row,
        }
    }
}
