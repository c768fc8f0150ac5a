//! The job segment of a profile: what its ranks show together, kept beside their segments.
//!
//! Its file is `job-<key>.nseg`. The key is a hash over the contents and hosts of all ranks, over
//! the clocks that the user has set or the traces state, over warnings that came after the ingest,
//! and over the versions of the analysis. So a job segment of other contents is never found, and
//! a lost one costs only time. The manifest does not name it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nprof_engine::analysis::{Analysed, job_segment, overlay};
use nprof_engine::exec::Cancel;
use nprof_engine::ingest::BuildOptions;
use nprof_engine::makers::CallIds;
use nprof_engine::makers::job::clocks::clocks;
use nprof_engine::metrics::trace::span;
use nprof_engine::model::Warning;
use nprof_engine::native::{OpenError, SegmentFile, Taking, WriteError, disk, write_segment_while};
use nprof_engine::wire::catalog::{ProfileInfo, RankEntry};
use nprof_engine::wire::clock::Clock;
use nprof_engine::wire::rank_ref::RankRef;

use super::{AnalysisError, analyse, analyse_to};
use crate::store::{ClockBy, Profile};
use crate::warnings;

/// Start and end of the file's name.
const PREFIX: &str = "job-";
const SUFFIX: &str = ".nseg";

/// An open job segment.
#[derive(Debug)]
pub struct JobSegment {
    /// Its entry among the ranks.
    pub entry: RankEntry,
    /// Path of its file.
    pub path: PathBuf,
    /// The segment.
    pub segment: Arc<SegmentFile>,
    /// The clocks that the calls show, by rank.
    clocks: BTreeMap<u32, Clock>,
}

/// Whether a profile can have a job segment.
#[must_use]
pub fn is_for(profile: &Profile) -> bool {
    profile.manifest.ranks.len() > 1
}

/// The entry of the job segment, if the profile has one or may have one. An entry that is not
/// computed yet has no content.
#[must_use]
pub fn entry_of(profile: &Profile, info: &ProfileInfo, kept: Option<&JobSegment>) -> Option<RankEntry> {
    if !is_for(profile) {
        return None;
    }
    match kept {
        Some(job) => (job.entry.events > 0).then(|| job.entry.clone()),
        None => Some(RankEntry {
            rank: RankRef::All,
            host: None,
            device: None,
            core: None,
            events: 0,
            start_ps: info.start_ps,
            end_ps: info.end_ps,
            content: String::new(),
            input: String::new(),
            clock: None,
            clock_by: None,
            found: None,
        }),
    }
}

/// Path of the job segment of a profile. The name changes with everything that changes the
/// segment.
#[must_use]
pub fn path_of(profile: &Profile) -> PathBuf {
    profile.dir.join(format!("{PREFIX}{}{SUFFIX}", key_of(profile)))
}

/// A hash over everything that the analysis of all ranks of a profile reads, also of a single rank.
#[must_use]
pub fn key_of(profile: &Profile) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{} {}\n", overlay::VERSION, job_segment::VERSION).as_bytes());
    for (rank, stated_ps) in profile.manifest.ranks.iter().zip(profile.manifest.stated_offsets_ps()) {
        let by_hand = rank.clock.filter(|_| rank.clock_by() == Some(ClockBy::Hand));
        let (number, content, later) = (rank.rank, &rank.content, (&rank.host, &rank.notes, &rank.left_out));
        hasher.update(format!("{number} {content} {by_hand:?} {stated_ps} {later:?}\n").as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Opens the job segment at this path. `None` if there is none, or if it is damaged.
#[must_use]
pub fn kept(path: &Path) -> Option<JobSegment> {
    match SegmentFile::open_file(path) {
        Ok(segment) => Some(JobSegment::of(path, segment)),
        Err(OpenError::Io(_)) => None,
        Err(OpenError::Segment(error)) => {
            tracing::warn!("{}: {error}; it is written again", path.display());
            None
        }
    }
}

/// The job segment of a profile: the kept one, else one that is computed now and kept. In a store
/// that may only be read it is not kept.
///
/// # Errors
/// If a segment of a rank cannot be read, the job segment cannot be written anywhere, or the work
/// is cancelled.
pub fn of_profile(profile: &Profile, cancel: Cancel<'_>) -> Result<JobSegment, AnalysisError> {
    let path = path_of(profile);
    if let Some(job) = kept(&path) {
        return Ok(job);
    }
    let of = analyse(profile, CallIds::Skipped, cancel)?;
    match write(profile, &of, &path, cancel) {
        Err(AnalysisError::Write { .. }) if !cancel.is_cancelled() => {
            let dir =
                tempfile::tempdir().map_err(|source| AnalysisError::Write { path: path.clone(), source })?;
            // The open file stays after its directory is gone.
            write(profile, &of, &dir.path().join("job.nseg"), cancel)
        }
        Ok(job) => {
            forget_others(&path);
            Ok(job)
        }
        failed => failed,
    }
}

/// Computes the job segment of a profile for another process: writes it and the overlay to `dir`.
/// Returns the name of its file, which is that of [`path_of`].
pub fn to_directory(profile: &Profile, dir: &Path, cancel: Cancel<'_>) -> Result<String, AnalysisError> {
    let of = analyse_to(profile, CallIds::Skipped, dir, cancel)?;
    let name = path_of(profile).file_name().unwrap_or_default().to_string_lossy().into_owned();
    write(profile, &of, &dir.join(&name), cancel)?;
    Ok(name)
}

fn write(
    profile: &Profile,
    of: &Analysed,
    path: &Path,
    cancel: Cancel<'_>,
) -> Result<JobSegment, AnalysisError> {
    let calls = of.job.ranks.iter().map(|rank| rank.calls.len()).sum();
    write_segment_while(path, beside_analysis(calls), Taking::Beside, cancel, |sink, _| {
        for Warning { kind, what, first_place, count } in warnings::of_profile(profile) {
            sink.warn_times(kind, &what, count, &|| first_place.clone());
        }
        job_segment::write(&of.job, &of.report, sink, cancel)
    })
    .map_err(|error| match error {
        WriteError::Io(source) => AnalysisError::Write { path: path.to_owned(), source },
        WriteError::Engine(source) | WriteError::Read(source) => {
            AnalysisError::Segment { path: path.to_owned(), source }
        }
    })?;
    let segment = SegmentFile::open_file(path).map_err(|error| match error {
        OpenError::Io(source) => AnalysisError::Write { path: path.to_owned(), source },
        OpenError::Segment(source) => AnalysisError::Segment { path: path.to_owned(), source },
    })?;
    Ok(JobSegment::of(path, segment))
}

/// The means for writing while an analysis of this many calls is in memory: both together stay
/// below 512 MiB as long as the analysis leaves room.
fn beside_analysis(calls: usize) -> BuildOptions {
    /// Memory of the analysis and for sorting.
    const BOTH_BYTES: usize = 384 << 20;
    /// Calls, their operations, and what is reported of them.
    const BYTES_A_CALL: usize = 40;
    const LEAST_BYTES: usize = 16 << 20;
    let whole = BuildOptions::default();
    let left = BOTH_BYTES.saturating_sub(calls.saturating_mul(BYTES_A_CALL));
    BuildOptions { sort_bytes: left.clamp(LEAST_BYTES, whole.sort_bytes), ..whole }
}

/// Removes job segments of other contents.
pub(crate) fn forget_others(path: &Path) {
    let Some(files) = path.parent().and_then(|dir| fs::read_dir(dir).ok()) else { return };
    for other in files.flatten().map(|file| file.path()).filter(|other| other != path) {
        let name = other.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            // Remaining files are overwritten or ignored.
            drop(disk::remove_file(&other));
        }
    }
}

impl JobSegment {
    fn of(path: &Path, segment: SegmentFile) -> Self {
        let span = span(&segment);
        let entry = RankEntry {
            rank: RankRef::All,
            host: None,
            device: None,
            core: None,
            events: segment.footer().tracks.iter().map(|track| u64::from(track.rows)).sum(),
            start_ps: span.start.0,
            end_ps: span.end.0,
            content: RankEntry::content_of(segment.content()),
            input: String::new(),
            clock: None,
            clock_by: None,
            found: None,
        };
        let clocks = clocks(&segment).unwrap_or_else(|error| {
            tracing::warn!("{}: {error}; ranks are shown without alignment", path.display());
            Vec::new()
        });
        let clocks = clocks.into_iter().map(|(rank, fit)| (rank, Clock(fit))).collect();
        Self { entry, path: path.to_owned(), segment: Arc::new(segment), clocks }
    }

    /// The clock of a rank, as the calls of all ranks show it.
    #[must_use]
    pub fn clock(&self, rank: RankRef) -> Option<Clock> {
        self.clocks.get(&rank.number()?).copied()
    }

    /// Adds the clocks to the ranks of a profile.
    pub fn add_clocks(&self, info: &mut ProfileInfo) {
        info.ranks.iter_mut().for_each(|rank| rank.found = self.clock(rank.rank));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_takes_what_the_analysis_leaves() {
        let whole = BuildOptions::default().sort_bytes;
        assert_eq!(beside_analysis(100_000).sort_bytes, whole);
        assert!(beside_analysis(8_000_000).sort_bytes < whole);
        let many = 10_000_000;
        assert!(beside_analysis(many).sort_bytes + many * 40 < 512 << 20);
        assert!(beside_analysis(usize::MAX).sort_bytes > 0);
    }
}
