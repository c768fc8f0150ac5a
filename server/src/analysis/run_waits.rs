//! The waits of a run, with the lines of source that the trace states.

use std::collections::BTreeMap;

use nprof_engine::exec::Cancel;
use nprof_engine::insight::JobGraph;
use nprof_engine::insight::wait::sight::WaitSight;
use nprof_engine::insight::wait::{AskedWaits, WaitsOfRank};
use nprof_engine::insight::walk::JobEdges;
use nprof_engine::query::slice;
use nprof_engine::wire::bundle::BundledWaits;
use nprof_engine::wire::run_waits::{RunWaits, WaitEntry, WaitSpan};

use super::graph::source_lines;
use super::{AnalysisError, of_segment, on_all_cores};
use crate::store::Profile;

/// Most rows of the answer of a server.
pub const MOST_ROWS: usize = 200;

/// Why there is no answer about ranks that the job lacks.
#[must_use]
pub fn unknown_rank(graph: &JobGraph, ranks: &[u32]) -> Option<String> {
    let is_unknown = |number: &&u32| graph.ranks.iter().all(|rank| rank.rank != **number);
    ranks.iter().find(is_unknown).map(|rank| format!("the profile has no rank {rank}"))
}

/// The waits of a run: at most `most` rows, and the single waits that are asked for.
pub fn run_waits(
    profile: &Profile,
    edges: &JobEdges<'_>,
    asked: &AskedWaits<'_>,
    most: usize,
    cancel: Cancel<'_>,
) -> Result<RunWaits, AnalysisError> {
    message(profile, edges.graph(), &found(profile, edges, asked, cancel)?, most)
}

/// The waits of all ranks together, and of each with its longest single waits, at most `most`.
pub fn waits_of_each(
    profile: &Profile,
    edges: &JobEdges<'_>,
    most: usize,
    cancel: Cancel<'_>,
) -> Result<Vec<BundledWaits>, AnalysisError> {
    let graph = edges.graph();
    let asked = AskedWaits { ranks: None, span: None, most };
    let mut found = found(profile, edges, &asked, cancel)?;
    let of_each = found.iter().map(|one| {
        let rank = Some(graph.ranks[one.at as usize].rank);
        Ok(BundledWaits { rank, waits: message(profile, graph, std::slice::from_ref(one), MOST_ROWS)? })
    });
    let mut all = of_each.collect::<Result<Vec<_>, AnalysisError>>()?;
    found.iter_mut().for_each(|one| one.sight = WaitSight::default());
    all.push(BundledWaits { rank: None, waits: message(profile, graph, &found, MOST_ROWS)? });
    Ok(all)
}

fn found(
    profile: &Profile,
    edges: &JobEdges<'_>,
    asked: &AskedWaits<'_>,
    cancel: Cancel<'_>,
) -> Result<Vec<WaitsOfRank>, AnalysisError> {
    let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    WaitsOfRank::of_job(edges, asked, on_all_cores(cancel)).map_err(failed)
}

fn message(
    profile: &Profile,
    graph: &JobGraph,
    found: &[WaitsOfRank],
    most: usize,
) -> Result<RunWaits, AnalysisError> {
    let mut waits = RunWaits::of(graph, found, most);
    add_source_lines(profile, &mut waits.table.rows)?;
    add_lanes(profile, &mut waits.waits)?;
    Ok(waits)
}

/// Adds the lines of the slices that contain waits. The graph knows those of queues, not those of
/// nested calls.
fn add_lanes(profile: &Profile, waits: &mut [WaitSpan]) -> Result<(), AnalysisError> {
    for of_rank in waits.chunk_by_mut(|a, b| a.rank == b.rank) {
        let Some(file) = profile.manifest.ranks.iter().find(|file| file.rank == of_rank[0].rank) else {
            continue;
        };
        let within: Vec<&mut WaitSpan> = of_rank.iter_mut().filter(|wait| wait.is_within).collect();
        let rows: Vec<u32> = within.iter().map(|wait| wait.row.unwrap_or_default()).collect();
        let lanes = of_segment(profile, file, |segment| slice::lanes(segment, &rows))?;
        let known = within.into_iter().zip(lanes).filter(|(wait, _)| wait.row.is_some());
        known.for_each(|(wait, lane)| wait.lane = lane);
    }
    Ok(())
}

/// Adds the lines of source of the longest waits.
fn add_source_lines(profile: &Profile, entries: &mut [WaitEntry]) -> Result<(), AnalysisError> {
    let mut of_ranks: BTreeMap<u32, Vec<&mut WaitEntry>> = BTreeMap::new();
    for entry in entries.iter_mut().filter(|entry| entry.row.is_some()) {
        of_ranks.entry(entry.rank).or_default().push(entry);
    }
    for (rank, entries) in of_ranks {
        let rows: Vec<u32> = entries.iter().filter_map(|entry| entry.row).collect();
        for (entry, line) in entries.into_iter().zip(source_lines(profile, rank, &rows)?) {
            entry.source = line;
        }
    }
    Ok(())
}
