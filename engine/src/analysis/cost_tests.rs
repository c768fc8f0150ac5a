//! Costs of delays: slow links, totals of the job, and steps.

use super::group_guess_tests::Stage;
use super::tests::{Plan, Says, US, analysed, int, job_segment, make, rows_of};
use super::*;
use crate::base::Interval;
use crate::model::collective::NO_STEP;
use crate::model::{ComputeLoad, Signature};

const ALL: [usize; 4] = [0, 1, 2, 3];

/// A job of four ranks. The eighth operation of all has a slow transfer, which computation covers
/// on rank 2.
fn with_a_slow_link() -> Stage {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3])]);
    for round in 0..12 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            *now += (100 + i64::try_from(rank).unwrap()) * US;
        }
        let start = *stage.now.iter().max().unwrap();
        stage.run(0, &ALL, |_| if round == 7 { 400 * US } else { 50 * US });
        if round == 7 {
            stage.inputs[2].calls.covered_ps.push((start, stage.now[2]));
        }
    }
    stage
}

#[test]
fn a_slow_link_of_all_ranks_is_a_cause_of_its_own() {
    let (job, report) = analysed(with_a_slow_link().inputs);
    let found: Vec<(f64, f64)> =
        report.links.iter().map(|link| (link.root_blame_ps, link.excess_ps)).collect();
    // 350 us on each of the three ranks that do not compute meanwhile. Nobody waits for it.
    assert_eq!(found, [(0.0, 3.0 * 350e6)]);
    let costs = costs(&report);
    assert_eq!(costs[0].culprit.name(&job), "link among ranks 0–3");
    assert_eq!((costs[1].culprit, costs[1].excess_ps), (Suspect::Rank(3), 0.0));
    let wait: f64 = report.ranks.iter().map(|rank| rank.wait_ps as f64).sum();
    let blame: f64 = costs.iter().map(|cost| cost.root_blame_ps).sum();
    assert!(wait > 0.0 && (wait - blame).abs() < 1.0, "{wait} {blame}");
}

#[test]
fn totals_are_sums_and_limits_of_delays() {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3])]);
    for _ in 0..20 {
        // Two ranks are late together.
        for (now, us) in stage.now.iter_mut().zip([50, 50, 150, 151]) {
            *now += us * US;
        }
        stage.run(0, &ALL, |_| 20 * US);
    }
    for (input, compute) in stage.inputs.iter_mut().zip([1, 1, 1, 3]) {
        input.calls.compute_ps = compute * US;
        input.calls.communication_ps = 5 * US;
        input.calls.busy_ps = (compute + 4) * US;
        input.calls.copy_ps = 2 * US;
        input.calls.span_ps = 10 * US;
    }
    let (job, report) = analysed(stage.inputs);
    let totals = totals(&job, &report);
    assert_eq!(totals.copy_ps, 8 * US);
    assert_eq!((totals.ranks, totals.operations, totals.calls), (4, 20, 80));
    let times = [totals.span_ps, totals.compute_ps, totals.overlap_ps, totals.exposed_ps, totals.idle_ps];
    assert_eq!(times, [40, 6, 4, 16, 10].map(|us| us * US));
    assert_eq!(totals.imbalance, Some(1.0));
    // Alone, rank 3 would save the microsecond to rank 2; both together all.
    assert_eq!((totals.straggler, totals.straggler_delay_ps), (Some(3), 20 * US));
    assert_eq!(totals.late_ranks_delay_ps, 20 * 101 * US);
    let (job, report) = analysed(Vec::new());
    assert_eq!(super::totals(&job, &report), JobTotals::default());
}

/// Four rounds: a pair, then two operations of all ranks. Rank 3 computes twice as long.
fn rounds() -> Stage {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3]), ("pair", &[0, 1])]);
    let mut computed = vec![Vec::new(); 4];
    for input in &mut stage.inputs {
        let other = Signature { count: 5, ..input.calls.signatures[0].clone() };
        input.calls.signatures.push(other);
    }
    for _ in 0..4 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            let start = *now;
            *now += if rank == 3 { 200 * US } else { 100 * US };
            computed[rank].push((start, *now));
        }
        stage.run(1, &[0, 1], |_| 10 * US);
        stage.run(0, &ALL, |_| 20 * US);
        stage.run(2, &ALL, |_| 20 * US);
    }
    for ((input, computed), now) in stage.inputs.iter_mut().zip(&computed).zip(&stage.now) {
        input.calls.compute_load = ComputeLoad::of(computed, Interval::new(computed[0].0, *now));
    }
    stage
}

fn steps_of(inputs: Vec<RankInput>) -> Vec<StepReport> {
    let (job, report) = analysed(inputs);
    steps(&job, &report, &report.by_call(&job))
}

#[test]
fn operations_that_repeat_are_steps() {
    let found = steps_of(rounds().inputs);
    let counts: Vec<(u32, u64)> = found.iter().map(|step| (step.number, step.operations)).collect();
    // The pair comes before the first operation of all ranks, which begins a step.
    assert_eq!(counts, [(0, 4), (1, 3), (2, 3), (3, 2)]);
    for step in &found[1..3] {
        // Ranks 0 to 2 wait for 80 to 100 us, and nobody in the second operation.
        assert_eq!((step.slowest, step.wait_ps / US), (Some(3), 90 + 90 + 100), "{step:?}");
        let imbalance = step.imbalance.unwrap();
        assert!((imbalance - 0.6).abs() < 0.03, "{step:?}");
        assert!(step.span_ps > 0 && step.skew_ps > 0, "{step:?}");
    }
    assert!(found.windows(2).all(|pair| pair[0].start_ps < pair[1].start_ps));
}

#[test]
fn without_a_clear_order_all_is_one_step() {
    let found = steps_of(with_a_slow_link().inputs);
    assert_eq!(found.iter().map(|step| (step.number, step.operations)).collect::<Vec<_>>(), [(0, 12)]);
    assert_eq!(found[0].imbalance, None, "no rank shows computation");
}

#[test]
fn steps_of_ranks_are_joined_by_their_numbers() {
    let mut inputs = rounds().inputs;
    for input in &mut inputs {
        let calls = input.calls.calls.len();
        let per_step = calls / 4;
        // Rank 0 recorded the first call before its first step.
        let first = if input.rank == 0 { 1 } else { 0 };
        let number =
            |call: usize| if call < first { NO_STEP } else { u32::try_from(40 + call / per_step).unwrap() };
        input.calls.calls.steps = (0..calls).map(number).collect();
    }
    let found = steps_of(inputs);
    let counts: Vec<(u32, u64)> = found.iter().map(|step| (step.number, step.operations)).collect();
    assert_eq!(counts, [(40, 3), (41, 3), (42, 3), (43, 3)]);
    let (_, report) = analysed(rounds().inputs);
    let wait: i64 = report.ranks.iter().map(|rank| rank.wait_ps).sum();
    assert_eq!(found.iter().map(|step| step.wait_ps).sum::<i64>(), wait);
    assert!(found.iter().all(|step| step.slowest == Some(3)));
}

#[test]
fn a_job_segment_has_causes_steps_and_certain_clocks() {
    let made = make(&Plan { ranks: 6, seed: 7, says: Says::Groups, lost: 20, apart_us: 500 });
    let (job, report) = analysed(made.inputs);
    let segment = job_segment(&job, &report);
    let rows = |table: &str| rows_of(&segment, table);
    let exact: i64 = report.ranks.iter().map(|rank| rank.wait_ps).sum();
    assert_eq!(rows("cause").len(), costs(&report).len());
    assert_eq!(rows("step").iter().filter_map(|row| int(row, "wait")).sum::<i64>(), exact);
    let of = |name: &str| rows("rank").iter().filter_map(|row| int(row, name)).collect::<Vec<_>>();
    assert!([of("low"), of("offset"), of("high")].iter().all(|column| column.len() == 6));
    assert!(
        of("low").iter().zip(of("offset")).zip(of("high")).all(|((low, at), high)| *low <= at && at <= high)
    );
}
