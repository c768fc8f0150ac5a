//! A job of several ranks: in each layer work and an all-reduce of half of the ranks, at the end of
//! each step one of all ranks.

use super::Analysed;
use crate::analysis::{Job, RankInput, matched, report};
use crate::exec::{Cancel, Work};
use crate::insight::JobGraph;
use crate::model::rank_work::NO_LAYER;
use crate::model::{
    CallList, CollectiveKind, Communicator, Identity, MachineSide, Membership, RankCalls, RankWork, Role,
    Signature, TrackId, WorkClass, WorkNode, WorkQueue,
};
use crate::spill::NoShelf;

pub(super) const US: i64 = 1_000_000;
pub(super) const RANKS: usize = 8;
const STEPS: u32 = 8;
const LAYERS: u32 = 4;
/// Time of the work of a layer.
const WORK_PS: i64 = 400 * US;
/// Time of a transfer.
const TRANSFER_PS: i64 = 60 * US;

/// A planted cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cause {
    /// All work of a rank takes this part longer.
    SlowRank(usize, f64),
    /// A rank does nothing at the begin of a step.
    Pause(usize, u32, i64),
    /// The transfers of a half take a multiple of their time from a step on.
    SlowHalf(usize, u32, i64),
    /// The transfer of one operation of all ranks takes a multiple of its time.
    SlowOperation(u32, i64),
    /// Cores of all ranks move the transfers, and the part of one rank takes a multiple of its
    /// time.
    SlowPart(usize, i64),
    /// The recording of a rank begins with a step.
    LateRecording(usize, u32),
    /// The trace of a rank lacks its calls of these layers.
    LostCalls(usize, u32),
    /// Transfers take a multiple of their time.
    SlowNetwork(i64),
    /// The job has more ranks than the profile.
    MoreRanks,
}

struct Simulation<'c> {
    causes: &'c [Cause],
    now_ps: [i64; RANKS],
    random: u64,
    works: Vec<RankWork>,
    inputs: Vec<RankInput>,
}

/// A job with causes.
pub(super) fn job(causes: &[Cause]) -> Analysed {
    let world_size = RANKS + usize::from(causes.contains(&Cause::MoreRanks));
    let mut simulation = Simulation {
        causes,
        now_ps: [0; RANKS],
        random: 7,
        works: (0..RANKS).map(|_| empty_work()).collect(),
        inputs: (0..RANKS).map(|rank| input(rank, world_size)).collect(),
    };
    for step in 0..STEPS {
        simulation.step(step);
    }
    let Simulation { mut works, inputs, .. } = simulation;
    let job = Job::new(inputs);
    let found = matched(&job, Cancel::NEVER).unwrap();
    let report = report(&job, found, Cancel::NEVER).unwrap();
    for (at, work) in works.iter_mut().enumerate() {
        work.to_shared_clock(&report.clock_of_segment(&job, at));
    }
    let graph = JobGraph::new(&job, &report, works, &NoShelf, Work::IN_PLACE).unwrap();
    Analysed { job, report, graph }
}

fn empty_work() -> RankWork {
    let mut work = RankWork::default();
    let core = Role::CollectiveCore;
    for (number, role) in (0..).zip([Role::Kernels, Role::Kernels, Role::Kernels, core]) {
        let identity = Identity { number: Some(number), ..Identity::of(role) };
        let queue = WorkQueue { track: TrackId(number), lane: 0, identity, side: MachineSide::Device };
        work.queues.push(queue);
        work.queue_names.push(format!("stream {number}"));
        work.classes.push(WorkClass { queue: number, name: number, layer: NO_LAYER });
    }
    work.classes.push(WorkClass { queue: 3, name: 4, layer: NO_LAYER });
    for (number, name) in (0..).zip(["gemm", "AllReduce half", "AllReduce all", "ADVANCE", "WAIT_FOR_RANKS"])
    {
        work.names.insert(number, name.to_owned());
    }
    work
}

fn input(rank: usize, world_size: usize) -> RankInput {
    let numbers = |ranks: std::ops::Range<usize>| ranks.map(|rank| u32::try_from(rank).unwrap()).collect();
    let half = rank / (RANKS / 2);
    let of_half: Vec<u32> = numbers(half * RANKS / 2..(half + 1) * RANKS / 2);
    let of_all: Vec<u32> = numbers(0..world_size);
    let groups = [(format!("half {half}"), of_half), ("all".to_owned(), of_all)];
    let mut calls = RankCalls { calls: CallList::default(), ..RankCalls::default() };
    calls.world_size = u32::try_from(world_size).ok();
    for (communicator, (name, ranks)) in (0..).zip(groups) {
        let size = u32::try_from(ranks.len()).unwrap();
        calls.communicators.push(Communicator { name, membership: Membership::Stated, ranks, size });
        calls.signatures.push(Signature {
            communicator,
            kind: CollectiveKind::AllReduce,
            dtype: "Float".to_owned(),
            algorithm: String::new(),
            count: 1_000 + u64::from(communicator),
            bytes: 4_000,
            peer: None,
        });
    }
    RankInput { rank: u32::try_from(rank).unwrap(), calls, given: None, stated_ps: 0 }
}

impl Simulation<'_> {
    /// A time that varies by a hundredth.
    fn about(&mut self, ps: i64) -> i64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ps + ps * (i64::try_from(self.random >> 33).unwrap() % 1_000) / 100_000
    }

    fn step(&mut self, step: u32) {
        for layer in 0..LAYERS {
            for rank in 0..RANKS {
                self.pause(rank, step, layer);
                self.work(rank, step);
            }
            for half in 0..2 {
                let members: Vec<usize> = (half * RANKS / 2..(half + 1) * RANKS / 2).collect();
                let slow = self.causes.iter().find_map(|cause| match cause {
                    Cause::SlowHalf(of, from, times) if *of == half && step >= *from => Some(*times),
                    _ => None,
                });
                self.meet(&members, 0, step, step * LAYERS + layer, slow.unwrap_or(1));
            }
        }
        let slow = self.causes.iter().find_map(|cause| match cause {
            Cause::SlowOperation(of, times) if *of == step => Some(*times),
            _ => None,
        });
        self.meet(&(0..RANKS).collect::<Vec<_>>(), 1, step, step, slow.unwrap_or(1));
    }

    fn pause(&mut self, rank: usize, step: u32, layer: u32) {
        for cause in self.causes {
            if let Cause::Pause(of, at, ps) = cause
                && (*of, *at, 0) == (rank, step, layer)
            {
                self.now_ps[rank] += ps;
            }
        }
    }

    fn work(&mut self, rank: usize, step: u32) {
        let slower = self.causes.iter().find_map(|cause| match cause {
            Cause::SlowRank(of, part) if *of == rank => Some(1.0 + part),
            _ => None,
        });
        let duration_ps = (self.about(WORK_PS) as f64 * slower.unwrap_or(1.0)) as i64;
        let start_ps = self.now_ps[rank] + 2 * US;
        self.node(rank, step, 0, start_ps, duration_ps);
        self.now_ps[rank] = start_ps + duration_ps;
    }

    fn is_recorded(&self, rank: usize, step: u32) -> bool {
        let is_late =
            |cause: &Cause| matches!(cause, Cause::LateRecording(of, from) if *of == rank && step < *from);
        !self.causes.iter().any(is_late)
    }

    fn node(&mut self, rank: usize, step: u32, class: u32, start_ps: i64, duration_ps: i64) -> Option<u32> {
        if !self.is_recorded(rank, step) {
            return None;
        }
        let nodes = self.works[rank].nodes.make_mut();
        let row = u32::try_from(nodes.len()).unwrap();
        nodes.push(WorkNode { start_ps, duration_ps, class, row });
        Some(row)
    }

    /// An operation of some ranks.
    fn meet(&mut self, ranks: &[usize], signature: u32, step: u32, number: u32, times: i64) {
        let network = self.causes.iter().find_map(|cause| match cause {
            Cause::SlowNetwork(times) => Some(*times),
            _ => None,
        });
        let slow_parts: Vec<(usize, i64)> = self
            .causes
            .iter()
            .filter_map(|cause| match *cause {
                Cause::SlowPart(rank, times) => Some((rank, times)),
                _ => None,
            })
            .collect();
        let usual_ps = self.about(TRANSFER_PS * times * network.unwrap_or(1));
        let of_rank = |rank: usize| {
            let of_rank = slow_parts.iter().find(|(slow, _)| *slow == rank);
            (!slow_parts.is_empty()).then(|| usual_ps * of_rank.map_or(1, |(_, times)| *times))
        };
        let transfer_ps = ranks.iter().filter_map(|rank| of_rank(*rank)).max().unwrap_or(usual_ps);
        let starts: Vec<i64> = ranks.iter().map(|rank| self.now_ps[*rank] + US).collect();
        let last_ps = *starts.iter().max().unwrap();
        let end_ps = last_ps + transfer_ps;
        for (&rank, start_ps) in ranks.iter().zip(starts) {
            self.now_ps[rank] = end_ps;
            let lost = Cause::LostCalls(rank, number % LAYERS);
            if signature == 0 && self.causes.contains(&lost) {
                continue;
            }
            let Some(row) = self.node(rank, step, 1 + signature, start_ps, end_ps - start_ps) else {
                continue;
            };
            if let Some(own_ps) = of_rank(rank) {
                self.node(rank, step, 4, start_ps, last_ps - start_ps);
                self.node(rank, step, 3, last_ps, own_ps);
            }
            let calls = &mut self.inputs[rank].calls;
            calls.recorded_ps.1 = end_ps;
            let list = &mut calls.calls;
            list.starts_ps.push(start_ps);
            list.durations_ps.push(end_ps - start_ps);
            list.signatures.push(signature);
            list.numbers.push(number);
            list.rows.push(row);
            list.steps.push(step);
            calls.span_ps = end_ps;
            calls.compute_ps += WORK_PS;
        }
    }
}
