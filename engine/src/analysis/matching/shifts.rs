//! The shift between the clocks of two ranks.
//!
//! Each pair of equal calls votes for the difference of its ends. In a job that repeats itself
//! several differences get many votes: of a rank that recorded one step, those to all steps of the
//! other. So the calls are paired at each of them, and the ends decide. At the true shift they
//! differ by little and alike; at others each wait and each computation between two calls adds its
//! own noise. Calls that one rank has and the other lacks count where both recorded. Calls outside
//! of what the other recorded tell little.

use rustc_hash::FxHashMap;

use super::tolerance;
use crate::analysis::clock::line::{Line, Point, Sums, weight_of, weighted_median};

/// A call without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ended {
    pub(super) end_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) class: u32,
}

/// Width of a bin of the histogram.
pub(super) const BIN_PS: i64 = 20_000_000;
/// Bins on each side: half a second.
const BINS: i64 = 25_000;
/// Calls of a rank that vote.
const VOTERS: usize = 128;
/// Calls of the other rank that a vote considers on each side.
const NEAR: usize = 512;
/// Largest drift between two clocks that is followed.
pub(super) const MOST_DRIFT: f64 = 100e-6;
/// Shifts that are compared.
const MOST_SHIFTS: usize = 256;
/// Clocks of one host, as they are recorded, differ by less.
const AS_RECORDED_PS: f64 = 100e6;

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
/// Most that a single difference counts, in typical spreads.
const OUTLIER: f64 = 4.0;

/// A shift from the times of one rank to those of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shift {
    /// Position of the call with which to begin to follow both ranks.
    pub(super) middle: usize,
    pub(super) shift_ps: i64,
    /// Whether no other shift fits as well.
    pub(super) is_certain: bool,
}

/// Shift between two ranks, as far as their calls show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found {
    /// No call can meet one of the other rank.
    Nothing,
    /// Several shifts fit, and the clocks as recorded do not.
    Unclear,
    Shift(Shift),
}

/// The calls of two ranks that can meet.
struct Pair<'c> {
    voters: &'c [Ended],
    /// Ends and durations of the other rank by class, ascending.
    by_class: FxHashMap<u32, Vec<(i64, i64)>>,
    /// All ends of the other rank, ascending.
    ends: Vec<i64>,
    /// Weights of classes. The shortest call shows the transfer best.
    weights: FxHashMap<u32, f64>,
}

/// How well the calls fit at a shift.
#[derive(Debug, Clone, Copy)]
struct Fit {
    shift_ps: f64,
    evidence: f64,
}

/// Finds the shift from the times of `few` to those of `many`. Both have calls of common classes
/// only, by end.
pub(super) fn found(few: &[Ended], many: &[Ended]) -> Found {
    let first = few.len().saturating_sub(VOTERS) / 2;
    let voters = &few[first..few.len().min(first + VOTERS)];
    let (Some(own), Some(other)) = (few.first().zip(few.last()), many.first().zip(many.last())) else {
        return Found::Nothing;
    };
    let pair = Pair::new(voters, many);
    // Clocks that have nothing in common can still show the same first or last calls.
    let ends = [(own.0, other.0), (own.1, other.1)];
    let aligned = ends.map(|(own, other)| other.end_ps.saturating_sub(own.end_ps));
    let (mut fits, mut most): (Vec<Fit>, usize) = (Vec::new(), 0);
    for expected in std::iter::once(0).chain(aligned) {
        let (votes, shifts) = vote(&pair, expected);
        if votes > most * 2 {
            fits.clear();
        } else if votes * 2 < most {
            continue;
        }
        most = most.max(votes);
        fits.extend(shifts.into_iter().filter_map(|shift| pair.fit(shift)));
        if most * 2 >= voters.len() && best(&fits).is_some_and(|(_, is_certain)| is_certain) {
            break;
        }
    }
    let Some((fit, is_certain)) = best(&fits) else { return Found::Nothing };
    let is_as_recorded = fit.shift_ps.abs() <= AS_RECORDED_PS;
    if !is_certain && !is_as_recorded {
        return Found::Unclear;
    }
    let shift_ps = crate::analysis::clock::line::rounded(fit.shift_ps);
    Found::Shift(Shift { middle: first + voters.len() / 2, shift_ps, is_certain })
}

/// The fit to use, and whether it is clearly the best one. Among those that fit about as well it is
/// the one with which the clocks agree as they were recorded.
fn best(fits: &[Fit]) -> Option<(Fit, bool)> {
    let by_evidence = |a: &&Fit, b: &&Fit| a.evidence.total_cmp(&b.evidence);
    let best = fits.iter().max_by(by_evidence)?;
    let as_recorded = fits.iter().filter(|fit| fit.shift_ps.abs() <= AS_RECORDED_PS).max_by(by_evidence);
    let chosen = as_recorded.filter(|fit| fit.evidence + CLEAR > best.evidence).unwrap_or(best);
    let is_other = |fit: &&Fit| (fit.shift_ps - chosen.shift_ps).abs() > 2.0 * BIN_PS as f64;
    let second = fits.iter().filter(is_other).max_by(by_evidence);
    Some((*chosen, second.is_none_or(|second| second.evidence + CLEAR <= chosen.evidence)))
}

/// The votes of the best difference near `expected`, and the differences with at least half as many
/// votes as it.
fn vote(pair: &Pair<'_>, expected: i64) -> (usize, Vec<i64>) {
    let mut bins = vec![0_u16; usize::try_from(2 * BINS + 2).unwrap_or_default()];
    for call in pair.voters {
        let Some(ends) = pair.by_class.get(&call.class) else { continue };
        let expected = call.end_ps.saturating_add(expected);
        let near = ends.partition_point(|(end, _)| *end < expected);
        for (end, _) in &ends[near.saturating_sub(NEAR)..ends.len().min(near + NEAR)] {
            let bin = end.saturating_sub(expected).div_euclid(BIN_PS) + BINS;
            if let Some(bin) = usize::try_from(bin).ok().and_then(|bin| bins.get_mut(bin)) {
                *bin = bin.saturating_add(1);
            }
        }
    }
    let sums: Vec<usize> =
        bins.windows(3).map(|near| near.iter().map(|&votes| usize::from(votes)).sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    // A window of three bins is a peak if none beside it has more votes, or as many but fewer in
    // its middle.
    let rank = |at: usize| (sums[at], bins[at + 1]);
    let is_peak = |at: usize| {
        sums[at] * 2 >= most.max(1)
            && (at == 0 || rank(at) > rank(at - 1))
            && (at + 1 == sums.len() || rank(at) >= rank(at + 1))
    };
    let mut peaks: Vec<usize> = (0..sums.len()).filter(|&at| is_peak(at)).collect();
    let zero = usize::try_from(BINS - 1).unwrap_or_default();
    peaks.sort_by_key(|&at| (std::cmp::Reverse(sums[at]), at.abs_diff(zero)));
    peaks.truncate(MOST_SHIFTS);
    let shift = |at: usize| {
        let bin = i64::try_from(at).unwrap_or_default() + 1 - BINS;
        expected.saturating_add(bin * BIN_PS + BIN_PS / 2)
    };
    (most, peaks.into_iter().map(shift).collect())
}

impl<'c> Pair<'c> {
    fn new(voters: &'c [Ended], many: &[Ended]) -> Self {
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
    fn fit(&self, shift_ps: i64) -> Option<Fit> {
        let at_ps = self.voters.get(self.voters.len() / 2)?.end_ps;
        let mut line = Line { at_ps, offset_ps: shift_ps as f64, slope: 0.0 };
        let mut points = Vec::new();
        for is_first in [true, false, false] {
            self.meet(&line, is_first, &mut points);
            if points.is_empty() {
                return None;
            }
            line = if is_first { level(&points, at_ps) } else { straight(&points, at_ps) };
        }
        self.meet(&line, false, &mut points);
        let misfit = |point: &Point| {
            let off_us = (point.difference_ps - line.shift(point.time_ps)) / 1e6;
            (off_us * off_us * point.weight).min(OUTLIER * OUTLIER)
        };
        let free = points.len().saturating_sub(1) as f64;
        let squares = points.iter().map(misfit).sum::<f64>() + PRIOR.0 * PRIOR.1 * PRIOR.1;
        let likely = -0.5 * free * (squares / (free + PRIOR.0)).ln();
        let evidence = likely + MET * points.len() as f64 - LACKED * self.lacked(&line, points.len()) as f64;
        Some(Fit { shift_ps: line.offset_ps, evidence })
    }

    /// The calls that end together with one of the other rank.
    fn meet(&self, line: &Line, is_first: bool, points: &mut Vec<Point>) {
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
                points.push(Point { time_ps: call.end_ps, difference_ps, weight, group: 0 });
            }
        }
    }

    /// Calls of both ranks that met nothing although the other one recorded at that time.
    fn lacked(&self, line: &Line, met: usize) -> usize {
        let (Some(&first), Some(&last)) = (self.ends.first(), self.ends.last()) else { return 0 };
        let shared = |call: &Ended| line.shared(call.end_ps);
        let mut voters = self.voters.iter().map(shared);
        let own = voters.clone().filter(|end| (first..=last).contains(end)).count();
        let (from, to) = (voters.clone().next().unwrap_or(0), voters.next_back().unwrap_or(0));
        let others =
            self.ends.partition_point(|end| *end <= to) - self.ends.partition_point(|end| *end < from);
        own.saturating_sub(met) + others.saturating_sub(met)
    }
}

fn level(points: &[Point], at_ps: i64) -> Line {
    let mut values: Vec<(f64, f64)> =
        points.iter().map(|point| (point.difference_ps, point.weight)).collect();
    Line { at_ps, offset_ps: weighted_median(&mut values), slope: 0.0 }
}

/// The line through points that no clock's drift exceeds. With a steeper one the noise of a few
/// calls would fit anywhere.
fn straight(points: &[Point], at_ps: i64) -> Line {
    let middle = level(points, at_ps).offset_ps;
    let mut sums = Sums::default();
    for point in points {
        let x = point.time_ps.saturating_sub(at_ps) as f64;
        sums.add(x, point.difference_ps - middle, point.weight);
    }
    let slope = sums.slope().map_or(0.0, |slope| slope.clamp(-MOST_DRIFT, MOST_DRIFT));
    Line { at_ps, offset_ps: middle + sums.level(slope), slope }
}
