//! The activity of ranks in equal spans of time: how much of each a rank was busy, waited for
//! others, and computed, and how many operations it did.
//!
//! The three shares of a rank add up to its row in the table of ranks. Cost is linear in calls.

use super::awaited_rank::Awaited;
use super::schedule::ScheduleFacts;
use super::span_of;
use crate::analysis::JobRank;
use crate::analysis::exposure::open_part;
use crate::base::time::PS_PER_S;
use crate::base::{Interval, Result, Time};
use crate::exec::Cancel;
use crate::makers::job::schema::ActivityFields;
use crate::model::{ComputeLoad, Sink, Value};

/// Most spans: as many columns as a card of the page shows apart.
const MOST_SPANS: i64 = 256;
/// Parts in which shares are written.
const PARTS: f64 = 1e3;

/// Writes the activity of all ranks.
pub(super) fn write(facts: &ScheduleFacts<'_>, sink: &mut dyn Sink, cancel: Cancel<'_>) -> Result<()> {
    let (of, report) = (ActivityFields::define(sink)?, facts.report);
    let Some(bounds) = bounds(facts) else { return Ok(()) };
    let has_partners = report.operations.iter().any(|one| !one.is_alone());
    for (at, rank) in facts.job.ranks.iter().enumerate() {
        cancel.check()?;
        if worked(rank).is_none() {
            continue;
        }
        let computes = !rank.rest.compute_load.is_empty();
        for (step, times) in bounds.windows(2).zip(times_of(facts, at, &bounds)) {
            let length_ps = (step[1] - step[0]) as f64;
            let share = |ps: f64| Value::Float(((ps / length_ps).clamp(0.0, 1.0) * PARTS).round() / PARTS);
            let mut fields = vec![
                (of.rank, Value::Int(rank.rank.into())),
                (of.start, Value::Int(step[0])),
                (of.end, Value::Int(step[1])),
                (of.busy, share(times.busy_ps)),
            ];
            fields.extend(has_partners.then(|| (of.wait, share(times.wait_ps))));
            fields.extend(computes.then(|| (of.compute, share(times.compute_ps))));
            if !rank.rest.flops.is_empty() {
                let rate = (times.flops / (length_ps / PS_PER_S as f64)).round();
                fields.push((of.compute_rate, Value::Float(rate)));
                let peak = rank.rest.flops.peak;
                fields.extend(peak.map(|peak| (of.compute_peak, Value::Float(peak as f64))));
            }
            sink.row(of.table, &fields)?;
        }
    }
    Ok(())
}

/// Activity of a rank within a span. Times are in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct ActivityTimes {
    busy_ps: f64,
    wait_ps: f64,
    compute_ps: f64,
    /// Floating-point operations.
    flops: f64,
}

/// First and last work of a rank, on its own clock. `None` if it has none.
fn worked(rank: &JobRank) -> Option<Interval> {
    let (start, end) = rank.rest.worked_ps;
    let calls = &rank.calls;
    let of_calls = || {
        let last = (0..calls.len()).map(|at| calls.end_ps(at)).max();
        calls.starts_ps.first().copied().zip(last)
    };
    let found = if start < end { Some((start, end)) } else { of_calls() };
    found.filter(|(start, end)| start < end).map(|(start, end)| Interval::new(start, end))
}

/// The bounds of the spans, on the shared clock. `None` if no rank works.
fn bounds(facts: &ScheduleFacts<'_>) -> Option<Vec<i64>> {
    let ranks = facts.job.ranks.iter().zip(&facts.report.used);
    let shared = ranks.filter_map(|(rank, clock)| {
        let worked = worked(rank)?;
        Some(Interval::new(clock.to_shared(worked.start).0, clock.to_shared(worked.end).0))
    });
    let whole = shared.reduce(Interval::cover)?;
    let (start, length_ps) = (whole.start.0, whole.duration_ps());
    let step_ps = length_ps.saturating_sub(1) / MOST_SPANS + 1;
    let starts = (0..MOST_SPANS).map(|at| start.saturating_add(step_ps.saturating_mul(at)));
    let mut bounds: Vec<i64> = starts.take_while(|bound| *bound < whole.end.0).collect();
    bounds.push(whole.end.0);
    Some(bounds)
}

/// The times of a rank in each span.
fn times_of(facts: &ScheduleFacts<'_>, at: usize, bounds: &[i64]) -> Vec<ActivityTimes> {
    let (rank, clock) = (&facts.job.ranks[at], &facts.report.used[at]);
    let covered = &rank.rest.covered_ps;
    let bounds: Vec<i64> = bounds.iter().map(|bound| clock.to_local(Time(*bound)).0).collect();
    let calls = &rank.calls;
    let of_calls = joined((0..calls.len()).map(|call| (calls.starts_ps[call], calls.end_ps(call))));
    let of_waits = joined((0..calls.len()).map(|call| wait_of(facts, at, call)));
    let of_calls = in_spans(&of_calls, covered, &bounds);
    let of_waits = in_spans(&of_waits, covered, &bounds);
    let sums = bounds.windows(2).zip(of_calls.iter().zip(of_waits));
    let of_span = |(step, (call, wait)): (&[i64], (&CallTime, CallTime))| {
        let span = Interval::new(step[0], step[1]);
        let within = |load: &ComputeLoad| load.within(span);
        let compute_ps = within(&rank.rest.compute_load);
        let transfer_ps = (call.open_ps - wait.open_ps) as f64;
        let busy_ps = compute_ps + within(&rank.rest.copy_load) + transfer_ps;
        let flops = rank.rest.flops.within(span);
        ActivityTimes { busy_ps, wait_ps: wait.whole_ps as f64, compute_ps, flops }
    };
    sums.map(of_span).collect()
}

/// Start and end of the wait of a call, on the clock of its rank.
fn wait_of(facts: &ScheduleFacts<'_>, rank: usize, call: usize) -> (i64, i64) {
    let start = facts.job.ranks[rank].calls.starts_ps[call];
    let awaited: Option<Awaited> = facts.awaited[facts.by_call[rank][call] as usize];
    let span = span_of(facts.job, facts.report, rank, call);
    let wait_ps = awaited.map_or(0, |awaited| awaited.until(rank, span).saturating_sub(span.start.0));
    (start, start.saturating_add(wait_ps))
}

/// Intervals by start, as disjoint ones. Empty ones are left out.
fn joined(times: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (start, end) in times.filter(|(start, end)| start < end) {
        match all.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}

/// Time of calls or of their waits in a span.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct CallTime {
    whole_ps: i64,
    /// The part that no computation hides.
    open_ps: i64,
}

/// The sums of disjoint ascending intervals in each span. `covered` has the times with computation.
fn in_spans(parts: &[(i64, i64)], covered: &[(i64, i64)], bounds: &[i64]) -> Vec<CallTime> {
    let mut sums = vec![CallTime::default(); bounds.len().saturating_sub(1)];
    let mut first = 0;
    for &(start, end) in parts {
        while first + 1 < sums.len() && bounds[first + 1] <= start {
            first += 1;
        }
        for (sum, step) in sums[first..].iter_mut().zip(bounds[first..].windows(2)) {
            let (from, to) = (start.max(step[0]), end.min(step[1]));
            if step[0] >= end {
                break;
            }
            if from < to {
                sum.whole_ps += to - from;
                sum.open_ps += open_part(covered, Interval::new(from, to));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{Plan, Says, analysed, job_segment, make};
    use crate::analysis::{Job, Report};
    use crate::makers::job::activity::{ActivityQuantity, ComputeRate, activity};
    use crate::model::FlopLoad;

    const US: i64 = 1_000_000;

    #[test]
    fn times_are_cut_at_bounds_and_computation_hides_them() {
        let sums = in_spans(&[(5, 15), (18, 35)], &[(10, 12), (20, 30)], &[0, 10, 20, 30]);
        let found: Vec<_> = sums.iter().map(|sum| (sum.whole_ps, sum.open_ps)).collect();
        assert_eq!(found, [(5, 5), (7, 5), (10, 0)]);
        assert_eq!(joined([(0, 5), (3, 8), (8, 9), (9, 9), (12, 14)].into_iter()), [(0, 9), (12, 14)]);
        assert!(in_spans(&[(0, 1)], &[], &[]).is_empty());
    }

    /// The mean over all spans is the share of the whole, as the table of ranks has it.
    #[test]
    fn shares_add_up_to_the_times_of_each_rank() {
        let mut made = make(&Plan { ranks: 6, seed: 7, says: Says::Numbers, lost: 0, apart_us: 500 });
        for input in made.inputs.iter_mut().filter(|input| input.rank != 2) {
            let calls = &mut input.calls;
            let (first, last) = (calls.calls.starts_ps[0], calls.calls.end_ps(calls.calls.len() - 1));
            let worked = Interval::new(first - 2_000 * US, last);
            calls.worked_ps = (worked.start.0, worked.end.0);
            calls.compute_load = ComputeLoad::of(&[(first - 2_000 * US, first - 1_500 * US)], worked);
            calls.copy_load = ComputeLoad::of(&[(first - 1_000 * US, first - 500 * US)], worked);
        }
        let (job, report) = analysed(made.inputs);
        let segment = job_segment(&job, &report);
        for quantity in ActivityQuantity::ALL {
            let found = activity(&segment, quantity, Cancel::NEVER).unwrap();
            let is_compute = quantity == ActivityQuantity::Compute;
            assert_eq!(found.ranks.len(), if is_compute { 5 } else { 6 });
            let length_ps = |at: usize| {
                let start_ps = found.start_ps + found.step_ps * i64::try_from(at).unwrap();
                ((start_ps + found.step_ps).min(found.end_ps) - start_ps) as f64
            };
            for of in &found.ranks {
                let sum: f64 =
                    (0..).zip(&of.shares).map(|(at, share)| f64::from(*share) * length_ps(at)).sum();
                let expected = expected_ps(&job, &report, of.rank, quantity);
                let slack = 0.005 * (found.end_ps - found.start_ps) as f64;
                assert!((sum - expected).abs() <= slack, "{quantity:?} {}: {sum} {expected}", of.rank);
            }
        }
    }

    /// Computation is a rate where the operations of all ranks are known, else a share.
    #[test]
    fn computation_is_a_rate_where_operations_are_known() {
        let computing = |known: u32, peak: Option<u64>| {
            let mut made = make(&Plan { ranks: 3, seed: 7, says: Says::Numbers, lost: 0, apart_us: 0 });
            for input in &mut made.inputs {
                let calls = &mut input.calls;
                let (first, last) = (calls.calls.starts_ps[0], calls.calls.end_ps(calls.calls.len() - 1));
                let worked = Interval::new(first, last);
                calls.worked_ps = (first, last);
                calls.compute_load = ComputeLoad::of(&[(first, last)], worked);
                if input.rank < known {
                    calls.flops = FlopLoad::over(worked);
                    calls.flops.add(worked, 1_000_000_000 * (1 + u64::from(input.rank)));
                    calls.flops.peak = peak;
                }
            }
            let (job, report) = analysed(made.inputs);
            activity(&job_segment(&job, &report), ActivityQuantity::Compute, Cancel::NEVER).unwrap()
        };
        let share = computing(2, None);
        assert!(share.rate.is_none() && share.ranks[0].shares.iter().any(|share| *share > 0.9));
        let rate = computing(3, None);
        // Without a peak the strongest share is the largest rate.
        let Some(ComputeRate { top_flops, is_peak: false }) = rate.rate else { panic!("{:?}", rate.rate) };
        let most = rate.ranks[2].shares.iter().copied().fold(0.0, f32::max);
        assert!(most == 1.0 && top_flops > 0.0);
        let seconds = (rate.end_ps - rate.start_ps) as f64 / PS_PER_S as f64;
        let mean: f64 = rate.ranks[2].shares.iter().map(|share| f64::from(*share)).sum::<f64>()
            / rate.ranks[2].shares.len() as f64;
        let flops = mean * top_flops * seconds;
        assert!((flops / 3e9 - 1.0).abs() < 0.02, "{flops}");
        let of_peak = computing(3, Some(1_000_000_000_000_000));
        assert_eq!(of_peak.rate, Some(ComputeRate { top_flops: 1e15, is_peak: true }));
        assert!(of_peak.ranks[0].shares.iter().all(|share| *share < 0.1));
    }

    /// The time of a rank without spans.
    fn expected_ps(job: &Job, report: &Report, number: u32, quantity: ActivityQuantity) -> f64 {
        let at = job.ranks.iter().position(|rank| rank.rank == number).unwrap();
        let (rank, wait_ps) = (&job.ranks[at], report.ranks[at].wait_ps as f64);
        let all = Interval::new(i64::MIN / 2, i64::MAX / 2);
        let compute = rank.rest.compute_load.within(all);
        let calls = &rank.calls;
        let calls = joined((0..calls.len()).map(|call| (calls.starts_ps[call], calls.end_ps(call))));
        let communicated: i64 = calls.iter().map(|part| part.1 - part.0).sum();
        match quantity {
            ActivityQuantity::Wait => wait_ps,
            ActivityQuantity::Compute => compute,
            ActivityQuantity::Busy => {
                compute + rank.rest.copy_load.within(all) + communicated as f64 - wait_ps
            }
        }
    }
}
