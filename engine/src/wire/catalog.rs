//! What profiles there are, and what a profile and a rank consist of.

use serde::{Deserialize, Serialize};

use crate::model::Warning;

/// All profiles of a store, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileList {
    /// One entry each.
    pub profiles: Vec<ProfileEntry>,
}

/// A profile in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileEntry {
    /// `n_<40 hex>` or `p_<40 hex>`.
    pub id: String,
    /// The name for URLs: the one its user gave (`--db-bucket`), else the id.
    pub slug: String,
    /// Further names for URLs; each leads to the same profile.
    pub aliases: Vec<String>,
    /// Shown to people (`--display-name`), else the slug or the input's file name.
    pub display_name: String,
    /// When it was ingested, in Unix milliseconds.
    pub created_unix_ms: i64,
    /// Number of ranks.
    pub ranks: u32,
    /// Slices, instants and samples of all ranks.
    pub events: u64,
    /// Bytes in the store.
    pub size_bytes: u64,
    /// Kinds of warnings of ingest, over all ranks. How often each came is in [`RankDetail`].
    pub warnings: u64,
    /// The kind of trace, e.g. `neuron`.
    pub source: String,
}

/// One profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// As in the list.
    pub entry: ProfileEntry,
    /// First moment of all ranks, in picoseconds since the origin that the ranks share.
    pub start_ps: i64,
    /// Last moment of all ranks, in picoseconds since the same origin.
    pub end_ps: i64,
    /// The stretch that is worth looking at first, where it is a small part of the profile: its first
    /// and last moment in picoseconds.
    pub active_ps: Option<(i64, i64)>,
    /// Its ranks, in order.
    pub ranks: Vec<RankEntry>,
}

/// A rank in a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankEntry {
    /// Its number in the job; unique in the profile.
    pub rank: u32,
    /// Device on its host, where known.
    pub device: Option<u32>,
    /// Core on its device, where known.
    pub core: Option<u32>,
    /// Slices, instants and samples.
    pub events: u64,
    /// First moment.
    pub start_ps: i64,
    /// Last moment.
    pub end_ps: i64,
    /// Identifies the segment's content; part of the URL of its tiles.
    pub content: String,
    /// The file it came from.
    pub input: String,
}

impl RankEntry {
    /// What addresses of tiles name: the content of the segment that they are cut from, and the version
    /// of messages. A browser then never takes a tile of another version from its cache.
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

/// Stands between the content of a segment, in hexadecimal, and the version of messages.
const VERSION_MARK: char = 'v';

/// Everything the page needs to lay out a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankDetail {
    /// As in the profile.
    pub entry: RankEntry,
    /// All tracks; a parent comes before its children, siblings are in display order.
    pub tracks: Vec<Track>,
    /// Groups that tiles are cut for.
    pub groups: Vec<TileGroup>,
    /// All tables.
    pub tables: Vec<Table>,
    /// What ingest had to say.
    pub warnings: Vec<WarningEntry>,
    /// Wall clock of time zero, in Unix nanoseconds, where known.
    pub origin_unix_ns: Option<i64>,
    /// Numbers of the profile's names, the same for all its ranks: a colour each.
    pub names: Vec<NameSlot>,
}

/// The number of a kind of name, for its colour ([`crate::query::NameSlot`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameSlot {
    /// The name without its digits.
    pub kind: String,
    /// Below [`crate::query::SLOTS`]; the first [`crate::query::FIRST_SLOTS`] differ most.
    pub slot: u8,
}

/// A track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Its number.
    pub id: u32,
    /// The group it is in.
    pub parent: Option<u32>,
    /// Shown at the left.
    pub name: String,
    /// What it shows.
    pub kind: TrackKind,
    /// Lines of slices that it needs; 1 for counters, 0 for groups.
    pub lanes: u32,
    /// Slices or samples.
    pub rows: u64,
    /// The tile group that its data comes with; `None` for groups and empty tracks.
    pub group: Option<u32>,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// What one of a counter's values means: a symbol such as `B`, `B/s`, `ns`; empty for a plain number.
    pub unit: String,
    /// Whether a group starts closed.
    pub initially_closed: bool,
}

/// What a track shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct TileGroup {
    /// Its number.
    pub id: u32,
    /// Its tracks.
    pub tracks: Vec<u32>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// As exported.
    pub name: String,
    /// `slices`, `samples` or `side`.
    pub kind: String,
    /// Number of rows.
    pub rows: u64,
    /// One sentence.
    pub doc: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// As exported.
    pub name: String,
    /// A symbol: `ns`, `B`, `B/s` …; empty for none.
    pub unit: String,
    /// Heading in the details.
    pub group: String,
    /// One sentence.
    pub doc: String,
}

/// A warning of ingest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningEntry {
    /// What sort, e.g. "Damaged record".
    pub title: String,
    /// What exactly.
    pub what: String,
    /// Where it happened first.
    pub first_place: String,
    /// How often.
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
