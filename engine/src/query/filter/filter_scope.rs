//! The facts about a rank that a query needs and its segment does not have.

use crate::base::{ClockFit, Interval};

/// The rank of a query.
#[derive(Debug, Clone, Copy, Default)]
pub struct FilterScope<'a> {
    /// Number of the rank. All ranks together have none.
    pub rank: Option<u32>,
    /// The map from the segment's times to those that all ranks share.
    pub clock: ClockFit,
    /// The shared time from which `start` counts.
    pub zero_ps: i64,
    /// The regions of the rank, if
    /// [`WordFilter::needs_regions`](super::WordFilter::needs_regions).
    pub regions: &'a [RegionSpan],
    /// Short names of fields.
    pub short_names: &'a [ShortName],
}

/// A region of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionSpan {
    /// Its name.
    pub name: String,
    /// Its span, on the clock of the segment.
    pub span: Interval,
}

/// A short name for a field. One that several fields have means the first field that a rank has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortName {
    /// The short name.
    pub short: &'static str,
    /// The name of the field in exports.
    pub field: &'static str,
}
