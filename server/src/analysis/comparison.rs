//! Two runs of the store beside each other.

use nprof_engine::base::{Error, Interval};
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::insight::difference::{
    RankSample, RunComparison, RunRepetition, RunSample, WorkKey, WorkKeys, repetitions,
};
use nprof_engine::insight::region::RankRegions;
use nprof_engine::makers::{self, DeviceTrack, device_tracks_without_launches, host_work, marks};
use nprof_engine::model::{RankWork, WarningKind};
use nprof_engine::native::{AllCores, SegmentFile};
use nprof_engine::wire::comparison::{ComparedRuns, ComparedSide};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use super::regions::noted_spans_on_rank;
use super::{AnalysisError, of_segment, on_all_cores};
use crate::store::{Profile, RankFile, StoreError};

/// Kinds of warnings by which events of a run are missing.
const LOSSES: [WarningKind; 2] = [WarningKind::TruncatedInput, WarningKind::DamagedRecord];

/// The part of a profile that is compared.
#[derive(Debug, Clone)]
pub struct ComparedPart {
    /// The profile.
    pub profile: Profile,
    /// Its ranks; at least one.
    pub ranks: Vec<RankFile>,
    /// The name of a region, or the whole run.
    pub region: Option<String>,
    /// Name for people.
    pub title: String,
    /// Whether start-up and tear-down are left out of a run without steps.
    is_active_part: bool,
}

impl ComparedPart {
    /// These ranks of a profile, within a region if it has a name.
    #[must_use]
    pub fn new(profile: Profile, ranks: Vec<RankFile>, region: Option<String>) -> Self {
        Self { title: profile.manifest.slug().to_owned(), profile, ranks, region, is_active_part: false }
    }

    /// Whether it is all of the profile.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.region.is_none() && self.ranks.len() == self.profile.manifest.ranks.len()
    }

    /// The run as messages name it.
    pub(super) fn side(&self) -> ComparedSide {
        ComparedSide { profile: self.profile.manifest.slug().to_owned(), title: self.title.clone() }
    }

    /// The error of a run of which no rank has the region.
    pub(super) fn without_region(&self) -> ComparisonError {
        ComparisonError::NoRegion {
            title: self.title.clone(),
            region: self.region.clone().unwrap_or_default(),
            slug: self.profile.manifest.slug().to_owned(),
        }
    }
}

/// The two runs with titles that say in what they differ. If both begin or end with a long time in
/// which next to nothing runs, it is left out of both: it would hide the work.
#[must_use]
pub fn paired(mut parts: [ComparedPart; 2]) -> [ComparedPart; 2] {
    let is_mostly_idle = |of: &ComparedPart| of.ranks.iter().all(|file| file.active_ps.is_some());
    let is_active_part = parts.iter().all(is_mostly_idle);
    let [a, b] = &parts;
    let numbers =
        |of: &ComparedPart| -> Vec<String> { of.ranks.iter().map(|file| file.rank.to_string()).collect() };
    let are_one_profile = a.profile.manifest.id == b.profile.manifest.id;
    let have_own_ranks = are_one_profile && numbers(a) != numbers(b);
    let have_own_regions = a.region != b.region;
    for part in &mut parts {
        part.is_active_part = is_active_part;
        if have_own_ranks {
            part.title.push_str(&format!(" rank {}", numbers(part).join(", ")));
        }
        if let (true, Some(region)) = (have_own_regions, &part.region) {
            part.title.push_str(&format!(" {region}"));
        }
    }
    parts
}

/// Why two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// A segment cannot be read.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The notes of a profile cannot be read.
    #[error(transparent)]
    Notes(#[from] StoreError),
    /// No rank of the run has a region of this name.
    #[error("no region of {title} is named `{region}`; `nprof regions {slug}` shows all")]
    NoRegion {
        /// Name of the run for people.
        title: String,
        /// The name.
        region: String,
        /// Name of the profile in addresses.
        slug: String,
    },
    /// The run has no work to compare.
    #[error("{0} has no work: no kernels, transfers or instructions of a device, and no slices of threads")]
    NoWork(String),
}

impl ComparisonError {
    /// The refusal of a question, without the place of the store.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Analysis(error) => error.refusal(),
            Self::Notes(_) => Refusal::new(RefusalKind::Damaged, "the notes of a profile cannot be read"),
            Self::NoRegion { .. } | Self::NoWork(_) => Refusal::new(RefusalKind::NotFound, self.to_string()),
        }
    }
}

/// The difference of two runs, with rows by a key.
pub fn compare(
    a: &ComparedPart,
    b: &ComparedPart,
    key: WorkKey,
    cancel: Cancel<'_>,
) -> Result<ComparedRuns, ComparisonError> {
    // One after the other: the work of a large rank fills much of the memory that a comparison may
    // take.
    let (sample_a, sample_b) = (sample(a, key, cancel)?, sample(b, key, cancel)?);
    let are_events_lost = sample_a.lacks_events || sample_b.lacks_events;
    let found = RunComparison::of(&sample_a.by_name, &sample_b.by_name, are_events_lost);
    let empty = if sample_a.by_name.repetitions() == 0 { a } else { b };
    let found = found.ok_or_else(|| ComparisonError::NoWork(empty.title.clone()))?;
    let found = match sample_a.by_key.zip(sample_b.by_key) {
        Some((by_key_a, by_key_b)) => found.grouped(&by_key_a, &by_key_b, key),
        None => found,
    };
    Ok(ComparedRuns::of(&found, [a.side(), b.side()]))
}

/// The repetitions of a run.
struct SampledRun {
    /// Its work by name, which tells the verdict.
    by_name: RunSample,
    /// Its work by the subject of rows. `None` if that is the name.
    by_key: Option<RunSample>,
    lacks_events: bool,
}

/// The repetitions of a rank.
struct SampledRank {
    by_name: RankSample,
    by_key: Option<RankSample>,
    has_region: bool,
    lacks_events: bool,
}

fn sample(of: &ComparedPart, key: WorkKey, cancel: Cancel<'_>) -> Result<SampledRun, ComparisonError> {
    let cancelled = |source| AnalysisError::Segment { path: of.profile.dir.clone(), source };
    let work = Work { exec: &AllCores, cancel };
    let of_rank = |at: usize| Ok(sample_rank(of, &of.ranks[at], key, cancel));
    let ranks = work.gather(of.ranks.len(), of_rank).map_err(cancelled)?;
    let ranks = ranks.into_iter().collect::<Result<Vec<SampledRank>, ComparisonError>>()?;
    if !ranks.iter().any(|rank| rank.has_region) {
        return Err(of.without_region());
    }
    let lacks_events = ranks.iter().any(|rank| rank.lacks_events);
    let ranks = ranks.into_iter().filter(|rank| rank.has_region || of.region.is_none());
    let (by_name, by_key): (Vec<_>, Vec<_>) = ranks.map(|rank| (rank.by_name, rank.by_key)).unzip();
    let by_key = by_key.into_iter().collect::<Option<Vec<RankSample>>>();
    Ok(SampledRun { by_name: RunSample::of(by_name), by_key: by_key.map(RunSample::of), lacks_events })
}

fn sample_rank(
    of: &ComparedPart,
    file: &RankFile,
    key: WorkKey,
    cancel: Cancel<'_>,
) -> Result<SampledRank, ComparisonError> {
    let noted = noted_spans(of, file)?;
    let sampled = of_segment(&of.profile, file, |segment| {
        let RankProgram { tracks, work, chosen } = RankProgram::of(segment, of, file, &noted, cancel)?;
        let has_region = of.region.is_none() || !chosen.is_empty();
        let sample = |key: WorkKey| match tracks.is_empty() {
            true => sampled(segment, file, &work, key, &chosen, cancel),
            false => {
                let all_cores = Work { exec: &AllCores, cancel };
                RankSample::of_tracks(segment, file.rank, &tracks, key, &chosen, all_cores)
            }
        };
        let by_name = sample(WorkKey::Name)?;
        let by_key = (key != WorkKey::Name).then(|| sample(key)).transpose()?;
        let warnings = segment.footer().warnings.iter();
        let lacks_events = warnings.into_iter().any(|warning| LOSSES.contains(&warning.kind));
        Ok(SampledRank { by_name, by_key, has_region, lacks_events })
    });
    Ok(sampled?)
}

/// The times that users gave the region of a part, on the clock of a rank.
pub(super) fn noted_spans(of: &ComparedPart, file: &RankFile) -> Result<Vec<Interval>, ComparisonError> {
    Ok(match &of.region {
        Some(name) => noted_spans_on_rank(&of.profile, file, name)?,
        None => Vec::new(),
    })
}

/// The work of a rank, and the repetitions of it that are compared.
pub(super) struct RankProgram {
    /// The tracks of its devices, if their slices alone tell what they did.
    pub(super) tracks: Vec<DeviceTrack>,
    /// Its work, if it has no such tracks.
    pub(super) work: RankWork,
    /// The repetitions. Empty for the whole run, and of a rank without the region.
    pub(super) chosen: Vec<RunRepetition>,
}

impl RankProgram {
    pub(super) fn of(
        segment: &SegmentFile,
        part: &ComparedPart,
        file: &RankFile,
        noted: &[Interval],
        cancel: Cancel<'_>,
    ) -> Result<Self, Error> {
        let tracks = device_tracks_without_launches(segment);
        let mut work = RankWork::default();
        if tracks.is_empty() {
            work = makers::work(segment, on_all_cores(cancel))?;
            if !work.has_device() {
                work = host_work(segment, &[], cancel)?;
            }
        }
        let regions = RankRegions::of(&work, &marks(segment, cancel)?, cancel)?;
        let chosen = match &part.region {
            None => repetitions(&regions),
            Some(name) => within(&regions, name, noted),
        };
        let active = file.active_ps.filter(|_| part.is_active_part && part.region.is_none());
        // The order of launches tells the steps of kernels: they have no start-up apart.
        let active = active.filter(|_| chosen.is_empty() && !tracks.is_empty());
        let active = active.map(|(start, end)| RunRepetition::active_part(Interval::new(start, end)));
        Ok(Self { tracks, work, chosen: active.map_or(chosen, |active| vec![active]) })
    }
}

fn sampled(
    segment: &SegmentFile,
    file: &RankFile,
    work: &RankWork,
    key: WorkKey,
    chosen: &[RunRepetition],
    cancel: Cancel<'_>,
) -> Result<RankSample, Error> {
    let keys = WorkKeys::of(segment, work, file.rank, key, cancel)?;
    RankSample::of(file.rank, work, &keys, chosen, cancel)
}

/// The repetitions in the regions of a name: the steps in them if there are several, else the
/// regions. A name that a user gave is that of the user.
fn within(regions: &RankRegions, name: &str, noted: &[Interval]) -> Vec<RunRepetition> {
    let found = regions.all.iter().filter(|region| region.name == name).map(|region| region.span);
    let mut spans: Vec<Interval> = if noted.is_empty() { found.collect() } else { noted.to_vec() };
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut outer: Vec<Interval> = Vec::new();
    for span in spans {
        if outer.last().is_none_or(|last| span.start >= last.end) {
            outer.push(span);
        }
    }
    let is_within = |step: &RunRepetition| {
        outer.iter().any(|span| step.span.start >= span.start && step.span.end <= span.end)
    };
    let steps: Vec<RunRepetition> = repetitions(regions).into_iter().filter(is_within).collect();
    if steps.len() > outer.len() {
        return steps;
    }
    let region = |span: Interval| RunRepetition { name: name.to_owned(), span, is_open: false };
    outer.into_iter().map(region).collect()
}
