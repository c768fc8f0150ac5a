//! Ranks of which only a part was recorded, in a job that repeats itself: at several shifts their
//! calls meet calls of the same kind and size.

use super::group_guess_tests::Stage;
use super::tests::{Dice, US, analysed};
use super::*;
use crate::model::{CallList, CollectiveKind, Signature};

const RANKS: u32 = 8;
const STEPS: usize = 4;
const LAYERS: usize = 4;

const WORLD: (&str, &[u32]) = ("world", &[0, 1, 2, 3, 4, 5, 6, 7]);
const TENSOR: [(&str, &[u32]); 2] = [("t0", &[0, 1, 2, 3]), ("t1", &[4, 5, 6, 7])];
const DATA: [(&str, &[u32]); 4] = [("d0", &[0, 4]), ("d1", &[1, 5]), ("d2", &[2, 6]), ("d3", &[3, 7])];

/// A training job on two tensor groups, as `shared/bench/multirank/gen.py` makes it: steps of about
/// 13 ms with the same kinds and sizes, and noise in each computation and each transfer.
struct Training {
    stage: Stage,
    dice: Dice,
}

impl Training {
    fn run(seed: u64) -> Stage {
        let groups: Vec<(&str, &[u32])> = [WORLD].into_iter().chain(TENSOR).chain(DATA).collect();
        let mut job = Self { stage: Stage::new(RANKS, &groups), dice: Dice(seed) };
        for input in &mut job.stage.inputs {
            let of_data = |of: &Signature| Signature { kind: CollectiveKind::AllToAll, ..of.clone() };
            let other: Vec<Signature> = input.calls.signatures[3..].iter().map(of_data).collect();
            input.calls.signatures.extend(other);
        }
        for _ in 0..STEPS {
            job.step();
        }
        job.stage
    }

    fn step(&mut self) {
        for now in &mut self.stage.now {
            *now += 150 * US + self.dice.below(100_000) * 1_000;
        }
        for _ in 0..LAYERS {
            for us in [420, 510] {
                self.compute(us);
                self.meet(1..3, 0, 97);
            }
        }
        self.meet(3..7, 4, 25);
        for _ in 0..LAYERS {
            self.compute(1_800);
            self.meet(1..3, 0, 97);
            self.meet(3..7, 0, 80);
        }
        self.meet(0..1, 0, 15);
        self.compute(240);
    }

    /// Noise with a deviation of 0.8 % of the time: the sum of three throws.
    fn noisy(&mut self, us: i64) -> i64 {
        let parts: i64 = (0..3).map(|_| self.dice.below(us * 16_000 + 1) - us * 8_000).sum();
        us * US + parts
    }

    fn compute(&mut self, us: i64) {
        for rank in 0..self.stage.now.len() {
            let time = self.noisy(us) + self.dice.below(1_000) * 1_000;
            self.stage.now[rank] += time;
        }
    }

    /// Operations of some groups. Their signatures are those of the groups, and others behind.
    fn meet(&mut self, groups: std::ops::Range<usize>, other: usize, transfer_us: i64) {
        let all: Vec<&[u32]> = [WORLD].into_iter().chain(TENSOR).chain(DATA).map(|group| group.1).collect();
        for group in groups {
            let ranks: Vec<usize> = all[group].iter().map(|&rank| rank as usize).collect();
            let transfer = self.noisy(transfer_us);
            let skew = 1_500_000 + transfer * 3 / 100;
            // Half of a tail is the rank's place in the ring.
            let tail = |rank: usize| (rank as i64 * 379 % 1_000) * skew / 2_000;
            let noise: Vec<i64> = (0..8).map(|_| self.dice.below(skew / 2)).collect();
            let signature = u32::try_from(group + other).unwrap();
            self.stage.run(signature, &ranks, |rank| transfer + tail(rank) + noise[rank]);
        }
    }
}

/// Which of its calls a rank recorded.
#[derive(Debug, Clone, Copy)]
struct Part {
    percent: usize,
    is_end: bool,
}

impl Part {
    fn keep(self, input: &mut RankInput) {
        let CallList { starts_ps, durations_ps, signatures, numbers, rows, .. } = &mut input.calls.calls;
        let count = starts_ps.len() * self.percent / 100;
        let from = if self.is_end { starts_ps.len() - count } else { 0 };
        for column in [starts_ps, durations_ps] {
            column.drain(..from);
            column.truncate(count);
        }
        for column in [signatures, numbers, rows] {
            column.drain(..from);
            column.truncate(count);
        }
        let calls = &input.calls.calls;
        input.calls.recorded_ps = (calls.starts_ps[0], calls.end_ps(count - 1));
    }
}

/// A job of which a rank recorded a part by a clock that is late.
#[derive(Debug, Clone, Copy)]
struct Case {
    seed: u64,
    rank: usize,
    late_ps: i64,
    part: Part,
}

impl Case {
    fn all(late_ps: i64) -> impl Iterator<Item = Self> {
        (1..13_u64).flat_map(move |seed| {
            [5, 10, 25, 50].into_iter().flat_map(move |percent| {
                [false, true].map(|is_end| {
                    let part = Part { percent, is_end };
                    Self { seed, rank: [5, 0, 3][usize::try_from(seed % 3).unwrap()], late_ps, part }
                })
            })
        })
    }

    /// Checks that every operation is right and that all bounds hold. Returns the share of the
    /// rank's calls that meet others, in percent, and whether the ranks have bounds.
    fn check(self) -> (usize, bool) {
        let mut stage = Training::run(self.seed);
        let input = &mut stage.inputs[self.rank];
        input.calls.move_by(self.late_ps);
        self.part.keep(input);
        let mut operation = vec![Vec::new(); RANKS as usize];
        for (number, members) in stage.truth.iter().enumerate() {
            for (rank, row) in members {
                assert_eq!(operation[*rank].len(), *row as usize);
                operation[*rank].push(number);
            }
        }
        let (job, report) = analysed(stage.inputs);
        let mut met = 0;
        for at in 0..report.instances.len() {
            let of =
                |one: InstanceCall| operation[one.rank][job.ranks[one.rank].calls.rows[one.call] as usize];
            let mut members = report.instances.members(at).map(of);
            let first = members.next().unwrap();
            assert!(members.all(|other| other == first), "{self:?}: operation {at} is of several");
            let is_here = report.instances.members(at).any(|one| one.rank == self.rank);
            met += usize::from(is_here && report.instances.count(at) > 1);
        }
        let clocks = &report.clocks;
        let late = |rank: usize| if rank == self.rank { self.late_ps } else { 0 };
        for (rank, clock) in clocks.ranks.iter().enumerate() {
            let right = late(clocks.reference) - late(rank);
            assert!(clock.low_ps.is_none_or(|low| low <= right), "{self:?}: rank {rank} {clock:?}");
            assert!(clock.high_ps.is_none_or(|high| high >= right), "{self:?}: rank {rank} {clock:?}");
        }
        let is_bound = clocks.ranks.iter().all(|clock| clock.low_ps.is_some() && clock.high_ps.is_some());
        // A rank without bounds says why: it is unclear at which step its calls are.
        assert_eq!(is_bound, clocks.ranks.iter().all(|clock| clock.unbounded.is_none()), "{self:?}");
        let why = clocks.ranks[self.rank].unbounded;
        assert!(why.is_none_or(|why| why == Unbounded::SeveralSteps), "{self:?}: {why:?}");
        (met * 100 / job.ranks[self.rank].calls.len(), is_bound)
    }
}

#[test]
fn a_part_of_a_rank_is_matched_at_its_step() {
    for case in Case::all(0) {
        let (met, is_bound) = case.check();
        // Clocks that agree as recorded decide even where the calls do not.
        assert!(met >= 90, "{case:?}: {met} % met");
        assert!(is_bound || case.part.percent <= 10, "{case:?}");
    }
}

#[test]
fn a_part_of_a_rank_whose_clock_is_late_is_matched_at_its_step_or_not_at_all() {
    for case in Case::all(20_000 * US) {
        let (met, is_bound) = case.check();
        assert!(met >= 90 || met == 0, "{case:?}: {met} % met");
        assert!(is_bound && met > 0 || case.part.percent <= 10, "{case:?}: {met} % met");
    }
}

#[test]
fn the_step_of_a_part_does_not_depend_on_how_late_the_clock_is() {
    // A window of half a second around an expected shift would hold some of the steps only.
    for ms in [440, 480, 490, 500, 510, 520, -470, -510, 3_000] {
        for case in Case::all(ms * 1_000 * US).step_by(11) {
            let ((met, is_bound), same) = (case.check(), Case { late_ps: 20_000 * US, ..case }.check());
            assert_eq!((met, is_bound), same, "{case:?}");
        }
    }
}

#[test]
fn a_rank_that_fits_at_several_steps_has_no_certain_clock() {
    let case = |late_ps, percent| {
        let part = Part { percent, is_end: false };
        Case { seed: 2, rank: 5, late_ps, part }.check()
    };
    // A single call meets any call of its kind.
    assert_eq!(case(0, 2), (100, false));
    assert_eq!(case(20_000 * US, 2), (0, false));
}
