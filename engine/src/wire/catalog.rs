//! Messages about profiles and ranks: the list of profiles, and the contents of a profile and a
//! rank.

use serde::{Deserialize, Serialize};

use super::clock::{Clock, ClockBy};
use super::message_times::{TimeField, Timed};
use super::rank_ref::RankRef;
use super::selection::Side;
use crate::model::{TableKind, Warning};

/// All profiles of a store, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileList {
    /// One entry per profile.
    pub profiles: Vec<ProfileEntry>,
}

/// A profile in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileEntry {
    /// Id: `n_<40 hex>` or `p_<40 hex>`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[np]_[0-9a-f]{40}$")))]
    pub id: String,
    /// Name in URLs: the name that the user gave (`--db-bucket`), else the id.
    pub slug: String,
    /// Further names in URLs. Each leads to the same profile.
    pub aliases: Vec<String>,
    /// Display name (`--display-name`), else the slug or the input's file name.
    pub display_name: String,
    /// Time of ingest, in Unix milliseconds.
    pub created_unix_ms: i64,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of slices, instants and samples of all ranks.
    pub events: u64,
    /// Size in the store, in bytes.
    pub size_bytes: u64,
    /// Number of kinds of warnings of ingest, over all ranks. The count of each kind is in
    /// [`RankDetail`].
    pub warnings: u64,
    /// The kind of trace, e.g. `neuron`.
    pub source: String,
}

/// One profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileInfo {
    /// Entry in the list.
    pub entry: ProfileEntry,
    /// Earliest time of all ranks, in picoseconds since the origin that the ranks share.
    pub start_ps: i64,
    /// Latest time of all ranks, in picoseconds since the same origin.
    pub end_ps: i64,
    /// The span that is worth looking at first, if it is clearly shorter than the profile: first
    /// and last time in picoseconds. It is the busiest span, or the extent of slices without
    /// instants and samples far outside.
    pub active_ps: Option<(i64, i64)>,
    /// Ranks, in order. If all of them have a job segment, it comes first, as `all`.
    pub ranks: Vec<RankEntry>,
    /// The ranks of the whole profile, if this is an exported part of it. Times of a part count
    /// from the first event of the whole.
    pub whole: Vec<RankEntry>,
}

/// A rank in a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankEntry {
    /// The rank in the job; unique in the profile.
    pub rank: RankRef,
    /// Name of its host, if known.
    pub host: Option<String>,
    /// Device on its host, if known.
    pub device: Option<u32>,
    /// Core on its device, if known.
    pub core: Option<u32>,
    /// Number of slices, instants and samples.
    pub events: u64,
    /// Earliest time, in picoseconds.
    pub start_ps: i64,
    /// Latest time, in picoseconds.
    pub end_ps: i64,
    /// Identifies the content of the rank. Part of the URL of its tiles.
    pub content: String,
    /// Input file of the rank.
    pub input: String,
    /// Map from the rank's times to the times that all ranks share. `None` if the rank's times are
    /// the shared times as far as known.
    pub clock: Option<Clock>,
    /// Origin of the clock. `None` without a clock.
    pub clock_by: Option<ClockBy>,
    /// The clock that the calls of all ranks show, which the job segment uses; that of the user
    /// if the user set one. `None` if the ranks were not compared yet.
    pub found: Option<Clock>,
}

impl RankEntry {
    /// The content identifier in the URLs of tiles: the content of their segment and the version of
    /// messages. A browser then never takes a tile of another version from its cache.
    #[must_use]
    pub fn content_of(segment: &str) -> String {
        format!("{segment}{VERSION_MARK}{}", super::VERSION)
    }

    /// The content of the segment.
    #[must_use]
    pub fn segment(&self) -> &str {
        self.content.split(VERSION_MARK).next().unwrap_or_default()
    }
}

/// Separates the content of a segment, in hexadecimal, from the version of messages.
const VERSION_MARK: char = 'v';

/// All data that the page needs to lay out a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankDetail {
    /// Entry in the profile.
    pub entry: RankEntry,
    /// All tracks; a parent comes before its children, siblings are in display order.
    pub tracks: Vec<Track>,
    /// Groups of tracks that share tiles.
    pub groups: Vec<TileGroup>,
    /// All tables.
    pub tables: Vec<Table>,
    /// Warnings of ingest.
    pub warnings: Vec<WarningEntry>,
    /// Wall clock at time zero, in Unix nanoseconds, if known.
    pub origin_unix_ns: Option<i64>,
    /// Name of the devices, as their maker sells them, if the trace states it.
    pub device_name: Option<String>,
    /// Colour numbers of the profile's names, the same for all its ranks.
    pub names: Vec<NameSlot>,
}

/// The colour number of a kind of name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameSlot {
    /// The name without its digits.
    pub kind: String,
    /// Number of the colour. The first numbers differ most.
    pub slot: u8,
}

/// A track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Track {
    /// Number of the track.
    pub id: u32,
    /// Group that contains the track.
    pub parent: Option<u32>,
    /// Name at the left of the timeline.
    pub name: String,
    /// Content of the track.
    pub kind: TrackKind,
    /// Number of lanes of slices; 1 for counters, 0 for groups.
    pub lanes: u32,
    /// Number of slices or samples.
    pub rows: u64,
    /// Tile group with the track's data; `None` for groups and empty tracks.
    pub group: Option<u32>,
    /// Smallest and largest value of a counter.
    #[cfg_attr(feature = "schema", schemars(with = "Option<(Option<f64>, Option<f64>)>"))]
    pub value_range: Option<(f64, f64)>,
    /// Unit of a counter's values: a symbol such as `B`, `B/s`, `ns`; empty for a plain number.
    pub unit: String,
    /// Whether a group starts closed.
    pub initially_closed: bool,
    /// The rank whose calls or computation the track shows, in a job segment.
    pub rank: Option<u32>,
    /// Whether the track shows collective operations, states or annotations, and no other work of
    /// the rank.
    pub is_auxiliary: bool,
    /// Whether the track shows annotations, whose time is not work.
    pub is_annotation: bool,
    /// Whether the track shows a state that lasts beside the work, such as throttling. Its time is
    /// not work, either.
    pub is_state: bool,
    /// The side of the machine that the track belongs to, if the trace tells.
    pub side: Option<Side>,
}

/// Content of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrackKind {
    /// A heading.
    Group,
    /// Slices and instants.
    Slices,
    /// A value over time.
    Counter,
}

/// A set of tracks that share tiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileGroup {
    /// Number of the group.
    pub id: u32,
    /// Numbers of its tracks.
    pub tracks: Vec<u32>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// Exported name.
    pub name: String,
    /// Kind of the rows.
    pub kind: TableKind,
    /// Heading over tables that belong together, e.g. "Device".
    pub group: String,
    /// Number of rows.
    pub rows: u64,
    /// How many of them are waits of operations that have a row of their own. The page shows them
    /// when asked.
    pub waits: u64,
    /// Explanation in one sentence.
    pub doc: String,
    /// Fields of the table.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field {
    /// Exported name.
    pub name: String,
    /// Symbol of the unit: `ns`, `B`, `B/s` …; empty if there is none.
    pub unit: String,
    /// Heading in the details.
    pub group: String,
    /// Explanation in one sentence.
    pub doc: String,
}

/// A warning of ingest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarningEntry {
    /// Kind of warning, e.g. "Damaged record".
    pub title: String,
    /// Description of the problem.
    pub what: String,
    /// Place of the first occurrence.
    pub first_place: String,
    /// Number of occurrences.
    pub count: u64,
}

impl From<&Warning> for WarningEntry {
    fn from(warning: &Warning) -> Self {
        Self {
            title: warning.kind.title().to_owned(),
            what: warning.what.clone(),
            first_place: warning.first_place.clone(),
            count: warning.count,
        }
    }
}

/// Has no times of events.
impl Timed for ProfileList {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

/// Spans of ranks stay on the clocks of the ranks.
impl Timed for ProfileInfo {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

/// The span of the rank stays on its clock.
impl Timed for RankDetail {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}
