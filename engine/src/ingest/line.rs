//! Pipeline between the producer of rows, which takes events, and the consumer, which encodes and
//! writes them. Both can run at the same time: the producer fills the next group of rows while the
//! consumer encodes the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::builder::NO_TRACK;
use super::encoders::Encoders;
use super::held::Held;
use super::rows::Rows;
use super::track_writer::{TrackOutput, TrackWriter};
use crate::base::{Interval, Result};
use crate::codec::{Around, Texts};
use crate::exec::Exec;
use crate::model::{TableId, TrackId, TrackKind};
use crate::segment::PieceWriter;

/// The table and track of a group, ordered like rows: by table, then track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The table.
    pub table: TableId,
    /// The track; `None` for rows of side tables.
    pub track: Option<TrackId>,
}

impl Place {
    /// The place as a number in the order of rows.
    pub(super) fn key(self) -> u64 {
        u64::from(self.table.0) << u32::BITS | u64::from(self.track.map_or(NO_TRACK, |track| track.0))
    }

    /// The place of a number that [`Place::key`] returned.
    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart on purpose")]
    pub(super) fn of_key(key: u64) -> Self {
        let track = key as u32;
        let track = (track != NO_TRACK).then_some(TrackId(track));
        Self { table: TableId((key >> u32::BITS) as u16), track }
    }
}

/// Rows of one track, in their final order.
#[derive(Debug)]
pub struct TrackGroup {
    pub(super) place: Place,
    pub(super) kind: Option<TrackKind>,
    pub(super) rows: Rows,
    /// Numbers of the names of waits so far, ascending, including all waits of the rows.
    pub(super) waits: Arc<Vec<u32>>,
}

/// Emptied columns of a written group, whose memory the next group can use.
#[derive(Debug, Default)]
pub struct Emptied(pub(super) Rows);

/// Layout of a segment by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The pieces stand behind the footer, in the same frame.
    Small,
    /// The pieces are pieces of the file.
    Large,
}

/// Sends groups to the consumer.
pub trait Line<'a> {
    /// Sends a group. Returns emptied columns for reuse, possibly of an earlier group.
    ///
    /// # Errors
    /// If the consumer fails.
    fn send(&mut self, group: TrackGroup) -> Result<Emptied>;

    /// Sends chunks of the dictionary, in order.
    ///
    /// # Errors
    /// If the consumer fails.
    fn send_texts(&mut self, chunks: Vec<Texts>) -> Result<()>;

    /// Waits until all groups are written.
    ///
    /// # Errors
    /// If the consumer fails.
    fn end(self: Box<Self>) -> Result<Back<'a>>;
}

/// Consumer of a build: encodes and writes groups.
pub struct Back<'a> {
    pub(super) writer: PieceWriter<'a>,
    encoders: Encoders<'a>,
    tracks: BTreeMap<Place, TrackWriter>,
    held: Held,
    /// Encoded chunks of the dictionary. The chunks are small and are written together at the end.
    chunks: Vec<Vec<u8>>,
}

/// Output of the consumer, and the state that is needed to write the rest.
pub(super) struct Backed<'a> {
    pub writer: PieceWriter<'a>,
    pub tracks: BTreeMap<Place, TrackOutput>,
    /// Chunks of the dictionary.
    pub chunks: Vec<Vec<u8>>,
    /// Encoders for the remaining parts.
    pub encoders: Encoders<'a>,
}

impl<'a> Back<'a> {
    /// Creates a consumer that writes through `writer` and encodes on `exec`.
    pub fn new(writer: PieceWriter<'a>, exec: &'a dyn Exec) -> Self {
        let (tracks, held) = (BTreeMap::new(), Held::default());
        Self { writer, encoders: Encoders::new(exec), tracks, held, chunks: Vec::new() }
    }

    /// Encodes and writes a group, or holds it while the track is still short.
    ///
    /// # Errors
    /// If the output cannot be written.
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

    /// Writes the parts of whole tracks and the held rows. `span` covers the whole trace. `rest`
    /// holds the last chunks of the dictionary.
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

/// Runs the consumer on the producer's thread.
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
