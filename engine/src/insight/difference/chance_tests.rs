//! Pairs of simulated runs of one program: chance makes no difference, and a planted one is found.

use super::comparison::RunComparison;
use super::rank_sample::{RankRepetition, RankSample, WorkSum};
use super::{RunSample, SpeedVerdict};

/// A stream of numbers that is the same each time.
struct Draws(u64);

impl Draws {
    /// A number from 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number of a distribution that is nearly normal, with deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

const RANKS: u32 = 8;
const STEPS: usize = 4;
/// Kernels, how long they take in nanoseconds, and how often they run in a step.
const KERNELS: [(&str, f64, usize); 4] =
    [("gemm", 450_000.0, 16), ("mlp", 170_000.0, 12), ("add", 60_000.0, 24), ("adam", 120_000.0, 2)];
/// Deviation of a kernel.
const NOISE: f64 = 0.015;

/// A run in which ranks wait for the slowest one in each step. `factor` multiplies the time of one
/// kernel.
fn run(draws: &mut Draws, slowed: &str, factor: f64) -> RunSample {
    let mut ranks: Vec<RankSample> = (0..RANKS)
        .map(|rank| RankSample {
            rank,
            names: KERNELS
                .iter()
                .map(|(name, ..)| (*name).to_owned())
                .chain(["all-reduce".to_owned()])
                .collect(),
            is_coupled: vec![false, false, false, false, true],
            repetitions: Vec::new(),
            durations: Vec::new(),
            order: Vec::new(),
        })
        .collect();
    for step in 0..STEPS {
        let mut of_ranks: Vec<Vec<i64>> = Vec::new();
        for _ in 0..RANKS {
            let kernel = |(name, length_ns, times): &(&str, f64, usize)| {
                let factor = if *name == slowed { factor } else { 1.0 };
                let one = |draws: &mut Draws| length_ns * factor * 1e3 * (1.0 + NOISE * draws.normal());
                (0..*times).map(|_| one(draws)).sum::<f64>() as i64
            };
            of_ranks.push(KERNELS.iter().map(kernel).collect());
        }
        let last = of_ranks.iter().map(|sums| sums.iter().sum::<i64>()).max().unwrap();
        let transfer = (800e6 * (1.0 + 0.02 * draws.normal())) as i64;
        for (rank, sums) in ranks.iter_mut().zip(of_ranks) {
            let busy_ps = last + transfer;
            let wait = busy_ps - sums.iter().sum::<i64>();
            let all = (0..).zip(sums.into_iter().chain([wait]));
            let sum = |(row, time_ps): (u32, i64)| (row, WorkSum { time_ps, count: 1 });
            rank.repetitions.push(RankRepetition {
                name: format!("step {step}"),
                length_ps: busy_ps + 200_000_000,
                busy_ps,
                is_open: step == STEPS - 1,
                sums: all.map(sum).collect(),
            });
        }
    }
    RunSample::of(ranks)
}

#[test]
fn chance_makes_no_difference() {
    let mut draws = Draws(1);
    let is_different = |_: &usize| {
        let (a, b) = (run(&mut draws, "", 1.0), run(&mut draws, "", 1.0));
        let of = RunComparison::of(&a, &b, false).unwrap();
        of.verdict != SpeedVerdict::Same || of.rows.iter().any(|row| row.change.is_certain())
    };
    let wrong = (0..500).filter(is_different).count();
    assert!(wrong <= 5, "{wrong} of 500");
}

#[test]
fn two_percent_of_any_kernel_are_found() {
    let mut draws = Draws(2);
    for (slowed, ..) in KERNELS {
        let is_found = |_: &usize| {
            let (a, b) = (run(&mut draws, "", 1.0), run(&mut draws, slowed, 1.02));
            let of = RunComparison::of(&a, &b, false).unwrap();
            of.rows[0].name == slowed && of.rows[0].change.is_certain()
        };
        let found = (0..100).filter(is_found).count();
        assert!(found >= 95, "{slowed}: {found} of 100");
    }
}
