//! State that all requests share: the store, open segments, cached tiles and running ingests.

mod profile_store;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nprof_engine::base::{Interval, in_memory};
use nprof_engine::exec::Work;
use nprof_engine::metrics::MetricScope;
use nprof_engine::model::Warning;
use nprof_engine::native::{SegmentFile, StoredFile};
use nprof_engine::rank::RankView;
use nprof_engine::tile::TileId;
use nprof_engine::wire::answer;
use nprof_engine::wire::ask::{Rank, RankId};
use nprof_engine::wire::catalog::{RankDetail, RankEntry, WarningEntry};
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::notes::Notes;
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::regions::RegionList;
use nprof_engine::wire::summary::Summary;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::{Semaphore, watch};

use crate::analysis::findings;
use crate::analysis::graph::Replayable;
use crate::analysis::graph_meter::GraphMeters;
use crate::analysis::job_segment::{self, JobSegment};
use crate::analysis::kept_answers::KeptAnswers;
use crate::child::{IngestProcess, comparison};
use crate::child_end::ChildEnd;
use crate::http::error::ApiError;
use crate::http::turns::Turns;
use crate::ingest::IngestError;
use crate::jobs::Jobs;
use crate::store::{ATTEMPTS, Profile, RankFile, SegmentPlace, Store};
use crate::summary::{stored, summary_of};
use crate::warnings;
use crate::work::Meter;

/// Limit of open segments. Each holds its decoded lists and texts, 150 KiB for a small
/// segment. Other segments are opened again on request: 0.1 ms for the footer, then the lists that
/// the answer needs.
const MAX_SEGMENTS: usize = 64;
/// Limit of open job segments, one a profile.
const MAX_JOBS: usize = 16;
/// Limit of the decoded lists and texts of all open segments together, in bytes. Those of a segment
/// grow with the questions about it.
const MAX_LIST_BYTES: u64 = 1 << 30;
/// Limit of remembered comparisons that failed.
const MAX_FAILED: usize = 64;
/// Limit of the tile cache, in bytes. A screen needs some hundred tiles of about 10 KiB.
const TILE_CACHE_BYTES: u64 = 64 << 20;
/// Cost of a cached tile beyond its own bytes.
const TILE_OVERHEAD_BYTES: u64 = 128;

/// Handle to the state that all requests share.
#[derive(Clone)]
pub struct App(Arc<AppState>);

struct AppState {
    store: Arc<Store>,
    segments: Cache<SegmentKey, Arc<SegmentFile>>,
    tiles: Cache<SegmentTile, Arc<[u8]>, ByBytes>,
    summaries: Cache<SegmentKey, Arc<Summary>>,
    /// Regions of ranks.
    regions: Cache<SegmentKey, Arc<RegionList>>,
    findings: KeptAnswers<Findings>,
    graphs: KeptAnswers<Replayable>,
    /// Progress of the graphs that are being made.
    graph_meters: GraphMeters,
    /// Job segments by their paths, which change with their contents.
    job_segments: Cache<PathBuf, Arc<JobSegment>>,
    /// Comparisons that would fail again, by the paths of their job segments.
    failed: Mutex<HashMap<PathBuf, Refusal>>,
    process: IngestProcess,
    /// Permit to compare the ranks of a profile. A comparison can take as much memory as an ingest.
    comparing: Semaphore,
    /// True once the server ends.
    is_ending: watch::Sender<bool>,
    jobs: Jobs,
    turns: Turns,
}

/// An open segment.
enum Open {
    Rank(SegmentKey),
    JobSegment(PathBuf),
}

/// Path of a segment's file, and its content id in the manifest. A replaced profile keeps its path.
type SegmentKey = (PathBuf, String);

/// Key of a tile. The tile of a key never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SegmentTile {
    /// Content id of the segment.
    pub content: String,
    /// The tile within the segment.
    pub id: TileId,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<SegmentTile, Arc<[u8]>> for ByBytes {
    fn weight(&self, key: &SegmentTile, frame: &Arc<[u8]>) -> u64 {
        (key.content.len() + frame.len()) as u64 + TILE_OVERHEAD_BYTES
    }
}

impl App {
    /// Creates the state for a store. `process` reads uploads.
    #[must_use]
    pub fn new(store: Arc<Store>, process: IngestProcess) -> Self {
        let items = in_memory(TILE_CACHE_BYTES >> 13);
        let jobs = Jobs::new(Arc::clone(&store), process.clone());
        Self(Arc::new(AppState {
            store,
            segments: Cache::new(MAX_SEGMENTS),
            tiles: Cache::with_weighter(items, TILE_CACHE_BYTES, ByBytes),
            summaries: Cache::new(MAX_SEGMENTS),
            regions: Cache::new(MAX_SEGMENTS),
            findings: KeptAnswers::default(),
            graphs: KeptAnswers::default(),
            graph_meters: GraphMeters::default(),
            job_segments: Cache::new(MAX_JOBS),
            failed: Mutex::default(),
            process,
            comparing: Semaphore::new(1),
            is_ending: watch::Sender::new(false),
            jobs,
            turns: Turns::of_machine(),
        }))
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The ingests that this server runs.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// Cancels ingests and comparisons, also those that begin later, because the server ends.
    pub fn end(&self) {
        self.jobs().cancel_all();
        self.0.is_ending.send_replace(true);
    }

    /// Waits until the server ends.
    async fn ended(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.is_ending.subscribe().wait_for(|is_ending| *is_ending).await;
    }

    /// The turns of questions.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.0.turns
    }

    /// Metrics of a rank. They are computed once, even if several requests ask at the same time.
    /// Blocks.
    fn summary(&self, rank: &OpenRank, work: Work<'_>) -> nprof_engine::base::Result<Arc<Summary>> {
        let compute = || summary_of(&rank.place, &rank.segment, work).map(Arc::new);
        self.0.summaries.get_or_insert_with(&rank.key(), compute)
    }

    /// Regions of a rank. They are found once, even if several requests ask at the same time.
    /// Blocks.
    fn regions(&self, rank: &OpenRank, work: Work<'_>) -> nprof_engine::base::Result<Arc<RegionList>> {
        let find = || answer::regions(&*rank.segment, work).map(Arc::new);
        self.0.regions.get_or_insert_with(&rank.key(), find)
    }

    /// Metrics of a rank, if nothing must be computed. Blocks for reading a small file.
    #[must_use]
    pub fn kept_summary(&self, rank: &OpenRank) -> Option<Arc<Summary>> {
        let key = rank.key();
        self.0.summaries.get(&key).or_else(|| {
            let summary = Arc::new(stored(&rank.place, &rank.segment)?);
            self.0.summaries.insert(key, Arc::clone(&summary));
            Some(summary)
        })
    }

    /// The findings about the run of a profile, if nothing must be computed. Blocks for reading a
    /// small file.
    pub fn kept_findings(&self, name: &str) -> Result<Option<Arc<Findings>>, ApiError> {
        Ok(self.kept_findings_of(&self.store().find(name)?))
    }

    fn kept_findings_of(&self, profile: &Profile) -> Option<Arc<Findings>> {
        let kept = || Some(self.0.findings.keep(profile, findings::kept(profile)?.message));
        self.0.findings.kept(profile).or_else(kept)
    }

    /// Opens a rank. One that cannot be opened is damaged only if it still cannot after another
    /// look at its profile: others can remove or replace a profile at any time.
    fn open_rank(&self, id: &RankId) -> Result<OpenRank, Refusal> {
        self.close_some();
        let mut attempt = 1;
        loop {
            let (profile, file) = self.rank_of(id)?;
            let key = (profile.segment_path(&file), file.content.clone());
            match self.0.segments.get_or_insert_with(&key, || profile.open_rank(&file).map(Arc::new)) {
                Ok(segment) => {
                    return Ok(OpenRank {
                        app: self.clone(),
                        asked_for: id.profile.clone(),
                        entry: file.entry(),
                        place: profile.place_of(&file),
                        later: warnings::later(&file),
                        profile,
                        segment,
                    });
                }
                Err(error) if attempt == ATTEMPTS => {
                    tracing::error!("{}: {error}", key.0.display());
                    let place = profile.place_of(&file).for_clients();
                    return Err(Refusal::new(RefusalKind::Damaged, format!("{place}: {error}")));
                }
                Err(_) => attempt += 1,
            }
        }
    }

    /// The profile and the manifest's entry of a rank.
    fn rank_of(&self, id: &RankId) -> Result<(Profile, RankFile), Refusal> {
        let RankId { profile: slug, rank } = id;
        let profile = self.store().find(slug).map_err(ApiError::from)?;
        let file = profile.manifest.ranks.iter().find(|file| *rank == file.rank.into()).cloned();
        let missing = || format!("profile \"{slug}\" has no rank {rank}");
        let file = file.ok_or_else(|| Refusal::new(RefusalKind::NotFound, missing()))?;
        Ok((profile, file))
    }

    /// Closes open segments until the lists and texts of those that stay open are within the limit.
    /// The largest goes first. Questions that use it keep it until they end.
    fn close_some(&self) {
        let AppState { segments, job_segments, .. } = &*self.0;
        let of_ranks = segments.iter().map(|(key, segment)| (segment.kept_bytes(), Open::Rank(key)));
        let of_all =
            job_segments.iter().map(|(path, job)| (job.segment.kept_bytes(), Open::JobSegment(path)));
        for largest in beyond(MAX_LIST_BYTES, of_ranks.chain(of_all).collect()) {
            match largest {
                Open::Rank(key) => drop(segments.remove(&key)),
                Open::JobSegment(path) => drop(job_segments.remove(&path)),
            }
        }
    }

    /// Closes the segments of profiles that were removed or replaced, by whomever: an open file
    /// keeps its space on the disk. Questions that use a segment keep it until they end.
    pub fn close_removed(&self) {
        let AppState { segments, summaries, regions, job_segments, .. } = &*self.0;
        segments.retain(|_, segment| !segment.bytes().is_removed());
        job_segments.retain(|_, job| !job.segment.bytes().is_removed());
        summaries.retain(|(path, _), _| path.exists());
        regions.retain(|(path, _), _| path.exists());
    }

    /// Compares the ranks of the profile, if this is a question about all of them and nobody has
    /// compared them. Several requests wait for one process. It ends when nobody waits any more.
    ///
    /// # Errors
    /// If there is no such profile, or its ranks cannot be compared.
    pub async fn compare(&self, id: &RankId) -> Result<(), ApiError> {
        if !id.rank.is_all() {
            return Ok(());
        }
        let (app, name) = (self.clone(), id.profile.clone());
        let uncompared = tokio::task::spawn_blocking(move || app.uncompared(&name)).await??;
        let Some(profile) = uncompared else { return Ok(()) };
        let path = job_segment::path_of(&profile);
        let compare = async {
            let _permit = self.0.comparing.acquire().await;
            let meter = Meter::default();
            let ended = self.ended();
            let compared =
                comparison::compared(&self.0.store, &self.0.process, &profile, &meter, ended).await;
            compared.map(Arc::new).map_err(|error| self.not_compared(&profile, &error))
        };
        self.0.job_segments.get_or_insert_async(&path, compare).await?;
        Ok(())
    }

    /// Compares the ranks of a profile for its findings, unless they are kept.
    pub async fn compare_for_findings(&self, name: &str) -> Result<(), ApiError> {
        let (app, of) = (self.clone(), name.to_owned());
        if tokio::task::spawn_blocking(move || app.kept_findings(&of)).await??.is_some() {
            return Ok(());
        }
        self.compare(&RankId { profile: name.to_owned(), rank: RankRef::All }).await
    }

    /// The profile, if its ranks must be compared first. Blocks.
    fn uncompared(&self, name: &str) -> Result<Option<Profile>, ApiError> {
        let profile = self.store().find(name)?;
        if !job_segment::is_for(&profile) || self.kept_job(&profile).is_some() {
            return Ok(None);
        }
        let failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match failed.get(&job_segment::path_of(&profile)) {
            Some(refusal) => Err(refusal.clone().into()),
            None => Ok(Some(profile)),
        }
    }

    /// The refusal of a comparison that failed. One that fails at a limit fails each time, so it is
    /// not repeated.
    fn not_compared(&self, profile: &Profile, error: &IngestError) -> ApiError {
        let name = profile.manifest.slug();
        let reason = match error {
            IngestError::Ended(ended) => ended.to_string(),
            error => error.to_string(),
        };
        let refusal = Refusal::new(
            RefusalKind::Damaged,
            format!(
                "the ranks of \"{name}\" cannot be compared: {reason}; `nprof ranks {name}` has no limits"
            ),
        );
        if matches!(error, IngestError::Ended(ChildEnd::GaveUp(_) | ChildEnd::OutOfTime)) {
            let mut failed = self.0.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.len() >= MAX_FAILED {
                failed.clear();
            }
            failed.insert(job_segment::path_of(profile), refusal.clone());
        }
        refusal.into()
    }

    /// The job segment of a profile, if nothing must be computed.
    fn kept_job(&self, profile: &Profile) -> Option<Arc<JobSegment>> {
        let path = job_segment::path_of(profile);
        self.0.job_segments.get(&path).or_else(|| {
            let job = Arc::new(job_segment::kept(&path)?);
            self.0.job_segments.insert(path, Arc::clone(&job));
            Some(job)
        })
    }

    /// The frame of a tile, if it is in the cache.
    #[must_use]
    pub fn kept_tile(&self, key: &SegmentTile) -> Option<Arc<[u8]>> {
        self.0.tiles.get(key)
    }

    /// The frame of a tile, from the cache or from `cut`. Blocks.
    pub fn tile(
        &self,
        key: &SegmentTile,
        cut: impl FnOnce() -> Result<Arc<[u8]>, ApiError>,
    ) -> Result<Arc<[u8]>, ApiError> {
        self.0.tiles.get_or_insert_with(key, cut)
    }
}

/// The largest of these sizes, until the others are within the limit.
fn beyond<K>(limit: u64, mut of: Vec<(u64, K)>) -> Vec<K> {
    let mut sum = of.iter().fold(0_u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    of.sort_by_key(|(bytes, _)| *bytes);
    let mut largest = Vec::new();
    while sum > limit
        && let Some((bytes, key)) = of.pop()
    {
        sum = sum.saturating_sub(bytes);
        largest.push(key);
    }
    largest
}

/// A rank with its segment open.
#[derive(Clone)]
pub struct OpenRank {
    app: App,
    /// Name of the profile in the request.
    asked_for: String,
    /// Profile of the rank.
    pub profile: Profile,
    /// The rank's entry in the profile.
    pub entry: RankEntry,
    /// The place of the rank's segment.
    place: SegmentPlace,
    /// Warnings that arose after the segment was written.
    later: Vec<Warning>,
    /// The rank's segment.
    pub segment: Arc<SegmentFile>,
}

impl OpenRank {
    fn key(&self) -> SegmentKey {
        (self.place.path().to_owned(), self.entry.segment().to_owned())
    }
}

impl Rank for OpenRank {
    type Bytes = StoredFile;

    fn view(&self) -> RankView<'_, StoredFile> {
        let clock = self.entry.clock.map(|clock| clock.0);
        RankView::of(&self.segment).with_clock(clock.unwrap_or_default())
    }

    fn number(&self) -> Option<u32> {
        self.entry.rank.number()
    }

    fn tile_content(&self) -> String {
        self.entry.content.clone()
    }

    fn detail(&self) -> nprof_engine::base::Result<RankDetail> {
        let later = self.later.iter().map(WarningEntry::from);
        let mut entry = self.entry.clone();
        let job = job_segment::is_for(&self.profile).then(|| self.app.kept_job(&self.profile)).flatten();
        entry.found = job.and_then(|job| job.clock(entry.rank));
        answer::rank_detail(self.view(), entry, &self.profile.manifest.names, later)
    }

    fn summary(&self, window: Option<Interval>, work: Work<'_>) -> Result<Summary, Refusal> {
        if window.is_some() {
            let scope = MetricScope::within(window);
            let found = answer::summary(self.view(), self.entry.rank, &scope, work);
            return found.map_err(|error| self.refusal(error));
        }
        let summary = self.app.summary(self, work).map_err(|error| self.refusal(error))?;
        Ok(Summary::clone(&summary))
    }

    fn regions(&self, work: Work<'_>) -> Result<RegionList, Refusal> {
        let found = self.app.regions(self, work).map_err(|error| self.refusal(error))?;
        Ok(RegionList::clone(&found))
    }

    fn notes(&self) -> Result<Notes, Refusal> {
        Ok(self.profile.notes().map_err(ApiError::from)?)
    }

    fn place(&self) -> String {
        format!("profile \"{}\" rank {}", self.asked_for, self.entry.rank)
    }

    fn advice(&self) -> String {
        format!(
            "; `nprof verify {}` lists all damage; to repair it, ingest the trace again with --force",
            self.asked_for
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_segments_are_closed_first_and_no_more_than_needed() {
        let sizes = || vec![(10, "a"), (60, "b"), (30, "c")];
        assert_eq!(beyond(100, sizes()), [""; 0]);
        assert_eq!(beyond(99, sizes()), ["b"]);
        assert_eq!(beyond(20, sizes()), ["b", "c"]);
        assert_eq!(beyond(0, sizes()), ["b", "c", "a"]);
    }
}
