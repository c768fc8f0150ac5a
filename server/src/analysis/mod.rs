//! Runs the analysis of all ranks over a profile of the store. The engine computes; this module
//! opens the segments.

pub mod comparison;
pub mod condition;
pub mod energy;
mod file_shelf;
pub mod finding_changes;
pub mod findings;
pub mod found_slices;
pub mod graph;
pub mod graph_meter;
pub mod job_segment;
pub mod json;
pub mod kept_answers;
pub mod kept_graph;
pub mod late_ranks;
pub(crate) mod overlay_store;
pub mod paired_tracks;
pub mod rank_balance;
pub mod region_json;
pub mod regions;
pub mod run_waits;
pub mod step_starts;

pub use overlay_store::damage as overlay_damage;

use std::path::{Path, PathBuf};

use nprof_engine::analysis::{Analysed, Job, JobBuilder, RankInput, report};
use nprof_engine::base::Error;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::makers::{CallIds, collectives};
use nprof_engine::model::{SideTables, Sink, ValueTable};
use nprof_engine::native::{AllCores, OpenError, SegmentFile};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use crate::store::{ClockBy, Profile, RankFile, SegmentPlace};

/// A failed analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A segment cannot be opened.
    #[error("{place}: cannot read ({source})")]
    Open {
        /// The segment.
        place: SegmentPlace,
        /// The cause.
        source: std::io::Error,
    },
    /// The segment of a rank is damaged.
    #[error("{place}: {source}; `nprof verify` lists all damages")]
    Rank {
        /// The segment.
        place: SegmentPlace,
        /// The cause.
        source: Error,
    },
    /// The job segment is damaged, or the work was cancelled.
    #[error("{}: {source}; `nprof verify` lists all damages", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// The cause.
        source: Error,
    },
    /// The job segment cannot be written.
    #[error("{}: cannot write ({source})", path.display())]
    Write {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl AnalysisError {
    /// The message without the place of the store, for answers to others.
    #[must_use]
    pub fn without_path(&self) -> String {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match self {
            Self::Open { place, source } => format!("{}: cannot read ({source})", place.for_clients()),
            Self::Rank { place, source } => format!("{}: {source}", place.for_clients()),
            Self::Segment { path, source } => format!("{}: {source}", name(path)),
            Self::Write { path, source } => format!("{}: cannot write ({source})", name(path)),
        }
    }

    /// The refusal of a question, without the place of the store.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let kind = match self {
            Self::Rank { source, .. } | Self::Segment { source, .. } => Refusal::from(*source).kind,
            Self::Open { .. } | Self::Write { .. } => RefusalKind::Internal,
        };
        Refusal::new(kind, self.without_path())
    }
}

/// The table that a writer makes.
pub(crate) fn made(write: impl FnOnce(&mut dyn Sink) -> Result<(), Error>) -> Result<ValueTable, Error> {
    Ok(SideTables::made_by(write)?.into_iter().next().unwrap_or_default())
}

/// Analyses all ranks of a profile.
pub fn analyse(profile: &Profile, ids: CallIds, cancel: Cancel<'_>) -> Result<Analysed, AnalysisError> {
    analyse_to(profile, ids, &profile.dir, cancel)
}

/// Analyses all ranks of a profile. The overlay is kept in `dir`.
fn analyse_to(
    profile: &Profile,
    ids: CallIds,
    dir: &Path,
    cancel: Cancel<'_>,
) -> Result<Analysed, AnalysisError> {
    let cancelled = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    let job = read(profile, ids, cancel)?;
    let matched = overlay_store::matched_of(profile, &job, dir, cancel).map_err(cancelled)?;
    let report = report(&job, matched, cancel).map_err(cancelled)?;
    Ok(Analysed { job, report })
}

/// Work that runs on all cores.
pub fn on_all_cores(cancel: Cancel<'_>) -> Work<'_> {
    Work { exec: &AllCores, cancel }
}

/// Ranks that are read before they are joined to the job. Memory for reading does not grow with the
/// number of ranks, and lies apart from what is kept.
const AT_ONCE: usize = 32;

/// The calls of all ranks.
fn read(profile: &Profile, ids: CallIds, cancel: Cancel<'_>) -> Result<Job, AnalysisError> {
    let stated_ps = profile.manifest.stated_offsets_ps();
    let mut ranks: Vec<(&RankFile, i64)> = profile.manifest.ranks.iter().zip(stated_ps).collect();
    ranks.sort_by_key(|(file, _)| file.rank);
    let work = on_all_cores(cancel);
    let mut job = JobBuilder::default();
    let cancelled = |source| AnalysisError::Segment { path: profile.dir.clone(), source };
    for some in ranks.chunks(AT_ONCE) {
        let read = work.gather(some.len(), |at| Ok(read_rank(profile, some[at].0, some[at].1, ids, cancel)));
        for rank in read.map_err(cancelled)? {
            job.add(rank?);
        }
    }
    job.finish(cancel).map_err(cancelled)
}

/// An answer from the segment of a rank. An error names the segment.
fn of_segment<T>(
    profile: &Profile,
    file: &RankFile,
    read: impl FnOnce(&SegmentFile) -> Result<T, Error>,
) -> Result<T, AnalysisError> {
    let damaged = |source| AnalysisError::Rank { place: profile.place_of(file), source };
    let segment = profile.open_rank(file).map_err(|error| match error {
        OpenError::Io(source) => AnalysisError::Open { place: profile.place_of(file), source },
        OpenError::Segment(source) => damaged(source),
    })?;
    read(&segment).map_err(damaged)
}

fn read_rank(
    profile: &Profile,
    file: &RankFile,
    stated_ps: i64,
    ids: CallIds,
    cancel: Cancel<'_>,
) -> Result<RankInput, AnalysisError> {
    let mut calls = of_segment(profile, file, |segment| collectives(segment, file.rank, ids, cancel))?;
    calls.host = calls.host.or_else(|| file.host.clone());
    let given = file.clock.filter(|_| file.clock_by() == Some(ClockBy::Hand)).map(|clock| clock.0);
    Ok(RankInput { rank: file.rank, calls, given, stated_ps })
}
