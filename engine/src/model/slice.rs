//! Slices: `[start, end)` on a track, with a name and fields.

use serde::{Deserialize, Serialize};

use super::{FieldId, NameId, TrackId, Value};

/// Handle of a slice while a trace is read: its track, and the number of slices of that track that
/// arrived before it. Links between slices are made with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceKey {
    /// Track of the slice.
    pub track: TrackId,
    /// Number of slices of the track that arrived before this one.
    pub arrival: u32,
}

/// Form of an item on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SliceForm {
    /// Item with a start and an end.
    #[default]
    Complete,
    /// Item with a time and no duration.
    Instant,
    /// Item with a start and no known end: it reaches to the last time of its track.
    Unfinished,
}

impl SliceForm {
    /// All forms; the position is the code in the format (`docs/format.md`, Forms).
    pub const ALL: [Self; 3] = [Self::Complete, Self::Instant, Self::Unfinished];

    /// The code in the format.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name in exports and in the page.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Instant => "instant",
            Self::Unfinished => "unfinished",
        }
    }

    /// The form with this code in the format, if there is one.
    #[must_use]
    pub fn of_code(code: i64) -> Option<Self> {
        // Not a position in `ALL`: a table is looked up code by code, and blocks have thousands.
        match code {
            0 => Some(Self::Complete),
            1 => Some(Self::Instant),
            2 => Some(Self::Unfinished),
            _ => None,
        }
    }
}

/// One slice or instant, as a reader passes it to the sink.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SliceRecord<'a> {
    /// Track of the slice.
    pub track: TrackId,
    /// Start in picoseconds since the profile's origin.
    pub start_ps: i64,
    /// Duration in picoseconds; not negative.
    pub duration_ps: i64,
    /// Name of the slice.
    pub name: NameId,
    /// Form of the slice.
    pub form: SliceForm,
    /// Fields of the track's table, each at most once.
    pub fields: &'a [(FieldId, Value<'a>)],
}
