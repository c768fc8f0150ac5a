//! Calls that traces lack: lost ones, and those of ranks that do not come.

use proptest::prelude::*;

use super::group_guess_tests::Stage;
use super::tests::{Plan, Says, US, analysed, int, job_segment, make, remove_call, rows_of};
use super::*;

/// Operations of all ranks of 4, then one of each pair. Returns the stage after the last one of
/// all, and after the pairs.
fn rounds() -> Stage {
    let mut stage = Stage::new(4, &[("all", &[0, 1, 2, 3]), ("low", &[0, 1]), ("high", &[2, 3])]);
    for round in 0..10 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            *now += (100 + 7 * ((i64::try_from(rank).unwrap() + round) % 4)) * US;
        }
        stage.run(0, &[0, 1, 2, 3], |_| 50 * US);
        stage.run(1, &[0, 1], |_| 20 * US);
        stage.run(2, &[2, 3], |_| 20 * US);
    }
    stage.inputs.iter_mut().for_each(|input| input.calls.recorded_ps.1 += 10_000 * US);
    stage
}

#[track_caller]
fn check(stage: Stage, missing: &[(u32, u32)], lost: &[u64], states: &[Presence]) {
    let (job, report) = analysed(stage.inputs);
    let whole = rows_of(&job_segment(&job, &report), "job").swap_remove(0);
    assert_eq!(int(&whole, "lost_calls"), i64::try_from(lost.iter().sum::<u64>()).ok());
    let found: Vec<(u32, u32)> = report.contradictions.iter().map(|one| (one.instance, one.rank)).collect();
    assert_eq!(found, missing);
    assert!(report.contradictions.iter().all(|one| one.what == Mismatch::Missing));
    assert_eq!(report.ranks.iter().map(|rank| rank.lost).collect::<Vec<_>>(), lost);
    let shown: Vec<Presence> = report.operations.iter().map(|one| one.state.presence).collect();
    assert_eq!(shown.iter().filter(|of| **of != Presence::Complete).copied().collect::<Vec<_>>(), states);
}

/// The number of the last call of a rank in the group of a signature.
fn last_call(stage: &Stage, rank: usize, signature: u32) -> usize {
    stage.inputs[rank].calls.calls.signatures.iter().rposition(|of| *of == signature).unwrap()
}

#[test]
fn a_rank_that_goes_on_with_the_others_was_not_recorded() {
    let mut stage = rounds();
    let at = last_call(&stage, 3, 0);
    // Rank 3 meets rank 2 of the same group after it.
    remove_call(&mut stage.inputs[3], at);
    check(stage, &[], &[0, 0, 0, 1], &[Presence::Lost]);
}

#[test]
fn a_rank_meets_another_one_before_an_operation_that_only_it_has() {
    let mut stage = rounds();
    // Rank 3 lacks the last operation of all, then meets rank 2, whose last call is lost.
    stage.run(2, &[2, 3], |_| 20 * US);
    stage.inputs.iter_mut().for_each(|input| input.calls.recorded_ps.1 += 10_000 * US);
    let [of_all, of_pair] = [(3, 0), (2, 2)].map(|(rank, signature)| last_call(&stage, rank, signature));
    remove_call(&mut stage.inputs[3], of_all);
    remove_call(&mut stage.inputs[2], of_pair);
    let (_, report) = analysed(stage.inputs);
    assert!(report.contradictions.iter().all(|one| one.rank != 3), "{:?}", report.contradictions);
    assert_eq!(report.ranks[3].lost, 1);
}

#[test]
fn a_rank_that_meets_nobody_again_is_missing() {
    // The last operation of all comes last.
    let mut stage = rounds();
    stage.run(0, &[0, 1, 2, 3], |_| 50 * US);
    stage.inputs.iter_mut().for_each(|input| input.calls.recorded_ps.1 += 10_000 * US);
    let at = last_call(&stage, 3, 0);
    remove_call(&mut stage.inputs[3], at);
    let all = analysed(rounds().inputs).1.operations.len();
    let number = u32::try_from(all / 3).unwrap();
    check(stage, &[(number, 3)], &[0; 4], &[Presence::MissingAtEnd]);
}

#[test]
fn a_rank_that_goes_on_while_the_others_wait_is_missing() {
    // Ranks 0, 1 and 2 hang in the last operation of all. Rank 3 skips it, and waits for rank 2.
    let mut stage = rounds();
    for (rank, signature) in [(0, 1), (1, 1), (2, 2)] {
        let at = last_call(&stage, rank, signature);
        remove_call(&mut stage.inputs[rank], at);
    }
    let at = last_call(&stage, 3, 0);
    remove_call(&mut stage.inputs[3], at);
    let (_, report) = analysed(stage.inputs);
    let of_all = report.contradictions.iter().find(|one| one.rank == 3).copied();
    assert_eq!(of_all.map(|one| one.what), Some(Mismatch::Missing));
}

/// The members of the operations as pairs of a rank and its start and end on the shared clock.
fn times(job: &Job, report: &Report) -> Vec<Vec<(usize, i64)>> {
    let of = |at| report.arrivals(job, at).iter().map(|one| (one.member.rank, one.start_ps)).collect();
    (0..report.operations.len()).map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The same by brute force, over all pairs of operations.
    #[test]
    fn a_call_is_missing_only_if_the_rank_meets_none_of_its_group_again(
        (ranks, seed, lost) in (2..9_usize, any::<u64>(), 0..80_i64),
        has_numbers in any::<bool>(),
    ) {
        let says = if has_numbers { Says::Numbers } else { Says::Groups };
        let (job, report) = analysed(make(&Plan { ranks, seed, says, lost, apart_us: 5_000 }).inputs);
        let times = times(&job, &report);
        for (at, one) in report.operations.iter().enumerate() {
            let group = &job.members[one.group as usize];
            let goes_on = |rank: usize| {
                let is_it = |of: &&(usize, i64)| {
                    of.0 != rank && group.contains(&u16::try_from(of.0).unwrap()) && of.1 >= one.span.end_ps
                };
                let meets = |of: &Vec<(usize, i64)>| of.iter().any(|of| of.0 == rank) && of.iter().any(|of| is_it(&of));
                times.iter().any(meets)
            };
            for one in report.contradictions.iter().filter(|one| one.instance as usize == at) {
                prop_assert_eq!(one.what, Mismatch::Missing);
                prop_assert!(!goes_on(one.rank as usize), "{:?}", one);
            }
        }
        // Nothing is dropped: what is absent was lost, or is missing.
        for (at, rank) in report.ranks.iter().enumerate() {
            let is_absent = |one: &&InstanceReport| {
                job.members[one.group as usize].contains(&u16::try_from(at).unwrap())
            };
            let of_groups = report.operations.iter().filter(is_absent).count() as u64;
            let absent = of_groups - rank.collectives;
            let missing = report.contradictions.iter().filter(|one| one.rank as usize == at).count() as u64;
            prop_assert!(rank.lost + missing <= absent, "rank {}", at);
        }
    }
}
