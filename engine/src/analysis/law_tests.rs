//! Laws of waits, blame and clocks, on jobs with random groups, kinds, roots, clocks that drift,
//! and losses.

use proptest::prelude::*;

use super::certainty_tests::{Plan, make, plans};
use super::tests::{US, analysed};
use super::*;

fn inputs(plan: &Plan) -> Vec<RankInput> {
    make(plan).into_iter().map(|track| track.input).collect()
}

/// Members of each operation by rank and row.
fn matches(job: &Job, report: &Report) -> Vec<Vec<(usize, u32)>> {
    let member = |one: InstanceCall| (one.rank, job.ranks[one.rank].calls.rows[one.call]);
    let members = (0..report.instances.len()).map(|at| report.instances.members(at).map(member).collect());
    members.collect()
}

/// Times are rounded to a picosecond at each step, and an estimate stops at a part of a nanosecond.
const NEAR_PS: i64 = 2_000;

/// Moves the times of a rank, and checks that nothing changes but its offset.
fn check_shift(plan: &Plan, which: usize, shift_ps: i64) -> std::result::Result<(), TestCaseError> {
    let (job, before) = analysed(inputs(plan));
    let mut moved = inputs(plan);
    moved[which].calls.move_by(shift_ps);
    let (moved_job, after) = analysed(moved);
    // Clocks that agree stay as they are; shifted ones do not agree.
    prop_assume!([&before, &after].iter().all(|of| of.clocks.verdict == ClockVerdict::Aligned));
    prop_assert_eq!(matches(&job, &before), matches(&moved_job, &after));
    prop_assert_eq!(before.clocks.reference, after.clocks.reference);
    prop_assert_eq!(&before.contradictions, &after.contradictions);
    let reference = before.clocks.reference;
    for (rank, (a, b)) in before.clocks.ranks.iter().zip(&after.clocks.ranks).enumerate() {
        let own = if rank == which { -shift_ps } else { 0 };
        let expected =
            if rank == reference { 0 } else { own + if which == reference { shift_ps } else { 0 } };
        let off = b.fit.offset_ps() - a.fit.offset_ps() - expected;
        prop_assert!(off.abs() <= NEAR_PS, "clock of rank {rank} is off by {off}: {a:?} {b:?}");
        prop_assert!((b.fit.drift_ppb() - a.fit.drift_ppb()).abs() <= 20, "drift of rank {rank}");
        prop_assert_eq!(a.unbounded, b.unbounded, "rank {}", rank);
        for (a, b) in [(a.low_ps, b.low_ps), (a.high_ps, b.high_ps)] {
            let off = a.zip(b).map_or(0, |(a, b)| b - a - expected);
            prop_assert!(a.is_some() == b.is_some() && off.abs() <= NEAR_PS, "bounds of rank {rank}: {off}");
        }
    }
    let calls: u64 = before.ranks.iter().map(|rank| rank.collectives).sum();
    let near = NEAR_PS as f64 * calls as f64;
    for (a, b) in before.ranks.iter().zip(&after.ranks) {
        prop_assert_eq!((a.collectives, a.lost), (b.collectives, b.lost));
        for (a, b) in [
            (a.wait_ps as f64, b.wait_ps as f64),
            (a.blame_ps, b.blame_ps),
            (a.last_takes_all_ps, b.last_takes_all_ps),
            (a.root_blame_ps, b.root_blame_ps),
            (a.surplus_ps, b.surplus_ps),
        ] {
            prop_assert!((a - b).abs() <= near, "{a} and {b}, {near} apart are allowed");
        }
    }
    Ok(())
}

/// Checks that blame and waits of each operation, and their sums, fit together.
fn check_sums(plan: &Plan) -> std::result::Result<(), TestCaseError> {
    let (job, report) = analysed(inputs(plan));
    let mut waited = vec![0_i64; job.ranks.len()];
    for (at, one) in report.operations.iter().enumerate() {
        let arrivals = report.arrivals(&job, at);
        let (mut wait, mut blame) = (0, 0.0);
        for arrival in &arrivals {
            prop_assert!((0..=arrival.end_ps - arrival.start_ps).contains(&arrival.wait_ps), "{arrival:?}");
            prop_assert!(arrival.blame_ps >= 0.0, "{arrival:?}");
            (wait, blame) = (wait + arrival.wait_ps, blame + arrival.blame_ps);
            waited[arrival.member.rank] += arrival.wait_ps;
        }
        prop_assert_eq!(wait, one.wait_ps);
        prop_assert!((blame - wait as f64).abs() <= 1e-6 * wait as f64 + 1.0, "{blame} for {wait}");
        prop_assert_eq!(one.is_alone(), arrivals.len() < 2);
        prop_assert!(!one.is_alone() || wait == 0);
    }
    let whole: f64 = waited.iter().map(|wait| *wait as f64).sum();
    let sum = |of: fn(&RankReport) -> f64| report.ranks.iter().map(of).sum::<f64>();
    let links: f64 = report.links.iter().map(|link| link.root_blame_ps).sum();
    prop_assert_eq!(waited, report.ranks.iter().map(|rank| rank.wait_ps).collect::<Vec<_>>());
    let sums = [
        sum(|rank| rank.blame_ps),
        sum(|rank| rank.last_takes_all_ps),
        sum(|rank| rank.root_blame_ps) + links,
    ];
    for blame in sums {
        prop_assert!((blame - whole).abs() <= 1e-6 * whole + 1.0, "{blame} for {whole}");
    }
    // The surplus of a rank is the deficit of the others.
    prop_assert!(sum(|rank| rank.surplus_ps).abs() <= 1e-6 * whole + 1.0);
    Ok(())
}

fn without_numbers(plan: &Plan) -> Plan {
    Plan { has_numbers: false, has_stream: false, ..plan.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_shift_changes_an_offset_only(plan in plans(), which in 0..7_usize, ms in -900..900_i64) {
        check_shift(&plan, which % plan.ranks, ms * 1_000 * US)?;
    }

    #[test]
    fn a_shift_changes_an_offset_only_without_numbers(
        plan in plans(),
        which in 0..7_usize,
        ms in -900..900_i64,
    ) {
        check_shift(&without_numbers(&plan), which % plan.ranks, ms * 1_000 * US)?;
    }

    #[test]
    fn blame_is_what_was_waited_in_every_operation(plan in plans(), has_numbers in any::<bool>()) {
        check_sums(&if has_numbers { plan } else { without_numbers(&plan) })?;
    }

    #[test]
    fn no_order_of_ranks_matters(
        plan in plans(),
        order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(),
        has_numbers in any::<bool>(),
    ) {
        let plan = if has_numbers { plan } else { without_numbers(&plan) };
        let mut taken: Vec<Option<RankInput>> = inputs(&plan).into_iter().map(Some).collect();
        let shuffled: Vec<RankInput> =
            order.iter().filter_map(|&at| taken.get_mut(at).and_then(Option::take)).collect();
        prop_assert_eq!(shuffled.len(), plan.ranks);
        let ((job, one), (other_job, other)) = (analysed(inputs(&plan)), analysed(shuffled));
        prop_assert_eq!(matches(&job, &one), matches(&other_job, &other));
        prop_assert_eq!(one, other);
    }
}
