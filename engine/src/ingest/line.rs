//! From the front of a build, which takes events, to its back, which encodes and writes them. The two may run at the same
//! time: the front fills the next group of rows while the back encodes the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::rows::Rows;
use super::track_writer::{TrackOutput, TrackWriter};
use super::workers::{Workers, gather};
use crate::base::{Interval, Result};
use crate::codec::Texts;
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
    /// Numbers of the names of waits so far, ascending: all that the rows have are among them.
    pub(super) waits: Arc<Vec<u32>>,
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

    /// Hands over chunks of the dictionary, in order.
    ///
    /// # Errors
    /// Those of the back.
    fn send_texts(&mut self, chunks: Vec<Texts>) -> Result<()>;

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
    /// Chunks of the dictionary, encoded: they are written together at the end, and small.
    chunks: Vec<Vec<u8>>,
}

/// What the back has written, and what is to be written with it.
pub(super) struct Backed<'a> {
    pub writer: PieceWriter<'a>,
    pub tracks: BTreeMap<Place, TrackOutput>,
    /// Chunks of the dictionary.
    pub chunks: Vec<Vec<u8>>,
    /// For what is still to be encoded.
    pub workers: Box<dyn Workers + 'a>,
}

impl<'a> Back<'a> {
    /// Writes through `writer`, with the help of `workers`.
    pub fn new(writer: PieceWriter<'a>, workers: impl Workers + 'a) -> Self {
        Self { writer, workers: Box::new(workers), tracks: BTreeMap::new(), chunks: Vec::new() }
    }

    /// Encodes and writes a group.
    ///
    /// # Errors
    /// Those of the output.
    pub fn take(&mut self, mut group: TrackGroup) -> Result<Emptied> {
        let track = self.tracks.entry(group.place).or_insert_with(|| TrackWriter::new(group.kind));
        track.write(&group.rows, &group.waits, &mut *self.workers, &mut self.writer)?;
        group.rows.clear();
        Ok(Emptied(group.rows))
    }

    /// Encodes chunks of the dictionary.
    pub fn take_texts(&mut self, chunks: &[Texts]) {
        self.chunks.extend(gather(&mut *self.workers, chunks.len(), |at, encoder| {
            let mut bytes = Vec::new();
            encoder.texts(chunks[at].iter(), &mut bytes);
            bytes
        }));
    }

    /// Writes what belongs to whole tracks. `span` is that of the whole trace.
    pub(super) fn finish(self, span: Interval) -> Result<Backed<'a>> {
        let Self { mut writer, mut workers, tracks, chunks } = self;
        let (places, open): (Vec<_>, Vec<_>) =
            tracks.into_iter().map(|(place, track)| (place, Mutex::new(Some(track)))).unzip();
        let closed = gather(&mut *workers, open.len(), |at, encoder| {
            let track: Option<TrackWriter> = open[at].lock().ok()?.take();
            Some(track?.close(span, encoder))
        });
        let mut tracks = BTreeMap::new();
        for (place, track) in places.into_iter().zip(closed) {
            if let Some(track) = track {
                tracks.insert(place, track.write(&mut writer)?);
            }
        }
        Ok(Backed { writer, tracks, chunks, workers })
    }
}

/// No line at all: the front waits for the back.
pub(super) struct Direct<'a>(pub Back<'a>);

impl<'a> Line<'a> for Direct<'a> {
    fn send(&mut self, group: TrackGroup) -> Result<Emptied> {
        self.0.take(group)
    }

    fn send_texts(&mut self, chunks: Vec<Texts>) -> Result<()> {
        self.0.take_texts(&chunks);
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Back<'a>> {
        Ok(self.0)
    }
}
