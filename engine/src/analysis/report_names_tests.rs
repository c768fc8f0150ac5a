//! Names in reports: ranks and links that stand out, mismatches, and calls that were not recorded.

use super::group_guess_tests::Stage;
use super::table::{By, rows};
use super::tests::{Dice, US, analysed, int, job_segment, rows_of};
use super::*;
use crate::exec::Work;
use crate::makers::job::metrics::{MEDIAN_RANK, groups};
use crate::metrics::{Metric, MetricPlace, MetricRow, MetricScope};
use crate::model::{OwnedValue, Signature, WarningKind};

const ALL: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Eight ranks with equal noise, of which `late` gives some more microseconds in each operation.
fn job(seed: u64, operations: usize, late: impl Fn(usize, usize) -> i64) -> Stage {
    let mut dice = Dice(seed);
    let mut stage = Stage::new(8, &[("all", &[0, 1, 2, 3, 4, 5, 6, 7])]);
    for at in 0..operations {
        for rank in ALL {
            stage.now[rank] += (100 + late(rank, at)) * US + dice.below(50_000) * 1_000;
        }
        stage.run(0, &ALL, |_| 20 * US);
    }
    stage
}

fn named(stage: Stage) -> Vec<Suspect> {
    let (_, report) = analysed(stage.inputs);
    costs(&report).iter().filter(|cost| cost.stands_out).map(|cost| cost.culprit).collect()
}

#[test]
fn of_equal_ranks_none_stands_out() {
    for seed in 1..30 {
        for operations in [10, 30, 100] {
            let stage = job(seed, operations, |_, _| 0);
            assert_eq!(named(stage), [], "seed {seed}, {operations} operations");
        }
    }
    let (job, report) = analysed(job(1, 20, |_, _| 0).inputs);
    let totals = totals(&job, &report);
    assert_eq!((totals.straggler, totals.straggler_delay_ps), (None, 0));
    assert!(totals.late_ranks_delay_ps > 0);
}

#[test]
fn slow_ranks_and_one_pause_stand_out() {
    for seed in 1..10 {
        let slow = job(seed, 40, |rank, _| if rank == 5 { 60 } else { 0 });
        assert_eq!(named(slow), [Suspect::Rank(5)], "seed {seed}");
        let pause = job(seed, 40, |rank, at| if (rank, at) == (2, 17) { 9_000 } else { 0 });
        assert_eq!(named(pause), [Suspect::Rank(2)], "seed {seed}");
        let mut both = named(job(seed, 40, |rank, _| if rank > 5 { 60 } else { 0 }));
        both.sort_by_key(|culprit| if let Suspect::Rank(rank) = culprit { *rank } else { u32::MAX });
        assert_eq!(both, [Suspect::Rank(6), Suspect::Rank(7)], "seed {seed}");
    }
}

#[test]
fn a_cause_that_costs_too_little_of_the_time_is_not_named() {
    let mut stage = job(3, 40, |rank, _| if rank == 5 { 60 } else { 0 });
    // Waits of about 2.5 ms a rank are 2.5 % of this.
    stage.inputs.iter_mut().for_each(|input| input.calls.span_ps = 100_000 * US);
    assert_eq!(named(stage), [Suspect::Rank(5)]);
    let mut stage = job(3, 40, |rank, _| if rank == 5 { 60 } else { 0 });
    stage.inputs.iter_mut().for_each(|input| input.calls.span_ps = 1_000_000 * US);
    assert_eq!(named(stage), []);
}

/// Four ranks of a job of 128. A pair with a rank that was not recorded calls between the others.
fn part_of_a_job() -> Stage {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3]), ("far", &[0, 99])]);
    for input in &mut stage.inputs {
        input.calls.world_size = Some(128);
    }
    for round in 0..10 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            *now += (100 + 10 * i64::try_from(rank).unwrap()) * US;
        }
        stage.run(0, &[0, 1, 2, 3], |_| 50 * US);
        // It waits for the other rank, the longer the later it is.
        stage.run(1, &[0], |_| (1_000 + 500 * round) * US);
    }
    stage
}

#[test]
fn calls_without_others_are_in_no_median_and_make_no_link_slow() {
    let (job, report) = analysed(part_of_a_job().inputs);
    let all = rows(&job, &report, By::Kind);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].count, all[0].alone), (20, 10));
    assert_eq!(all[0].transfer_ps, Some([50 * US; 3]));
    // 36 bytes in 50 us, and the slowest way from the first arrival on.
    let rate = all[0].algorithm_rate.unwrap();
    assert!((rate - 720_000.0).abs() < 1e-3, "{rate}");
    let [alone, met]: [table::OperationGroup; 2] = rows(&job, &report, By::Size).try_into().unwrap();
    assert_eq!((alone.count, alone.alone, alone.transfer_ps, alone.wait_ps), (10, 10, None, None));
    assert_eq!((alone.bus_rate, alone.algorithm_rate_with_wait, alone.slowest), (None, None, None));
    assert!(met.alone == 0 && met.wait_ps.is_some() && met.slowest.is_some());
    assert_eq!(report.links, []);
    let totals = totals(&job, &report);
    assert_eq!((totals.ranks, totals.world, totals.operations, totals.alone), (4, 128, 20, 10));
}

#[test]
fn a_job_segment_warns_of_ranks_that_were_not_recorded() {
    let (job, report) = analysed(part_of_a_job().inputs);
    let segment = job_segment(&job, &report);
    let warnings = &segment.footer().warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].kind, WarningKind::MissingData);
    assert_eq!(warnings[0].first_place, "4 of 128 ranks are there");
    let whole = &rows_of(&segment, "job")[0];
    assert_eq!(
        (int(whole, "ranks"), int(whole, "ranks_of_job"), int(whole, "operations_of_one_rank")),
        (Some(4), Some(128), Some(10))
    );
    let whole = job_segment(&job_of_all().0, &job_of_all().1);
    assert!(whole.footer().warnings.is_empty());
}

fn job_of_all() -> (Job, Report) {
    analysed(job(1, 5, |_, _| 0).inputs)
}

#[test]
fn bandwidths_are_there_with_and_without_waiting() {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3])]);
    // The last one comes 50 us after the first, then 50 us of transfer.
    stage.now = [0, 10, 20, 50].map(|us| us * US).to_vec();
    stage.run(0, &[0, 1, 2, 3], |_| 50 * US);
    let (job, report) = analysed(stage.inputs);
    let rates = table::rates(&job, &report.operations[0]).unwrap();
    let of = [rates.algorithm, rates.algorithm_with_wait, rates.bus, rates.bus_with_wait];
    // An all-reduce of four has the factor 2 * 3 / 4.
    let expected = [720_000.0, 360_000.0, 1_080_000.0, 540_000.0];
    assert!(of.iter().zip(expected).all(|(of, expected)| (of - expected).abs() < 1e-3), "{of:?}");
    let segment = job_segment(&job, &report);
    for table in ["operation", "operation_size"] {
        let row = rows_of(&segment, table).pop().unwrap();
        let fields = ["algorithm_rate", "algorithm_rate_with_wait", "bus_rate", "bus_rate_with_wait"]
            .map(|name| &row[name]);
        for (field, expected) in fields.into_iter().zip(expected) {
            assert!(matches!(field, OwnedValue::Float(rate) if (rate - expected).abs() < 1e-3), "{field:?}");
        }
    }
}

/// A job with three slow transfers, the second one the slowest.
fn with_a_slow_link() -> (Job, Report) {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3])]);
    for round in 0..12 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            // Each rank is last in turn.
            *now += (100 + (i64::try_from(rank).unwrap() + round) % 4) * US;
        }
        let slow = [(3, 150), (7, 250), (9, 200)].iter().find(|of| of.0 == round).map_or(0, |of| of.1);
        stage.run(0, &[0, 1, 2, 3], |_| (50 + slow) * US);
    }
    analysed(stage.inputs)
}

fn metrics_of(job: &Job, report: &Report, key: &str) -> Vec<Metric> {
    let groups = groups(&job_segment(job, report), Work::IN_PLACE).unwrap();
    groups.into_iter().find(|group| group.key == key).map_or(Vec::new(), |group| group.metrics)
}

#[test]
fn a_slow_link_says_whom_it_joins_and_where_it_shows() {
    let (job, report) = with_a_slow_link();
    let link = &report.links[0];
    assert_eq!((link.operations, link.slower_ps), (3, 200e6));
    let slow = shown_by(&job, &report, link).unwrap();
    assert_eq!((slow.instance, slow.rank), (7, 0));
    assert_eq!(slow.start_ps, report.operations[7].span.last_ps);
    let row = rows_of(&job_segment(&job, &report), "cause").swap_remove(0);
    let of = ["operations", "slower", "operation", "rank"].map(|name| int(&row, name));
    assert_eq!(of, [Some(3), Some(200 * US), Some(8), Some(0)]);
    assert_eq!(row["ranks"], OwnedValue::Json("[0,1,2,3]".to_owned()));
    let metrics = metrics_of(&job, &report, "job_causes");
    let first = &metrics[0];
    assert_eq!(first.name, "link among ranks 0–3: +200 µs per operation, 3 operations");
    let place =
        MetricPlace { rank: 0, at_ps: Some(slow.start_ps), operation: Some(8), ranks: vec![0, 1, 2, 3] };
    assert_eq!(first.place, Some(place));
    // No rank is worth a name beside it.
    assert_eq!((metrics.len(), metrics[1].name.as_str()), (2, "no rank stands out"));
    assert_eq!(metrics[1].place, None);
}

#[test]
fn a_late_rank_has_a_place_in_the_summary() {
    let (job, report) = analysed(job(4, 40, |rank, _| if rank == 5 { 60 } else { 0 }).inputs);
    let metrics = metrics_of(&job, &report, "job_causes");
    assert_eq!((metrics.len(), metrics[0].name.as_str()), (1, "rank 5"));
    let place = MetricPlace { rank: 5, at_ps: None, operation: None, ranks: vec![5] };
    assert_eq!(metrics[0].place, Some(place));
    let waits = metrics_of(&job, &report, "job_waits");
    let places = waits.iter().map(|metric| (metric.name.clone(), metric.place.as_ref().unwrap().rank));
    assert!(places.into_iter().all(|(name, rank)| name == format!("rank {rank}")), "{waits:?}");
    assert_eq!(metrics_of(&job, &report, "job_mismatches"), []);
    // All ranks are there, the median rank last.
    let awaited = metrics_of(&job, &report, "job_awaited");
    assert_eq!((awaited.len(), awaited[0].name.as_str()), (job.ranks.len() + 1, "rank 5"));
    let (last, others) = awaited.split_last().unwrap();
    let half = others.len() / 2;
    assert_eq!((last.name.as_str(), &last.value), (MEDIAN_RANK, &others[half - 1].value));
}

#[test]
fn outliers_of_the_summary_are_those_of_the_finding() {
    let (job, report) = with_a_slow_link();
    let usual = usual_transfers(&job, &report.operations);
    let of_rule = report.operations.iter().zip(&usual);
    let expected = of_rule.filter(|(one, usual)| usual.makes_outlier(one.transfer_ps())).count();
    let segment = job_segment(&job, &report);
    let tables = crate::makers::metrics(&segment, &MetricScope::default(), Work::IN_PLACE).unwrap().tables;
    let points = tables.iter().find(|table| table.family.key == "collective_points").unwrap();
    assert_eq!(points.rows.len(), report.operations.len());
    let is_outlier = |row: &&MetricRow| row.values.contains(&Some(OwnedValue::Bool(true)));
    assert_eq!(points.rows.iter().filter(is_outlier).count(), expected);
    assert!(expected > 0);
}

#[test]
fn mismatches_are_counted_by_kind_with_the_first_of_each() {
    let mut stage = job(2, 20, |_, _| 0);
    // Ranks 1 and 4 call with another size in the operations 7 and 11. Rank 6 lacks the last two.
    for (rank, call) in [(4, 11), (1, 7)] {
        let calls = &mut stage.inputs[rank].calls;
        let other = Signature { count: 7, ..calls.signatures[0].clone() };
        calls.signatures.push(other);
        calls.calls.signatures[call] = 1;
    }
    stage.inputs[6].calls.recorded_ps.1 += 1_000 * US;
    let calls = &mut stage.inputs[6].calls.calls;
    for column in [&mut calls.starts_ps, &mut calls.durations_ps] {
        column.truncate(18);
    }
    for column in [&mut calls.signatures, &mut calls.numbers, &mut calls.rows] {
        column.truncate(18);
    }
    let (job, report) = analysed(stage.inputs);
    let metrics = metrics_of(&job, &report, "job_mismatches");
    let found: Vec<(&str, &OwnedValue)> =
        metrics.iter().map(|metric| (metric.name.as_str(), &metric.value)).collect();
    assert_eq!(
        found,
        [
            ("missing calls; first: rank 6, operation 19", &OwnedValue::Int(2)),
            ("calls of another size; first: rank 1, operation 8", &OwnedValue::Int(2)),
        ]
    );
    let place = metrics[1].place.as_ref().unwrap();
    let first_ps = report.operations.iter().map(|one| one.span.first_ps).nth(7);
    assert_eq!((place.rank, place.operation, place.at_ps), (1, Some(8), first_ps));
    assert!(metrics.iter().all(|metric| metric.doc.len() > 40));
}

#[test]
fn groups_are_in_the_order_of_their_numbers() {
    let names = ["10", "2", "dp 12", "dp 3"];
    let communicators: Vec<(&str, &[u32])> = names.iter().map(|name| (*name, &[0, 1][..])).collect();
    let mut stage = Stage::new(2, &communicators);
    for round in 0..8 {
        stage.now[0] += 10 * US + round;
        stage.run(u32::try_from(round % 4).unwrap(), &[0, 1], |_| 5 * US);
    }
    let (job, report) = analysed(stage.inputs);
    let segment = job_segment(&job, &report);
    let titles = segment.footer().tracks.iter().map(|track| track.spec.name.clone());
    let titles: Vec<String> = titles.filter(|title| title.contains("all-reduce")).collect();
    assert_eq!(titles, ["2", "10", "dp 3", "dp 12"].map(|name| format!("{name} · all-reduce · ranks 0, 1")));
}

/// Ranks whose traces name no group, with calls on streams.
fn streams(streams: u32) -> Stage {
    let names: Vec<String> = (0..streams).map(|at| format!("stream {at}")).collect();
    let named: Vec<(&str, &[u32])> = names.iter().map(|name| (name.as_str(), &[][..])).collect();
    let (mut stage, mut dice) = (Stage::new(4, &named), Dice(7));
    for round in 0..8 {
        stage.now.iter_mut().for_each(|now| *now += 100 * US + dice.below(90_000) * 1_000);
        stage.run(round % streams, &[0, 1, 2, 3], |rank| 20 * US + i64::try_from(rank).unwrap() * 1_000);
    }
    stage
}

#[test]
fn the_only_stream_of_all_ranks_is_one_group() {
    let (_, report) = analysed(streams(1).inputs);
    for clock in &report.clocks.ranks {
        // The clocks are right as they are.
        assert!(clock.low_ps.is_some_and(|low| low <= 0) && clock.high_ps.is_some_and(|high| high >= 0));
        assert_eq!(clock.unbounded, None);
    }
    // The same of a larger job, and with two streams: other ranks and groups can be behind them.
    let mut larger = streams(1);
    larger.inputs[0].calls.world_size = Some(8);
    for stage in [larger, streams(2)] {
        let (_, report) = analysed(stage.inputs);
        let why: Vec<Option<Unbounded>> = report.clocks.ranks.iter().map(|clock| clock.unbounded).collect();
        assert_eq!(why[0], None);
        assert_eq!(why[1..], [Some(Unbounded::GroupsUnknown); 3]);
    }
}
