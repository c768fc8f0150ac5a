//! Tracks: the rows of the timeline, in a tree.

use serde::{Deserialize, Serialize};

use super::{Identity, TableId};

/// A track of a segment, in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrackId(pub u32);

/// Content of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrackContent {
    /// No rows: a heading with tracks below.
    Group,
    /// Slices and instants of one table.
    Slices(TableId, Nesting),
    /// Samples of one counter, each a row of this table.
    Counter(TableId),
}

/// Meaning of one slice inside another on the same track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// The outer slice called the inner one (host threads): depth is kept.
    Calls,
    /// Both ran at the same time (pipelined engines, streams): no depth.
    Concurrent,
}

/// Description of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackSpec {
    /// Name shown at the left, e.g. "Tensor" or "qSyncIO0 · E3".
    pub name: String,
    /// Group of the track.
    pub parent: Option<TrackId>,
    /// Content of the track.
    pub kind: TrackContent,
    /// Sort key among siblings. Equal keys are in the order of definition.
    pub sort: i64,
    /// Unit of a counter's values.
    pub unit: super::Unit,
    /// Whether a group starts open or closed on the page.
    pub initially: Initially,
    /// Part of the machine that the track shows.
    pub identity: Identity,
}

/// Whether a group of tracks starts open or closed on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Initially {
    /// The tracks of the group are shown.
    #[default]
    Open,
    /// Only the heading of the group is shown.
    Closed,
}

impl TrackSpec {
    /// Creates a heading.
    #[must_use]
    pub fn group(name: &str, parent: Option<TrackId>, sort: i64) -> Self {
        Self::new(name, parent, TrackContent::Group, sort)
    }

    /// Creates a track of slices.
    #[must_use]
    pub fn slices(name: &str, parent: Option<TrackId>, table: TableId, nesting: Nesting, sort: i64) -> Self {
        Self::new(name, parent, TrackContent::Slices(table, nesting), sort)
    }

    /// Creates a counter.
    #[must_use]
    pub fn counter(
        name: &str,
        parent: Option<TrackId>,
        table: TableId,
        unit: super::Unit,
        sort: i64,
    ) -> Self {
        Self { unit, ..Self::new(name, parent, TrackContent::Counter(table), sort) }
    }

    fn new(name: &str, parent: Option<TrackId>, kind: TrackContent, sort: i64) -> Self {
        Self {
            name: name.to_owned(),
            parent,
            kind,
            sort,
            unit: super::Unit::None,
            initially: Initially::Open,
            identity: Identity::default(),
        }
    }

    /// Returns the track with this identity.
    #[must_use]
    pub fn showing(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }
}
