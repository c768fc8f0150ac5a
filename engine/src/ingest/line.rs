//! From the front of a build, which takes events, to its back, which encodes and writes them. The two may run at the same
//! time: the front fills the next group of rows while the back encodes the last.

use std::collections::BTreeMap;

use super::rows::Rows;
use super::track_writer::{TrackOutput, TrackWriter};
use super::workers::Workers;
use crate::base::{Interval, Result};
use crate::model::{TableId, TrackId, TrackKind};
use crate::segment::PieceWriter;

/// Whose rows a group has. In the order of rows: tables, in each its tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The table.
    pub table: TableId,
    /// The track, `None` for rows of side tables.
    pub track: Option<TrackId>,
}

/// Rows of one track, in their final order.
#[derive(Debug)]
pub struct TrackGroup {
    pub(super) place: Place,
    pub(super) kind: Option<TrackKind>,
    pub(super) rows: Rows,
}

/// The empty columns of a group that has been written, whose memory the next one can use.
#[derive(Debug, Default)]
pub struct Emptied(pub(super) Rows);

/// Takes groups to the back.
pub trait Line<'a> {
    /// Hands over a group. What comes back is empty, and maybe of an earlier group.
    ///
    /// # Errors
    /// Those of the back.
    fn send(&mut self, group: TrackGroup) -> Result<Emptied>;

    /// Waits until all groups are written.
    ///
    /// # Errors
    /// Those of the back.
    fn end(self: Box<Self>) -> Result<Back<'a>>;
}

/// The back of a build.
pub struct Back<'a> {
    pub(super) writer: PieceWriter<'a>,
    workers: Box<dyn Workers + 'a>,
    tracks: BTreeMap<Place, TrackWriter>,
}

impl<'a> Back<'a> {
    /// Writes through `writer`, with the help of `workers`.
    pub fn new(writer: PieceWriter<'a>, workers: impl Workers + 'a) -> Self {
        Self { writer, workers: Box::new(workers), tracks: BTreeMap::new() }
    }

    /// Encodes and writes a group.
    ///
    /// # Errors
    /// Those of the output.
    pub fn take(&mut self, mut group: TrackGroup) -> Result<Emptied> {
        let track = self.tracks.entry(group.place).or_insert_with(|| TrackWriter::new(group.kind));
        track.write(&group.rows, &mut *self.workers, &mut self.writer)?;
        group.rows.clear();
        Ok(Emptied(group.rows))
    }

    /// Writes what belongs to whole tracks. `span` is that of the whole trace.
    pub(super) fn finish(self, span: Interval) -> Result<(PieceWriter<'a>, BTreeMap<Place, TrackOutput>)> {
        let Self { mut writer, tracks, .. } = self;
        let mut outputs = BTreeMap::new();
        for (place, track) in tracks {
            outputs.insert(place, track.finish(span, &mut writer)?);
        }
        Ok((writer, outputs))
    }
}

/// No line at all: the front waits for the back.
pub(super) struct Direct<'a>(pub Back<'a>);

impl<'a> Line<'a> for Direct<'a> {
    fn send(&mut self, group: TrackGroup) -> Result<Emptied> {
        self.0.take(group)
    }

    fn end(self: Box<Self>) -> Result<Back<'a>> {
        Ok(self.0)
    }
}
