//! Tracks: the rows of the timeline, in a tree.

use super::{Identity, TableId};

/// A track of a segment, in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(pub u32);

/// What a track shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrackKind {
    /// Nothing of its own: a heading with tracks below.
    Group,
    /// Slices and instants of one table.
    Slices(TableId, Nesting),
    /// Samples of one counter, a row of this table each.
    Counter(TableId),
}

/// What it means when one slice of a track lies inside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// The inner one was called by the outer one (host threads): depth is kept.
    Calls,
    /// Nothing: both ran at the same time (pipelined engines, streams).
    Concurrent,
}

/// What a track is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackSpec {
    /// Shown at the left, e.g. "Tensor" or "qSyncIO0 · E3".
    pub name: String,
    /// The group it belongs to.
    pub parent: Option<TrackId>,
    /// What it shows.
    pub kind: TrackKind,
    /// Siblings are shown in this order, then by definition.
    pub sort: i64,
    /// What one of a counter's values means.
    pub unit: super::Unit,
    /// Whether a group starts closed on the page.
    pub initially: Initially,
    /// The part of the machine that it shows.
    pub identity: Identity,
}

/// Whether a group of tracks starts open or closed on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Initially {
    /// Its tracks are shown.
    #[default]
    Open,
    /// Only its heading is shown.
    Closed,
}

impl TrackSpec {
    /// A heading.
    #[must_use]
    pub fn group(name: &str, parent: Option<TrackId>, sort: i64) -> Self {
        Self::new(name, parent, TrackKind::Group, sort)
    }

    /// A row for slices.
    #[must_use]
    pub fn slices(name: &str, parent: Option<TrackId>, table: TableId, nesting: Nesting, sort: i64) -> Self {
        Self::new(name, parent, TrackKind::Slices(table, nesting), sort)
    }

    /// A row for a counter.
    #[must_use]
    pub fn counter(
        name: &str,
        parent: Option<TrackId>,
        table: TableId,
        unit: super::Unit,
        sort: i64,
    ) -> Self {
        Self { unit, ..Self::new(name, parent, TrackKind::Counter(table), sort) }
    }

    fn new(name: &str, parent: Option<TrackId>, kind: TrackKind, sort: i64) -> Self {
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

    /// The same with this identity.
    #[must_use]
    pub fn showing(self, identity: Identity) -> Self {
        Self { identity, ..self }
    }
}
