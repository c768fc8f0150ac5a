//! What the pointer is on.

use nprof_engine::base::Interval;

/// Something under the pointer, for a tooltip.
#[derive(Debug, Clone, PartialEq)]
pub struct Hover {
    /// Where the pointer is, in CSS pixels of the browser's viewport.
    pub client_px: (f64, f64),
    /// The track, by number.
    pub track: u32,
    /// What is there.
    pub what: Hovered,
}

/// What is under the pointer.
#[derive(Debug, Clone, PartialEq)]
pub enum Hovered {
    /// One slice or instant.
    Slice {
        /// Its row.
        row: u32,
        /// What it shows.
        name: String,
        /// Start.
        start_ps: i64,
        /// Length; 0 for instants.
        duration_ps: i64,
        /// 0 complete, 1 instant, 2 unfinished.
        form: u8,
    },
    /// Several slices, too short to be told apart at this zoom.
    Cell {
        /// The cell.
        span: Interval,
        /// Time covered by slices.
        busy_ps: u64,
        /// Slices that start in it.
        count: u32,
        /// The name with the most time.
        name: String,
        /// The row of the longest slice.
        longest_row: u32,
        /// Its length.
        longest_ps: u64,
    },
    /// A closed group.
    Group {
        /// The group, by number.
        group: u32,
        /// The cell under the pointer.
        span: Interval,
        /// How many of its lanes work on average.
        busy_lanes: f64,
        /// How many lanes it has.
        lanes: u32,
        /// The names with the most time in the cell, each with the lanes that it takes on average.
        names: Vec<(String, f64)>,
    },
    /// A counter's value.
    Sample {
        /// The sample's row.
        row: u32,
        /// Since when.
        time_ps: i64,
        /// The value.
        value: f64,
    },
    /// Several samples of a counter.
    Range {
        /// The cell.
        span: Interval,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// The last value.
        last: f64,
    },
}

impl Hovered {
    /// The row to select when it is clicked; `None` for counters, which are read instead.
    #[must_use]
    pub fn slice_row(&self) -> Option<u32> {
        match self {
            Self::Slice { row, .. } | Self::Cell { longest_row: row, .. } => Some(*row),
            Self::Group { .. } | Self::Sample { .. } | Self::Range { .. } => None,
        }
    }
}
