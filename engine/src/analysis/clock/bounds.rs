//! What is certain of the offsets: nobody leaves an operation that waits for all before the last
//! one has entered.
//!
//! Every such operation bounds the difference of two clocks. The tightest bounds of a rank against
//! the reference are the shortest paths over all operations, from it and to it.

use super::RankClock;
use super::line::{Line, rounded};
use super::sample::is_meeting;
use crate::analysis::{Instances, Job};
use crate::base::Time;
use crate::model::Waiting;

/// No bound. Sums with times stay in range.
const FAR: i64 = i64::MAX / 4;
/// Passes until nothing changes; more mean that clocks contradict each other.
const MOST_PASSES: usize = 24;

/// Bounds of the offset of each rank.
#[derive(Debug)]
pub(super) struct Bounds {
    low: Vec<i64>,
    high: Vec<i64>,
    /// Half of the time in which each rank has calls.
    half_ps: Vec<f64>,
    reference: usize,
    slack_ps: i64,
}

/// Local times of a call, corrected by the drift alone.
fn straight(job: &Job, line: &Line, rank: usize, call: usize) -> (i64, i64) {
    let drift = Line { offset_ps: 0.0, ..*line };
    let calls = &job.ranks[rank].calls;
    (drift.shared(calls.starts_ps[call]), drift.shared(calls.end_ps(call)))
}

pub(super) fn certain(job: &Job, instances: &Instances, lines: &[Line], reference: usize) -> Bounds {
    let count = job.ranks.len();
    let (mut low, mut high) = (vec![-FAR; count], vec![FAR; count]);
    if let (Some(low), Some(high)) = (low.get_mut(reference), high.get_mut(reference)) {
        (*low, *high) = (0, 0);
    }
    let meetings: Vec<usize> = (0..instances.len()).filter(|&at| is_meeting(job, instances, at)).collect();
    for pass in 0..MOST_PASSES {
        let mut has_changed = false;
        // Going back and forth carries a bound through the whole job in one pass.
        let order: Box<dyn Iterator<Item = &usize>> =
            if pass % 2 == 0 { Box::new(meetings.iter()) } else { Box::new(meetings.iter().rev()) };
        for &at in order {
            let (mut latest_end, mut earliest_start) = (FAR, -FAR);
            for one in instances.members(at) {
                let (start, end) = straight(job, &lines[one.rank], one.rank, one.call);
                if high[one.rank] < FAR {
                    latest_end = latest_end.min(end.saturating_add(high[one.rank]));
                }
                if low[one.rank] > -FAR {
                    earliest_start = earliest_start.max(start.saturating_add(low[one.rank]));
                }
            }
            for one in instances.members(at).filter(|one| one.rank != reference) {
                let (start, end) = straight(job, &lines[one.rank], one.rank, one.call);
                if latest_end < FAR && latest_end.saturating_sub(start) < high[one.rank] {
                    high[one.rank] = latest_end.saturating_sub(start);
                    has_changed = true;
                }
                if earliest_start > -FAR && earliest_start.saturating_sub(end) > low[one.rank] {
                    low[one.rank] = earliest_start.saturating_sub(end);
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let half = |rank: usize| {
        let starts = &job.ranks[rank].calls.starts_ps;
        let ends = starts.first().zip(starts.last());
        ends.map_or(0.0, |(first, last)| last.saturating_sub(*first) as f64 / 2.0)
    };
    let half_ps = (0..count).map(half).collect();
    Bounds { low, high, half_ps, reference, slack_ps: 2 * step_ps(job) }
}

/// The step of the timestamps: a microsecond or a nanosecond if all times are multiples of it.
pub(super) fn step_ps(job: &Job) -> i64 {
    let is_step = |step: i64| {
        job.ranks.iter().all(|rank| rank.calls.starts_ps.iter().all(|start| start.rem_euclid(step) == 0))
    };
    [1_000_000, 1_000].into_iter().find(|step| is_step(*step)).unwrap_or(1)
}

impl Bounds {
    /// Lowest and highest offset of a rank at the time of its line, with room for the steps of the
    /// timestamps and for an error of the drift. Bounds that contradict each other are none.
    pub(super) fn at(&self, rank: usize, line: Line, slope_error: f64) -> (Option<i64>, Option<i64>) {
        if rank == self.reference {
            return (Some(0), Some(0));
        }
        debug_assert!(line.offset_ps.is_finite());
        let room = self.slack_ps.saturating_add(rounded(4.0 * slope_error * self.half_ps[rank]));
        let low = Some(self.low[rank]).filter(|low| *low > -FAR).map(|low| low.saturating_sub(room));
        let high = Some(self.high[rank]).filter(|high| *high < FAR).map(|high| high.saturating_add(room));
        match (low, high) {
            (Some(low), Some(high)) if low > high => (None, None),
            bounds => bounds,
        }
    }
}

/// Operations in which a rank left before another one entered, beyond the steps of the timestamps.
pub(super) fn violations(job: &Job, instances: &Instances, clocks: &[RankClock]) -> u64 {
    let slack = 2 * step_ps(job);
    let shared = |rank: usize, time: i64| clocks[rank].fit.to_shared(Time(time)).0;
    let is_violated = |at: &usize| {
        let (mut last_start, mut first_end) = (i64::MIN, i64::MAX);
        for one in instances.members(*at) {
            let calls = &job.ranks[one.rank].calls;
            if job.signature_of(one.rank, one.call).kind.waiting() == Waiting::ForAll {
                last_start = last_start.max(shared(one.rank, calls.starts_ps[one.call]));
                first_end = first_end.min(shared(one.rank, calls.end_ps(one.call)));
            }
        }
        instances.count(*at) > 1 && last_start.saturating_sub(slack) > first_end
    };
    (0..instances.len()).filter(is_violated).count() as u64
}
