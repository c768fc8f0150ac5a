//! Time that the job loses to late ranks: an upper limit of what it would gain without them.
//!
//! A rank that comes last delays its operation from the median arrival of the others on. If other
//! ranks that stand out are late in the same operation, it delays the operation only beyond the
//! last of these. Ranks that are late by chance do not count: they would be late at other times,
//! too, but not so late as one that is late each time. Operations in flight at the same time are
//! delayed together, so their delays count once.

use super::arrival::ArrivalFacts;
use super::culprit::outstanding;
use super::{Job, Report};
use crate::base::Result;
use crate::exec::Cancel;
use crate::model::WaitingRanks;

/// Delay of an operation on the shared clock.
#[derive(Debug, Clone, Copy)]
struct Delay {
    instance: usize,
    /// Arrival of the median rank, and of the last one of the other ranks that stand out.
    median_ps: i64,
    on_time_ps: i64,
}

/// Fills in the delays of the ranks of a report.
pub(super) fn add(job: &Job, report: &mut Report, cancel: Cancel<'_>) -> Result<()> {
    let mut delays = of_operations(job, report, cancel)?;
    let mut covered = vec![i64::MIN; report.ranks.len()];
    delays.sort_unstable_by_key(|delay| (delay.on_time_ps, delay.instance));
    for delay in &delays {
        let one = &report.operations[delay.instance];
        let Some(last) = one.last.map(|last| last as usize) else { continue };
        report.ranks[last].job_delay_ps += cover(&mut covered[last], delay.on_time_ps, one.span.last_ps);
    }
    covered.fill(i64::MIN);
    delays.sort_unstable_by_key(|delay| (delay.median_ps, delay.instance));
    for delay in &delays {
        cancel.check()?;
        let last_ps = report.operations[delay.instance].span.last_ps;
        for one in report.instances.members(delay.instance) {
            let delay_ps = cover(&mut covered[one.rank], delay.median_ps, last_ps);
            report.ranks[one.rank].late_ranks_delay_ps += delay_ps;
        }
    }
    Ok(())
}

/// The delays of the operations that wait for all.
fn of_operations(job: &Job, report: &Report, cancel: Cancel<'_>) -> Result<Vec<Delay>> {
    let late = outstanding(report);
    let is_late: Vec<bool> = job.ranks.iter().map(|rank| late.contains(&rank.rank)).collect();
    let scene = ArrivalFacts { job, instances: &report.instances, clocks: &report.used, cancel };
    let (mut arrivals, mut starts, mut delays) = (Vec::new(), Vec::new(), Vec::new());
    for (instance, one) in report.operations.iter().enumerate() {
        cancel.check()?;
        let Some(last) = one.last.map(|last| last as usize) else { continue };
        if job.signatures[one.signature as usize].kind.waiting() != WaitingRanks::ForAll {
            continue;
        }
        scene.arrivals(instance, &mut arrivals);
        starts.clear();
        starts.extend(arrivals.iter().map(|arrival| arrival.start_ps));
        // The median of the others. It is the lower one of two: half of the ranks are no later.
        let middle = starts.len().saturating_sub(2) / 2;
        let median_ps = *starts.select_nth_unstable(middle).1;
        let others = arrivals.iter().filter(|one| one.member.rank != last && is_late[one.member.rank]);
        let on_time_ps = others.map(|one| one.start_ps).fold(median_ps, i64::max);
        delays.push(Delay { instance, median_ps, on_time_ps });
    }
    Ok(delays)
}

/// The part of an interval that none before it had. Intervals come by start.
fn cover(covered_ps: &mut i64, from_ps: i64, to_ps: i64) -> i64 {
    let new = to_ps.saturating_sub(from_ps.max(*covered_ps)).max(0);
    *covered_ps = to_ps.max(*covered_ps);
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_at_the_same_time_count_once() {
        let mut covered = i64::MIN;
        let mut new = |from, to| cover(&mut covered, from, to);
        assert_eq!([new(0, 40), new(0, 41), new(10, 20), new(50, 60), new(55, 70)], [40, 1, 0, 10, 10]);
    }
}
