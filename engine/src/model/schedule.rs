//! Schedules: slices that many tracks have in common. The calls of a collective operation begin
//! when each rank is ready, and all end together.

use super::{FieldId, NameId};

/// Slices that many tracks of a table have, each at about the stated time.
///
/// A schedule changes no row. It tells the store what to expect, so that the store keeps only how
/// each track differs from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Field with whole numbers that all rows of the table have.
    pub key: FieldId,
    /// The slices, by ascending key. The last slice of a key and name is for rows that do not
    /// follow as expected.
    pub slices: Vec<ScheduledSlice>,
}

/// A slice of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledSlice {
    /// Value of the key.
    pub key: i64,
    /// Name of the slice.
    pub name: NameId,
    /// Usual end, in picoseconds.
    pub end_ps: i64,
    /// Usual time since the end of the slice before on the same track, in picoseconds. `None` if
    /// the slice begins at that end.
    pub gap_ps: Option<i64>,
    /// Position in the schedule of the slice that usually follows on the same track.
    pub next: u32,
}
