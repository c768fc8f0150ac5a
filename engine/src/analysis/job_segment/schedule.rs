//! The schedule of the calls: for each operation the end of the waiting, the end of the transfer,
//! and the names of both. The tracks of all ranks share it, and store how their calls differ.

use super::awaited_rank::Awaited;
use super::names::SegmentNames;
use super::{shown, span_of};
use crate::analysis::{InstanceCall, Job, Report};
use crate::base::{Result, lower_median, most_frequent};
use crate::exec::Cancel;
use crate::model::{FieldId, Schedule, ScheduledSlice};

/// Fewest calls of an operation, on average, that make a schedule worth its bytes. Its slices take
/// about fifteen bytes, and save about five a call.
const MIN_CALLS: usize = 4;
/// Calls of an operation that are looked at for what is usual.
const SAMPLE: usize = 64;

/// The schedule of the calls. An operation whose ranks wait has three slices: the wait, the
/// transfer after it, and the transfer of the awaited rank. Other operations have a transfer.
/// `None` if the operations have too few calls. `order` holds the operations by their numbers, and
/// `numbers` the numbers from 1 on.
pub(super) fn of(
    (job, report): (&Job, &Report),
    (order, numbers): (&[usize], &[u32]),
    (awaited, names): (&[Option<Awaited>], &SegmentNames),
    by_call: &[Vec<u32>],
    (key, cancel): (FieldId, Cancel<'_>),
) -> Result<Option<Schedule>> {
    let calls: usize = by_call.iter().map(Vec::len).sum();
    if calls < order.len() * MIN_CALLS || order.is_empty() {
        return Ok(None);
    }
    let usual = Usual { job, report, by_call };
    // Position of the first slice of each operation, by its number.
    let mut firsts = Vec::with_capacity(order.len());
    let mut count = 0_u32;
    for &at in order {
        firsts.push(count);
        count += if awaited[at].is_some() { 3 } else { 1 };
    }
    let mut slices = Vec::with_capacity(count as usize);
    for (&at, &first) in order.iter().zip(&firsts) {
        cancel.check()?;
        let next = usual.next(at).map_or(first, |next| firsts[numbers[next] as usize - 1]);
        let name = names.kinds[report.operations[at].signature as usize].0;
        let (key, end_ps, gap_ps) = (numbers[at].into(), usual.end_ps(at), Some(usual.gap_ps(at)));
        let transfer = ScheduledSlice { key, name, end_ps, gap_ps, next };
        let Some(one) = awaited[at] else {
            slices.push(transfer);
            continue;
        };
        let (name, end_ps) = (names.waits[one.rank], shown(one.came_ps));
        slices.push(ScheduledSlice { key, name, end_ps, gap_ps, next: first + 1 });
        slices.push(ScheduledSlice { gap_ps: None, ..transfer });
        // Without a wait before it, the transfer follows the computation.
        let gap_ps = usual.gap_of(at, one.rank).or(gap_ps);
        slices.push(ScheduledSlice { gap_ps, ..transfer });
    }
    Ok(Some(Schedule { key, slices }))
}

/// Finds usual times and successors among the calls of an operation.
struct Usual<'a> {
    job: &'a Job,
    report: &'a Report,
    by_call: &'a [Vec<u32>],
}

impl Usual<'_> {
    /// Some calls of an operation, evenly spread over its ranks.
    fn sample(&self, at: usize) -> impl Iterator<Item = InstanceCall> + '_ {
        let members = self.report.instances.members(at);
        let step = members.len().div_ceil(SAMPLE).max(1);
        members.step_by(step)
    }

    /// Start and end of a call as they are written.
    fn span(&self, rank: usize, call: usize) -> (i64, i64) {
        let (start_ps, end_ps) = span_of(self.job, self.report, rank, call);
        (shown(start_ps), shown(end_ps))
    }

    fn end_ps(&self, at: usize) -> i64 {
        let mut ends: Vec<i64> = self.sample(at).map(|one| self.span(one.rank, one.call).1).collect();
        lower_median(&mut ends)
    }

    /// Time from the end of the call before to the call. `None` for the first call of a rank.
    fn gap(&self, one: InstanceCall) -> Option<i64> {
        let before = one.call.checked_sub(1)?;
        Some(self.span(one.rank, one.call).0.saturating_sub(self.span(one.rank, before).1))
    }

    fn gap_ps(&self, at: usize) -> i64 {
        lower_median(&mut self.sample(at).filter_map(|one| self.gap(one)).collect::<Vec<i64>>())
    }

    fn gap_of(&self, at: usize, rank: usize) -> Option<i64> {
        self.gap(self.report.instances.members(at).find(|one| one.rank == rank)?)
    }

    /// The operation that most ranks call next. `None` if it is the last one.
    fn next(&self, at: usize) -> Option<usize> {
        let next = |one: InstanceCall| self.by_call[one.rank].get(one.call + 1).copied();
        let most = most_frequent(&mut self.sample(at).filter_map(next).collect::<Vec<u32>>());
        most.map(|operation| operation as usize)
    }
}
