//! Steps of a job: the trace's own, joined over the ranks by their numbers, else found by the order
//! in which operations repeat.

use rustc_hash::FxHashMap;

use super::arrival::Arrival;
use super::{InstanceReport, Job, Report};
use crate::base::{Interval, Time, narrow};
use crate::model::WaitingRanks;

/// Repetitions that make an order clear.
const LEAST_REPETITIONS: usize = 3;

/// The step that most members of an operation state; the lowest of several.
pub(super) fn stated(job: &Job, arrivals: &[Arrival]) -> Option<u32> {
    let step = |one: &Arrival| job.ranks[one.member.rank].calls.step(one.member.call);
    let first = step(arrivals.first()?);
    if arrivals.iter().all(|one| step(one) == first) {
        return first;
    }
    let mut steps: Vec<u32> = arrivals.iter().filter_map(step).collect();
    steps.sort_unstable();
    let runs = steps.chunk_by(|a, b| a == b).rev();
    runs.max_by_key(|run| run.len()).map(|run| run[0])
}

/// Gives each operation a step if no trace states any.
///
/// If the operations of the largest group repeat in a fixed order, each repetition is a step. Other
/// operations belong to the step whose first one came before them. Without a clear order the whole
/// recording is step 0.
pub(super) fn find(job: &Job, operations: &mut [InstanceReport]) {
    if job.ranks.iter().any(|rank| !rank.calls.steps.is_empty()) {
        return;
    }
    let starts = starts(job, operations);
    for one in operations {
        let before = starts.partition_point(|start| *start <= one.span.last_ps);
        one.step = Some(narrow(before.saturating_sub(1)));
    }
}

/// Last arrivals at the first operation of each repetition in the largest group: nobody comes to a
/// later operation before. Empty without a clear order.
fn starts(job: &Job, operations: &[InstanceReport]) -> Vec<i64> {
    let mut counts = vec![0_usize; job.groups.len()];
    operations.iter().for_each(|one| counts[one.group as usize] += 1);
    let size = |&group: &usize| {
        let is_stated = job.groups[group].is_stated();
        (is_stated, job.members[group].len(), counts[group], std::cmp::Reverse(group))
    };
    let Some(largest) = (0..counts.len()).filter(|&group| counts[group] > 0).max_by_key(size) else {
        return Vec::new();
    };
    let mut of_group: Vec<(i64, u32)> = operations
        .iter()
        .filter(|one| one.group as usize == largest)
        .map(|one| (one.span.last_ps, job.classes[one.signature as usize]))
        .collect();
    of_group.sort_unstable();
    let order: Vec<u32> = of_group.iter().map(|(_, class)| *class).collect();
    match period(&order) {
        Some(period) => of_group.iter().step_by(period).map(|(last_ps, _)| *last_ps).collect(),
        None => Vec::new(),
    }
}

/// The length of the order that repeats throughout. `None` if there is none, if it repeats less
/// than [`LEAST_REPETITIONS`] times, or if all values are equal: any number could be a step.
fn period(order: &[u32]) -> Option<usize> {
    // For each prefix the length of its longest part that is both its start and its end (Knuth,
    // Morris and Pratt, "Fast pattern matching in strings", 1977).
    let mut borders: Vec<usize> = Vec::with_capacity(order.len());
    for (at, value) in order.iter().enumerate() {
        let mut border = borders.last().copied().unwrap_or(0);
        while border > 0 && order[border] != *value {
            border = borders[border - 1];
        }
        let goes_on = at > 0 && order[border] == *value;
        borders.push(border + usize::from(goes_on));
    }
    let period = order.len() - borders.last()?;
    (period > 1 && order.len() >= LEAST_REPETITIONS * period).then_some(period)
}

/// A step over all ranks. Times are in picoseconds of the shared clock.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReport {
    /// The trace's number of the step, else its place in the order.
    pub number: u32,
    /// Operations of the step.
    pub operations: u64,
    /// First arrival at an operation of the step.
    pub start_ps: i64,
    /// Time from the first arrival to the last end.
    pub span_ps: i64,
    /// Time from the first rank's first call of the step to the last rank's.
    pub skew_ps: i64,
    /// Sum of the waits of all ranks.
    pub wait_ps: i64,
    /// Number of the rank for which the others waited most. `None` if nobody waited.
    pub slowest: Option<u32>,
    /// Computation of the busiest rank over the mean, minus 1, each between the ends of its steps.
    /// `None` if less than two ranks show computation.
    pub imbalance: Option<f64>,
}

/// Times of one rank in a step, and what all ranks make of it.
#[derive(Debug, Clone)]
struct StepTimes {
    first_starts_ps: (i64, i64),
    computed_ps: f64,
    most_computed_ps: f64,
    ranks: u32,
}

/// The steps of a job by number. `by_call` has for each rank and call its operation. Operations
/// before the first mark are in no step.
#[must_use]
pub fn steps(job: &Job, report: &Report, by_call: &[Vec<u32>]) -> Vec<StepReport> {
    let mut numbers: Vec<u32> = report.operations.iter().filter_map(|one| one.step).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let place = |one: &InstanceReport| numbers.binary_search(&one.step?).ok();
    let mut found: Vec<StepReport> = numbers.iter().map(|&number| StepReport::empty(number)).collect();
    let mut ends = vec![i64::MIN; found.len()];
    let mut awaited: FxHashMap<(usize, u32), i64> = FxHashMap::default();
    for one in &report.operations {
        let Some(at) = place(one) else { continue };
        let step = &mut found[at];
        step.operations += 1;
        step.start_ps = step.start_ps.min(one.span.first_ps);
        ends[at] = ends[at].max(one.span.end_ps);
        step.wait_ps = step.wait_ps.saturating_add(one.wait_ps);
        let rank = match job.signatures[one.signature as usize].kind.waiting() {
            WaitingRanks::ForAll => one.last,
            WaitingRanks::ForRoot => one.root,
            WaitingRanks::RootForAll => None,
        };
        if let Some(rank) = rank.filter(|_| one.wait_ps > 0) {
            *awaited.entry((at, rank)).or_default() += one.wait_ps;
        }
    }
    let mut most = vec![(0, 0_u32); found.len()];
    for ((at, rank), wait_ps) in awaited {
        let better = (wait_ps, std::cmp::Reverse(rank)) > (most[at].0, std::cmp::Reverse(most[at].1));
        most[at] = if better { (wait_ps, rank) } else { most[at] };
    }
    let sums = sums(job, report, by_call, &numbers);
    for (at, step) in found.iter_mut().enumerate() {
        step.span_ps = ends[at].saturating_sub(step.start_ps);
        step.slowest = (most[at].0 > 0).then(|| job.ranks[most[at].1 as usize].rank);
        let (first, last) = sums[at].first_starts_ps;
        step.skew_ps = last.saturating_sub(first).max(0);
        let mean = sums[at].computed_ps / f64::from(sums[at].ranks.max(1));
        let is_known = sums[at].ranks > 1 && mean > 0.0;
        step.imbalance = is_known.then(|| sums[at].most_computed_ps / mean - 1.0);
    }
    found
}

impl StepReport {
    fn empty(number: u32) -> Self {
        Self {
            number,
            operations: 0,
            start_ps: i64::MAX,
            span_ps: 0,
            skew_ps: 0,
            wait_ps: 0,
            slowest: None,
            imbalance: None,
        }
    }
}

/// Results of the calls of each rank, rank by rank.
fn sums(job: &Job, report: &Report, by_call: &[Vec<u32>], numbers: &[u32]) -> Vec<StepTimes> {
    let empty = StepTimes {
        first_starts_ps: (i64::MAX, i64::MIN),
        computed_ps: 0.0,
        most_computed_ps: 0.0,
        ranks: 0,
    };
    let mut sums = vec![empty; numbers.len()];
    for ((rank, of_calls), clock) in job.ranks.iter().zip(by_call).zip(&report.used) {
        // First start and last end of each step, on the rank's own clock.
        let mut spans = vec![(i64::MAX, i64::MIN); numbers.len()];
        for (call, &operation) in of_calls.iter().enumerate() {
            let step = report.operations.get(operation as usize).and_then(|one| one.step);
            let Some(at) = step.and_then(|step| numbers.binary_search(&step).ok()) else { continue };
            spans[at].0 = spans[at].0.min(rank.calls.starts_ps[call]);
            spans[at].1 = spans[at].1.max(rank.calls.end_ps(call));
        }
        let load = &rank.rest.compute_load;
        let mut from = load.start_ps;
        for (sum, (start, end)) in sums.iter_mut().zip(spans).filter(|(_, span)| span.0 <= span.1) {
            let shared = clock.to_shared(Time(start)).0;
            sum.first_starts_ps = (sum.first_starts_ps.0.min(shared), sum.first_starts_ps.1.max(shared));
            if load.step_ps > 0 {
                let computed_ps = load.within(Interval::new(from, end));
                sum.computed_ps += computed_ps;
                sum.most_computed_ps = sum.most_computed_ps.max(computed_ps);
                sum.ranks += 1;
            }
            from = from.max(end);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_clear_if_it_repeats() {
        for (order, expected) in [
            (&[1, 2, 1, 2, 1, 2][..], Some(2)),
            (&[1, 1, 2, 1, 1, 2, 1, 1, 2, 1], Some(3)),
            (&[1, 1, 1, 1, 1, 1], None),
            (&[1, 2, 1, 2], None),
            (&[1, 2, 1, 2, 1, 3, 1, 2], None),
            (&[], None),
        ] {
            assert_eq!(period(order), expected, "{order:?}");
        }
    }
}
