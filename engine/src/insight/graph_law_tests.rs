//! Laws of the dependency graph: no cycle, no edge back in time, no meaning in the order of ranks,
//! and the graph of a window is the window of the graph.

use proptest::prelude::*;

use super::edge::{EdgeKind, RankEdges};
use super::edge_tests::{any_edges, work_with};
use super::graph::RankGraph;
use super::tests::{Drawn, any_slices, job_of_works, work_of};
use super::{Edit, Scenario, replay};
use crate::exec::Cancel;
use crate::model::NodePoint::{self, End, Start};
use crate::model::stated_edge::NOBODY;
use crate::model::{RankWork, StatedEdge};

/// A point of a node as a number: starts are even, ends are odd.
fn point(node: u32, at: NodePoint) -> usize {
    2 * node as usize + usize::from(at == End)
}

/// All edges between points of a rank: those of work, those that are found, and those that are
/// stated.
fn edges_of(rank: &RankGraph) -> Vec<(usize, usize)> {
    let found = RankEdges::of(rank);
    let nodes = 0..u32::try_from(rank.work.nodes.len()).unwrap();
    let mut edges: Vec<(usize, usize)> =
        nodes.clone().map(|node| (point(node, Start), point(node, End))).collect();
    for (node, edge) in nodes.clone().zip(&found.starts) {
        let Some(edge) = edge else { continue };
        let at = if edge.kind == EdgeKind::Launch { Start } else { End };
        // A stated edge can come from a start, and is among the stated ones.
        if !matches!(edge.kind, EdgeKind::Semaphore | EdgeKind::Transfer | EdgeKind::Trigger) {
            let is_stated = rank.stated.view().to(node, Start).any(|stated| stated.from == edge.from);
            edges.extend((!is_stated).then_some((point(edge.from, at), point(node, Start))));
        }
    }
    let waits = found.ends.iter().filter(|(_, edge)| edge.kind == EdgeKind::Wait);
    edges.extend(waits.map(|(node, edge)| (point(edge.from, End), point(*node, End))));
    for (node, at) in nodes.flat_map(|node| [(node, Start), (node, End)]) {
        let known = rank.stated.view().to(node, at).filter(|edge| edge.from != NOBODY);
        edges.extend(known.map(|edge| (point(edge.from, edge.from_point), point(node, at))));
    }
    edges
}

/// Whether points can be put in an order in which all edges lead forward.
fn has_order(points: usize, edges: &[(usize, usize)]) -> bool {
    let mut open = vec![0_usize; points];
    edges.iter().for_each(|(_, to)| open[*to] += 1);
    let mut ready: Vec<usize> = (0..points).filter(|at| open[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = ready.pop() {
        done += 1;
        for (_, to) in edges.iter().filter(|(from, _)| *from == at) {
            open[*to] -= 1;
            if open[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    done == points
}

fn time_ps(rank: &RankGraph, point: usize) -> i64 {
    let node = &rank.work.nodes[point / 2];
    if point.is_multiple_of(2) { node.start_ps } else { node.end_ps() }
}

fn check_edges(work: RankWork) -> std::result::Result<(), TestCaseError> {
    let graph = job_of_works(vec![work]);
    let rank = &graph.ranks[0];
    let edges = edges_of(rank);
    for (from, to) in &edges {
        prop_assert!(time_ps(rank, *from) <= time_ps(rank, *to), "{from} to {to} leads back in time");
    }
    prop_assert!(has_order(2 * rank.work.nodes.len(), &edges), "{edges:?} have a cycle");
    Ok(())
}

/// The nodes of work that lie in a window, with the edges between them.
fn window_of(work: &RankWork, from_ps: i64, to_ps: i64) -> RankWork {
    let is_within: Vec<bool> =
        work.nodes.iter().map(|node| node.start_ps >= from_ps && node.end_ps() <= to_ps).collect();
    let mut places = vec![NOBODY; work.nodes.len()];
    for (place, at) in (0_u32..).zip((0..is_within.len()).filter(|at| is_within[*at])) {
        places[at] = place;
    }
    let place = |node: u32| places.get(node as usize).copied().unwrap_or(NOBODY);
    let mut of = work.clone();
    of.nodes = (0..is_within.len()).filter(|at| is_within[*at]).map(|at| work.nodes[at]).collect();
    of.edges = work.edges.iter().filter(|edge| place(edge.node) != NOBODY).collect();
    of.edges.change(|edge| StatedEdge { node: place(edge.node), from: place(edge.from), ..edge });
    of.edges.retain(|edge| edge.from != NOBODY);
    of
}

proptest! {
    #[test]
    fn edges_lead_forward_in_time_without_a_cycle(slices in any_slices()) {
        check_edges(work_of(&slices))?;
    }

    #[test]
    fn stated_edges_lead_forward_in_time_without_a_cycle((slices, edges) in any_edges()) {
        check_edges(work_with(&slices, &edges))?;
    }

    #[test]
    fn the_order_of_ranks_changes_nothing(
        jobs in prop::collection::vec(any_slices(), 2..5),
        by in any::<prop::sample::Index>(),
    ) {
        let mut turned = jobs.clone();
        turned.rotate_left(by.index(jobs.len()));
        let graph = |jobs: &[Vec<Drawn>]| job_of_works(jobs.iter().map(|slices| work_of(slices)).collect());
        let edit = ["kernel:gemm=0.5".parse().unwrap()];
        let replayed = |jobs: &[Vec<Drawn>], edits: &[Edit]| {
            let graph = graph(jobs);
            let scenario = Scenario::new(&graph, edits).ok()?;
            Some(replay(&graph, &scenario, Cancel::NEVER).unwrap())
        };
        for edits in [&[][..], &edit] {
            prop_assert_eq!(replayed(&jobs, edits), replayed(&turned, edits));
        }
    }

    /// Only edges that a recording states are compared: evidence counts over the whole run.
    #[test]
    fn the_graph_of_a_window_is_the_window_of_the_graph(
        (slices, edges) in any_edges(),
        from_us in 0_i64..200,
        length_us in 0_i64..600,
    ) {
        let slices: Vec<Drawn> = slices.into_iter().filter(|slice| slice.0 != 9).collect();
        let work = work_with(&slices, &edges);
        let (from_ps, to_ps) = (from_us * 1_000_000, (from_us + length_us) * 1_000_000);
        let (whole, part) = (job_of_works(vec![work.clone()]), job_of_works(vec![window_of(&work, from_ps, to_ps)]));
        let stated = |rank: &RankGraph| -> Vec<(u32, NodePoint, u32, NodePoint)> {
            let row = |node: u32| rank.work.nodes[node as usize].row;
            let nodes = 0..u32::try_from(rank.work.nodes.len()).unwrap();
            let to = nodes.flat_map(|node| [(node, Start), (node, End)]);
            let edges = to.flat_map(|(node, at)| rank.stated.view().to(node, at).collect::<Vec<_>>());
            let known = edges.filter(|edge| edge.from != NOBODY);
            known.map(|edge| (row(edge.node), edge.at, row(edge.from), edge.from_point)).collect()
        };
        let rows: Vec<u32> = part.ranks[0].work.nodes.iter().map(|node| node.row).collect();
        let within: Vec<_> = stated(&whole.ranks[0])
            .into_iter()
            .filter(|(node, _, from, _)| rows.contains(node) && rows.contains(from))
            .collect();
        prop_assert_eq!(stated(&part.ranks[0]), within);
    }
}
