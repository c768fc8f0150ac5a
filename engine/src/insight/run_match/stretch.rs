//! The stretches of a track in two runs: the same part of the program, with the time that each run
//! takes for it.

use rustc_hash::FxHashMap;

use super::program_match::MatchedPair;
use super::track_program::ProgramSlice;

/// The same part of a program in both runs. Times are in picoseconds since the begin of the
/// repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedStretch {
    /// Its start in the first run.
    pub a_ps: i64,
    /// Its start in the second run.
    pub b_ps: i64,
    /// How long the first run takes for it.
    pub a_length_ps: i64,
    /// How long the second run takes for it.
    pub b_length_ps: i64,
    /// The cause of most of its difference. `None` if both take as long.
    pub cause: Option<StretchCause>,
}

impl PairedStretch {
    /// How much more the second run takes.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.b_length_ps - self.a_length_ps
    }
}

/// The cause of most of the difference of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StretchCause {
    /// Number of the name of the work. `None` for time without work.
    pub name: Option<u32>,
    /// How much more time the second run takes for it in this stretch.
    pub difference_ps: i64,
}

/// A moment of both runs, in picoseconds since the begin of each repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RunMoment {
    /// In the first run.
    pub(super) a_ps: i64,
    /// In the second run.
    pub(super) b_ps: i64,
}

impl RunMoment {
    fn before(self, end: Self) -> Self {
        Self { a_ps: self.a_ps.min(end.a_ps), b_ps: self.b_ps.min(end.b_ps) }
    }

    fn after(self, begin: Self) -> Self {
        Self { a_ps: self.a_ps.max(begin.a_ps), b_ps: self.b_ps.max(begin.b_ps) }
    }
}

/// A stretch that is not complete.
struct OpenStretch {
    least_ps: i64,
    start: RunMoment,
    end: RunMoment,
    /// The difference by name.
    causes: FxHashMap<Option<u32>, i64>,
    done: Vec<PairedStretch>,
}

impl OpenStretch {
    fn blame(&mut self, name: Option<u32>, difference_ps: i64) {
        if difference_ps != 0 {
            *self.causes.entry(name).or_default() += difference_ps;
        }
    }

    /// Goes on to a moment of both runs, through work that only one of them has.
    fn go_through(&mut self, a: &[ProgramSlice], b: &[ProgramSlice], to: RunMoment) {
        let (before, to) = (self.end, to.after(self.end));
        a.iter().for_each(|slice| self.blame(Some(slice.name), -slice.duration_ps));
        b.iter().for_each(|slice| self.blame(Some(slice.name), slice.duration_ps));
        let sum = |of: &[ProgramSlice]| of.iter().map(|slice| slice.duration_ps).sum::<i64>();
        let (a_ps, b_ps) = (to.a_ps - before.a_ps, to.b_ps - before.b_ps);
        self.blame(None, (b_ps - sum(b)) - (a_ps - sum(a)));
        self.reach(to);
    }

    /// Goes on to the end of a piece of work that both runs have.
    fn go_over(&mut self, name: u32, to: RunMoment) {
        let (before, to) = (self.end, to.after(self.end));
        self.blame(Some(name), (to.b_ps - before.b_ps) - (to.a_ps - before.a_ps));
        self.reach(to);
    }

    /// Goes on to a moment that is not before the last one: slices that overlap others can begin
    /// before these end.
    fn reach(&mut self, to: RunMoment) {
        self.end = to;
        let (a_length_ps, b_length_ps) = (to.a_ps - self.start.a_ps, to.b_ps - self.start.b_ps);
        if a_length_ps.max(b_length_ps) >= self.least_ps {
            self.close();
        }
    }

    fn close(&mut self) {
        let RunMoment { a_ps, b_ps } = self.start;
        let (a_length_ps, b_length_ps) = (self.end.a_ps - a_ps, self.end.b_ps - b_ps);
        if a_length_ps == 0 && b_length_ps == 0 {
            return;
        }
        let slower = b_length_ps > a_length_ps;
        let causes = self.causes.drain().filter(|(_, ps)| a_length_ps != b_length_ps && (*ps > 0) == slower);
        let largest = causes.max_by_key(|(name, ps)| (ps.unsigned_abs(), std::cmp::Reverse(*name)));
        self.done.push(PairedStretch {
            a_ps,
            b_ps,
            a_length_ps,
            b_length_ps,
            cause: largest.map(|(name, difference_ps)| StretchCause { name, difference_ps }),
        });
        self.start = self.end;
    }
}

/// The stretches between matched slices, which are `least_ps` long in one of the runs at least.
/// They cover both repetitions, of these lengths, without gaps.
pub(super) fn stretches(
    pairs: &[MatchedPair],
    a: &[ProgramSlice],
    b: &[ProgramSlice],
    lengths: RunMoment,
    least_ps: i64,
) -> Vec<PairedStretch> {
    let mut open = OpenStretch {
        least_ps: least_ps.max(1),
        start: RunMoment::default(),
        end: RunMoment::default(),
        causes: FxHashMap::default(),
        done: Vec::new(),
    };
    // Work beyond the repetition is none of it.
    let within = |a_ps: i64, b_ps: i64| RunMoment { a_ps, b_ps }.before(lengths);
    let mut next = (0, 0);
    for pair in pairs {
        let at = (pair.a as usize, pair.b as usize);
        let (of_a, of_b) = (&a[at.0], &b[at.1]);
        open.go_through(&a[next.0..at.0], &b[next.1..at.1], within(of_a.start_ps, of_b.start_ps));
        open.go_over(of_a.name, within(of_a.end_ps(), of_b.end_ps()));
        next = (at.0 + 1, at.1 + 1);
    }
    open.go_through(&a[next.0..], &b[next.1..], lengths);
    open.close();
    open.done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start_ps: i64, end_ps: i64, name: u32) -> ProgramSlice {
        ProgramSlice { start_ps, duration_ps: end_ps - start_ps, name }
    }

    fn paired(
        a: &[ProgramSlice],
        b: &[ProgramSlice],
        lengths_ps: [i64; 2],
        least_ps: i64,
    ) -> Vec<PairedStretch> {
        let lengths = RunMoment { a_ps: lengths_ps[0], b_ps: lengths_ps[1] };
        let pairs: Vec<MatchedPair> = (0..a.len() as u32).map(|at| MatchedPair { a: at, b: at }).collect();
        stretches(&pairs, a, b, lengths, least_ps)
    }

    #[test]
    fn stretches_cover_both_runs_and_name_what_differs() {
        let a = [slice(0, 10, 1), slice(10, 20, 2), slice(30, 40, 1)];
        let b = [slice(0, 10, 1), slice(10, 35, 2), slice(45, 55, 1)];
        let found = paired(&a, &b, [40, 60], 10);
        let (mut at_a, mut at_b) = (0, 0);
        for one in &found {
            assert_eq!((one.a_ps, one.b_ps), (at_a, at_b));
            (at_a, at_b) = (at_a + one.a_length_ps, at_b + one.b_length_ps);
        }
        assert_eq!((at_a, at_b), (40, 60));
        let slower: Vec<_> = found.iter().filter_map(|one| one.cause).collect();
        let expected = [(Some(2), 15), (None, 5)];
        assert_eq!(slower.iter().map(|one| (one.name, one.difference_ps)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn work_that_only_one_run_has_is_the_cause() {
        let a = [slice(0, 10, 1), slice(20, 30, 1)];
        let b = [slice(0, 10, 1), slice(10, 45, 7), slice(50, 60, 1)];
        let pairs = [MatchedPair { a: 0, b: 0 }, MatchedPair { a: 1, b: 2 }];
        let found = stretches(&pairs, &a, &b, RunMoment { a_ps: 30, b_ps: 60 }, 10);
        let cause = found.iter().find_map(|one| one.cause);
        assert_eq!(cause, Some(StretchCause { name: Some(7), difference_ps: 35 }), "{found:?}");
    }

    #[test]
    fn short_work_is_joined_until_it_can_be_seen() {
        let slices: Vec<ProgramSlice> = (0..1_000).map(|at| slice(at * 10, at * 10 + 9, 3)).collect();
        let found = paired(&slices, &slices, [10_000, 10_000], 1_000);
        assert_eq!(found.len(), 10);
        assert!(found.iter().all(|one| one.difference_ps() == 0 && one.cause.is_none()));
        assert_eq!(paired(&[], &[], [10, 20], 1).len(), 1, "programs without equal work are one stretch");
        assert_eq!(paired(&[], &[], [0, 0], 1), []);
    }

    #[test]
    fn slices_that_overlap_others_turn_no_time_back() {
        let a = [slice(0, 50, 1), slice(10, 20, 2), slice(60, 70, 1)];
        let b = [slice(0, 50, 1), slice(60, 80, 2), slice(90, 120, 1)];
        let found = paired(&a, &b, [70, 110], 1);
        assert!(found.iter().all(|one| one.a_length_ps >= 0 && one.b_length_ps >= 0), "{found:?}");
        let sums = found.iter().fold((0, 0), |sum, one| (sum.0 + one.a_length_ps, sum.1 + one.b_length_ps));
        assert_eq!(sums, (70, 110), "work beyond the repetition counts to its end");
    }
}
