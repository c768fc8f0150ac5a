//! Events that wait for a partner: begins for their ends, and ends that came before their begins.
//!
//! Waiting events are kept as they were read, with their text. Their memory is bounded. Beyond a
//! limit their texts go to the scratch space and are read again from there. Beyond a second limit,
//! or without such a space, a begin is emitted at once as unfinished and an end as unpaired.

use nprof_engine::base::Result;
use nprof_engine::model::{SliceForm, WarningKind};
use nprof_engine::spill::Scratch;

use super::event::{EventBytes, EventMember, EventParts, Parser};
use super::field::HintedKey;
use super::output::{EventOutput, EventTable};
use super::slice_flow;
use super::tokens::{Tail, Tokens};
use super::track::{TimeOnTrack, TrackIndex};

/// Most bytes of waiting events whose texts are in memory.
const MAX_WAITING_LEN: usize = 16 << 20;

/// Most bytes of memory of waiting events whose texts are in the scratch space.
const MAX_AWAY_LEN: usize = 64 << 20;

/// Bytes of memory of a waiting event besides its copy.
const OVERHEAD_LEN: usize = 128;

/// Most open begins, the last ones, that an end looks at when it is read. If none of them fits, the
/// end waits until all begins are known and sorted.
pub(super) const MAX_LOOKED_AT: usize = 1024;

/// Bytes of texts per write to the scratch space.
const PIECE_LEN: usize = 1 << 20;

/// A copy of an event.
#[derive(Debug, Default)]
struct Copied {
    event: EventParts,
    bytes: Vec<u8>,
}

impl Copied {
    /// Bytes of memory that a copy counts as.
    fn cost(event: &EventParts, bytes: &[u8]) -> usize {
        let members = event.members.len() + event.extras.len();
        bytes.len() + size_of::<Self>() + members * size_of::<EventMember>() + OVERHEAD_LEN
    }

    fn counted(&self) -> usize {
        Self::cost(&self.event, &self.bytes)
    }

    /// Bytes of memory that the copy has reserved.
    fn capacity_len(&self) -> usize {
        let members = self.event.members.capacity() + self.event.extras.capacity();
        self.bytes.capacity() + members * size_of::<EventMember>()
    }
}

/// Place of a waiting event.
#[derive(Debug)]
enum WaitingPlace {
    /// In memory.
    Here(Box<Copied>),
    /// In the scratch space: number of the piece, offset in it, and length.
    Away { piece: usize, at: usize, len: usize },
}

/// A waiting event.
#[derive(Debug)]
pub(super) struct WaitingEvent {
    /// Time of the event.
    pub(super) time_ps: i64,
    /// Offset of the event in the input.
    pub(super) offset: u64,
    /// Track of its slice.
    pub(super) track: TrackIndex,
    kept: WaitingPlace,
}

/// An event that has waited, in memory again.
#[derive(Debug)]
pub(super) struct FetchedEvent {
    /// Time of the event.
    pub(super) time_ps: i64,
    /// Track of its slice.
    pub(super) track: TrackIndex,
    offset: u64,
    copied: Box<Copied>,
}

impl FetchedEvent {
    /// The time of the event on its track.
    pub(super) fn at(&self) -> TimeOnTrack {
        TimeOnTrack { track: self.track, time_ps: self.time_ps }
    }

    /// The event as it was read.
    pub(super) fn seen(&self) -> EventBytes<'_> {
        EventBytes { event: &self.copied.event, bytes: &self.copied.bytes, offset: self.offset }
    }
}

/// Storage for waiting events.
#[derive(Default)]
pub(super) struct WaitingRoom<'s> {
    scratch: Option<&'s dyn Scratch>,
    used_len: usize,
    away_len: usize,
    /// Offsets of the pieces in the scratch space.
    pieces: Vec<u64>,
    /// The piece that is being filled, which comes after them.
    piece: Vec<u8>,
    /// Copies whose memory is reused.
    #[expect(clippy::vec_box, reason = "the boxes are what is used again")]
    spare: Vec<Box<Copied>>,
    parser: Parser,
}

impl<'s> WaitingRoom<'s> {
    /// An empty store. Texts go to the scratch space, if there is one.
    pub(super) fn new(scratch: Option<&'s dyn Scratch>) -> Self {
        Self { scratch, ..Self::default() }
    }

    /// Keeps an event. Returns `None` if the store is full.
    pub(super) fn keep(
        &mut self,
        seen: EventBytes<'_>,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<Option<WaitingEvent>> {
        let cost = Copied::cost(seen.event, seen.bytes);
        let kept = if self.used_len + cost <= MAX_WAITING_LEN {
            self.used_len += cost;
            let mut copied = self.spare.pop().unwrap_or_default();
            copied.event.clone_from(seen.event);
            copied.bytes.extend_from_slice(seen.bytes);
            WaitingPlace::Here(copied)
        } else if let Some(scratch) = self.scratch
            && self.away_len + OVERHEAD_LEN <= MAX_AWAY_LEN
        {
            self.away_len += OVERHEAD_LEN;
            if self.piece.len() >= PIECE_LEN {
                self.pieces.push(scratch.append(&self.piece)?);
                self.piece.clear();
            }
            let at = self.piece.len();
            self.piece.extend_from_slice(seen.bytes);
            WaitingPlace::Away { piece: self.pieces.len(), at, len: seen.bytes.len() }
        } else {
            return Ok(None);
        };
        Ok(Some(WaitingEvent { time_ps, offset: seen.offset, track, kept }))
    }

    /// Ends the wait of an event. Its text is read from the scratch space if necessary.
    pub(super) fn fetch(&mut self, waiting: WaitingEvent) -> Result<FetchedEvent> {
        let WaitingEvent { time_ps, offset, track, kept } = waiting;
        let copied = match kept {
            WaitingPlace::Here(copied) => {
                self.used_len -= copied.counted();
                copied
            }
            WaitingPlace::Away { piece, at, len } => {
                self.away_len -= OVERHEAD_LEN;
                let mut copied = self.spare.pop().unwrap_or_default();
                copied.bytes.resize(len, 0);
                match (self.pieces.get(piece), self.scratch) {
                    (Some(start), Some(scratch)) => scratch.read(start + at as u64, &mut copied.bytes)?,
                    _ => copied.bytes.copy_from_slice(&self.piece[at..at + len]),
                }
                // The same bytes have been parsed before, so this cannot fail.
                let mut tokens = Tokens::new(&copied.bytes, Tail::Closed);
                let _ = self.parser.parse(&mut copied.event, &mut tokens);
                copied
            }
        };
        Ok(FetchedEvent { time_ps, track, offset, copied })
    }

    /// Keeps the begin of a slice. If the store is full, emits the slice as unfinished and counts
    /// it.
    pub(super) fn begin(
        &mut self,
        out: &mut EventOutput<'_>,
        of: EventTable,
        seen: EventBytes<'_>,
        TimeOnTrack { track, time_ps }: TimeOnTrack,
    ) -> Result<Option<WaitingEvent>> {
        out.tracks.reach(track, time_ps);
        let kept = self.keep(seen, track, time_ps)?;
        if kept.is_none() {
            out.warn(
                WarningKind::Unpaired,
                "too many open slices; this slice is kept without its end",
                seen.offset,
            );
            emit_unfinished(out, of, seen, TimeOnTrack { track, time_ps })?;
        }
        Ok(kept)
    }

    /// Emits begins without an end, and counts them.
    pub(super) fn unfinished(
        &mut self,
        out: &mut EventOutput<'_>,
        of: EventTable,
        begins: Vec<WaitingEvent>,
    ) -> Result<()> {
        for begin in begins {
            let begin = self.fetch(begin)?;
            let seen = begin.seen();
            out.warn(WarningKind::Unpaired, "a begin without an end; kept as unfinished", seen.offset);
            emit_unfinished(out, of, seen, begin.at())?;
            self.release(begin);
        }
        Ok(())
    }

    /// Takes the memory of an event back.
    pub(super) fn release(&mut self, fetched: FetchedEvent) {
        /// Most spare copies. Spare copies are for nesting, which is rarely deeper. Larger copies
        /// are freed.
        const MAX_SPARE: usize = 256;
        const MAX_SPARE_LEN: usize = 4096;
        let mut copied = fetched.copied;
        if self.spare.len() < MAX_SPARE && copied.capacity_len() <= MAX_SPARE_LEN {
            copied.bytes.clear();
            self.spare.push(copied);
        }
    }
}

/// Emits a slice whose begin and end are both known.
pub(super) fn emit_pair(
    out: &mut EventOutput<'_>,
    of: EventTable,
    begin: &FetchedEvent,
    end: EventBytes<'_>,
    end_ps: i64,
) -> Result<()> {
    let (start, begin) = (begin.at(), begin.seen());
    out.start_row();
    out.add_event(of, begin)?;
    // The track of a thread tells process and thread, unless several share it.
    if of == EventTable::Asyncs || out.tracks.is_shared(start.track) {
        out.add_place(of, begin, start.track)?;
    }
    out.add_end(of, begin, end)?;
    let duration_ps = in_range(out, end_ps.checked_sub(start.time_ps), end.offset);
    if !end.event.bind_id.is_present() {
        return out.emit(start, duration_ps, SliceForm::Complete, begin);
    }
    let key = out.emit_keyed(start, duration_ps, SliceForm::Complete, begin)?;
    slice_flow::of_slice(out.sink, end, key, end_ps)
}

/// Duration of a slice, clamped to the range of time.
fn in_range(out: &mut EventOutput<'_>, duration_ps: Option<i64>, offset: u64) -> i64 {
    duration_ps.unwrap_or_else(|| {
        out.warn(
            WarningKind::AdjustedValue,
            "a slice that ends after the range of time; its end is cut",
            offset,
        );
        i64::MAX
    })
}

/// Emits a slice without an end. The slice reaches to the last time of its track.
pub(super) fn emit_unfinished(
    out: &mut EventOutput<'_>,
    of: EventTable,
    seen: EventBytes<'_>,
    start: TimeOnTrack,
) -> Result<()> {
    out.start_row();
    out.add_event(of, seen)?;
    if seen.event.dur.is_present() {
        out.add(of, HintedKey::of_event(b"dur"), seen.event.dur, seen)?;
    }
    out.add_place(of, seen, start.track)?;
    let last_ps = out.tracks.last_ps(start.track).max(start.time_ps);
    let duration_ps = in_range(out, last_ps.checked_sub(start.time_ps), seen.offset);
    out.emit(start, duration_ps, SliceForm::Unfinished, seen)
}

/// Emits an end without a begin as an instant, and counts it.
pub(super) fn emit_unpaired_end(
    out: &mut EventOutput<'_>,
    of: EventTable,
    seen: EventBytes<'_>,
    at: TimeOnTrack,
) -> Result<()> {
    out.warn(WarningKind::Unpaired, "an end without a begin; kept as an instant", seen.offset);
    out.start_row();
    out.add_event(of, seen)?;
    out.add_text(of, "ph", &seen.phase())?;
    out.add_place(of, seen, at.track)?;
    out.emit(at, 0, SliceForm::Instant, seen)
}
