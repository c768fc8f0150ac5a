//! Jobs whose traces name no groups, and calls that traces lack.

use super::tests::{Dice, US, analysed};
use super::*;
use crate::model::collective::NO_NUMBER;
use crate::model::{CallList, CollectiveKind, Communicator, Membership, RankCalls, Signature};

/// Ranks that run operations one after the other.
pub(super) struct Stage {
    pub(super) inputs: Vec<RankInput>,
    pub(super) now: Vec<i64>,
    /// Rank and row of the members of each operation.
    pub(super) truth: Vec<Vec<(usize, u32)>>,
}

impl Stage {
    /// Ranks with these communicators: what a trace calls them, and their members if it tells.
    pub(super) fn new(ranks: u32, communicators: &[(&str, &[u32])]) -> Self {
        let input = |rank: u32| {
            let mut calls = RankCalls::default();
            for (name, ranks) in communicators {
                let size = u32::try_from(ranks.len()).unwrap();
                let membership = if size > 0 { Membership::Stated } else { Membership::Unknown };
                let (name, ranks) = ((*name).to_owned(), ranks.to_vec());
                let communicator = u32::try_from(calls.communicators.len()).unwrap();
                calls.communicators.push(Communicator { name, membership, ranks, size });
                let (kind, dtype) = (CollectiveKind::AllReduce, "Float".to_owned());
                let peer = None;
                let (algorithm, count, bytes) = (String::new(), 9, 36);
                let signature = Signature { communicator, kind, dtype, algorithm, count, bytes, peer };
                calls.signatures.push(signature);
            }
            RankInput { rank, calls, given: None, stated_ps: 0 }
        };
        let now = vec![1_000 * US; ranks as usize];
        Self { inputs: (0..ranks).map(input).collect(), now, truth: Vec::new() }
    }

    /// Runs an operation with a signature of its ranks, which begin with one of each communicator.
    /// `transfer` gives the time from the last arrival to the end of a rank.
    pub(super) fn run(&mut self, signature: u32, ranks: &[usize], transfer: impl Fn(usize) -> i64) {
        let last = ranks.iter().map(|&rank| self.now[rank]).max().unwrap();
        let mut members = Vec::new();
        for &rank in ranks {
            let (start, end) = (self.now[rank], last + transfer(rank));
            let CallList { starts_ps, durations_ps, signatures, numbers, rows, .. } =
                &mut self.inputs[rank].calls.calls;
            members.push((rank, u32::try_from(rows.len()).unwrap()));
            rows.push(u32::try_from(rows.len()).unwrap());
            starts_ps.push(start);
            durations_ps.push(end - start);
            signatures.push(signature);
            numbers.push(NO_NUMBER);
            self.now[rank] = end;
            self.inputs[rank].calls.recorded_ps = (0, end);
        }
        self.truth.push(members);
    }

    /// The truth, and what the analysis finds of it.
    fn compared(self) -> [Vec<Vec<(usize, u32)>>; 2] {
        let (job, report) = analysed(self.inputs);
        let member = |one: InstanceCall| (one.rank, job.ranks[one.rank].calls.rows[one.call]);
        let mut found: Vec<Vec<_>> = (0..report.instances.len())
            .map(|at| report.instances.members(at).map(member).collect())
            .collect();
        let mut truth = self.truth;
        found.sort();
        truth.sort();
        [truth, found]
    }
}

#[test]
fn groups_in_lock_step_are_told_apart_by_how_their_ends_vary() {
    // Ranks of the second host have a clock of their own. On one stream they meet none of the first
    // host, and each lacks the other's calls there.
    for (seed, ahead_ps) in (1..6).flat_map(|seed| [(seed, 0), (seed, 700_000 * US)]) {
        let mut dice = Dice(seed);
        let mut stage = Stage::new(8, &[("stream 20", &[]), ("stream 24", &[])]);
        for _ in 0..30 {
            for tensor in [[0, 1, 2, 3], [4, 5, 6, 7]] {
                tensor.iter().for_each(|&rank| stage.now[rank] += 400 * US + dice.below(60_000) * 1_000);
                let noise: Vec<i64> = (0..8).map(|_| dice.below(800) * 1_000).collect();
                stage.run(0, &tensor, |rank| 70 * US + noise[rank]);
            }
            for pair in 0..4 {
                let transfer = 90 * US + dice.below(9_000) * 1_000;
                let noise: Vec<i64> = (0..8).map(|_| dice.below(800) * 1_000).collect();
                [pair, pair + 4].iter().for_each(|&rank| stage.now[rank] += US + dice.below(1_000) * 1_000);
                stage.run(1, &[pair, pair + 4], |rank| transfer + noise[rank]);
            }
        }
        stage.inputs[4..].iter_mut().for_each(|input| input.calls.move_by(ahead_ps));
        let [truth, found] = stage.compared();
        assert_eq!(found, truth, "seed {seed}");
    }
}

#[test]
fn hosts_of_one_group_whose_ends_vary_apart_stay_together() {
    for seed in 1..6 {
        let mut dice = Dice(seed);
        let mut stage = Stage::new(8, &[("stream 7", &[])]);
        for _ in 0..30 {
            stage.now.iter_mut().for_each(|now| *now += 300 * US + dice.below(50_000) * 1_000);
            let hosts = [dice.below(5_000) * 1_000, dice.below(5_000) * 1_000];
            let noise: Vec<i64> = (0..8).map(|_| dice.below(500) * 1_000).collect();
            stage.run(0, &[0, 1, 2, 3, 4, 5, 6, 7], |rank| 60 * US + hosts[rank / 4] + noise[rank]);
        }
        let [truth, found] = stage.compared();
        assert_eq!(found, truth, "seed {seed}");
    }
}

#[test]
fn a_transfer_that_seems_slow_is_not_the_links_fault_if_the_awaited_call_is_lost() {
    let named: [(&str, &[u32]); 3] = [("all", &[0, 1, 2, 3]), ("a", &[0, 1]), ("b", &[2, 3])];
    let mut stage = Stage::new(4, &named);
    for round in 0..20 {
        stage.now.iter_mut().enumerate().for_each(|(rank, now)| *now += (200 + rank as i64) * US);
        // Rank 1 comes 5 ms late, and its trace lacks the call.
        stage.now[1] += if round == 12 { 5_000 * US } else { 0 };
        stage.run(1, &[0, 1], |_| 50 * US);
        if round == 12 {
            let calls = &mut stage.inputs[1].calls.calls;
            for column in [&mut calls.signatures, &mut calls.numbers, &mut calls.rows] {
                column.pop();
            }
            calls.starts_ps.pop();
            calls.durations_ps.pop();
        }
        stage.run(2, &[2, 3], |_| 50 * US);
        stage.run(0, &[0, 1, 2, 3], |_| 40 * US);
    }
    let (_, report) = analysed(stage.inputs);
    let most = report.ranks.iter().max_by(|a, b| a.root_blame_ps.total_cmp(&b.root_blame_ps)).unwrap();
    assert_eq!((most.rank, report.links.len()), (1, 0), "{:?}", report.links);
    // Ranks 2 and 3 wait for both, and all of that began with rank 1.
    assert!(most.root_blame_ps > 2.0 * 4_900e6, "{most:?}");
}
