//! Edges that a recording states: semaphores, transfers, triggers.

use proptest::prelude::*;

use super::graph::JobGraph;
use super::scenario::RankQueue;
use super::tests::{Drawn, US, any_slices, job_of_works, path_of, predicted, work_of};
use super::wait::{Party, WaitKind, WaitRow, waits};
use super::walk::{CriticalPath, JobEdges, PathKind};
use super::{Scenario, replay};
use crate::exec::{CallerThread, Cancel, Work};
use crate::model::stated_edge::NOBODY;
use crate::model::{Certainty, EdgeReason, NodePoint, RankWork, StatedEdge, WorkSemaphore};

/// An edge between two slices by their positions.
fn edge(node: u32, at: NodePoint, from: u32, from_point: NodePoint, reason: EdgeReason) -> StatedEdge {
    let certainty = Certainty::Recorded;
    StatedEdge { node, at, from, from_point, reason, certainty, semaphore: 0, since_ps: None, met_ps: 0 }
}

/// A rank whose recording states all edges.
fn job_with(slices: &[Drawn], edges: &[StatedEdge]) -> JobGraph {
    job_of_works(vec![work_with(slices, edges)])
}

/// The work of such a rank.
pub(super) fn work_with(slices: &[Drawn], edges: &[StatedEdge]) -> RankWork {
    let mut work = work_of(slices);
    work.is_stated = vec![true; work.queues.len()];
    work.semaphores = vec![WorkSemaphore { number: 5, name: "S[5]".to_owned() }];
    work.edges = edges.iter().copied().collect();
    work.sort(&CallerThread);
    work
}

/// Three engines: one computes, one waits for its semaphore, one sleeps and ends under its work.
const ENGINES: [Drawn; 5] = [
    Drawn(0, "matmul", 0, 100),
    Drawn(1, "load", 0, 10),
    Drawn(2, "drain", 0, 30),
    Drawn(1, "activate", 104, 150),
    Drawn(2, "add", 90, 95),
];

fn engines() -> JobGraph {
    use NodePoint::{End, Start};
    let semaphore = StatedEdge {
        since_ps: Some(20 * US),
        met_ps: 102 * US,
        ..edge(4, Start, 0, End, EdgeReason::Semaphore)
    };
    job_with(&ENGINES, &[semaphore])
}

#[test]
fn stated_work_waits_for_nothing_else() {
    // `add` starts under `matmul` by chance, and waits for nobody.
    for (edit, middle) in [("kernel:matmul=0.5", 100), ("kernel:drain=0", 150), ("kernel:load=3", 150)] {
        let found = predicted(&engines(), &[edit]);
        assert_eq!((found.recorded_ps, found.unchanged_ps), (150 * US, 150 * US));
        assert_eq!(found.predicted.middle_ps, middle * US, "{edit}");
    }
}

#[test]
fn a_wait_is_charged_to_the_author_of_the_change() {
    let of = engines();
    let edges = JobEdges::of(&of, Work::IN_PLACE).unwrap();
    let rows = waits(&edges, 0, Work::IN_PLACE).unwrap();
    let queue = |queue| Some(Party::Queue { rank: 0, queue });
    let short = |row: &WaitRow| (row.waiter, row.awaited, row.kind, row.wait_ps / US);
    assert_eq!(
        rows.iter().map(short).collect::<Vec<_>>(),
        [
            // From the time at which it was ready to the change; the product is the root of it all.
            (queue(1), queue(0), WaitKind::Semaphore, 82),
            // Idle for nobody known: 10 µs before it was ready, 2 µs behind the change, and the
            // sleep of the third engine.
            (None, None, WaitKind::Unknown, 72),
        ]
    );
    assert_eq!(rows[0].root, queue(0));
    let longest = rows[0].longest.unwrap();
    assert_eq!((longest.semaphore, longest.wait_ps), (Some(0), 82 * US));
}

#[test]
fn the_critical_path_follows_the_change() {
    use PathKind::{Gap, Work};
    assert_eq!(path_of(&engines()), [("matmul", Work, 102), ("activate", Gap, 2), ("activate", Work, 46)]);
}

#[test]
fn an_end_waits_for_a_change() {
    use NodePoint::{End, Start};
    // The barrier of two engines: the second one arrives first and leaves last.
    let slices = [
        Drawn(0, "work", 0, 80),
        Drawn(0, "arrive", 80, 90),
        Drawn(1, "barrier", 10, 95),
        Drawn(1, "add", 96, 99),
    ];
    let wait = StatedEdge { met_ps: 91 * US, ..edge(1, End, 2, End, EdgeReason::Semaphore) };
    let order = edge(1, Start, 0, Start, EdgeReason::Order);
    let of = job_with(&slices, &[wait, order]);
    for (edit, middle) in [("kernel:work=0.5", 59), ("kernel:work=0", 19), ("kernel:barrier=0.4", 96)] {
        let found = predicted(&of, &[edit]);
        assert_eq!(found.predicted.middle_ps / US, middle, "{edit}");
    }
    let rows = waits(&JobEdges::of(&of, Work::IN_PLACE).unwrap(), 0, Work::IN_PLACE).unwrap();
    assert_eq!(
        (rows[0].kind, rows.iter().map(|row| row.wait_ps).sum::<i64>() / US),
        (WaitKind::Semaphore, 82)
    );
}

#[test]
fn edges_that_the_times_contradict_are_dropped_and_counted() {
    use NodePoint::{End, Start};
    let slices = [Drawn(0, "a", 0, 50), Drawn(1, "b", 40, 90), Drawn(0, "c", 60, 70)];
    let contradicted = [
        edge(1, Start, 0, End, EdgeReason::Semaphore),
        edge(0, Start, 1, Start, EdgeReason::Trigger),
        edge(2, End, 1, End, EdgeReason::Semaphore),
        edge(1, End, 1, End, EdgeReason::Semaphore),
        edge(9, Start, 0, Start, EdgeReason::Order),
    ];
    let of = job_with(&slices, &contradicted);
    assert_eq!(of.ranks[0].dropped_edges(), 5);
    let found = replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap();
    assert_eq!([found.loose_ps, found.middle_ps, found.strict_ps], [90 * US; 3]);
}

#[test]
fn a_wait_without_an_author_is_one_for_nobody() {
    let slices = [Drawn(0, "a", 0, 10), Drawn(0, "b", 60, 70)];
    let wait = StatedEdge {
        since_ps: Some(10 * US),
        met_ps: 55 * US,
        ..edge(1, NodePoint::Start, NOBODY, NodePoint::End, EdgeReason::Semaphore)
    };
    let rows = waits(&JobEdges::of(&job_with(&slices, &[wait]), Work::IN_PLACE).unwrap(), 0, Work::IN_PLACE);
    let rows = rows.unwrap();
    assert_eq!((rows[0].kind, rows[0].awaited, rows[0].wait_ps / US), (WaitKind::Semaphore, None, 45));
    assert_eq!(rows[1].wait_ps / US, 5, "the rest of the idle time");
}

#[test]
fn an_engine_that_nothing_waits_for_still_passes_on_what_came_late_to_it() {
    use NodePoint::{End, Start};
    // The second engine issues a load as soon as the product is there, and takes 10 µs for it.
    let slices = [
        Drawn(0, "product", 0, 100),
        Drawn(1, "issue", 100, 110),
        Drawn(2, "load", 110, 150),
        Drawn(0, "sum", 150, 200),
    ];
    let edges = [
        StatedEdge { met_ps: 100 * US, ..edge(1, Start, 0, End, EdgeReason::Semaphore) },
        StatedEdge { met_ps: 110 * US, ..edge(2, Start, 1, End, EdgeReason::Trigger) },
        StatedEdge { met_ps: 150 * US, ..edge(3, Start, 2, End, EdgeReason::Transfer) },
    ];
    let without = |queue| Scenario::without_waits_for(vec![RankQueue { rank: 0, queue }]);
    for (queue, expected_us) in [(1, 190), (2, 160)] {
        let found = replay(&job_with(&slices, &edges), &without(queue), Cancel::NEVER).unwrap();
        assert_eq!(found.middle_ps, expected_us * US, "queue {queue}");
    }
}

/// Slices with edges between any of them.
pub(super) fn any_edges() -> impl Strategy<Value = (Vec<Drawn>, Vec<StatedEdge>)> {
    let point = || prop_oneof![Just(NodePoint::Start), Just(NodePoint::End)];
    let reason = prop_oneof![Just(EdgeReason::Semaphore), Just(EdgeReason::Trigger), Just(EdgeReason::Order)];
    let one = (0..40_u32, point(), 0..40_u32, point(), reason, 0..2000_i64);
    (any_slices(), prop::collection::vec(one, 0..30)).prop_map(|(slices, edges)| {
        let edges = edges.into_iter().map(|(node, at, from, from_point, reason, met)| {
            let since_ps = (met % 3 == 0).then_some(met * US - 40 * US);
            StatedEdge { since_ps, met_ps: met * US, ..edge(node, at, from, from_point, reason) }
        });
        (slices, edges.collect())
    })
}

proptest! {
    #[test]
    fn any_edges_leave_an_unchanged_run_as_it_was((slices, edges) in any_edges(), is_stated in any::<bool>()) {
        let mut of = work_of(&slices);
        of.is_stated = vec![is_stated; of.queues.len()];
        of.edges = edges.into_iter().collect();
        of.sort(&CallerThread);
        let of = job_of_works(vec![of]);
        let found = replay(&of, &Scenario::unchanged(), Cancel::NEVER).unwrap();
        prop_assert_eq!([found.loose_ps, found.middle_ps, found.strict_ps], [found.recorded_ps; 3]);
        let path = CriticalPath::of(&JobEdges::of(&of, Work::IN_PLACE).unwrap());
        prop_assert_eq!(path.length_ps(), found.recorded_ps);
        let mut at_ps = path.span_ps.0;
        for part in &path.parts {
            prop_assert_eq!(part.start_ps, at_ps, "{:?}", path);
            at_ps = part.end_ps;
        }
        waits(&JobEdges::of(&of, Work::IN_PLACE).unwrap(), 0, Work::IN_PLACE).unwrap();
    }

    #[test]
    fn faster_work_makes_no_stated_run_longer((slices, edges) in any_edges()) {
        let of = job_with(&slices, &edges);
        let edits = ["kernel:*=0.5".parse().unwrap()];
        let Ok(scenario) = Scenario::new(&of, &edits) else { return Ok(()) };
        let found = replay(&of, &scenario, Cancel::NEVER).unwrap();
        for ps in [found.loose_ps, found.middle_ps, found.strict_ps] {
            prop_assert!(ps <= found.recorded_ps, "{:?}", found);
        }
    }
}
