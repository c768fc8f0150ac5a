//! The shift between the clocks of two hosts, by the order of calls.
//!
//! Threads of hosts end the calls of an operation milliseconds apart, so few ends meet within a
//! small tolerance. But each rank makes the calls of a group in one order. So the sequences are
//! laid beside each other at every distance. At the right one, no call ends before its partner
//! starts, and the ends differ by less than at others, where the steps of the job add their own
//! variation.

use super::candidates::CallEnd;
use super::shifts::{CallFit, PairShift, RankShift, decided};
use crate::analysis::clock::line::{ClockLine, weighted_median};

/// Calls of a rank that are compared.
const VOTERS: usize = 256;
/// Distances that are tried.
const MOST_DISTANCES: usize = 4096;
/// Calls that must have a partner.
const LEAST: usize = 4;
/// Least deviation of the differences between ends that is told from none.
const LEAST_PS: f64 = 0.15e9;
/// Number of differences with this deviation that are assumed beforehand.
const PRIOR: f64 = 2.0;
/// Evidence of a pair of calls, and against a distance of calls that differ.
const MET: f64 = 1.0;
const LACKED: f64 = 1.5;
/// Evidence for the distance at which recordings with equally many calls begin and end together.
const SAME: f64 = 3.0;
/// Most that a single difference counts, in median ones.
const OUTLIER: f64 = 4.0;

/// Finds the shift from the times of `few` to those of `many`. Both come by end.
pub(super) fn found(few: &[CallEnd], many: &[CallEnd]) -> PairShift {
    let first = few.len().saturating_sub(VOTERS) / 2;
    let voters = &few[first..few.len().min(first + VOTERS)];
    // A distance is the position in `many` beside the first voter, plus the number of voters.
    let together = (few.len() == many.len()).then_some(voters.len() + first);
    let distances = voters.len() + many.len();
    let skipped = distances.saturating_sub(MOST_DISTANCES) / 2;
    let laid: Vec<(usize, Laid)> = (skipped + 1..distances.saturating_sub(skipped))
        .filter_map(|distance| {
            let (own, other) = (voters.len().saturating_sub(distance), distance.saturating_sub(voters.len()));
            let laid = Laid::of(&voters[own..], &many[other..], voters.len().min(many.len()))?;
            Some((distance, laid))
        })
        .collect();
    // The noise of the host is not known beforehand: it is that of the distance with least.
    let mut least = [f64::INFINITY; 3];
    for (_, laid) in &laid {
        least = std::array::from_fn(|at| least[at].min(laid.variances[at]));
    }
    let fit = |(distance, laid): &(usize, Laid)| {
        let more = if together == Some(*distance) { SAME } else { 0.0 };
        CallFit { shift_ps: laid.shift_ps, evidence: laid.evidence(least) + more }
    };
    let fits: Vec<CallFit> = laid.iter().map(fit).collect();
    match decided(&fits, true) {
        Some((shift_ps, is_certain)) => {
            PairShift::Shift(RankShift { middle: first + voters.len() / 2, shift_ps, is_certain })
        }
        None if fits.is_empty() => PairShift::Nothing,
        None => PairShift::Unclear,
    }
}

/// Calls of two ranks beside each other.
struct Laid {
    shift_ps: f64,
    /// Calls beside an equal one, and beside another one.
    met: f64,
    lacked: f64,
    /// Variances of the differences between the ends, and between each end and the other start: the
    /// start of a rank that comes last has no noise of the host.
    variances: [f64; 3],
}

impl Laid {
    /// Lays calls beside each other one by one. `None` if they contradict each other, or are few.
    fn of(own: &[CallEnd], others: &[CallEnd], most: usize) -> Option<Self> {
        let pairs = own.iter().zip(others).filter(|(own, other)| own.class == other.class);
        let pairs: Vec<(&CallEnd, &CallEnd)> = pairs.collect();
        let met = pairs.len();
        if met < LEAST || met * 2 < most {
            return None;
        }
        let start = |call: &CallEnd| call.end_ps.saturating_sub(call.duration_ps);
        let of = |difference: &dyn Fn(&CallEnd, &CallEnd) -> f64| -> Vec<f64> {
            pairs.iter().map(|(own, other)| difference(own, other)).collect()
        };
        let ends = of(&|own, other| apart(other.end_ps, own.end_ps));
        let lows = of(&|own, other| apart(start(other), own.end_ps));
        let highs = of(&|own, other| apart(other.end_ps, start(own)));
        // No call ends before its partner starts.
        let low = lows.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let high = highs.iter().copied().fold(f64::INFINITY, f64::min);
        if low > high + LEAST_PS {
            return None;
        }
        let (middle, variance) = spread(&ends);
        let shift_ps = middle.clamp(low.min(high), high.max(low));
        let variances = [variance, spread(&lows).1, spread(&highs).1];
        let lacked = (own.len().min(others.len()) - met) as f64;
        Some(Self { shift_ps, met: met as f64, lacked, variances })
    }

    /// The logarithm of the likelihood. `least` are the variances that the noise has.
    fn evidence(&self, least: [f64; 3]) -> f64 {
        let logs = self.variances.iter().zip(least).map(|(variance, least)| (variance / least).ln());
        // The three share their noise, so each counts half.
        let spread = 0.5 * logs.sum::<f64>();
        MET * self.met - 0.5 * (self.met - 1.0) * spread - LACKED * self.lacked
    }
}

/// Median and variance of differences.
fn spread(differences: &[f64]) -> (f64, f64) {
    let mut weighted: Vec<(f64, f64)> = differences.iter().map(|difference| (*difference, 1.0)).collect();
    let middle = weighted_median(&mut weighted);
    let mut off: Vec<(f64, f64)> =
        differences.iter().map(|difference| ((difference - middle).abs(), 1.0)).collect();
    let limit = OUTLIER * 1.48 * weighted_median(&mut off).max(LEAST_PS);
    let squares: f64 = off.iter().map(|(off, _)| off.min(limit).powi(2)).sum();
    let variance = (squares + PRIOR * LEAST_PS * LEAST_PS) / (differences.len() as f64 - 1.0 + PRIOR);
    (middle, variance)
}

fn apart(to: i64, from: i64) -> f64 {
    to.saturating_sub(from) as f64
}

/// The line that is level at a shift.
pub(super) fn level(shift: RankShift, few: &[CallEnd]) -> ClockLine {
    let at_ps = few.get(shift.middle).map_or(0, |call| call.end_ps);
    ClockLine { at_ps, offset_ps: shift.shift_ps as f64, slope: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::Dice;

    const MS: i64 = 1_000_000_000;

    /// Two ranks that meet in steps of about 50 ms. The second one is late by 40 ms. Their ends are
    /// milliseconds apart.
    fn ranks(seed: u64, steps: i64, ahead_ps: i64) -> [Vec<CallEnd>; 2] {
        let mut dice = Dice(seed);
        let (mut now, mut both) = (0, [Vec::new(), Vec::new()]);
        for _ in 0..steps {
            now += 8 * MS + dice.below(6 * MS);
            let last = now + 40 * MS + dice.below(2 * MS);
            for (rank, start) in [(0, now), (1, last)] {
                let end = last + MS + dice.below(3 * MS);
                let ahead = if rank == 1 { ahead_ps } else { 0 };
                both[rank].push(CallEnd { end_ps: end + ahead, duration_ps: end - start, class: 0 });
                now = now.max(end);
            }
        }
        both
    }

    #[test]
    fn the_shift_of_equal_sequences_is_found_wherever_it_is() {
        for (seed, ahead) in (1..9).flat_map(|seed| [0, 7, -40, 3_000, -86_400_000].map(|ms| (seed, ms))) {
            let [own, late] = ranks(seed, 24, ahead * MS);
            let PairShift::Shift(shift) = found(&late, &own) else { panic!("{seed}: {ahead} ms") };
            let off_ps = shift.shift_ps + ahead * MS;
            assert!(off_ps.abs() < 3 * MS && shift.is_certain, "{seed}: {ahead} ms: {shift:?}");
        }
    }

    #[test]
    fn a_rank_that_recorded_later_is_found() {
        for seed in 1..9 {
            let [own, late] = ranks(seed, 40, 3_000 * MS);
            let PairShift::Shift(shift) = found(&late[7..], &own) else { panic!("{seed}") };
            assert!((shift.shift_ps + 3_000 * MS).abs() < 3 * MS, "{seed}: {shift:?}");
        }
    }

    #[test]
    fn few_calls_or_none_show_nothing() {
        let [own, late] = ranks(1, 3, 0);
        assert_eq!(found(&late, &own), PairShift::Nothing);
        assert_eq!(found(&[], &own), PairShift::Nothing);
    }
}
