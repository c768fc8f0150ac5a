//! Laws of a comparison: its rows sum up to the total, a run does not differ from itself, and a
//! swapped pair has the negated differences.

use proptest::prelude::*;

use super::{
    ComparedRow, Doubt, RankSample, RunComparison, RunRepetition, RunSample, SpeedVerdict, TimeKind, WorkKey,
    WorkKeys,
};
use crate::base::Interval;
use crate::exec::Cancel;
use crate::insight::tests::{Drawn, US, any_slices, work_of};

/// The sample of a rank with this many repetitions of equal length; 0 for the whole run.
fn rank_of(rank: u32, slices: &[Drawn], repetitions: i64) -> RankSample {
    let work = work_of(slices);
    let end_ps = work.nodes.iter().map(|node| node.end_ps()).max().unwrap_or_default();
    let span = |at: i64| Interval::new(end_ps * at / repetitions, end_ps * (at + 1) / repetitions);
    let repetition = |at: i64| RunRepetition {
        name: format!("step {at}"),
        span: span(at),
        is_open: at == repetitions - 1,
    };
    let spans: Vec<RunRepetition> = (0..repetitions).map(repetition).collect();
    RankSample::of(rank, &work, &WorkKeys::by_name(&work), &spans, Cancel::NEVER).unwrap()
}

fn run_of(ranks: &[Vec<Drawn>], repetitions: i64) -> RunSample {
    RunSample::of((0..).zip(ranks).map(|(rank, slices)| rank_of(rank, slices, repetitions)).collect())
}

fn any_run() -> impl Strategy<Value = RunSample> {
    (prop::collection::vec(any_slices(), 1..4), 0..5_i64)
        .prop_map(|(ranks, repetitions)| run_of(&ranks, repetitions))
}

fn times(of: &ComparedRow) -> (i64, i64) {
    (of.change.a_ps, of.change.b_ps)
}

proptest! {
    #[test]
    fn rows_sum_up_to_the_total(a in any_run(), b in any_run()) {
        let Some(of) = RunComparison::of(&a, &b, false) else { return Ok(()) };
        let sums = of.rows.iter().map(times).fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        prop_assert_eq!(sums, (of.total.a_ps, of.total.b_ps));
        let within = |change: &super::TimeChange| change.bounds_ps.is_none_or(|(low, high)| {
            // Times are rounded, so a bound can miss the difference by that.
            low - 2 <= change.difference_ps() && change.difference_ps() <= high + 2
        });
        prop_assert!(of.rows.iter().filter(|row| row.kind != TimeKind::Idle).all(|row| within(&row.change)));
        for row in of.rows.iter().filter(|row| row.kind == TimeKind::Work) {
            let slices = |counts: fn(&super::DurationBars) -> &[u64]| -> u64 {
                row.durations.iter().flat_map(counts).sum()
            };
            prop_assert_eq!((slices(|of| &of.a), slices(|of| &of.b)), (row.a_count, row.b_count));
        }
    }

    #[test]
    fn a_run_does_not_differ_from_itself(a in any_run()) {
        let Some(of) = RunComparison::of(&a, &a, false) else { return Ok(()) };
        prop_assert_eq!((of.verdict, of.total.difference_ps()), (SpeedVerdict::Same, 0));
        for row in &of.rows {
            prop_assert_eq!((row.change.difference_ps(), row.change.is_certain()), (0, false));
            prop_assert!(!row.is_new() && !row.is_gone() && row.renamed.is_none());
        }
    }

    #[test]
    fn a_swapped_pair_has_the_negated_differences(a in any_run(), b in any_run()) {
        let (Some(of), Some(swapped)) = (RunComparison::of(&a, &b, false), RunComparison::of(&b, &a, false)) else {
            return Ok(());
        };
        let negated = |change: &super::TimeChange| super::TimeChange {
            a_ps: change.b_ps,
            b_ps: change.a_ps,
            bounds_ps: change.bounds_ps.map(|(low, high)| (-high, -low)),
        };
        prop_assert_eq!(swapped.total, negated(&of.total));
        let word = |of: &RunComparison| of.verdict.name();
        let other = match of.verdict {
            SpeedVerdict::Faster => "slower",
            SpeedVerdict::Slower => "faster",
            _ => word(&of),
        };
        prop_assert_eq!(word(&swapped), other);
        for row in of.rows.iter().filter(|row| row.renamed.is_none()) {
            let same = swapped.rows.iter().find(|one| (one.kind, &one.name) == (row.kind, &row.name));
            prop_assert_eq!(same.map(|one| one.change), Some(negated(&row.change)), "{:?}", row);
        }
    }
}

#[test]
fn work_with_another_name_at_the_same_place_is_renamed() {
    let step = |name: &'static str| {
        vec![
            Drawn(0, "begin", 0, 10),
            Drawn(0, name, 10, 30),
            Drawn(0, "end", 30, 40),
            Drawn(0, name, 40, 60),
        ]
    };
    let (a, b) = (run_of(&[step("gemm")], 0), run_of(&[step("tuned")], 0));
    let of = RunComparison::of(&a, &b, false).unwrap();
    let row = of.rows.iter().find(|row| row.renamed.is_some()).unwrap();
    assert_eq!((row.name.as_str(), row.renamed.as_deref()), ("gemm", Some("tuned")));
    assert_eq!((row.a_count, row.b_count, times(row)), (2, 2, (40 * US, 40 * US)));
}

#[test]
fn a_function_with_other_arguments_is_renamed_wherever_it_runs() {
    let a = vec![Drawn(0, "gemm<64, 64>(float*)", 0, 10), Drawn(0, "copy", 10, 12)];
    let b = vec![Drawn(0, "copy", 0, 2), Drawn(0, "gemm<128, 64>(float*)", 2, 9), Drawn(0, "fill", 9, 10)];
    let of = RunComparison::of(&run_of(&[a], 0), &run_of(&[b], 0), false).unwrap();
    let renamed: Vec<&str> = of.rows.iter().filter_map(|row| row.renamed.as_deref()).collect();
    assert_eq!(renamed, ["gemm<128, 64>(float*)"]);
    let new: Vec<&str> = of.rows.iter().filter(|row| row.is_new()).map(|row| row.name.as_str()).collect();
    assert_eq!(new, ["fill"]);
}

#[test]
fn runs_with_little_in_common_are_not_compared() {
    let of = |name: &'static str| {
        run_of(&[vec![Drawn(0, "begin", 0, 1), Drawn(0, name, 1, 90), Drawn(1, "end", 2, 3)]], 0)
    };
    let pair = |a: &'static str, b: &'static str| RunComparison::of(&of(a), &of(b), false).unwrap().verdict;
    // At the same place: it is the same work under another name.
    assert_eq!(pair("train", "train"), SpeedVerdict::Same);
    let other =
        run_of(&[vec![Drawn(0, "read", 0, 50), Drawn(0, "sort", 50, 80), Drawn(0, "write", 80, 200)]], 0);
    let found = RunComparison::of(&of("train"), &other, false).unwrap();
    assert_eq!(found.verdict, SpeedVerdict::Inconclusive, "{found:?}");
}

#[test]
fn runs_with_another_number_of_ranks_need_one_program() {
    let rank = |name: &'static str| vec![Drawn(0, "gemm", 0, 60), Drawn(0, name, 60, 100)];
    let run = |ranks: usize, name: &'static str| run_of(&vec![rank(name); ranks], 0);
    let pair = |a: &RunSample, b: &RunSample| {
        let of = RunComparison::of(a, b, false).unwrap();
        (of.verdict, of.doubts)
    };
    let slow = run_of(&vec![vec![Drawn(0, "gemm", 0, 90), Drawn(0, "add", 90, 130)]; 16], 0);
    let (verdict, doubts) = pair(&run(4, "add"), &slow);
    assert_eq!(verdict, SpeedVerdict::Slower, "{doubts:?}");
    assert!(matches!(doubts[0], Doubt::OtherRanks(ranks) if (ranks.a, ranks.b) == (4, 16)), "{doubts:?}");
    // An all-reduce among more ranks has another name.
    let other = run_of(
        &vec![vec![Drawn(0, "gemm", 0, 90), Drawn(1, "ring", 100, 130), Drawn(0, "tree", 130, 131)]; 16],
        0,
    );
    let (verdict, doubts) = pair(&run(4, "add"), &other);
    assert_eq!(verdict, SpeedVerdict::Inconclusive, "{doubts:?}");
    assert!(matches!(doubts[0], Doubt::OtherRanks(_)), "{doubts:?}");
}

#[test]
fn rows_of_another_subject_leave_the_answer() {
    let run = |names: [&'static str; 2]| {
        let [first, second] = names;
        run_of(&[vec![Drawn(0, first, 0, 60), Drawn(0, second, 60, 100), Drawn(0, first, 110, 170)]], 0)
    };
    let (a, b) = (run(["gemm", "add"]), run(["gemm", "add"]));
    let of = RunComparison::of(&a, &b, false).unwrap();
    // No other rows are in both, yet the work is.
    let grouped = of.clone().grouped(&run(["rank 3", "of 3"]), &run(["rank 1", "of 1"]), WorkKey::Track);
    assert_eq!((grouped.verdict, grouped.total, &grouped.doubts), (of.verdict, of.total, &of.doubts));
    assert_eq!((grouped.by, grouped.absent), (WorkKey::Track, None));
    assert!(grouped.rows.iter().any(|row| row.name == "rank 3"));
    let sums = grouped.rows.iter().map(times).fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    assert_eq!(sums, (of.total.a_ps, of.total.b_ps));
    let absent = of.clone().grouped(&run(["(none)"; 2]), &run(["(none)"; 2]), WorkKey::Layer);
    assert_eq!((absent.by, absent.absent, absent.rows), (WorkKey::Name, Some(WorkKey::Layer), of.rows));
}
