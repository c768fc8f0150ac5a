//! A shift of all times of a rank changes nothing but its offset, however large it is.

use proptest::prelude::*;

use super::tests::{Plan, Says, US, analysed, make, plans, shown};

/// Moves the times of a rank, and checks that nothing changes but its offset.
fn check(plan: &Plan, which: usize, shift_ps: i64) -> std::result::Result<(), TestCaseError> {
    let (job, report) = analysed(make(plan).inputs);
    let mut inputs = make(plan).inputs;
    inputs[which].calls.move_by(shift_ps);
    let (moved_job, moved) = analysed(inputs);
    prop_assert_eq!(shown(&job, &report), shown(&moved_job, &moved));
    for (rank, (before, after)) in report.ranks.iter().zip(&moved.ranks).enumerate() {
        let calls = i64::try_from(before.collectives).unwrap();
        prop_assert!((before.wait_ps - after.wait_ps).abs() <= 2_000 * calls, "waits of rank {rank}");
        let (a, b) = (&report.clocks.ranks[rank], &moved.clocks.ranks[rank]);
        // The first rank is the one that the others are compared with.
        let expected = if rank == which { -shift_ps } else { 0 } + if which == 0 { shift_ps } else { 0 };
        let expected = if rank == 0 { 0 } else { expected };
        let off = b.fit.offset_ps() - a.fit.offset_ps() - expected;
        prop_assert!(off.abs() <= 2_000, "clock of rank {rank} is off by {off}");
        for (a, b) in [(a.low_ps, b.low_ps), (a.high_ps, b.high_ps)] {
            let off = a.zip(b).map_or(0, |(a, b)| b - a - expected);
            prop_assert!(a.is_some() == b.is_some() && off.abs() <= 2_000, "bounds of rank {rank}: {off}");
        }
    }
    Ok(())
}

/// Clocks that differ by little stay as they are, and a shift would have them moved.
fn are_apart(plan: &Plan) -> bool {
    make(plan).offsets[1..].iter().all(|offset| offset.abs() > 20 * US)
        && make(plan).offsets.iter().any(|offset| offset.abs() > 100 * US)
}

fn plans_apart() -> impl Strategy<Value = Plan> {
    plans().prop_filter("clocks must differ to be moved at all", |plan| plan.apart_us > 2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_shift_of_a_rank_changes_nothing_but_its_offset(
        plan in plans_apart(),
        which in 0..8_usize,
        ms in 100..900_i64,
    ) {
        prop_assume!(are_apart(&plan));
        check(&plan, which % plan.ranks, ms * 1_000 * US)?;
    }

    #[test]
    fn a_shift_of_hours_changes_nothing_either(
        plan in plans_apart(),
        which in 0..8_usize,
        us in -8_000_000_000..8_000_000_000_i64,
    ) {
        prop_assume!(are_apart(&plan) && us.abs() > 100_000);
        check(&plan, which % plan.ranks, us * US)?;
    }
}

/// A window of half a second around an expected shift cut this job off, and of what was left of it
/// more than half of the calls of rank 1 met others at a wrong shift.
#[test]
fn a_job_at_the_edge_of_half_a_second_is_matched_as_a_whole() {
    let seed = 6_491_122_034_123_621_395;
    let plan = Plan { ranks: 3, seed, says: Says::Groups, lost: 0, apart_us: 22_532 };
    check(&plan, 1, 503_000 * US).unwrap();
}

#[test]
fn no_shift_is_a_special_one() {
    let plan = Plan { ranks: 4, seed: 11, says: Says::Groups, lost: 30, apart_us: 9_000 };
    assert!(are_apart(&plan));
    for ms in (440..560).step_by(4).chain([1_000, 1_500, 60_000]) {
        for which in 0..plan.ranks {
            check(&plan, which, ms * 1_000 * US).unwrap();
            check(&plan, which, -ms * 1_000 * US).unwrap();
        }
    }
}
