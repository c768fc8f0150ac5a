//! The dependency graph of a profile.

use std::sync::Mutex;

use indicatif::HumanCount;
use nprof_engine::analysis::Analysed;
use nprof_engine::base as engine;
use nprof_engine::exec::{Cancel, Exec as _};
use nprof_engine::insight::{GraphOverlay, JobGraph, RankGraph, RankOverlay};
use nprof_engine::makers::{CallIds, host_work, source_line, work};
use nprof_engine::model::RankWork;
use nprof_engine::native::{AllCores, SegmentFile};
use nprof_engine::query::row_times;
use nprof_engine::spill::{NoShelf, Shelf};
use nprof_engine::wire::run_graph::RunGraph;

use super::file_shelf::FileShelf;
use super::graph_meter::GraphMeter;
use super::{AnalysisError, analyse, of_segment, on_all_cores};
use crate::store::{Profile, RankFile};

/// Most events of a profile whose graph a server makes, and of all graphs that it keeps. Findings
/// take some 20 bytes of memory for each beside the files of the graph.
pub const MOST_EVENTS: u64 = 16_000_000;
/// Most events of a profile whose graph stays in memory. It takes some 50 bytes for each.
const MOST_EVENTS_IN_MEMORY: u64 = 8_000_000;

/// The events of all ranks of a profile.
pub fn events_of(profile: &Profile) -> u64 {
    profile.manifest.ranks.iter().map(|rank| rank.events).sum()
}

/// Why a server makes no graph of a profile. `None` if it does.
#[must_use]
pub fn too_large(profile: &Profile) -> Option<String> {
    let events = events_of(profile);
    (events > MOST_EVENTS).then(|| {
        let (events, most) = (HumanCount(events), HumanCount(MOST_EVENTS));
        format!("the profile has {events} events, and a server looks at {most}")
    })
}

/// The analysis of a profile and its dependency graph.
#[derive(Debug)]
pub struct Replayable {
    /// The analysis of the calls of all ranks.
    pub analysed: Analysed,
    /// The work of all ranks, with what answers about the run share.
    pub run: RunGraph,
}

impl Replayable {
    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &JobGraph {
        self.run.graph()
    }
}

/// Reads the work of all ranks of a profile.
pub fn replayable(profile: &Profile, cancel: Cancel<'_>) -> Result<Replayable, AnalysisError> {
    metered(profile, &GraphMeter::default(), cancel)
}

/// The same, with a meter of its progress.
pub fn metered(
    profile: &Profile,
    meter: &GraphMeter,
    cancel: Cancel<'_>,
) -> Result<Replayable, AnalysisError> {
    let (analysed, known) = analysed_and_read(profile, cancel)?;
    meter.begin_work();
    let shelf = shelf_of(profile);
    let on_shared_clock = |file: &RankFile, mut work: RankWork| {
        work.to_shared_clock(&analysed.clock_of(file.rank));
        work.shelve(&*shelf, &AllCores)?;
        Ok(work)
    };
    let works = works(profile, &analysed, known, meter, &on_shared_clock, cancel)?;
    meter.begin_edges();
    let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    let graph = JobGraph::new(&analysed.job, &analysed.report, works, &*shelf, on_all_cores(cancel))
        .map_err(failed)?;
    Ok(Replayable { analysed, run: RunGraph::from(graph) })
}

/// The analysis of a profile. That of a single rank leaves a core without work, which reads the
/// work of the rank meanwhile.
fn analysed_and_read(
    profile: &Profile,
    cancel: Cancel<'_>,
) -> Result<(Analysed, Option<RankWork>), AnalysisError> {
    let analysed = || analyse(profile, CallIds::Skipped, cancel);
    let files = files_of(profile);
    let [file] = files[..] else { return Ok((analysed()?, None)) };
    let (mut found, mut read) = (None, None);
    let work_of = |segment: &SegmentFile| work(segment, on_all_cores(cancel));
    AllCores
        .beside(&mut || found = Some(analysed()), &mut || read = Some(of_segment(profile, file, work_of)));
    Ok((found.expect("both tasks are run")?, Some(read.expect("both tasks are run")?)))
}

/// The ranks of a profile by their numbers, as a job has them.
pub(super) fn files_of(profile: &Profile) -> Vec<&RankFile> {
    let mut files: Vec<&RankFile> = profile.manifest.ranks.iter().collect();
    files.sort_by_key(|file| file.rank);
    files
}

/// The shelf for the lists of a profile's graph. Those of a small one stay in memory.
fn shelf_of(profile: &Profile) -> Box<dyn Shelf> {
    match events_of(profile) {
        ..=MOST_EVENTS_IN_MEMORY => Box::new(NoShelf),
        _ => Box::new(FileShelf::beside(&profile.dir)),
    }
}

/// Changes the work of a rank that was read.
type ChangeOfWork<'c> = &'c (dyn Fn(&RankFile, RankWork) -> engine::Result<RankWork> + Sync);

/// The work of all ranks, each changed when it is read. `known` is that of a single rank, if it was
/// read before.
fn works(
    profile: &Profile,
    analysed: &Analysed,
    known: Option<RankWork>,
    meter: &GraphMeter,
    change: ChangeOfWork<'_>,
    cancel: Cancel<'_>,
) -> Result<Vec<RankWork>, AnalysisError> {
    let files = files_of(profile);
    let failed = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    let known = Mutex::new(known);
    let read = |at: usize| {
        let known = known.lock().ok().and_then(|mut known| known.take());
        let read = match known {
            Some(work) => change(files[at], work).map_err(failed),
            None => of_segment(profile, files[at], |segment| {
                change(files[at], work(segment, on_all_cores(cancel))?)
            }),
        };
        meter.rank_is_read();
        Ok(read)
    };
    let read = on_all_cores(cancel).gather(files.len(), read).map_err(failed)?;
    let works = read.into_iter().collect::<Result<Vec<RankWork>, AnalysisError>>()?;
    match works.iter().any(RankWork::has_device) {
        true => Ok(works),
        false => host_works(profile, &files, analysed, change, cancel),
    }
}

/// The graph of a profile as bytes. The work of all ranks is read once more, because that of the
/// graph has the times of the shared clock.
pub fn overlay(
    profile: &Profile,
    of: &Replayable,
    cancel: Cancel<'_>,
) -> Result<GraphOverlay, AnalysisError> {
    let files = files_of(profile);
    let works = works(profile, &of.analysed, None, &GraphMeter::default(), &|_, work| Ok(work), cancel)?;
    let ranks = of.graph().ranks.iter().zip(works).zip(files);
    let part = |((rank, work), file): ((&RankGraph, RankWork), &RankFile)| {
        let clock = of.analysed.clock_of(rank.rank);
        of_segment(profile, file, |segment| {
            RankOverlay::of(rank, work, &clock, |rows| row_times(segment, rows, cancel))
        })
    };
    let parts = ranks.map(part).collect::<Result<Vec<_>, AnalysisError>>()?;
    Ok(GraphOverlay::of(of.graph(), parts))
}

/// The work of the threads of all ranks, for a job without a device.
fn host_works(
    profile: &Profile,
    files: &[&RankFile],
    analysed: &Analysed,
    change: ChangeOfWork<'_>,
    cancel: Cancel<'_>,
) -> Result<Vec<RankWork>, AnalysisError> {
    let calls = |at: usize| analysed.job.ranks.get(at).map_or(&[][..], |rank| &rank.calls.rows);
    let read = |at: usize| {
        of_segment(profile, files[at], |segment| change(files[at], host_work(segment, calls(at), cancel)?))
    };
    let works = on_all_cores(cancel).gather(files.len(), |at| Ok(read(at)));
    works
        .map_err(|source| AnalysisError::Segment { path: profile.dir.clone(), source })?
        .into_iter()
        .collect()
}

/// The lines of source of rows of a rank, for those that the trace states them for.
pub fn source_lines(
    profile: &Profile,
    rank: u32,
    rows: &[u32],
) -> Result<Vec<Option<String>>, AnalysisError> {
    let Some(file) = profile.manifest.ranks.iter().find(|file| file.rank == rank) else {
        return Ok(vec![None; rows.len()]);
    };
    of_segment(profile, file, |segment| rows.iter().map(|row| source_line(segment, *row)).collect())
}
