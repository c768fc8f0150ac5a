//! The shift between the clocks of two ranks.
//!
//! Each pair of equal calls votes for the difference of its ends. In a job that repeats itself
//! several differences get many votes: of a rank that recorded one step, those to all steps of the
//! other. So the calls are paired at each of them, and the ends decide. At the true shift they
//! differ by little and alike; at others each wait and each computation between two calls adds its
//! own noise. Calls that one rank has and the other lacks count where both recorded. Calls outside
//! of what the other recorded tell little.

use rustc_hash::FxHashMap;

use super::candidates::{AS_RECORDED_PS, BIN_PS, CallEnd, nominated};
use super::tolerance;
use crate::analysis::clock::line::{
    ClockLine, PointSums, WeightedPoint, rounded, weight_of, weighted_median,
};

/// Calls of a rank that are compared.
const VOTERS: usize = 128;
/// Largest drift between two clocks that is followed.
pub(super) const MOST_DRIFT: f64 = 100e-6;

/// Evidence is the logarithm of a likelihood. A shift with so much more of it than another is
/// right: the other is less likely by a factor of 400.
const CLEAR: f64 = 6.0;
/// Evidence of a call that meets one of the other rank.
const MET: f64 = 1.0;
/// Evidence against a shift of a call that the other rank lacks although it recorded at that time.
const LACKED: f64 = 1.5;
/// Number and deviation, in typical spreads, of differences that are assumed beforehand: two or
/// three calls can agree by chance.
const PRIOR: (f64, f64) = (2.0, 0.5);
/// Evidence for clocks that agree as they were recorded. By chance two clocks hardly ever do.
const AGREED: f64 = 2.0;
/// Most that a single difference counts, in typical spreads.
const OUTLIER: f64 = 4.0;

/// A shift from the times of one rank to those of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankShift {
    /// Position of the call with which to begin to follow both ranks.
    pub(super) middle: usize,
    pub(super) shift_ps: i64,
    /// Whether no other shift fits as well.
    pub(super) is_certain: bool,
}

/// Shift between two ranks, as far as their calls show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PairShift {
    /// No call can meet one of the other rank.
    Nothing,
    /// Several shifts fit, or none, and the clocks as recorded do not.
    Unclear,
    Shift(RankShift),
}

/// The calls of two ranks that can meet.
struct Pair<'c> {
    voters: &'c [CallEnd],
    /// Ends and durations of the other rank by class, ascending.
    by_class: FxHashMap<u32, Vec<(i64, i64)>>,
    /// All ends of the other rank, ascending.
    ends: Vec<i64>,
    /// Weights of classes. The shortest call shows the transfer best.
    weights: FxHashMap<u32, f64>,
}

/// How well the calls fit at a shift.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallFit {
    pub(super) shift_ps: f64,
    pub(super) evidence: f64,
}

impl CallFit {
    /// Whether the clocks agree as they were recorded.
    fn is_as_recorded(&self) -> bool {
        self.shift_ps.abs() <= AS_RECORDED_PS as f64
    }
}

/// Finds the shift from the times of `few` to those of `many`. Both have calls of common classes
/// only, by end. `are_stated` is whether the trace states the groups of all of them.
pub(super) fn found(few: &[CallEnd], many: &[CallEnd], are_stated: bool) -> PairShift {
    let first = few.len().saturating_sub(VOTERS) / 2;
    let voters = &few[first..few.len().min(first + VOTERS)];
    let pair = Pair::new(voters, many);
    let shifts = nominated(voters, &pair.by_class);
    let fits: Vec<CallFit> = shifts.into_iter().filter_map(|shift| pair.fit(shift)).collect();
    match decided(&fits, are_stated) {
        Some((shift_ps, is_certain)) => {
            PairShift::Shift(RankShift { middle: first + voters.len() / 2, shift_ps, is_certain })
        }
        None if fits.is_empty() => PairShift::Nothing,
        None => PairShift::Unclear,
    }
}

/// The shift to use, and whether it is certain. `None` if several fit, or none, and the clocks as
/// recorded do not.
pub(super) fn decided(fits: &[CallFit], are_stated: bool) -> Option<(i64, bool)> {
    let (fit, is_best) = best(fits)?;
    let is_as_recorded = fit.is_as_recorded();
    // Ranks with nothing in common have no evidence for any shift, and some calls meet by chance.
    // If groups are not known, ranks that meet can lack each other's calls with others on the same
    // stream.
    let has_met = fit.evidence > if is_as_recorded { 0.0 } else { CLEAR };
    let is_certain = is_best && (has_met || !are_stated);
    (is_certain || is_as_recorded).then(|| (rounded(fit.shift_ps), is_certain))
}

/// The fit to use, and whether it is clearly the best one. Among those that fit about as well it is
/// the one with which the clocks agree as they were recorded.
fn best(fits: &[CallFit]) -> Option<(CallFit, bool)> {
    let by_evidence = |a: &&CallFit, b: &&CallFit| a.evidence.total_cmp(&b.evidence);
    let best = fits.iter().max_by(by_evidence)?;
    let as_recorded = fits.iter().filter(|fit| fit.is_as_recorded()).max_by(by_evidence);
    let chosen = as_recorded.filter(|fit| fit.evidence + CLEAR > best.evidence).unwrap_or(best);
    let is_other = |fit: &&CallFit| (fit.shift_ps - chosen.shift_ps).abs() > 2.0 * BIN_PS as f64;
    let second = fits.iter().filter(is_other).max_by(by_evidence);
    let evidence = chosen.evidence + if chosen.is_as_recorded() { AGREED } else { 0.0 };
    Some((*chosen, second.is_none_or(|second| second.evidence + CLEAR <= evidence)))
}

impl<'c> Pair<'c> {
    fn new(voters: &'c [CallEnd], many: &[CallEnd]) -> Self {
        let mut by_class: FxHashMap<u32, Vec<(i64, i64)>> = FxHashMap::default();
        for call in many {
            by_class.entry(call.class).or_default().push((call.end_ps, call.duration_ps));
        }
        let mut shortest: FxHashMap<u32, i64> = FxHashMap::default();
        for call in voters.iter().chain(many) {
            let shortest = shortest.entry(call.class).or_insert(i64::MAX);
            *shortest = call.duration_ps.min(*shortest);
        }
        let weights = shortest.into_iter().map(|(class, stay)| (class, weight_of(stay))).collect();
        Self { voters, by_class, ends: many.iter().map(|call| call.end_ps).collect(), weights }
    }

    /// Pairs the calls near a shift that is known to a bin. `None` without pairs.
    fn fit(&self, shift_ps: i64) -> Option<CallFit> {
        let at_ps = self.voters.get(self.voters.len() / 2)?.end_ps;
        let mut line = ClockLine { at_ps, offset_ps: shift_ps as f64, slope: 0.0 };
        let mut points = Vec::new();
        for is_first in [true, false, false] {
            self.meet(&line, is_first, &mut points);
            if points.is_empty() {
                return None;
            }
            line = if is_first { level(&points, at_ps) } else { straight(&points, at_ps) };
        }
        self.meet(&line, false, &mut points);
        let misfit = |point: &WeightedPoint| {
            let off_us = (point.difference_ps - line.shift(point.time_ps)) / 1e6;
            (off_us * off_us * point.weight).min(OUTLIER * OUTLIER)
        };
        let free = points.len().saturating_sub(1) as f64;
        let squares = points.iter().map(misfit).sum::<f64>() + PRIOR.0 * PRIOR.1 * PRIOR.1;
        let likely = -0.5 * free * (squares / (free + PRIOR.0)).ln();
        let evidence = likely + MET * points.len() as f64 - LACKED * self.lacked(&line, points.len()) as f64;
        Some(CallFit { shift_ps: line.offset_ps, evidence })
    }

    /// The calls that end together with one of the other rank.
    fn meet(&self, line: &ClockLine, is_first: bool, points: &mut Vec<WeightedPoint>) {
        points.clear();
        for call in self.voters {
            let Some(ends) = self.by_class.get(&call.class) else { continue };
            let expected = line.shared(call.end_ps);
            let next = ends.partition_point(|(end, _)| *end < expected);
            let near = &ends[next.saturating_sub(1)..ends.len().min(next + 1)];
            let Some(&(end, duration)) = near.iter().min_by_key(|(end, _)| end.abs_diff(expected)) else {
                continue;
            };
            let since = call.end_ps.abs_diff(line.at_ps) as f64;
            let begin = if is_first { 1.5 * BIN_PS as f64 + MOST_DRIFT * since } else { 0.0 };
            if end.abs_diff(expected) as f64 <= tolerance(duration.min(call.duration_ps)) + begin {
                let weight = self.weights.get(&call.class).copied().unwrap_or(1.0);
                let difference_ps = end.saturating_sub(call.end_ps) as f64;
                points.push(WeightedPoint { time_ps: call.end_ps, difference_ps, weight, group: 0 });
            }
        }
    }

    /// Calls of both ranks that met nothing although the other one recorded at that time.
    fn lacked(&self, line: &ClockLine, met: usize) -> usize {
        let (Some(&first), Some(&last)) = (self.ends.first(), self.ends.last()) else { return 0 };
        let shared = |call: &CallEnd| line.shared(call.end_ps);
        let mut voters = self.voters.iter().map(shared);
        let own = voters.clone().filter(|end| (first..=last).contains(end)).count();
        let (from, to) = (voters.clone().next().unwrap_or(0), voters.next_back().unwrap_or(0));
        let others =
            self.ends.partition_point(|end| *end <= to) - self.ends.partition_point(|end| *end < from);
        own.saturating_sub(met) + others.saturating_sub(met)
    }
}

fn level(points: &[WeightedPoint], at_ps: i64) -> ClockLine {
    let mut values: Vec<(f64, f64)> =
        points.iter().map(|point| (point.difference_ps, point.weight)).collect();
    ClockLine { at_ps, offset_ps: weighted_median(&mut values), slope: 0.0 }
}

/// The line through points that no clock's drift exceeds. With a steeper one the noise of a few
/// calls would fit anywhere.
fn straight(points: &[WeightedPoint], at_ps: i64) -> ClockLine {
    let middle = level(points, at_ps).offset_ps;
    let mut sums = PointSums::default();
    for point in points {
        let x = point.time_ps.saturating_sub(at_ps) as f64;
        sums.add(x, point.difference_ps - middle, point.weight);
    }
    let slope = sums.slope().map_or(0.0, |slope| slope.clamp(-MOST_DRIFT, MOST_DRIFT));
    ClockLine { at_ps, offset_ps: middle + sums.level(slope), slope }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::matching::candidates::tests::calls_of_a_job;

    /// Some of the calls of a job, by a clock that is ahead.
    fn calls(range: std::ops::Range<usize>, ahead_ps: i64) -> Vec<CallEnd> {
        let some = calls_of_a_job(1_100).skip(range.start).take(range.len());
        some.map(|call| CallEnd { end_ps: call.end_ps + ahead_ps, ..call }).collect()
    }

    #[test]
    fn a_shift_is_found_wherever_it_is() {
        let many = calls(0..400, 0);
        for ms in [0, 1, 37, 300, 480, 490, 495, 500, 505, 510, 520, 700, 9_000, 3_600_000] {
            for sign in [-1, 1] {
                for range in [0..45, 100..300, 355..400] {
                    let ahead_ps = sign * ms * 1_000_000_000;
                    let PairShift::Shift(shift) = found(&calls(range.clone(), ahead_ps), &many, true) else {
                        panic!("{ms} ms, {range:?}: nothing is found");
                    };
                    let off_ps = shift.shift_ps + ahead_ps;
                    assert!(off_ps.abs() < 1_000 && shift.is_certain, "{ms} ms, {range:?}: {shift:?}");
                }
            }
        }
    }

    #[test]
    fn a_step_that_lacks_calls_is_not_the_right_one() {
        // Steps are equal to the picosecond, but two calls of all steps except one are lost.
        let call = |step: i64, at: i64| CallEnd {
            end_ps: step * 30_000_000_000 + at * at * 130_000_000 + at * 700_000_000,
            duration_ps: 15_000_000,
            class: 0,
        };
        let is_there = |step: i64, at: i64| step == 2 || at != 3 + step && at != 8 - step;
        let many: Vec<CallEnd> = (0..5)
            .flat_map(|step| (0..10).map(move |at| (step, at)))
            .filter(|&(step, at)| is_there(step, at))
            .map(|(step, at)| call(step, at))
            .collect();
        let ahead_ps = 7_000_000_000_000;
        let few = (0..10).map(|at| call(2, at));
        let few: Vec<CallEnd> = few.map(|of| CallEnd { end_ps: of.end_ps + ahead_ps, ..of }).collect();
        let PairShift::Shift(shift) = found(&few, &many, true) else { panic!("nothing is found") };
        assert!(shift.is_certain && (shift.shift_ps + ahead_ps).abs() < 1_000, "{shift:?}");
    }

    #[test]
    fn what_chance_meets_is_not_certain() {
        let many = calls(0..40, 0);
        for from in (100..1_000).step_by(9) {
            for count in [6, 12, 25] {
                let other = found(&calls(from..from + count, -230_000_000_000), &many, true);
                let is_certain = matches!(other, PairShift::Shift(shift) if shift.is_certain);
                assert!(!is_certain, "{count} calls from {from}: {other:?}");
            }
        }
    }

    #[test]
    fn ranks_that_recorded_other_calls_have_no_shift() {
        for ahead_ps in [0, 2_000_000_000, 900_000_000_000] {
            let other = found(&calls(1_000..1_045, ahead_ps), &calls(0..400, 0), true);
            assert_eq!(other, PairShift::Unclear, "{ahead_ps}");
        }
        assert_eq!(found(&[], &calls(0..9, 0), true), PairShift::Nothing);
        assert_eq!(found(&calls(0..9, 0), &[], true), PairShift::Nothing);
    }
}
