//! Tests of clocks: bounds are as tight as causality allows, and a drift needs proof.

use super::group_guess_tests::Stage;
use super::tests::{Dice, US, analysed};
use super::*;

const ALL: (&str, &[u32]) = ("all", &[0, 1, 2]);
const PAIRS: [(&str, &[u32]); 2] = [("left", &[0, 1]), ("right", &[1, 2])];

/// A clock: picoseconds ahead, and the share by which it runs fast.
type Clock = (i64, f64);

/// Puts the times of each rank on its clock.
fn on_clocks(mut stage: Stage, clocks: &[Clock]) -> Vec<RankInput> {
    for (input, (ahead_ps, drift)) in stage.inputs.iter_mut().zip(clocks) {
        let late = |time: i64| time + ahead_ps + (time as f64 * drift).round() as i64;
        for start in &mut input.calls.calls.starts_ps {
            *start = late(*start);
        }
        input.calls.recorded_ps.1 = late(input.calls.recorded_ps.1);
    }
    stage.inputs
}

/// Ranks that meet this often, with pauses and noise of ends below these lengths.
fn meet(seed: u64, times: usize, pause_ps: i64, transfer_ps: i64, noise_ps: i64) -> Stage {
    let (mut dice, mut stage) = (Dice(seed), Stage::new(3, &[ALL]));
    for _ in 0..times {
        stage.now.iter_mut().for_each(|now| *now += pause_ps + dice.below(50_000) * 1_000);
        let noise: Vec<i64> = (0..3).map(|_| dice.below(noise_ps)).collect();
        stage.run(0, &[0, 1, 2], |rank| transfer_ps + noise[rank]);
    }
    stage
}

/// The tightest bounds of clocks that do not drift, by the shortest paths between all pairs.
fn shortest(report: &Report, job: &Job, slack_ps: i64) -> Vec<(i64, i64)> {
    let count = job.ranks.len();
    let mut most = vec![vec![i64::MAX / 4; count]; count];
    (0..count).for_each(|rank| most[rank][rank] = 0);
    for at in 0..report.instances.len() {
        for one in report.instances.members(at) {
            for other in report.instances.members(at).filter(|other| other.rank != one.rank) {
                let start = job.ranks[one.rank].calls.starts_ps[one.call];
                let end = job.ranks[other.rank].calls.end_ps(other.call);
                let of = &mut most[one.rank][other.rank];
                *of = (*of).min(end - start + slack_ps);
            }
        }
    }
    for via in 0..count {
        for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
            most[from][to] = most[from][to].min(most[from][via] + most[via][to]);
        }
    }
    let reference = report.clocks.reference;
    (0..count).map(|rank| (-most[reference][rank], most[rank][reference])).collect()
}

#[test]
fn bounds_are_those_of_the_shortest_paths() {
    for seed in 1..9 {
        let mut dice = Dice(seed);
        let mut stage = Stage::new(3, &PAIRS);
        for round in 0..12 {
            let pair = [[0, 1], [1, 2]][round % 2];
            stage.now.iter_mut().for_each(|now| *now += (20 + dice.below(60)) * US);
            let transfer = (6 + dice.below(30)) * US;
            stage.run(u32::try_from(round % 2).unwrap(), &pair, |_| transfer);
        }
        let (job, report) = analysed(on_clocks(stage, &[(0, 0.0), (70 * US, 0.0), (-400 * US, 0.0)]));
        // Times are whole microseconds, so each is wrong by one at most.
        let tightest = shortest(&report, &job, 2 * US);
        // Clocks that can drift by 500 ppm for less than 2 ms, there and back, over two pairs.
        let drift = 4 * US;
        for (rank, (clock, (low, high))) in report.clocks.ranks.iter().zip(tightest).enumerate() {
            let (own_low, own_high) = (clock.low_ps.unwrap(), clock.high_ps.unwrap());
            assert!((low - drift..=low).contains(&own_low), "{seed}: rank {rank} {low} {own_low}");
            assert!((high..=high + drift).contains(&own_high), "{seed}: rank {rank} {high} {own_high}");
        }
    }
}

#[test]
fn bounds_hold_while_clocks_drift_and_limit_the_drift() {
    // Two ranks differ by less than 500 ppm.
    for drift in [450e-6, -450e-6, 60e-6] {
        // Nobody stays longer than 3 µs after the last one came.
        let clocks = [(0, 0.0), (900 * US, drift), (40 * US, -drift / 10.0)];
        let mut inputs = on_clocks(meet(3, 300, 3_000 * US, 3 * US, 1_000), &clocks);
        // Without numbers, clocks are followed up to 100 ppm only.
        inputs.iter_mut().for_each(|input| input.calls.calls.numbers = (0..300).collect());
        let (_, report) = analysed(inputs);
        for (clock, (ahead_ps, drift)) in report.clocks.ranks.iter().zip(clocks) {
            let at = clock.fit.at_ps();
            let right = ((at - ahead_ps) as f64 / (1.0 + drift)).round() as i64 - at;
            let (low, high) = (clock.low_ps.unwrap(), clock.high_ps.unwrap());
            assert!((low..=high).contains(&right), "{low} {right} {high}");
            // With any drift up to 500 ppm a part of the time alone would add more.
            assert!(high - low < 60 * US, "{} ps wide", high - low);
        }
    }
}

#[test]
fn a_drift_is_found_if_the_ends_prove_it() {
    let clocks = [(0, 0.0), (3_000 * US, 30e-6), (-900 * US, -8e-6)];
    let (_, report) = analysed(on_clocks(meet(5, 400, 10_000 * US, 20 * US, 1_500_000), &clocks));
    for (clock, (_, drift)) in report.clocks.ranks.iter().zip(clocks) {
        let off = f64::from(clock.fit.drift_ppb()) + drift * 1e9;
        assert!(off.abs() < 300.0, "{off} ppb off: {clock:?}");
    }
}

#[test]
fn a_drift_is_none_if_noise_explains_it_or_if_it_moves_nothing() {
    let apart = [(0, 0.0), (3_000 * US, 0.0), (-900 * US, 0.0)];
    for seed in 1..20 {
        let (_, report) = analysed(on_clocks(meet(seed, 40, 500 * US, 400 * US, 12_000_000), &apart));
        for clock in &report.clocks.ranks {
            assert_eq!(clock.fit.drift_ppb(), 0, "{seed}: {clock:?}");
        }
        // Ends differ by up to 12 µs, those of one rank by less if it is mostly the median.
        let residual_ps = report.clocks.ranks.iter().map(|clock| clock.residual_ps).max().unwrap();
        assert!((500_000..8_000_000).contains(&residual_ps), "{seed}: {residual_ps}");
    }
    // 20 ppm over 20 ms are proven by ends of a nanosecond, and are 0.4 µs.
    let slow = [(0, 0.0), (3_000 * US, 20e-6), (-900 * US, 0.0)];
    let (_, report) = analysed(on_clocks(meet(2, 40, 450 * US, 5 * US, 1_000), &slow));
    assert!(report.clocks.ranks.iter().all(|clock| clock.fit.drift_ppb() == 0));
}

#[test]
fn a_rank_that_agrees_stays_where_it_is_when_others_are_moved() {
    let clocks = [(0, 0.0), (3_000 * US, 0.0), (0, 0.0)];
    let (_, report) = analysed(on_clocks(meet(4, 60, 500 * US, 20 * US, 300_000), &clocks));
    let offsets: Vec<i64> = report.clocks.ranks.iter().map(|clock| clock.fit.offset_ps()).collect();
    assert_eq!((report.clocks.verdict, offsets[0], offsets[2]), (ClockVerdict::Aligned, 0, 0));
    assert!((offsets[1] + 3_000 * US).abs() < US, "{offsets:?}");
}
