//! The item under the pointer.

use std::sync::Arc;

use nprof_engine::base::Interval;
use nprof_engine::model::SliceForm;

use crate::view::band::BandSpan;
use crate::view::point::Point;
use crate::view::time::axis::Axis;

/// An item under the pointer, for a tooltip.
#[derive(Debug, Clone, PartialEq)]
pub struct Hover {
    /// Position of the pointer, in CSS pixels of the browser's viewport.
    pub client: Point,
    /// Index of the track in the sheet.
    pub track: usize,
    /// The item.
    pub what: Hovered,
}

/// Kinds of items under the pointer.
#[derive(Debug, Clone, PartialEq)]
pub enum Hovered {
    /// One slice or instant.
    Slice {
        /// Row of the slice.
        row: u32,
        /// Name of the slice.
        name: String,
        /// Start in picoseconds.
        start_ps: i64,
        /// Duration in picoseconds; 0 for instants.
        duration_ps: i64,
        /// Form of the slice.
        form: SliceForm,
    },
    /// Several slices, too short to be told apart at this zoom.
    Cell {
        /// Span of the cell.
        span: Interval,
        /// Time covered by slices.
        busy_ps: u64,
        /// The part of this time that is only waiting.
        wait_ps: u64,
        /// Number of slices that start in the cell.
        count: u32,
        /// The name with the most time.
        name: String,
        /// The row of the longest slice.
        longest_row: u32,
        /// Duration of the longest slice.
        longest_ps: u64,
    },
    /// A period in which a device may use only a part of its peak.
    Limit {
        /// Row of the period, of the longest one of several.
        row: u32,
        /// Its name.
        name: String,
        /// Start in picoseconds.
        start_ps: i64,
        /// Duration in picoseconds.
        duration_ps: i64,
        /// Share of the peak that is allowed.
        share: f32,
        /// Part of the duration in which the limit holds.
        part: f32,
    },
    /// A closed group.
    Group {
        /// Span of the cell under the pointer.
        span: Interval,
        /// Average number of lanes that work.
        busy_lanes: f64,
        /// Number of lanes in the group.
        lanes: u32,
        /// The names with the most time in the cell, each with its average number of lanes.
        names: Vec<(String, f64)>,
    },
    /// A counter's value.
    Sample {
        /// Row of the sample.
        row: u32,
        /// Time of the sample.
        time_ps: i64,
        /// The value.
        value: f64,
    },
    /// Several samples of a counter.
    Range {
        /// Span of the cell.
        span: Interval,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Last value.
        last: f64,
    },
    /// The saving on the box of a finding.
    Finding(Arc<BandSpan>),
}

impl Hovered {
    /// The same item with the times of another axis.
    #[must_use]
    pub fn moved(mut self, axis: Axis) -> Self {
        match &mut self {
            Self::Slice { start_ps, duration_ps, .. } | Self::Limit { start_ps, duration_ps, .. } => {
                let end_ps = axis.shared(start_ps.saturating_add(*duration_ps));
                *start_ps = axis.shared(*start_ps);
                *duration_ps = end_ps.saturating_sub(*start_ps);
            }
            Self::Cell { span, .. } | Self::Group { span, .. } | Self::Range { span, .. } => {
                *span = axis.shared_span(*span);
            }
            Self::Sample { time_ps, .. } => *time_ps = axis.shared(*time_ps),
            // Places of findings have the times of the page.
            Self::Finding(_) => {}
        }
        self
    }

    /// The row that a click selects. `None` for counters, which are read instead.
    #[must_use]
    pub fn slice_row(&self) -> Option<u32> {
        match self {
            Self::Slice { row, .. } | Self::Limit { row, .. } | Self::Cell { longest_row: row, .. } => {
                Some(*row)
            }
            Self::Group { .. } | Self::Sample { .. } | Self::Range { .. } | Self::Finding(_) => None,
        }
    }
}
