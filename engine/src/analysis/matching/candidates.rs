//! Shifts between the clocks of two ranks that can be right: those at which many pairs of equal
//! calls end together.
//!
//! Every shift at which the recordings overlap is looked at, however far the clocks are apart. A
//! window around an expected shift would cut a job off at its edge, and what is left of it votes
//! for wrong shifts that nothing contradicts. Times count from the middles of both recordings, so
//! moving all times of a rank moves what is found and changes nothing else.

use rustc_hash::FxHashMap;

use crate::base::narrow;

/// A call without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallEnd {
    pub(super) end_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) class: u32,
}

/// Width of a bin of the histogram.
pub(super) const BIN_PS: i64 = 20_000_000;
/// Clocks of one host, as they are recorded, differ by less.
pub(super) const AS_RECORDED_PS: i64 = 100_000_000;
/// Pairs of calls that vote, unless [`LEAST_VOTERS`] have more of them.
const MOST_VOTES: usize = 1 << 19;
/// Calls of a rank that vote at least. Those of one step alone would fit all steps of a long job.
const LEAST_VOTERS: usize = 64;
/// Largest number of counters of votes.
const MOST_COUNTERS: usize = 1 << 18;
/// Shifts that are compared.
const MOST_SHIFTS: usize = 256;
/// Further shifts with which the clocks agree as they were recorded.
const MOST_AS_RECORDED: usize = 16;

/// The shifts with at least half as many votes as the best one, the best ones first. Both ranks'
/// calls come by end, those of the other one by class.
pub(super) fn nominated(voters: &[CallEnd], by_class: &FxHashMap<u32, Vec<(i64, i64)>>) -> Vec<i64> {
    let Some(votes) = Votes::of(voters, by_class) else { return Vec::new() };
    let (mut shifts, mut recorded) = (Vec::new(), 0);
    for (at, bin) in peaks(&votes.crowded()).into_iter().enumerate() {
        let shift = votes.origin.saturating_add(bin.saturating_mul(BIN_PS)).saturating_add(BIN_PS / 2);
        let is_recorded = shift.abs() <= AS_RECORDED_PS && recorded < MOST_AS_RECORDED;
        if at < MOST_SHIFTS || is_recorded {
            recorded += usize::from(is_recorded);
            shifts.push(shift);
        }
    }
    shifts
}

/// Pairs of equal calls of two ranks.
struct Votes<'c> {
    /// Calls of a rank, each with those of the other one that are equal.
    calls: Vec<(i64, &'c [(i64, i64)])>,
    /// The shift at which the middles of both recordings meet.
    origin: i64,
}

impl<'c> Votes<'c> {
    /// `None` if no call can meet another.
    fn of(voters: &[CallEnd], by_class: &'c FxHashMap<u32, Vec<(i64, i64)>>) -> Option<Self> {
        let of_class = |call: &CallEnd| by_class.get(&call.class).map_or(&[][..], Vec::as_slice);
        let own = i64::midpoint(voters.first()?.end_ps, voters.last()?.end_ps);
        let ends = by_class.values().filter_map(|ends| Some((ends.first()?.0, ends.last()?.0)));
        let (first, last) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let origin = i64::midpoint(first, last).saturating_sub(own);
        let most = voters.iter().map(|call| of_class(call).len()).max().unwrap_or(0).max(1);
        let count = (MOST_VOTES / most).max(LEAST_VOTERS).min(voters.len());
        let voters = &voters[(voters.len() - count) / 2..][..count];
        Some(Self { calls: voters.iter().map(|call| (call.end_ps, of_class(call))).collect(), origin })
    }

    /// Calls `of` with the bin of each vote.
    fn each(&self, mut of: impl FnMut(i64)) {
        for (end, others) in &self.calls {
            let expected = end.saturating_add(self.origin);
            others.iter().for_each(|(end, _)| of(end.saturating_sub(expected).div_euclid(BIN_PS)));
        }
    }

    /// The bins of votes, ascending, without most of those of windows that have less than half of
    /// the most votes. Bins far apart share a counter, so that memory does not grow with the
    /// recording; a sum of counters is the most that a window can have.
    fn crowded(&self) -> Vec<i64> {
        let count: usize = self.calls.iter().map(|(_, others)| others.len()).sum();
        let counters = count.next_power_of_two().clamp(8, MOST_COUNTERS);
        let mask = i64::try_from(counters - 1).unwrap_or(0);
        let slot = |bin: i64| usize::try_from(bin & mask).unwrap_or(0);
        let mut counts = vec![0_u32; counters];
        self.each(|bin| counts[slot(bin)] += 1);
        let beside = |at: usize| [(at + counters - 1) % counters, at, (at + 1) % counters];
        let sum = |at: usize| beside(at).into_iter().map(|at| counts[at]).sum::<u32>();
        let most: Vec<u32> = (0..counters).map(sum).collect();
        let mut limit = most.iter().copied().max().unwrap_or(0).div_ceil(2);
        loop {
            let is_kept: Vec<bool> =
                (0..counters).map(|at| beside(at).into_iter().any(|at| most[at] >= limit)).collect();
            let mut bins = Vec::new();
            self.each(|bin| {
                if is_kept[slot(bin)] {
                    bins.push(bin);
                }
            });
            bins.sort_unstable();
            let best = windows(&bins).iter().map(|of| of.sum).max().unwrap_or(0).div_ceil(2);
            let best = narrow(best);
            if best >= limit {
                return bins;
            }
            limit = best;
        }
    }
}

/// A bin with votes.
#[derive(Debug, Clone, Copy)]
struct VoteBin {
    bin: i64,
    votes: usize,
    /// Votes of the bin and its two neighbours.
    sum: usize,
}

/// The bins with votes. `bins` has the bin of each vote, ascending.
fn windows(bins: &[i64]) -> Vec<VoteBin> {
    let count = |run: &[i64]| VoteBin { bin: run[0], votes: run.len(), sum: run.len() };
    let mut windows: Vec<VoteBin> = bins.chunk_by(|a, b| a == b).map(count).collect();
    for at in 1..windows.len() {
        let [before, after] = &mut windows[at - 1..=at] else { continue };
        if after.bin - before.bin == 1 {
            before.sum += after.votes;
            after.sum += before.votes;
        }
    }
    windows
}

/// The bins whose windows have at least half of the most votes, and more than those beside them,
/// the best ones first. Equal ones are in the order in which the recordings overlap most.
fn peaks(bins: &[i64]) -> Vec<i64> {
    let windows = windows(bins);
    let most = windows.iter().map(|of| of.sum).max().unwrap_or(0);
    let rank = |of: &VoteBin| (of.sum, of.votes);
    let beside = |at: Option<usize>, bin: i64| {
        at.and_then(|at| windows.get(at)).filter(|of| of.bin.abs_diff(bin) == 1).map(rank)
    };
    let is_peak = |(at, of): &(usize, &VoteBin)| {
        of.sum * 2 >= most
            && beside(at.checked_sub(1), of.bin).is_none_or(|before| rank(of) > before)
            && beside(Some(at + 1), of.bin).is_none_or(|after| rank(of) >= after)
    };
    let mut peaks: Vec<VoteBin> = windows.iter().enumerate().filter(is_peak).map(|(_, of)| *of).collect();
    peaks.sort_by_key(|of| (std::cmp::Reverse(of.sum), of.bin.unsigned_abs()));
    peaks.into_iter().map(|of| of.bin).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::tests::Dice;

    /// Calls of a job without a period, by end.
    pub(in super::super) fn calls_of_a_job(count: i64) -> impl Iterator<Item = CallEnd> {
        let (mut dice, mut end_ps) = (Dice(7), 0);
        (0..count).map(move |at| {
            end_ps += 400_000_000 + dice.below(300_000_000);
            CallEnd { end_ps, duration_ps: 15_000_000 + dice.below(3), class: u32::from(at % 8 == 0) }
        })
    }

    #[test]
    fn peaks_have_most_votes_of_three_bins_and_the_middle_comes_first() {
        // Two peaks of five votes, one of three, and a single vote, which is less than half.
        let bins = [-40, -40, -39, -39, -38, -9, 3, 3, 4, 5, 5, 90, 90, 91];
        assert_eq!(peaks(&bins), [4, -39, 90]);
        assert_eq!(peaks(&[7, 7, 7, 7]), [7]);
        assert_eq!(peaks(&[]), [0_i64; 0]);
    }

    /// Counters that bins share keep all that has half of the most votes.
    #[test]
    fn crowded_bins_are_those_of_all_votes() {
        let mut dice = Dice(9);
        for round in 0..40 {
            // With few votes or counters chance outnumbers the crowd, and a second round is needed.
            let (own, others) = (2 + round % 5 * 9, 30 + round * 50);
            let spread = 1 + dice.below(40_000);
            let mut time = || dice.below(spread) * BIN_PS + dice.below(BIN_PS);
            let mut ends: Vec<(i64, i64)> = (0..others).map(|_| (time(), 1)).collect();
            ends.sort_unstable();
            let by_class = FxHashMap::from_iter([(0, ends)]);
            let mut voters: Vec<i64> = (0..own).map(|_| time()).collect();
            voters.sort_unstable();
            let voters = voters.into_iter().map(|end_ps| CallEnd { end_ps, duration_ps: 1, class: 0 });
            let voters: Vec<CallEnd> = voters.collect();
            let votes = Votes::of(&voters, &by_class).unwrap();
            let mut all = Vec::new();
            votes.each(|bin| all.push(bin));
            all.sort_unstable();
            assert_eq!(peaks(&votes.crowded()), peaks(&all), "round {round}");
        }
    }

    #[test]
    fn clocks_as_recorded_are_among_the_shifts_of_a_job_of_many_equal_steps() {
        let step = |at: i64| [0, 1, 3].map(|part| at * 10_000_000_000 + part * 900_000_000);
        let ends: Vec<(i64, i64)> = (0..900).flat_map(step).map(|end| (end, 1)).collect();
        for at in [0, 120, 899] {
            let voters = step(at).map(|end_ps| CallEnd { end_ps, duration_ps: 1, class: 0 });
            let found = nominated(&voters, &FxHashMap::from_iter([(0, ends.clone())]));
            assert!(found.len() <= MOST_SHIFTS + MOST_AS_RECORDED);
            assert!(found.iter().any(|shift| shift.abs() < 2 * BIN_PS), "step {at}");
        }
    }

    #[test]
    fn many_calls_of_the_other_rank_leave_few_voters_but_the_same_shift() {
        let calls: Vec<CallEnd> = calls_of_a_job(20_000).map(|call| CallEnd { class: 3, ..call }).collect();
        let others: Vec<(i64, i64)> = calls.iter().map(|call| (call.end_ps, call.duration_ps)).collect();
        let others = FxHashMap::from_iter([(3, others)]);
        for (from, shift) in [(0, 0), (9_000, -77_000_000_000), (19_800, 3_600_000_000_000_000)] {
            let voters = calls[from..from + 128].iter();
            let voters: Vec<CallEnd> =
                voters.map(|call| CallEnd { end_ps: call.end_ps - shift, ..*call }).collect();
            let found = nominated(&voters, &others);
            assert!((found[0] - shift).abs() <= BIN_PS * 3 / 2, "{} for {shift}", found[0]);
        }
        assert_eq!(nominated(&[], &FxHashMap::default()), [0_i64; 0]);
    }
}
