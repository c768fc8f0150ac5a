//! `manifest.json`: the description of a profile as readable text.

use std::path::Path;

use jiff::Timestamp;
use nprof_capture::origin::MAX_APART_PS;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{ClockFit, Interval, Time, narrow};
use nprof_engine::native::{SegmentFile, StoredFile};
use nprof_engine::query::is_better_view;
use nprof_engine::rank::RankView;
use nprof_engine::wire::catalog::{NameSlot, ProfileEntry, ProfileInfo, RankEntry};
use nprof_engine::wire::clock::{Clock, ClockBy};
use serde::{Deserialize, Serialize};

use super::{Result, Slug, StoreError, disk};

/// The version of this layout. It is raised when an older nprof could misread a newer file.
pub const FORMAT: u32 = 1;

/// Longest manifest that is read. A rank takes about a kilobyte of it.
const MOST_BYTES: u64 = 256 << 20;

/// Name of the file.
pub(super) const FILE: &str = "manifest.json";

/// Description of a profile. Unknown keys are ignored, so later versions can add keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the nprof that wrote the file.
    pub format: u32,
    /// `n_<40 hex>` or `p_<40 hex>`.
    pub id: String,
    /// The URL name that the user gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Slug>,
    /// Further URL names, which the user gave later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Slug>,
    /// The name for people that the user gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// A common name of several inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time of the ingest.
    pub created: Timestamp,
    /// Version of the nprof that ingested the profile.
    pub written_by: String,
    /// The kind of trace, e.g. `neuron`.
    pub source: String,
    /// Bytes of all input files. Inputs of another size are another profile. `None` for profiles
    /// from before this key existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_bytes: Option<u64>,
    /// Number of kinds of warnings over all ranks. The segments hold the warnings and their counts.
    #[serde(default)]
    pub warnings: u64,
    /// The ranks, ordered by number.
    pub ranks: Vec<RankFile>,
    /// Names that this profile takes from other profiles. They do not have them any more, also
    /// before their own manifests say so. Empty once they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub took: Vec<TakenName>,
    /// Numbers of the profile's names over all ranks, for colours. Empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameSlot>,
}

/// A name that one profile takes from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenName {
    /// The name.
    pub name: Slug,
    /// Id of the other profile.
    pub from: String,
}

/// A rank of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankFile {
    /// Number of the rank in the job; unique in the profile.
    pub rank: u32,
    /// The id that the rank's input would have as a profile of its own.
    pub id: String,
    /// File name of the segment, in the manifest's directory.
    pub file: String,
    /// Bytes of the segment.
    pub size_bytes: u64,
    /// Content id of the segment.
    pub content: String,
    /// Names of the input files.
    pub inputs: Vec<String>,
    /// Name of its host, if known. Unknown for profiles from before this key existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Device number on its host, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    /// Core number on its device, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// Slices, instants and samples.
    pub events: u64,
    /// First timestamp, in picoseconds since the origin.
    pub start_ps: i64,
    /// Last timestamp, in picoseconds since the origin.
    pub end_ps: i64,
    /// Wall clock of time zero, in Unix nanoseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_unix_ns: Option<i64>,
    /// Map from the rank's times to the times that all ranks share. `None` if the rank's times are
    /// the shared times as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Origin of the clock. A clock from before this key existed counts as set by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_by: Option<ClockBy>,
    /// The busiest time span, if it is a small part of the rank; else the extent of slices, if
    /// instants or samples stand far outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ps: Option<(i64, i64)>,
    /// Warnings that arose after the segment was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Files of the input directory that were not read, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Manifest {
    /// The name for URLs.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.name.as_ref().map_or(&self.id, Slug::as_str)
    }

    /// Returns true if this is one of the profile's URL names. The id is not one of them.
    #[must_use]
    pub fn has_name(&self, name: &str) -> bool {
        self.name.iter().chain(&self.aliases).any(|own| own.as_str() == name)
    }

    /// All URL names, the first one first. Empty if the profile has only its id.
    pub fn slugs(&self) -> impl Iterator<Item = &Slug> {
        self.name.iter().chain(&self.aliases)
    }

    /// Adds a further name.
    pub fn add_name(&mut self, name: Slug) {
        if self.has_name(name.as_str()) {
            return;
        }
        match &self.name {
            None => self.name = Some(name),
            Some(_) => self.aliases.push(name),
        }
    }

    /// Takes over the names of the replaced profile `before`, so that its links go on to work. A
    /// new name comes first.
    pub(super) fn keep_names(&mut self, before: &Self) {
        for name in before.slugs() {
            self.add_name(name.clone());
        }
        if self.display_name.is_none() {
            self.display_name.clone_from(&before.display_name);
        }
    }

    /// Takes over the clocks of the replaced profile `before`. A clock belongs to the content of a
    /// segment: a rank that was read into other events loses it.
    pub(super) fn keep_clocks(&mut self, before: &Self) {
        for rank in &mut self.ranks {
            let is_same = |other: &&RankFile| other.rank == rank.rank && other.content == rank.content;
            let kept = before.ranks.iter().find(is_same).filter(|other| other.clock.is_some());
            if let Some(other) = kept {
                (rank.clock, rank.clock_by) = (other.clock, other.clock_by());
            }
        }
    }

    /// Removes a name. The next name becomes the first.
    pub fn remove_name(&mut self, name: &str) {
        let mut left = self.slugs().filter(|own| own.as_str() != name).cloned();
        let first = left.next();
        let others = left.collect();
        (self.name, self.aliases) = (first, others);
    }

    /// The name for people: the user's, else the name of the inputs.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        let given = self.display_name.as_deref().or(self.name.as_ref().map(Slug::as_str));
        given
            .or(self.title.as_deref())
            .or_else(|| self.ranks.first()?.inputs.first().map(String::as_str))
            .unwrap_or(&self.id)
    }

    /// The rank with this number.
    ///
    /// # Errors
    /// `UnknownRank` if there is none.
    pub(super) fn rank_mut(&mut self, rank: u32) -> Result<&mut RankFile> {
        let unknown = StoreError::UnknownRank {
            profile: self.slug().to_owned(),
            rank,
            known: self.ranks.iter().map(|file| file.rank.to_string()).collect::<Vec<_>>().join(", "),
        };
        self.ranks.iter_mut().find(|file| file.rank == rank).ok_or(unknown)
    }

    /// Name of the host of a rank, if known.
    #[must_use]
    pub fn host_of(&self, rank: u32) -> Option<&str> {
        self.ranks.iter().find(|file| file.rank == rank)?.host.as_deref()
    }

    /// The profile's entry in the list of profiles.
    #[must_use]
    pub fn entry(&self) -> ProfileEntry {
        ProfileEntry {
            id: self.id.clone(),
            slug: self.slug().to_owned(),
            aliases: self.aliases.iter().map(Slug::to_string).collect(),
            display_name: self.shown_name().to_owned(),
            created_unix_ms: self.created.as_millisecond(),
            ranks: narrow(self.ranks.len()),
            events: self.sum(|rank| rank.events),
            size_bytes: self.sum(|rank| rank.size_bytes),
            warnings: self.warnings,
            source: self.source.clone(),
        }
    }

    /// Sum over all ranks. People can write any numbers into a manifest.
    fn sum(&self, of: impl Fn(&RankFile) -> u64) -> u64 {
        self.ranks.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The profile with its ranks.
    #[must_use]
    pub fn profile_info(&self) -> ProfileInfo {
        let (start_ps, end_ps) = self.span_ps();
        let ranks = self.ranks.iter().map(RankFile::entry).collect();
        let active_ps = self.active_ps(Interval::new(start_ps, end_ps));
        ProfileInfo { entry: self.entry(), start_ps, end_ps, active_ps, ranks, whole: Vec::new() }
    }

    /// The busiest time span of all ranks. A rank without one counts whole. `None` unless the span
    /// is clearly shorter than the profile.
    fn active_ps(&self, whole: Interval) -> Option<(i64, i64)> {
        let ranks = self.ranks.iter().filter(|rank| rank.events > 0);
        let active = |rank: &RankFile| {
            let (start_ps, end_ps) = rank.active_ps.unwrap_or((rank.start_ps, rank.end_ps));
            rank.shared(start_ps, end_ps)
        };
        let all = ranks.map(active).reduce(Interval::cover)?;
        is_better_view(all, whole).then_some((all.start.0, all.end.0))
    }

    /// The earliest event of all ranks, in the time that they share. 0 if no rank has events.
    #[must_use]
    pub fn shared_start(&self) -> Time {
        self.start_on(RankFile::clock_fit)
    }

    /// The earliest event of all ranks on these clocks: the zero of the times that the page shows
    /// if they are the clocks of the analysis. 0 if no rank has events.
    #[must_use]
    pub fn start_on(&self, clock: impl Fn(&RankFile) -> ClockFit) -> Time {
        let ranks = self.ranks.iter().filter(|rank| rank.events > 0);
        ranks.map(|rank| clock(rank).to_shared(Time(rank.start_ps))).min().unwrap_or_default()
    }

    /// Wall clock of the shared time zero in Unix nanoseconds, if known. The first rank
    /// whose times are the shared times gives it, else the first rank with a clock.
    #[must_use]
    pub fn shared_origin_unix_ns(&self) -> Option<i64> {
        let of = |rank: &RankFile| {
            let zero_ns = rank.clock_fit().to_shared(Time(0)).floor_ns();
            Some(rank.origin_unix_ns?.saturating_sub(zero_ns))
        };
        let (same, other): (Vec<_>, Vec<_>) = self.ranks.iter().partition(|rank| rank.clock.is_none());
        same.into_iter().chain(other).find_map(of)
    }

    /// Picoseconds from the times of each rank to those that all ranks share, as their wall clocks
    /// state them, in the order of ranks. 0 if one of both has none, or if they are too far apart
    /// to be of one run.
    #[must_use]
    pub fn stated_offsets_ps(&self) -> Vec<i64> {
        let shared_unix_ns = self.shared_origin_unix_ns();
        let of =
            |rank: &RankFile| shared_unix_ns.and_then(|zero_unix_ns| rank.stated_offset_ps(zero_unix_ns));
        self.ranks.iter().map(|rank| of(rank).unwrap_or(0)).collect()
    }

    /// First and last timestamp of all ranks, in the time that they share. Ranks without events are
    /// skipped. The result is (0, 0) if no rank has events.
    pub(crate) fn span_ps(&self) -> (i64, i64) {
        let spans = self.ranks.iter().filter(|rank| rank.events > 0);
        let spans = spans.map(|rank| rank.shared(rank.start_ps, rank.end_ps));
        spans.reduce(Interval::cover).map_or((0, 0), |span| (span.start.0, span.end.0))
    }

    /// Reads the manifest in this directory.
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let text = disk::read_at_most(&path, MOST_BYTES);
        let text = text.map_err(|source| StoreError::Read { path: path.clone(), source })?;
        if text.len() as u64 > MOST_BYTES {
            return Err(StoreError::Inconsistent { path, what: "it is longer than any manifest" });
        }
        // Parse the whole first: hundreds are read before the first list. The manifest of a newer
        // nprof can look different.
        let manifest: Self = match serde_json::from_slice(&text) {
            Ok(Self { format, .. }) if format > FORMAT => {
                return Err(StoreError::NewerManifest { path, found: format, newest: FORMAT });
            }
            Ok(manifest) => manifest,
            Err(source) => {
                return Err(match serde_json::from_slice::<ManifestVersion>(&text) {
                    Ok(ManifestVersion { format: found }) if found > FORMAT => {
                        StoreError::NewerManifest { path, found, newest: FORMAT }
                    }
                    _ => StoreError::Manifest { path, source },
                });
            }
        };
        manifest.check().map_err(|what| StoreError::Inconsistent { path, what })?;
        Ok(manifest)
    }

    /// Writes the manifest into this directory and replaces an older one in one step.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|source| StoreError::Manifest { path: path.clone(), source })?;
        text.push(b'\n');
        disk::write_file(&path, &text)
    }

    /// Checks an untrusted manifest: people can edit it, and its files must be in its own
    /// directory.
    fn check(&self) -> Result<(), &'static str> {
        if self.id.parse::<nprof_engine::base::ProfileId>().is_err() {
            return Err("its id is not a profile id");
        }
        if self.ranks.is_empty() {
            return Err("it lists no ranks");
        }
        let plain = |file: &str| !file.is_empty() && !file.starts_with('.') && !file.contains(['/', '\\']);
        if !self.ranks.iter().all(|rank| plain(&rank.file)) {
            return Err("the file of a rank is not a plain file name");
        }
        if !self.ranks.windows(2).all(|pair| pair[0].rank < pair[1].rank) {
            return Err("its ranks are not sorted by number");
        }
        Ok(())
    }
}

impl RankFile {
    /// Origin of the clock. `None` without a clock.
    #[must_use]
    pub fn clock_by(&self) -> Option<ClockBy> {
        self.clock.map(|_| self.clock_by.unwrap_or(ClockBy::Hand))
    }

    /// The content id in the addresses of tiles.
    #[must_use]
    pub fn tile_content(&self) -> String {
        RankEntry::content_of(&self.content)
    }

    /// The rank's entry in answers to the page.
    #[must_use]
    pub fn entry(&self) -> RankEntry {
        RankEntry {
            rank: self.rank.into(),
            host: self.host.clone(),
            device: self.device,
            core: self.core,
            events: self.events,
            start_ps: self.start_ps,
            end_ps: self.end_ps,
            content: self.tile_content(),
            input: self.inputs.join(" + "),
            clock: self.clock,
            clock_by: self.clock_by(),
            found: None,
        }
    }

    /// The map from the rank's times to shared times. The same times if there is no clock.
    #[must_use]
    pub fn clock_fit(&self) -> ClockFit {
        self.clock.map(|clock| clock.0).unwrap_or_default()
    }

    /// The rank's earliest event, in the time that all ranks share.
    #[must_use]
    pub fn shared_start(&self) -> Time {
        self.clock_fit().to_shared(Time(self.start_ps))
    }

    /// A span of the rank, in the time that all ranks share.
    fn shared(&self, start_ps: i64, end_ps: i64) -> Interval {
        let clock = self.clock_fit();
        Interval::new(clock.to_shared(Time(start_ps)).0, clock.to_shared(Time(end_ps)).0)
    }

    /// Picoseconds from the rank's times to those whose zero has this wall clock. `None` if the
    /// rank has no wall clock, or if both are further apart than ranks that ran at once: one of
    /// them is wrong then.
    #[must_use]
    pub fn stated_offset_ps(&self, zero_unix_ns: i64) -> Option<i64> {
        let later_ns = i128::from(self.origin_unix_ns?) - i128::from(zero_unix_ns);
        let later_ps = later_ns * i128::from(PS_PER_NS);
        i64::try_from(later_ps).ok().filter(|_| later_ps.abs() <= MAX_APART_PS)
    }

    /// The rank with its open segment.
    #[must_use]
    pub fn view<'a>(&self, segment: &'a SegmentFile) -> RankView<'a, StoredFile> {
        RankView::of(segment).with_clock(self.clock_fit())
    }
}

/// The one key that every version has.
#[derive(Deserialize)]
struct ManifestVersion {
    format: u32,
}
