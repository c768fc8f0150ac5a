//! From the front of a build, which takes events, to its back, which encodes and writes them. The two may run at the same
//! time: the front fills the next group of rows while the back encodes the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::encoders::Encoders;
use super::held::Held;
use super::rows::Rows;
use super::track_writer::{TrackOutput, TrackWriter};
use crate::base::{Interval, Result};
use crate::codec::{Around, Texts};
use crate::exec::Exec;
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

/// How large a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// Its pieces stand behind the footer, in the same frame.
    Small,
    /// Its pieces are pieces of the file.
    Large,
}

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
    encoders: Encoders<'a>,
    tracks: BTreeMap<Place, TrackWriter>,
    held: Held,
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
    pub encoders: Encoders<'a>,
}

impl<'a> Back<'a> {
    /// Writes through `writer`, and encodes on `exec`.
    pub fn new(writer: PieceWriter<'a>, exec: &'a dyn Exec) -> Self {
        let (tracks, held) = (BTreeMap::new(), Held::default());
        Self { writer, encoders: Encoders::new(exec), tracks, held, chunks: Vec::new() }
    }

    /// Encodes and writes a group, or holds it until all rows of its track are known to be few.
    ///
    /// # Errors
    /// Those of the output.
    pub fn take(&mut self, mut group: TrackGroup) -> Result<Emptied> {
        if let Some((kind, rows)) = self.held.take(group.place) {
            self.write(TrackGroup { place: group.place, kind, rows, waits: Arc::clone(&group.waits) })?;
        } else if !self.tracks.contains_key(&group.place) && self.held.hold(&group) {
            group.rows.clear();
            return Ok(Emptied(group.rows));
        }
        self.write(group)
    }

    fn write(&mut self, mut group: TrackGroup) -> Result<Emptied> {
        let track = self.tracks.entry(group.place).or_insert_with(|| TrackWriter::new(group.kind));
        track.write(&group.rows, &group.waits, &self.encoders, &mut self.writer)?;
        group.rows.clear();
        Ok(Emptied(group.rows))
    }

    /// Encodes chunks of the dictionary.
    pub fn take_texts(&mut self, chunks: &[Texts]) {
        self.encode_texts(chunks, Around::Nothing);
    }

    fn encode_texts(&mut self, chunks: &[Texts], around: Around) {
        self.chunks.extend(self.encoders.gather(chunks.len(), |at, encoder| {
            let mut bytes = Vec::new();
            encoder.within(around, |encoder| encoder.texts(chunks[at].iter(), &mut bytes));
            bytes
        }));
    }

    /// Writes what belongs to whole tracks, and what was held. `span` is that of the whole trace, `rest` the last chunks of
    /// the dictionary.
    pub(super) fn finish(mut self, span: Interval, rest: &[Texts], size: Size) -> Result<Backed<'a>> {
        let around = match size {
            Size::Small => {
                self.writer.begin_annex();
                Around::Frame
            }
            Size::Large => Around::Nothing,
        };
        self.encode_texts(rest, around);
        let Self { mut writer, encoders, tracks, held, chunks } = self;
        let packs = held.into_packs(&tracks);
        let packed = encoders
            .gather(packs.len(), |at, encoder| encoder.within(around, |encoder| packs[at].encode(encoder)));
        let (places, open): (Vec<_>, Vec<_>) =
            tracks.into_iter().map(|(place, track)| (place, Mutex::new(Some(track)))).unzip();
        let closed = encoders.gather(open.len(), |at, encoder| {
            let track: Option<TrackWriter> = open[at].lock().ok()?.take();
            Some(track?.close(span, encoder))
        });
        let mut tracks = BTreeMap::new();
        for (pack, encoded) in packs.iter().zip(packed) {
            tracks.insert(pack.place(), encoded.write(&mut writer)?);
        }
        for (place, track) in places.into_iter().zip(closed) {
            if let Some(track) = track {
                tracks.insert(place, track.write(&mut writer)?);
            }
        }
        Ok(Backed { writer, tracks, chunks, encoders })
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
