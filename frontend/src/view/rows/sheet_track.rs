//! A track of a sheet, with the source of its data.

use nprof_engine::wire::catalog::TrackKind;

use super::track_path::TrackPath;
use crate::view::source_id::SourceId;

/// A track of a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetTrack {
    /// The source of its data.
    pub source: SourceId,
    /// Number of the track in its source; `None` for the heading of a source.
    pub number: Option<u32>,
    /// Path in its source.
    pub path: TrackPath,
    /// Index of its group in the sheet.
    pub parent: Option<usize>,
    /// Name at the left of the timeline.
    pub name: String,
    /// Content of the track.
    pub kind: TrackKind,
    /// Number of lanes of slices; 1 for counters, 0 for groups.
    pub lanes: u32,
    /// Number of slices or samples.
    pub rows: u64,
    /// Tile group of its data, in its source.
    pub group: Option<u32>,
    /// Smallest and largest value of a counter.
    pub value_range: Option<(f64, f64)>,
    /// Unit of a counter's values.
    pub unit: String,
    /// True if a group is closed until the user opens it.
    pub starts_closed: bool,
    /// The rank whose calls or computation it shows, among the tracks of all ranks.
    pub rank: Option<u32>,
    /// Whether the time of its slices is work: not that of annotations, and not that of states such
    /// as throttling.
    pub is_work: bool,
    /// The path of the pinned track that it shows of its rank, or is the heading of.
    pub pin: Option<TrackPath>,
}

impl SheetTrack {
    /// Whether it shows how much one of all ranks computes.
    #[must_use]
    pub fn is_load(&self) -> bool {
        self.rank.is_some() && self.kind == TrackKind::Counter
    }

    /// The rank that the row is about, if its place among rows of other ranks depends on the rank.
    #[must_use]
    pub fn subject(&self) -> Option<u32> {
        self.rank
            .or_else(|| (self.pin.is_some() && self.number.is_some()).then_some(self.source.rank)?.number())
    }

    /// A heading without a track of its own.
    pub(super) fn heading(source: SourceId, path: TrackPath, name: String) -> Self {
        Self {
            source,
            number: None,
            path,
            parent: None,
            name,
            kind: TrackKind::Group,
            lanes: 0,
            rows: 0,
            group: None,
            value_range: None,
            unit: String::new(),
            starts_closed: false,
            rank: None,
            is_work: true,
            pin: None,
        }
    }
}
