//! The schedule of the calls: for each operation the end of the waiting, the end of the transfer,
//! and the names of both. The tracks of all ranks share it, and store how their calls differ.

use super::awaited_rank::Awaited;
use super::names::SegmentNames;
use super::{shown, span_of};
use crate::analysis::{InstanceCall, Job, Report};
use crate::base::{Interval, Result, lower_median, most_frequent};
use crate::exec::Cancel;
use crate::model::{FieldId, Schedule, ScheduledSlice};

/// Fewest calls of an operation, on average, that make a schedule worth its bytes. Its slices take
/// about fifteen bytes, and save about five a call.
const MIN_CALLS: usize = 4;
/// Calls of an operation that are looked at for what is usual.
const SAMPLE: usize = 64;

/// Facts about the calls of a job that its schedule is made of.
pub(super) struct ScheduleFacts<'a> {
    pub(super) job: &'a Job,
    pub(super) report: &'a Report,
    /// The operations by their numbers.
    pub(super) order: &'a [usize],
    /// The number of each operation, from 1 on.
    pub(super) numbers: &'a [u32],
    pub(super) awaited: &'a [Option<Awaited>],
    pub(super) names: &'a SegmentNames,
    /// The operation of each call, by rank.
    pub(super) by_call: &'a [Vec<u32>],
}

impl ScheduleFacts<'_> {
    /// The schedule of the calls. An operation whose ranks wait has three slices: the wait, the
    /// transfer after it, and the transfer of the awaited rank. Other operations have a transfer.
    /// `None` if the operations have too few calls.
    pub(super) fn schedule(&self, key: FieldId, cancel: Cancel<'_>) -> Result<Option<Schedule>> {
        let calls: usize = self.by_call.iter().map(Vec::len).sum();
        if calls < self.order.len() * MIN_CALLS || self.order.is_empty() {
            return Ok(None);
        }
        // Position of the first slice of each operation, by its number.
        let mut firsts = Vec::with_capacity(self.order.len());
        let mut count = 0_u32;
        for &at in self.order {
            firsts.push(count);
            count += if self.awaited[at].is_some() { 3 } else { 1 };
        }
        let mut slices = Vec::with_capacity(count as usize);
        for (&at, &first) in self.order.iter().zip(&firsts) {
            cancel.check()?;
            let next = self.next(at).map_or(first, |next| firsts[self.numbers[next] as usize - 1]);
            let name = self.names.kinds[self.report.operations[at].signature as usize].0;
            let (key, end_ps, gap_ps) = (self.numbers[at].into(), self.end_ps(at), Some(self.gap_ps(at)));
            let transfer = ScheduledSlice { key, name, end_ps, gap_ps, next };
            let Some(one) = self.awaited[at] else {
                slices.push(transfer);
                continue;
            };
            let (name, end_ps) = (self.names.waits[one.rank], shown(one.came_ps));
            slices.push(ScheduledSlice { key, name, end_ps, gap_ps, next: first + 1 });
            slices.push(ScheduledSlice { gap_ps: None, ..transfer });
            // Without a wait before it, the transfer follows the computation.
            let gap_ps = self.gap_of(at, one.rank).or(gap_ps);
            slices.push(ScheduledSlice { gap_ps, ..transfer });
        }
        Ok(Some(Schedule { key, slices }))
    }

    /// Some calls of an operation, evenly spread over its ranks.
    fn sample(&self, at: usize) -> impl Iterator<Item = InstanceCall> + '_ {
        let members = self.report.instances.members(at);
        let step = members.len().div_ceil(SAMPLE).max(1);
        members.step_by(step)
    }

    /// Start and end of a call as they are written.
    fn span(&self, rank: usize, call: usize) -> Interval {
        let span = span_of(self.job, self.report, rank, call);
        Interval::new(shown(span.start.0), shown(span.end.0))
    }

    fn end_ps(&self, at: usize) -> i64 {
        let mut ends: Vec<i64> = self.sample(at).map(|one| self.span(one.rank, one.call).end.0).collect();
        lower_median(&mut ends)
    }

    /// Time from the end of the call before to the call. `None` for the first call of a rank.
    fn gap(&self, one: InstanceCall) -> Option<i64> {
        let before = one.call.checked_sub(1)?;
        Some(self.span(one.rank, one.call).start.0.saturating_sub(self.span(one.rank, before).end.0))
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
