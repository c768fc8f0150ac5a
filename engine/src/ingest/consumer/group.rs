//! Rows of a track that are encoded together, and their place in the file.

use std::sync::Arc;

use crate::base::Interval;
use crate::ingest::rows::RowBuffer;
use crate::model::{TableId, TrackContent, TrackId, WaitNames};

/// Track number of rows of side tables, which belong to no track.
pub const NO_TRACK: u32 = u32::MAX;

/// The table and track of a group, ordered like rows: by table, then track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// The table.
    pub table: TableId,
    /// The track; `None` for rows of side tables.
    pub track: Option<TrackId>,
}

impl GroupKey {
    /// The place as a number in the order of rows.
    pub(in crate::ingest) fn key(self) -> u64 {
        u64::from(self.table.0) << u32::BITS | u64::from(self.track.map_or(NO_TRACK, |track| track.0))
    }

    /// The place of a number that [`GroupKey::key`] returned.
    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
    pub(in crate::ingest) fn of_key(key: u64) -> Self {
        let track = key as u32;
        let track = (track != NO_TRACK).then_some(TrackId(track));
        Self { table: TableId((key >> u32::BITS) as u16), track }
    }
}

/// Rows of one track, in their final order.
#[derive(Debug)]
pub struct TrackGroup {
    pub(in crate::ingest) place: GroupKey,
    pub(in crate::ingest) kind: Option<TrackContent>,
    pub(in crate::ingest) rows: RowBuffer,
    /// The names of waits so far, including all waits of the rows.
    pub(in crate::ingest) waits: Arc<WaitNames>,
    /// When further rows can come.
    pub(in crate::ingest) rest: GroupRest,
}

/// Rows that can come after a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum GroupRest {
    /// Rows of this and of other tracks.
    Any,
    /// Rows of this track and of the tracks after it. The span is that of the whole trace.
    Sorted(Interval),
    /// Rows of the tracks after this one only.
    Later(Interval),
}

impl GroupRest {
    /// The span of the whole trace, if it is known.
    pub(super) fn whole(self) -> Option<Interval> {
        match self {
            Self::Any => None,
            Self::Sorted(span) | Self::Later(span) => Some(span),
        }
    }
}
