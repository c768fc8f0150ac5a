//! Laws of the replay, and small jobs whose changes are computed by hand.

use proptest::prelude::*;

use super::graph::{JobGraph, Meeting, MeetingCall, ranks};
use super::node_change::NodeChange;
use super::slack::JobSlack;
use super::wait::{Party, WaitKind, WaitRow, waits};
use super::walk::{CriticalPath, JobEdges, PathKind, PathPart};
use super::{Edit, Prediction, Predictions, Replayed, Scenario, replay};
use crate::exec::{CallerThread, Cancel, Work};
use crate::model::rank_work::{NO_LAUNCH, NO_LAYER};
use crate::model::{
    HostWork, Identity, MachineSide, RankWork, Role, TrackId, WaitingRanks, WorkClass, WorkNode, WorkQueue,
};
use crate::spill::shelf::tests::MemoryShelf;

pub(super) const US: i64 = 1_000_000;

/// A slice for a test: its queue, name, start and end in microseconds. Queue 9 is the host's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn(pub(super) u32, pub(super) &'static str, pub(super) i64, pub(super) i64);

/// The work of these slices. A slice of the host launches the next one of a device.
pub(super) fn work_of(slices: &[Drawn]) -> RankWork {
    let mut work = RankWork::default();
    let mut launch = NO_LAUNCH;
    for (row, &Drawn(number, name, start, end)) in (0..).zip(slices) {
        let side = if number == 9 { MachineSide::Host } else { MachineSide::Device };
        let role = if side == MachineSide::Host { Role::HostThread } else { Role::Kernels };
        let identity = Identity { number: Some(number), ..Identity::of(role) };
        let queue = WorkQueue { track: TrackId(number), lane: 0, identity, side };
        let place = work.queues.iter().position(|one| *one == queue);
        let queue = place.unwrap_or_else(|| {
            work.queue_names.push(format!("queue {number}"));
            work.queues.push(queue);
            work.queues.len() - 1
        });
        let known = work.names.iter().find(|(_, of)| *of == name).map(|(number, _)| *number);
        let number_of_name = known.unwrap_or(u32::try_from(work.names.len()).unwrap());
        work.names.insert(number_of_name, name.to_owned());
        let class = WorkClass { queue: u32::try_from(queue).unwrap(), name: number_of_name, layer: NO_LAYER };
        let place = work.classes.iter().position(|one| *one == class);
        let class = place.unwrap_or_else(|| {
            work.classes.push(class);
            work.classes.len() - 1
        });
        let node = WorkNode {
            start_ps: start * US,
            duration_ps: (end - start) * US,
            class: u32::try_from(class).unwrap(),
            row,
        };
        work.nodes.make_mut().push(node);
        if side == MachineSide::Host {
            launch = row;
            work.host.make_mut().push(HostWork::new(row, 0));
        } else if launch != NO_LAUNCH {
            work.set_launch(row, std::mem::replace(&mut launch, NO_LAUNCH));
        }
    }
    work.sort(&CallerThread);
    work
}

/// A job of ranks. All slices named `sync` with the same place among these meet.
fn job_of(of_ranks: &[&[Drawn]]) -> JobGraph {
    job_of_works(of_ranks.iter().map(|slices| work_of(slices)).collect())
}

/// A job of ranks with these works.
pub(super) fn job_of_works(works: Vec<RankWork>) -> JobGraph {
    let calls_of = |work: &RankWork| {
        let named = |node: &WorkNode| work.name(work.classes[node.class as usize].name) == Some("sync");
        let calls = (0_u32..).zip(&work.nodes).filter(|(_, node)| named(node));
        let calls = (0_u32..).zip(calls);
        calls.map(|(meeting, (node, _))| MeetingCall { node, meeting, arrives: true }).collect()
    };
    let calls: Vec<Vec<MeetingCall>> = works.iter().map(calls_of).collect();
    let most = calls.iter().map(Vec::len).max().unwrap_or(0);
    let meeting = |at: usize| Meeting {
        calls: u32::try_from(calls.iter().filter(|calls| calls.len() > at).count()).unwrap(),
        waiting: WaitingRanks::ForAll,
        root: None,
        signature: 0,
        most_transfer_ps: i64::MAX,
        is_step: false,
    };
    let meetings = (0..most).map(meeting).collect();
    let numbers = (0..).take(works.len()).collect();
    JobGraph {
        ranks: ranks(numbers, works, calls, &MemoryShelf { is_aligned: true }, Work::IN_PLACE).unwrap(),
        meetings,
        ..JobGraph::default()
    }
}

pub(super) fn predicted(of: &JobGraph, edits: &[&str]) -> Prediction {
    let edits: Vec<Edit> = edits.iter().map(|edit| edit.parse().unwrap()).collect();
    let scenario = Scenario::new(of, &edits).unwrap();
    Predictions::of(of, Cancel::NEVER).unwrap().under(&scenario, Cancel::NEVER).unwrap()
}

/// Checks the middle of a prediction, in microseconds.
#[track_caller]
fn check(of: &[&[Drawn]], edits: &[&str], recorded: i64, expected: i64) {
    let found = predicted(&job_of(of), edits);
    assert_eq!((found.recorded_ps / US, found.unchanged_ps / US), (recorded, recorded));
    assert_eq!(found.predicted.middle_ps / US, expected, "{found:?}");
    assert!(found.predicted.low_ps <= found.predicted.middle_ps, "{found:?}");
    assert!(found.predicted.high_ps >= found.predicted.middle_ps, "{found:?}");
}

#[test]
fn work_on_a_queue_follows_the_work_before() {
    let slices = [Drawn(0, "gemm", 0, 100), Drawn(0, "add", 102, 112), Drawn(0, "gemm", 114, 214)];
    check(&[&slices], &["kernel:gemm=0.5"], 214, 114);
    check(&[&slices], &["kernel:gemm=2", "kernel:add=0"], 214, 404);
    check(&[&slices], &["kernel:*m=1"], 214, 214);
}

#[test]
fn a_launch_that_comes_late_bounds_its_work() {
    // The host launches every 100 µs, and each kernel starts 5 µs later.
    let slices = [
        Drawn(9, "launch", 0, 4),
        Drawn(0, "gemm", 5, 80),
        Drawn(9, "launch", 100, 104),
        Drawn(0, "gemm", 105, 180),
    ];
    check(&[&slices], &["kernel:gemm=0.2"], 175, 115);
    // Launches far ahead of their work bound nothing.
    let ahead = [
        Drawn(9, "launch", 0, 4),
        Drawn(0, "gemm", 5, 500),
        Drawn(9, "launch", 10, 14),
        Drawn(0, "gemm", 502, 997),
    ];
    check(&[&ahead], &["kernel:gemm=0.2"], 992, 200);
}

#[test]
fn ranks_wait_for_the_last_one() {
    let early = [Drawn(0, "gemm", 0, 50), Drawn(1, "sync", 52, 112), Drawn(0, "gemm", 114, 164)];
    let late = [Drawn(0, "gemm", 0, 100), Drawn(1, "sync", 102, 112), Drawn(0, "gemm", 114, 214)];
    check(&[&early, &late], &["rank:1=0.5"], 214, 114);
    check(&[&early, &late], &["rank:1=0.1"], 214, 114);
    // The others go on without it, and it is as late as before.
    check(&[&early, &late], &["wait:rank 1=0"], 214, 214);
    let then_idle = [Drawn(0, "gemm", 0, 100), Drawn(1, "sync", 102, 112)];
    check(&[&early, &then_idle], &["wait:rank 1=0"], 164, 114);
    check(&[&early, &late], &["rank:0=0"], 214, 214);
}

#[test]
fn a_rank_becomes_as_fast_as_the_median_one() {
    let usual = [Drawn(0, "gemm", 0, 50), Drawn(1, "sync", 52, 112), Drawn(0, "gemm", 114, 164)];
    let late = [Drawn(0, "gemm", 0, 100), Drawn(1, "sync", 102, 112), Drawn(0, "gemm", 114, 214)];
    check(&[&usual, &late, &usual], &["rank:1=median"], 214, 114);
}

/// Whether work names what nothing has.
/// On the other ranks the call begins a little before the product ends, by their clocks. The gap
/// before it is not the time since the step before.
#[test]
fn work_that_ends_with_a_start_leaves_no_gap() {
    let steps = |call: i64| -> Vec<Drawn> {
        let step = |at: i64| [Drawn(0, "gemm", at, at + 50), Drawn(1, "sync", at + call, at + 60)];
        (0..4).flat_map(|number| step(number * 100)).collect()
    };
    let (own, others) = (steps(51), steps(49));
    let job = [&own[..], &others, &others, &others];
    let found = predicted(&job_of(&job), &["rank:0=median"]);
    assert!(found.predicted.middle_ps <= found.recorded_ps, "{found:?}");
}

#[test]
fn an_edit_of_nothing_is_refused() {
    let of = job_of(&[&[Drawn(0, "gemm", 0, 50)]]);
    for edit in ["kernel:conv=0.5", "rank:7=median", "transfer:all-reduce=0.5"] {
        let edits = [edit.parse().unwrap()];
        assert!(Scenario::new(&of, &edits).is_err(), "{edit}");
    }
}

/// Ranks whose calls are in other orders wait for each other. The replay ends, and says so.
#[test]
fn calls_in_other_orders_are_cut() {
    let one = [Drawn(0, "sync", 0, 10), Drawn(0, "gemm", 12, 20), Drawn(0, "sync", 22, 30)];
    let mut of = job_of(&[&one, &one]);
    of.ranks[1].calls.swap(0, 1);
    let nodes: Vec<u32> = of.ranks[0].calls.iter().map(|call| call.node).collect();
    for (call, node) in of.ranks[1].calls.iter_mut().zip(nodes) {
        call.node = node;
    }
    let Replayed { cuts, recorded_ps, middle_ps, .. } =
        replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap();
    assert_eq!((cuts, recorded_ps, middle_ps), (1, 30 * US, 30 * US));
}

/// The parts of the critical path: name, kind, length in microseconds.
pub(super) fn path_of(of: &JobGraph) -> Vec<(&str, PathKind, i64)> {
    let path = CriticalPath::of(&JobEdges::of(of, Work::IN_PLACE).unwrap());
    let part = |part: &PathPart| {
        let work = &of.ranks[part.rank as usize].work;
        let class = work.classes[work.nodes[part.node as usize].class as usize];
        (work.name(class.name).unwrap(), part.kind, part.duration_ps() / US)
    };
    path.parts.iter().map(part).collect()
}

#[test]
fn the_critical_path_leads_through_the_late_rank() {
    let early = [Drawn(0, "fast", 0, 50), Drawn(1, "sync", 52, 112), Drawn(0, "gemm", 114, 164)];
    let late = [Drawn(0, "slow", 0, 100), Drawn(1, "sync", 102, 112), Drawn(0, "add", 114, 124)];
    use PathKind::{Gap, Transfer, Work};
    assert_eq!(
        path_of(&job_of(&[&early, &late])),
        [("slow", Work, 100), ("sync", Gap, 2), ("sync", Transfer, 10), ("gemm", Gap, 2), ("gemm", Work, 50),]
    );
}

#[test]
fn a_late_launch_is_on_the_critical_path() {
    let slices = [
        Drawn(9, "launch", 0, 4),
        Drawn(0, "gemm", 5, 20),
        Drawn(9, "launch", 100, 104),
        Drawn(0, "gemm", 105, 180),
    ];
    use PathKind::{Call, Host, Work};
    assert_eq!(
        path_of(&job_of(&[&slices])),
        // The path begins with the device's first work.
        [("launch", Host, 95), ("launch", Call, 5), ("gemm", Work, 75)]
    );
}

#[test]
fn waits_name_whom_they_were_for_and_who_ran_meanwhile() {
    let early = [Drawn(0, "gemm", 0, 50), Drawn(1, "sync", 52, 112), Drawn(0, "gemm", 114, 164)];
    let late = [Drawn(0, "gemm", 0, 100), Drawn(1, "sync", 102, 112), Drawn(0, "gemm", 114, 214)];
    let of = job_of(&[&early, &late]);
    let edges = JobEdges::of(&of, Work::IN_PLACE).unwrap();
    let rows = waits(&edges, 0, Work::IN_PLACE).unwrap();
    let short = |row: &WaitRow| (row.awaited, row.kind, row.wait_ps / US, row.root);
    let queue = |queue| Some(Party::Queue { rank: 0, queue });
    assert_eq!(
        rows.iter().map(short).collect::<Vec<_>>(),
        [
            // Queue 0 idles while its rank meets the other one.
            (queue(1), WaitKind::Stream, 50, Some(Party::Rank(1))),
            (Some(Party::Rank(1)), WaitKind::Operation, 48, Some(Party::Rank(1))),
            (queue(1), WaitKind::Stream, 10, queue(1)),
            (queue(1), WaitKind::Stream, 2, None),
            (Some(Party::Rank(1)), WaitKind::Operation, 2, None),
            (None, WaitKind::Unknown, 2, None),
        ]
    );
}

/// Works of ranks that run one slice after the other on each of three queues, and meet.
pub(super) fn any_slices() -> impl Strategy<Value = Vec<Drawn>> {
    let name = prop_oneof![Just("gemm"), Just("add"), Just("sync")];
    let step = (0..4_u32, name, 0..30_i64, 0..60_i64);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut ends = [0_i64; 4];
        let mut drawn = Vec::new();
        for (queue, name, gap, length) in steps {
            let (start, end) = (ends[queue as usize] + gap, ends[queue as usize] + gap + length);
            ends[queue as usize] = end;
            drawn.push(if queue == 3 {
                Drawn(9, "launch", start, end)
            } else {
                Drawn(queue, name, start, end)
            });
        }
        drawn.sort_by_key(|slice| slice.2);
        drawn
    })
}

proptest! {
    #[test]
    fn an_unchanged_run_takes_its_recorded_time(jobs in prop::collection::vec(any_slices(), 1..4)) {
        let slices: Vec<&[Drawn]> = jobs.iter().map(Vec::as_slice).collect();
        let of = job_of(&slices);
        let found = replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap();
        prop_assert_eq!(
            [found.loose_ps, found.middle_ps, found.strict_ps],
            [found.recorded_ps; 3],
            "{:?}", found
        );
    }

    #[test]
    fn faster_work_makes_no_run_longer(jobs in prop::collection::vec(any_slices(), 1..4)) {
        let slices: Vec<&[Drawn]> = jobs.iter().map(Vec::as_slice).collect();
        let of = job_of(&slices);
        let edits = ["kernel:*=0.5".parse().unwrap()];
        let Ok(scenario) = Scenario::new(&of, &edits) else { return Ok(()) };
        let found = replay(&of, &scenario, Cancel::NEVER).unwrap();
        for ps in [found.loose_ps, found.middle_ps, found.strict_ps] {
            prop_assert!(ps <= found.recorded_ps, "{:?}", found);
        }
    }

    #[test]
    fn the_critical_path_covers_the_run(jobs in prop::collection::vec(any_slices(), 1..4)) {
        let slices: Vec<&[Drawn]> = jobs.iter().map(Vec::as_slice).collect();
        let of = job_of(&slices);
        let path = CriticalPath::of(&JobEdges::of(&of, Work::IN_PLACE).unwrap());
        let recorded = replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap().recorded_ps;
        prop_assert_eq!(path.length_ps(), recorded);
        let mut at_ps = path.span_ps.0;
        for part in &path.parts {
            prop_assert_eq!(part.start_ps, at_ps, "{:?}", path);
            at_ps = part.end_ps;
        }
        prop_assert_eq!(at_ps, path.span_ps.1, "{:?}", path);
    }

    #[test]
    fn waits_add_up_to_the_idle_time(slices in any_slices()) {
        let of = job_of(&[&slices]);
        let edges = JobEdges::of(&of, Work::IN_PLACE).unwrap();
        let rows = waits(&edges, 0, Work::IN_PLACE).unwrap();
        let found: i64 = rows.iter().map(|row| row.wait_ps).sum();
        let idle = (0..3).map(|queue| {
            let mut on: Vec<&Drawn> = slices.iter().filter(|slice| slice.0 == queue).collect();
            on.sort_by_key(|slice| slice.2);
            on.windows(2).map(|pair| pair[1].2 - pair[0].3).sum::<i64>()
        });
        prop_assert_eq!(found / US, idle.sum::<i64>());
    }

    #[test]
    fn work_that_gets_longer_by_its_slack_makes_no_run_longer(
        jobs in prop::collection::vec(any_slices(), 1..4), pick in any::<prop::sample::Index>(),
    ) {
        let slices: Vec<&[Drawn]> = jobs.iter().map(Vec::as_slice).collect();
        let of = job_of(&slices);
        let recorded_ps = replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap().recorded_ps;
        let work: Vec<(usize, u32)> = of.ranks.iter().enumerate()
            .flat_map(|(at, rank)| rank.device_work().map(move |(node, _)| (at, node)))
            .collect();
        prop_assume!(!work.is_empty());
        let (at, node) = *pick.get(&work);
        let slack_ps = JobSlack::of(&of, Cancel::NEVER).unwrap().ranks[at].of(node);
        let longer = |by_ps: i64| {
            let mut changes = vec![NodeChange::default(); of.ranks[at].work.nodes.len()];
            changes[node as usize].duration_ps = by_ps;
            replay(&of, &Scenario::with_changes([(at, changes)]), Cancel::NEVER).unwrap().middle_ps
        };
        let Some(slack_ps) = slack_ps else { panic!("the end of a device's work counts") };
        prop_assert_eq!(longer(slack_ps), recorded_ps);
        prop_assert_eq!(longer(slack_ps + 1), recorded_ps + 1);
    }

    #[test]
    fn the_strictest_model_is_that_of_brute_force(slices in any_slices()) {
        let of = job_of(&[&slices]);
        let edits = ["kernel:gemm=0.25".parse().unwrap()];
        let Ok(scenario) = Scenario::new(&of, &edits) else { return Ok(()) };
        let found = replay(&of, &scenario, Cancel::NEVER).unwrap();
        prop_assert_eq!(found.strict_ps, brute_force(&of), "{:?}", found);
    }
}

/// The length of a run of one rank whose work named `gemm` takes a quarter of its time: each piece
/// of work looks at all others.
fn brute_force(of: &JobGraph) -> i64 {
    let rank = &of.ranks[0];
    let nodes = &rank.work.nodes;
    let facts = |at: usize| rank.classes[nodes[at].class as usize];
    // For each piece of work its start and end in the new run, and in the unchanged one. Launches
    // that are ahead of their device have none until their thread has a known time.
    let mut times: Vec<Option<[(i64, i64); 2]>> = Vec::new();
    let mut calls = (0..rank.work.host.len()).map(|call| rank.host_call(call));
    let mut was_ahead = false;
    for at in 0..nodes.len() {
        let node = &nodes[at];
        let own = facts(at);
        let possible: Vec<u32> = rank.awaited(&own).map(|(queue, _)| queue).collect();
        let call = if own.side == MachineSide::Host { calls.next() } else { None };
        let is_first = !(0..at).any(|other| facts(other).queue == own.queue && times[other].is_some());
        let follows_device = is_first || was_ahead;
        let has_ended = |other: &usize| nodes[*other].end_ps() <= node.start_ps;
        let is_awaited = |other: &usize| {
            let queue = facts(*other).queue;
            queue == own.queue || call.is_none() && possible.contains(&queue)
        };
        let is_of_device = |other: &usize| facts(*other).side == MachineSide::Device;
        let last = (0..at).filter(has_ended).filter(is_of_device).max_by_key(|other| nodes[*other].end_ps());
        let last = last.filter(|_| call.is_some_and(|call| follows_device && !call.is_ahead));
        let awaited: Vec<usize> = (0..at).filter(has_ended).filter(is_awaited).chain(last).collect();
        let mut after =
            [0, 1].map(|run| awaited.iter().filter_map(|other| Some(times[*other]?[run].1)).max());
        if let Some(launch) = rank.work.launch(u32::try_from(at).unwrap()) {
            let latency_ps = rank.latencies_ps[own.queue as usize];
            let call = &nodes[launch as usize];
            let has_ended = call.end_ps() <= node.start_ps;
            let delay_ps = if has_ended { latency_ps.max(call.duration_ps) } else { latency_ps };
            let launched = [0, 1].map(|run| Some(times[launch as usize]?[run].0 + delay_ps));
            after = [0, 1].map(|run| after[run].max(launched[run]));
        }
        let start = match (after, call) {
            ([Some(new), Some(old)], Some(call)) if call.is_ahead => Some([new, old]),
            (_, Some(call)) if call.is_ahead => None,
            ([Some(new), Some(old)], _) => Some([node.start_ps + new - old, node.start_ps]),
            _ => Some([node.start_ps; 2]),
        };
        was_ahead = call.map_or(was_ahead, |call| call.is_ahead);
        let name = rank.work.name(rank.work.classes[node.class as usize].name);
        let length = if name == Some("gemm") { node.duration_ps / 4 } else { node.duration_ps };
        times.push(start.map(|[new, old]| [(new, new + length), (old, old + node.duration_ps)]));
    }
    let device = (0..nodes.len()).filter(|at| facts(*at).side == MachineSide::Device);
    let times: Vec<(i64, i64)> = device.filter_map(|at| Some(times[at]?[0])).collect();
    let first = times.iter().map(|(start, _)| *start).min().unwrap_or(0);
    times.iter().map(|(_, end)| *end).max().unwrap_or(0) - first
}
