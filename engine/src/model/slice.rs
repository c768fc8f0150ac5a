//! Slices: `[start, end)` on a track, with a name and fields.

use super::{FieldId, NameId, TrackId, Value};

/// A slice's handle while a trace is read: its track, and how many slices of that track arrived before it. Links between
/// slices are made with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceKey {
    /// Where it stands.
    pub track: TrackId,
    /// Slices of the track that arrived before it.
    pub arrival: u32,
}

/// What kind of thing stands on the track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// It began and ended.
    #[default]
    Complete,
    /// A moment; its duration is zero.
    Instant,
    /// It began and its end was never seen: it reaches to the last moment of its track.
    Unfinished,
}

impl Form {
    /// All forms; the position is the code in the format (`docs/format.md`, Forms).
    pub const ALL: [Self; 3] = [Self::Complete, Self::Instant, Self::Unfinished];
}

/// One slice or instant on its way in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SliceRecord<'a> {
    /// Where it stands.
    pub track: TrackId,
    /// Picoseconds since the profile's origin.
    pub start_ps: i64,
    /// Picoseconds; not negative.
    pub duration_ps: i64,
    /// What it shows.
    pub name: NameId,
    /// What kind of thing it is.
    pub form: Form,
    /// Its fields, each at most once, of the track's table.
    pub fields: &'a [(FieldId, Value<'a>)],
}
