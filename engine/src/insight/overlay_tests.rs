//! The form of a graph as bytes gives back the graph, and damaged bytes do no harm.

use proptest::prelude::*;

use super::edge_tests::{any_edges, work_with};
use super::graph::MeetingCall;
use super::tests::{US, any_slices, job_of_works, predicted, work_of};
use super::{GraphOverlay, JobGraph, RankGraph, RankOverlay, Scenario, replay};
use crate::base::{ClockFit, Result};
use crate::exec::{Cancel, Work};
use crate::model::{CollectiveKind, RankWork, StatedEdge, WorkNode};
use crate::query::RowTime;

/// Times of the rows of a segment, which readers of work can change.
#[expect(clippy::unnecessary_wraps, reason = "times of a segment can be damaged")]
fn row_times(_rank: u32, rows: &[u32]) -> Result<Vec<RowTime>> {
    Ok(rows.iter().map(|row| RowTime { start_ps: i64::from(*row) * US, duration_ps: 7 }).collect())
}

/// A graph of ranks, and its overlay.
fn both(works: Vec<RankWork>, clock: &ClockFit) -> (JobGraph, GraphOverlay) {
    let mut shared = works.clone();
    shared.iter_mut().for_each(|work| work.to_shared_clock(clock));
    let graph = JobGraph { kinds: vec![CollectiveKind::AllReduce], ..job_of_works(shared) };
    let ranks = graph.ranks.iter().zip(works);
    let part = |(rank, work)| RankOverlay::of(rank, work, clock, |rows| row_times(0, rows)).unwrap();
    let overlay = GraphOverlay::of(&graph, ranks.map(part).collect());
    (graph, overlay)
}

/// The facts that the replay reads of a rank.
type Parts<'g> =
    (&'g [WorkNode], Vec<StatedEdge>, &'g [MeetingCall], &'g [u32], Vec<Option<usize>>, &'g [i64]);

fn parts(rank: &RankGraph) -> Parts<'_> {
    let nodes = 0..u32::try_from(rank.work.nodes.len()).unwrap();
    let points = [crate::model::NodePoint::Start, crate::model::NodePoint::End];
    let edges = nodes.clone().flat_map(|node| points.map(|at| (node, at)));
    let edges = edges.flat_map(|(node, at)| rank.stated.view().to(node, at).collect::<Vec<_>>());
    let launches = nodes.map(|node| rank.launch(node)).collect();
    (&rank.work.nodes, edges.collect(), &rank.calls, &rank.ends, launches, &rank.latencies_ps)
}

fn check(works: Vec<RankWork>, clock: &ClockFit) {
    let (graph, overlay) = both(works, clock);
    let read = overlay.graph(&row_times, Work::IN_PLACE).unwrap();
    for (rank, of) in graph.ranks.iter().zip(&read.ranks) {
        assert_eq!(parts(rank), parts(of));
        assert_eq!(rank.work.host, of.work.host);
    }
    for edits in [&[][..], &["transfer:all-reduce=0.5"], &["rank:0=0.5"]] {
        assert_eq!(predicted(&graph, edits), predicted(&read, edits), "{edits:?}");
    }
}

proptest! {
    #[test]
    fn an_overlay_gives_back_the_graph(
        jobs in prop::collection::vec(any_slices(), 1..4),
        drift_ppb in -200_000_i32..200_000,
        offset_ps in -1_000_000_000_i64..1_000_000_000,
    ) {
        let works = jobs.iter().map(|slices| work_of(slices)).collect();
        check(works, &ClockFit::new(0, offset_ps, drift_ppb, None).unwrap());
    }

    #[test]
    fn an_overlay_gives_back_stated_edges((slices, edges) in any_edges()) {
        check(vec![work_with(&slices, &edges)], &ClockFit::default());
    }

    /// A damaged overlay is an error, or some graph whose replay ends.
    #[test]
    fn a_damaged_overlay_ends_in_an_error_or_a_replay(
        (slices, edges) in any_edges(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (_, overlay) = both(vec![work_with(&slices, &edges)], &ClockFit::default());
        let mut bytes = postcard::to_allocvec(&overlay).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let Ok(overlay) = postcard::from_bytes::<GraphOverlay>(&bytes) else { return Ok(()) };
        if let Ok(graph) = overlay.graph(&row_times, Work::IN_PLACE) {
            replay(&graph, &Scenario::unchanged(), Cancel::NEVER).unwrap();
        }
    }
}
