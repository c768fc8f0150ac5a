//! The best estimate of each clock: ends of one operation coincide, the more exactly the shorter
//! its transfer is.
//!
//! Lines start from a tree over groups. Sweeps then move each clock to the medians of its
//! operations. A drift counts only if its residuals prove it. Ranks with one clock have one line.

use super::ClockVerdict;
use super::bounds::{Bounds, step_ps};
use super::line::{ClockLine, PROOF, WeightedPoint, resistant, slope_of, weight_of, weighted_median};
use super::sample::{OperationSample, SampledJob};
use super::solve::{GroupLevel, levels, misfit};
use crate::analysis::islands::Islands;
use crate::analysis::{Group, InstanceCall, Instances, Job};
use crate::base::Result;
use crate::exec::Cancel;

const MOST_SWEEPS: usize = 30;
const MOST_DRIFT_ROUNDS: usize = 12;
/// Least standard error of a slope.
const LEAST_SLOPE_ERROR: f64 = 1e-9;
/// Least change over the recording that counts as a drift.
const LEAST_DRIFT_PS: f64 = 1e6;
/// Least offset of any rank that is evidence for moving ranks.
const LEAST_OFFSET_PS: f64 = 5e6;

/// Lines of all ranks.
#[derive(Debug)]
pub(super) struct Estimate {
    pub(super) lines: Vec<ClockLine>,
    /// Median deviation of each rank from the operations' medians, in picoseconds.
    pub(super) residuals: Vec<f64>,
    reference: usize,
}

/// Lines from the groups: each rank against one that is known, from the reference on. Ranks with a
/// known line keep it.
pub(in crate::analysis) fn tree(
    job: &Job,
    instances: &Instances,
    cancel: Cancel<'_>,
) -> Result<Vec<ClockLine>> {
    let sample = super::sample::of(job, instances, &Islands::whole(job.ranks.len()), cancel)?;
    let mut lines = vec![ClockLine::default(); job.ranks.len()];
    let mut is_known = vec![false; job.ranks.len()];
    if is_known.is_empty() {
        return Ok(lines);
    }
    is_known[sample.reference] = true;
    let mut by_group: Vec<Vec<u32>> = vec![Vec::new(); job.groups.len()];
    for &at in &sample.instances {
        by_group[instances.groups[at as usize] as usize].push(at);
    }
    // Large groups reach many ranks over few differences, so they come last: more calls decide.
    let mut order: Vec<usize> = (0..by_group.len()).filter(|&group| !by_group[group].is_empty()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(by_group[group].len()));
    loop {
        let mut has_grown = false;
        for &group in &order {
            let members: Vec<usize> = job.members[group].iter().map(|&rank| usize::from(rank)).collect();
            let known = members.iter().copied().find(|&rank| is_known[rank]);
            let Some(known) = known.filter(|_| members.iter().any(|&rank| !is_known[rank])) else { continue };
            let mut points: Vec<Vec<WeightedPoint>> = vec![Vec::new(); job.ranks.len()];
            for &at in &by_group[group] {
                cancel.check()?;
                let end = |one: InstanceCall| job.ranks[one.rank].calls.end_ps(one.call);
                let stay = |one: InstanceCall| job.ranks[one.rank].calls.durations_ps[one.call];
                let Some(base) = instances.members(at as usize).find(|one| one.rank == known) else {
                    continue;
                };
                let to = lines[known].shared(end(base));
                for one in instances.members(at as usize).filter(|one| !is_known[one.rank]) {
                    let difference_ps = to.saturating_sub(end(one)) as f64;
                    let weight = weight_of(stay(one).min(stay(base)));
                    let (time_ps, group) = (end(one), instances.groups[at as usize]);
                    points[one.rank].push(WeightedPoint { time_ps, difference_ps, weight, group });
                }
            }
            for rank in members {
                if let Some(line) = resistant(&mut points[rank], 4e6) {
                    lines[rank] = line;
                    is_known[rank] = true;
                    has_grown = true;
                }
            }
        }
        if !has_grown {
            return Ok(lines);
        }
    }
}

/// Improves the lines until nothing changes.
pub(super) fn fit(of: SampledJob<'_>, start: Vec<ClockLine>, cancel: Cancel<'_>) -> Result<Estimate> {
    let SampledJob { job, sample, .. } = of;
    let mut lines = start;
    let spans = spans(job, sample.of_rank.iter().map(|calls| calls.iter().map(|(_, end)| *end)));
    for at in 0..lines.len() {
        let clock = usize::from(job.clocks[at]);
        // Offset and slope disturb each other least in the middle of the calls.
        let line = lines[clock];
        let at_ps = spans[clock].map_or(line.at_ps, |(first, last)| i64::midpoint(first, last));
        lines[at] = ClockLine { at_ps, offset_ps: line.shift(at_ps), slope: line.slope };
    }
    let count = lines.len();
    let mut estimate = Estimate { lines, residuals: vec![0.0; count], reference: sample.reference };
    if sample.instances.is_empty() {
        return Ok(estimate);
    }
    estimate.anchor(job);
    let step = step_ps(job) as f64;
    for _ in 0..MOST_DRIFT_ROUNDS {
        estimate.settle(of, step, cancel)?;
        if !estimate.drift(of, step, cancel)? {
            break;
        }
    }
    Ok(estimate)
}

/// First and last of the times of each clock, from those of each rank.
fn spans<T: Iterator<Item = i64>>(job: &Job, of_ranks: impl Iterator<Item = T>) -> Vec<Option<(i64, i64)>> {
    let mut spans: Vec<Option<(i64, i64)>> = vec![None; job.ranks.len()];
    for (times, &clock) in of_ranks.zip(&job.clocks) {
        for time in times {
            let (first, last) = spans[usize::from(clock)].get_or_insert((time, time));
            (*first, *last) = (time.min(*first), time.max(*last));
        }
    }
    spans
}

impl Estimate {
    /// Gives the clock of the reference the line of no change.
    fn anchor(&mut self, job: &Job) {
        let reference = self.lines[self.reference];
        let back = reference.back();
        for (line, clock) in self.lines.iter_mut().zip(&job.clocks) {
            *line = match *clock == job.clocks[self.reference] {
                true => ClockLine { at_ps: reference.at_ps, ..ClockLine::default() },
                false => line.then(&back),
            };
        }
    }

    /// The value of `of` for the points of each clock in each group, and the levels that fit best.
    fn solved(
        &self,
        job: &Job,
        points: &[Vec<WeightedPoint>],
        of: impl Fn(&[WeightedPoint]) -> Option<(f64, f64)>,
        cancel: Cancel<'_>,
    ) -> Result<(Vec<GroupLevel>, Vec<f64>)> {
        let stated: Vec<bool> = job.groups.iter().map(Group::is_stated).collect();
        let entries = entries(points, &job.clocks, of);
        let reference = usize::from(job.clocks[self.reference]);
        let levels = levels(&entries, &stated, self.lines.len(), reference, cancel)?;
        let of_ranks = job.clocks.iter().map(|&clock| levels[usize::from(clock)]).collect();
        Ok((entries, of_ranks))
    }

    /// The difference of each call to the median end of its operation.
    fn points(&self, of: SampledJob<'_>, cancel: Cancel<'_>) -> Result<Vec<Vec<WeightedPoint>>> {
        let SampledJob { job, instances, sample } = of;
        let (mut ends, mut middles) = (Vec::new(), Vec::with_capacity(sample.instances.len()));
        for &at in &sample.instances {
            cancel.check()?;
            let members = instances.members(at as usize);
            let end =
                |one: InstanceCall| self.lines[one.rank].shared(job.ranks[one.rank].calls.end_ps(one.call));
            ends.clear();
            ends.extend(members.map(end));
            ends.sort_unstable();
            middles.push(i64::midpoint(ends[(ends.len() - 1) / 2], ends[ends.len() / 2]));
        }
        let of_rank = |(rank, calls): (usize, &Vec<(u32, i64)>)| {
            let point = |&(at, end): &(u32, i64)| WeightedPoint {
                time_ps: end,
                difference_ps: middles[at as usize].saturating_sub(self.lines[rank].shared(end)) as f64,
                weight: weight_of(sample.transfers_ps[at as usize]),
                group: instances.groups[sample.instances[at as usize] as usize],
            };
            calls.iter().map(point).collect()
        };
        Ok(sample.of_rank.iter().enumerate().map(of_rank).collect())
    }

    /// Moves the offsets until they stay.
    fn settle(&mut self, of: SampledJob<'_>, step: f64, cancel: Cancel<'_>) -> Result<()> {
        let exact = (0.05 * step).max(1.0);
        for _ in 0..MOST_SWEEPS {
            let points = self.points(of, cancel)?;
            let level = |points: &[WeightedPoint]| shown_by(points).map(|shown| (shown.level, shown.weight));
            let (_, moves) = self.solved(of.job, &points, level, cancel)?;
            let mut most = 0.0_f64;
            for (line, shift) in self.lines.iter_mut().zip(&moves) {
                line.offset_ps += shift;
                most = most.max(shift.abs());
            }
            if most <= exact {
                break;
            }
        }
        let points = self.points(of, cancel)?;
        for (residual, points) in self.residuals.iter_mut().zip(&points) {
            let mut off: Vec<(f64, f64)> =
                points.iter().map(|point| (point.difference_ps.abs(), 1.0)).collect();
            *residual = weighted_median(&mut off);
        }
        Ok(())
    }

    /// Adds the drifts that the residuals prove: with them the slopes in all groups fit together
    /// far better than by chance. Returns whether there are any.
    fn drift(&mut self, of: SampledJob<'_>, step: f64, cancel: Cancel<'_>) -> Result<bool> {
        let points = self.points(of, cancel)?;
        let (job, ranks) = (of.job, self.lines.len());
        let (entries, slopes) = self.solved(job, &points, slope_by, cancel)?;
        let stated: Vec<bool> = job.groups.iter().map(Group::is_stated).collect();
        let flat = misfit(&entries, &stated, &vec![0.0; ranks]);
        let gain = flat - misfit(&entries, &stated, &slopes);
        let clocks = (0..).zip(&job.clocks).filter(|(at, clock): &(u16, &u16)| at == *clock).count();
        let free = clocks.saturating_sub(1) as f64;
        if gain <= free + PROOF * (2.0 * free).sqrt() + PROOF * PROOF {
            return Ok(false);
        }
        let least = LEAST_DRIFT_PS.max(2.0 * step);
        let mut has_drift = false;
        let times = points.iter().map(|points| points.iter().map(|point| point.time_ps));
        let spans = spans(job, times);
        for ((line, slope), &clock) in self.lines.iter_mut().zip(slopes).zip(&job.clocks) {
            let span = spans[usize::from(clock)].map_or(0.0, |(from, to)| to.abs_diff(from) as f64);
            // A drift that was found before can be corrected by less.
            if slope.abs() * span > if line.slope == 0.0 { least } else { 0.1 * least } {
                line.slope += slope;
                has_drift = true;
            }
        }
        Ok(has_drift)
    }

    /// Whether there is evidence to move ranks, and the lines to use.
    pub(super) fn verdict(
        &self,
        job: &Job,
        sample: &OperationSample,
        bounds: &Bounds,
    ) -> (ClockVerdict, Vec<ClockLine>) {
        let still: Vec<ClockLine> =
            self.lines.iter().map(|line| ClockLine { at_ps: line.at_ps, ..ClockLine::default() }).collect();
        // Without operations that end together, causality alone can contradict the clocks.
        if sample.instances.is_empty() && bounds.allow_recorded() {
            return (ClockVerdict::Unknown, still);
        }
        let step = step_ps(job) as f64;
        let uncertain: Vec<f64> = (0..self.lines.len())
            .map(|rank| {
                let calls = &sample.of_rank[rank];
                let weight: f64 =
                    calls.iter().map(|(at, _)| weight_of(sample.transfers_ps[*at as usize])).sum();
                // One thread of a host can always leave first: many calls do not average that out.
                let counted = if job.is_timed_by_host(rank) { 1.0 } else { calls.len().max(1) as f64 };
                let spread = 1.48 * self.residuals[rank] / counted.sqrt();
                3.0 * spread.max(1e6 / weight.max(f64::MIN_POSITIVE).sqrt())
            })
            .collect();
        let mut of_clocks = vec![0.0_f64; uncertain.len()];
        for (uncertain, &clock) in uncertain.iter().zip(&job.clocks) {
            of_clocks[usize::from(clock)] = uncertain.max(of_clocks[usize::from(clock)]);
        }
        let uncertain: Vec<f64> = job.clocks.iter().map(|&clock| of_clocks[usize::from(clock)]).collect();
        let is_evidence = |(line, uncertain): (&ClockLine, &f64)| {
            line.slope != 0.0 || line.offset_ps.abs() > uncertain.max(3.0 * step).max(LEAST_OFFSET_PS)
        };
        let moves = self.lines.iter().zip(&uncertain).any(is_evidence);
        if !moves && bounds.allow_recorded() {
            return (ClockVerdict::Agree, still);
        }
        let is_still = |line: &ClockLine, uncertain: f64| {
            line.slope == 0.0 && line.offset_ps.abs() <= uncertain.min(0.5e6).max(step.min(1e3))
        };
        let lines = self.lines.iter().zip(&still).zip(&uncertain);
        let chosen =
            lines.map(|((line, still), &uncertain)| if is_still(line, uncertain) { *still } else { *line });
        (ClockVerdict::Aligned, chosen.collect())
    }
}

/// The value of `of` for the points of each clock in each group. `clocks` has the clock of each
/// rank.
fn entries(
    points: &[Vec<WeightedPoint>],
    clocks: &[u16],
    of: impl Fn(&[WeightedPoint]) -> Option<(f64, f64)>,
) -> Vec<GroupLevel> {
    let mut by_clock: Vec<Vec<WeightedPoint>> = vec![Vec::new(); points.len()];
    for (points, &clock) in points.iter().zip(clocks) {
        by_clock[usize::from(clock)].extend_from_slice(points);
    }
    let mut found = Vec::new();
    for (rank, mut sorted) in by_clock.into_iter().enumerate() {
        sorted.sort_by_key(|point| point.group);
        for run in sorted.chunk_by(|a, b| a.group == b.group) {
            if let Some((value, weight)) = of(run) {
                found.push(GroupLevel { rank, group: run[0].group as usize, value, weight });
            }
        }
    }
    found
}

/// Calls beyond this many deviations are wrong matches.
const OUTLIER: f64 = 6.0;

/// A typical spread of ends at a point, in microseconds. The point's weight is its square's
/// reciprocal.
fn spread(point: &WeightedPoint) -> f64 {
    point.weight.sqrt().recip()
}

/// Result of the points of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GroupEstimate {
    /// The difference for a transfer without duration.
    level: f64,
    /// The share of a typical spread that is added to it.
    share: f64,
    /// Weight of the level.
    weight: f64,
}

/// The difference of the points of one group, and what the rank's place in the group adds.
///
/// A place, such as that in a ring, moves all ends of a rank by a share of the transfer time. Its
/// prior is that it is as small as the noise. Many calls with equal transfer times then count no
/// more than a few. `None` without points.
fn shown_by(points: &[WeightedPoint]) -> Option<GroupEstimate> {
    const PRIOR: f64 = 1.0;
    let mut values: Vec<(f64, f64)> =
        points.iter().map(|point| (point.difference_ps, point.weight)).collect();
    let median = weighted_median(&mut values);
    let mut off: Vec<(f64, f64)> =
        points.iter().map(|point| ((point.difference_ps - median).abs() / spread(point), 1.0)).collect();
    let limit = OUTLIER * weighted_median(&mut off);
    let mut sums = [0.0_f64; 5];
    for point in points {
        let (y, s, w) = (point.difference_ps - median, spread(point), point.weight);
        if y.abs() / s > limit {
            continue;
        }
        for (sum, part) in sums.iter_mut().zip([w, w * s, w * s * s, w * y, w * s * y]) {
            *sum += part;
        }
    }
    let [w, ws, wss, wy, wsy] = sums;
    let weight = w - ws * ws / (wss + PRIOR);
    let level = (wy - ws * wsy / (wss + PRIOR)) / weight;
    let share = (wsy - ws * level) / (wss + PRIOR);
    (weight > 0.0).then_some(GroupEstimate { level: median + level, share, weight })
}

/// Slope of the points of one group without what the rank's place adds, and its weight.
fn slope_by(points: &[WeightedPoint]) -> Option<(f64, f64)> {
    let share = shown_by(points)?.share;
    let without = |point: &WeightedPoint| WeightedPoint {
        difference_ps: point.difference_ps - share * spread(point),
        ..*point
    };
    let (slope, error) = slope_of(&points.iter().map(without).collect::<Vec<_>>())?;
    let error = error.max(LEAST_SLOPE_ERROR);
    Some((slope, 1.0 / (error * error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_ring_does_not_move_a_clock() {
        // Ends are late by 4 % of a transfer beside a difference of 7 µs. One call is wrong.
        let point = |at: i64, transfer_us: i64| WeightedPoint {
            time_ps: at,
            difference_ps: 7e6 + 0.04e6 * transfer_us as f64 + 1e5 * (at % 3 - 1) as f64,
            weight: weight_of(transfer_us * 1_000_000),
            group: 0,
        };
        let mut points: Vec<WeightedPoint> =
            (0..24).map(|at| point(at, [60, 500, 400][usize::try_from(at % 3).unwrap()])).collect();
        points[4].difference_ps = 9e9;
        let shown = shown_by(&points).unwrap();
        assert!((shown.level - 7e6).abs() < 1e6 && shown.share > 1e6, "{shown:?}");
        let alike: Vec<WeightedPoint> = (0..9).map(|at| point(at, 100)).collect();
        let shown = shown_by(&alike).unwrap();
        assert!((shown.level - 11e6).abs() < 1e5 && shown.weight > 0.0, "{shown:?}");
        assert_eq!(shown_by(&[]), None);
    }
}
