//! The beginning of waiting in jobs whose cause is planted: root blame, and the named ranks.

use super::group_guess_tests::Stage;
use super::tests::{Dice, US, analysed, remove_call};
use super::*;

const ALL: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

fn named(report: &Report) -> Vec<u32> {
    let ranks = costs(report).into_iter().filter(|cost| cost.stands_out);
    let rank = |cost: Cost| match cost.culprit {
        Suspect::Rank(rank) => Some(rank),
        Suspect::Link(_) => None,
    };
    ranks.filter_map(rank).collect()
}

/// Two groups of four ranks with operations between computations, and pairs of the same place in
/// both with operations under them. Rank 1 computes 30 us longer. Its group falls behind the other
/// one from round to round, because no pair waits for its operation.
fn overlapped() -> Stage {
    let named: [(&str, &[u32]); 6] = [
        ("low", &[0, 1, 2, 3]),
        ("high", &[4, 5, 6, 7]),
        ("a", &[0, 4]),
        ("b", &[1, 5]),
        ("c", &[2, 6]),
        ("d", &[3, 7]),
    ];
    let (mut stage, mut dice) = (Stage::new(8, &named), Dice(3));
    let mut covered = vec![Vec::new(); 8];
    for _ in 0..20 {
        for rank in ALL {
            let start = stage.now[rank];
            let slower = if rank == 1 { 30 * US } else { 0 };
            stage.now[rank] += 400 * US + slower + dice.below(3_000) * 1_000;
            covered[rank].push((start, stage.now[rank]));
        }
        stage.run(0, &[0, 1, 2, 3], |_| 20 * US);
        stage.run(1, &[4, 5, 6, 7], |_| 20 * US);
        // The computation goes on.
        let ready = stage.now.clone();
        for place in 0..4 {
            stage.run(2 + u32::try_from(place).unwrap(), &[place, place + 4], |_| 40 * US);
        }
        stage.now = ready;
    }
    for (input, covered) in stage.inputs.iter_mut().zip(covered) {
        input.calls.covered_ps = covered;
    }
    stage
}

#[test]
fn mates_of_a_slow_rank_have_no_root_blame_in_operations_under_computation() {
    let (_, report) = analysed(overlapped().inputs);
    let slow = &report.ranks[1];
    for mate in [0, 2, 3].map(|rank| &report.ranks[rank]) {
        assert!(mate.blame_ps > 0.2 * slow.blame_ps, "{mate:?} comes late in its pair");
        assert!(mate.root_blame_ps < 0.05 * slow.root_blame_ps, "{mate:?} is late for rank 1 only");
    }
    assert_eq!(named(&report), [1]);
}

#[test]
fn a_mate_whose_calls_were_lost_was_delayed_as_the_others_were() {
    let named: [(&str, &[u32]); 5] =
        [("low", &[0, 1, 2]), ("high", &[3, 4, 5]), ("a", &[0, 3]), ("b", &[1, 4]), ("c", &[2, 5])];
    let (mut stage, mut lost) = (Stage::new(6, &named), Vec::new());
    for round in 0..20 {
        for (rank, now) in stage.now.iter_mut().enumerate() {
            *now += if rank == 1 { 300 * US } else { 200 * US };
        }
        stage.run(0, &[0, 1, 2], |_| 20 * US);
        if round % 3 == 1 {
            lost.push(stage.inputs[0].calls.calls.len() - 1);
        }
        stage.run(1, &[3, 4, 5], |_| 20 * US);
        for place in 0..3 {
            stage.run(2 + u32::try_from(place).unwrap(), &[place, place + 3], |_| 20 * US);
        }
    }
    lost.into_iter().rev().for_each(|at| remove_call(&mut stage.inputs[0], at));
    let (_, report) = analysed(stage.inputs);
    let [mate, slow] = [0, 1].map(|rank| &report.ranks[rank]);
    assert!(mate.lost > 5 && mate.blame_ps > 0.2 * slow.blame_ps, "{mate:?}");
    assert!(mate.root_blame_ps < 0.05 * slow.root_blame_ps, "{mate:?}");
}

#[test]
fn a_pause_is_named_beside_a_rank_that_is_always_slow() {
    for seed in 1..10 {
        let mut dice = Dice(seed);
        let mut stage = Stage::new(8, &[("all", &[0, 1, 2, 3, 4, 5, 6, 7])]);
        for at in 0..40 {
            for rank in ALL {
                let late = match (rank, at) {
                    (5, _) => 60,
                    (2, 17) => 600,
                    _ => 0,
                };
                stage.now[rank] += (100 + late) * US + dice.below(20_000) * 1_000;
            }
            stage.run(0, &ALL, |_| 20 * US);
        }
        assert_eq!(named(&analysed(stage.inputs).1), [5, 2], "seed {seed}");
    }
}
