//! Pipeline between the producer of rows, which takes events, and the consumer, which encodes and
//! writes them. Both can run at the same time: the producer fills the next group of rows while the
//! consumer encodes the last.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use super::group::{GroupKey, GroupRest, TrackGroup};
use super::held_rows::HeldRows;
use super::shared_program::{SharedPieces, SharedProgram};
use super::track_output::TrackOutput;
use super::track_writer::{ClosedTrack, TrackWriter};
use crate::base::{Interval, Result};
use crate::codec::{ColumnTexts, OuterCompression};
use crate::exec::Exec;
use crate::ingest::encoders::Encoders;
use crate::ingest::rows::RowBuffer;
use crate::model::TableId;
use crate::segment::PieceWriter;

/// Empty columns of a written group, whose memory the next group can use.
#[derive(Debug, Default)]
pub struct EmptiedRows(pub(in crate::ingest) RowBuffer);

/// Layout of a segment by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum Size {
    /// The pieces stand behind the footer, in the same frame.
    Small,
    /// The pieces are pieces of the file.
    Large,
}

/// Sends groups to the consumer.
pub trait Pipeline<'a> {
    /// Sends a group. Returns emptied columns for reuse, possibly of an earlier group.
    fn send(&mut self, group: TrackGroup) -> Result<EmptiedRows>;

    /// Sends chunks of the dictionary, in order.
    fn send_texts(&mut self, chunks: Vec<ColumnTexts>) -> Result<()>;

    /// Sends the program that the tracks of a table share, before their groups.
    fn send_program(&mut self, table: TableId, program: Arc<SharedProgram>) -> Result<()>;

    /// Waits until all groups are written.
    fn end(self: Box<Self>) -> Result<Consumer<'a>>;
}

/// Consumer of a build: encodes and writes groups.
pub struct Consumer<'a> {
    pub(in crate::ingest) writer: PieceWriter<'a>,
    encoders: Encoders<'a>,
    tracks: BTreeMap<GroupKey, TrackWriter>,
    /// Programs that tracks share, by table.
    shared: BTreeMap<TableId, Arc<SharedProgram>>,
    held: HeldRows,
    done: Done,
    /// Approximate bytes of all open pyramids.
    pyramid_bytes: usize,
    /// Encoded chunks of the dictionary. The chunks are small and are written together at the end.
    chunks: Vec<Vec<u8>>,
}

/// Tracks that get no more rows.
#[derive(Default)]
struct Done {
    /// Tracks whose blocks are written.
    closed: BTreeMap<GroupKey, ClosedTrack>,
    /// Packs of short tracks, by their first track.
    packs: BTreeMap<GroupKey, TrackOutput>,
}

/// Most bytes of cells of all pyramids that wait. Beyond this, the track that grows writes or gives
/// up its cells.
const MAX_PYRAMID_BYTES: usize = 48 << 20;
/// Most bytes of a pyramid that has written what it can, while the others take too much.
const MAX_SHED_BYTES: usize = 2 << 20;
/// Tracks that are closed at once.
const CLOSE_TRACKS: usize = 256;

/// Output of the consumer, and the state that is needed to write the rest.
pub(in crate::ingest) struct Consumed<'a> {
    pub writer: PieceWriter<'a>,
    pub tracks: BTreeMap<GroupKey, TrackOutput>,
    /// Chunks of the dictionary.
    pub chunks: Vec<Vec<u8>>,
    /// Encoders for the remaining parts.
    pub encoders: Encoders<'a>,
}

impl<'a> Consumer<'a> {
    /// Creates a consumer that writes through `writer` and encodes on `exec`.
    pub fn new(writer: PieceWriter<'a>, exec: &'a dyn Exec) -> Self {
        Self {
            writer,
            encoders: Encoders::new(exec),
            tracks: BTreeMap::new(),
            shared: BTreeMap::new(),
            held: HeldRows::default(),
            done: Done::default(),
            pyramid_bytes: 0,
            chunks: Vec::new(),
        }
    }

    /// Encodes and writes a group, or holds it while the track is still short.
    pub fn take(&mut self, mut group: TrackGroup) -> Result<EmptiedRows> {
        let (place, rest) = (group.place, group.rest);
        if let Some((kind, rows)) = self.held.take(place) {
            self.write(TrackGroup {
                place,
                kind,
                rows,
                waits: Arc::clone(&group.waits),
                rest: GroupRest::Any,
            })?;
        } else if !self.tracks.contains_key(&place) {
            if matches!(rest, GroupRest::Sorted(_) | GroupRest::Later(_)) && self.held.is_full() {
                let held = self.held.take_before(place);
                self.write_packs(held, OuterCompression::Nothing)?;
            }
            if self.held.hold(&group) {
                group.rows.clear();
                return Ok(EmptiedRows(group.rows));
            }
        }
        let emptied = self.write(group)?;
        if let GroupRest::Later(span) = rest
            && let Some(track) = self.tracks.remove(&place)
        {
            self.close(vec![(place, track)], span);
        }
        Ok(emptied)
    }

    fn write(&mut self, mut group: TrackGroup) -> Result<EmptiedRows> {
        if group.rows.len() > 0 {
            let shared = self.shared.get(&group.place.table);
            let new = || TrackWriter::new(group.kind, group.rest.whole(), shared.cloned());
            let track = self.tracks.entry(group.place).or_insert_with(new);
            let before = track.pyramid_bytes();
            track.write(&group.rows, &group.waits, &self.encoders, &mut self.writer)?;
            self.pyramid_bytes = (self.pyramid_bytes + track.pyramid_bytes()).saturating_sub(before);
            if self.pyramid_bytes > MAX_PYRAMID_BYTES {
                let before = track.pyramid_bytes();
                track.shed(MAX_SHED_BYTES, &self.encoders, &mut self.writer)?;
                self.pyramid_bytes = (self.pyramid_bytes + track.pyramid_bytes()).saturating_sub(before);
            }
        }
        group.rows.clear();
        Ok(EmptiedRows(group.rows))
    }

    /// Encodes the other parts of tracks that get no more rows.
    fn close(&mut self, tracks: Vec<(GroupKey, TrackWriter)>, span: Interval) {
        let (places, open): (Vec<_>, Vec<_>) =
            tracks.into_iter().map(|(place, track)| (place, Mutex::new(Some(track)))).unzip();
        let closed = self.encoders.gather(open.len(), |at, encoder| {
            let mut track: TrackWriter = open[at].lock().ok()?.take()?;
            let bytes = track.pyramid_bytes();
            Some((track.close(span, encoder), bytes))
        });
        for (place, closed) in places.into_iter().zip(closed) {
            if let Some((track, bytes)) = closed {
                self.pyramid_bytes = self.pyramid_bytes.saturating_sub(bytes);
                self.done.closed.insert(place, track);
            }
        }
    }

    /// Writes the held rows of tracks that get no more rows.
    fn write_packs(&mut self, held: HeldRows, around: OuterCompression) -> Result<()> {
        let Self { writer, encoders, tracks, done, .. } = self;
        let is_written = |from: GroupKey, to: GroupKey| {
            let range = (Bound::Excluded(from), Bound::Excluded(to));
            tracks.range(range).next().is_some() || done.closed.range(range).next().is_some()
        };
        let packs = held.into_packs(is_written);
        let encoded = encoders
            .gather(packs.len(), |at, encoder| encoder.within(around, |encoder| packs[at].encode(encoder)));
        for (pack, encoded) in packs.iter().zip(encoded) {
            done.packs.insert(pack.place(), encoded.write(writer)?);
        }
        Ok(())
    }

    /// Takes the program that the tracks of a table share.
    pub fn take_program(&mut self, table: TableId, program: Arc<SharedProgram>) {
        self.shared.insert(table, program);
    }

    /// Encodes chunks of the dictionary.
    pub fn take_texts(&mut self, chunks: &[ColumnTexts]) {
        self.encode_texts(chunks, OuterCompression::Nothing);
    }

    fn encode_texts(&mut self, chunks: &[ColumnTexts], around: OuterCompression) {
        self.chunks.extend(self.encoders.gather(chunks.len(), |at, encoder| {
            let mut bytes = Vec::new();
            encoder.within(around, |encoder| encoder.texts(chunks[at].iter(), &mut bytes));
            bytes
        }));
    }

    /// Writes the parts of whole tracks and the held rows. `span` covers the whole trace. `rest`
    /// holds the last chunks of the dictionary.
    pub(in crate::ingest) fn finish(
        mut self,
        span: Interval,
        rest: &[ColumnTexts],
        size: Size,
    ) -> Result<Consumed<'a>> {
        let around = match size {
            Size::Small => {
                self.writer.begin_annex();
                OuterCompression::Frame
            }
            Size::Large => OuterCompression::Nothing,
        };
        self.encode_texts(rest, around);
        let held = std::mem::take(&mut self.held);
        self.write_packs(held, around)?;
        let mut open = std::mem::take(&mut self.tracks).into_iter();
        loop {
            let some: Vec<_> = open.by_ref().take(CLOSE_TRACKS).collect();
            if some.is_empty() {
                break;
            }
            self.close(some, span);
        }
        let Self { mut writer, encoders, done, chunks, .. } = self;
        let (mut tracks, mut waiting_bytes) = (done.packs, 0);
        let mut shared = SharedPieces::default();
        for (place, track) in done.closed {
            let mut written = track.write(place.table, &mut shared, &mut writer)?;
            if let Some(pyramid) = &mut written.pyramid {
                waiting_bytes += pyramid.waiting_bytes();
                if waiting_bytes > MAX_PYRAMID_BYTES {
                    pyramid.write(&mut writer)?;
                }
            }
            tracks.insert(place, written);
        }
        Ok(Consumed { writer, tracks, chunks, encoders })
    }
}

/// Runs the consumer on the producer's thread.
pub(in crate::ingest) struct Direct<'a>(pub Consumer<'a>);

impl<'a> Pipeline<'a> for Direct<'a> {
    fn send(&mut self, group: TrackGroup) -> Result<EmptiedRows> {
        self.0.take(group)
    }

    fn send_texts(&mut self, chunks: Vec<ColumnTexts>) -> Result<()> {
        self.0.take_texts(&chunks);
        Ok(())
    }

    fn send_program(&mut self, table: TableId, program: Arc<SharedProgram>) -> Result<()> {
        self.0.take_program(table, program);
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Consumer<'a>> {
        Ok(self.0)
    }
}
