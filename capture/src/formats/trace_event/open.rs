//! Events that wait for another: begins for their ends, and ends that came before their begins.
//!
//! They are kept as their text and read again when they are needed. Their memory is bounded: beyond
//! a limit their texts go to the scratch space. Beyond a second limit, or without such a space, a
//! begin is handed over at once as unfinished and an end as unpaired.

use nprof_engine::base::Result;
use nprof_engine::model::{Form, WarningKind};
use nprof_engine::spill::Scratch;

use super::event::{Event, Seen};
use super::flow;
use super::output::{Of, Output};
use super::tokens::{Tail, Tokens};
use super::track::TrackIndex;

/// Most bytes of waiting events with their texts in memory.
const MAX_WAITING_LEN: usize = 16 << 20;

/// Most bytes of waiting events whose texts are in the scratch space.
const MAX_AWAY_LEN: usize = 64 << 20;

/// What a waiting event costs beyond its text.
const OVERHEAD_LEN: usize = 128;

/// Bytes of texts that are written to the scratch space at once.
const PIECE_LEN: usize = 1 << 20;

/// The place of a waiting event's text.
#[derive(Debug)]
enum Text {
    /// In memory.
    Here(Vec<u8>),
    /// In the scratch space: which piece, where in it, and how long.
    Away { piece: usize, at: usize, len: usize },
}

/// An event that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When it happened.
    pub(super) time_ps: i64,
    /// Where it stands in the input.
    pub(super) offset: u64,
    /// The track its slice will stand on.
    pub(super) track: TrackIndex,
    text: Text,
}

impl Waiting {
    /// Reads the event again, after [`Room::fetch`].
    pub(super) fn read<'a>(&'a self, event: &'a mut Event) -> Seen<'a> {
        let bytes: &[u8] = match &self.text {
            Text::Here(bytes) => bytes,
            Text::Away { .. } => &[],
        };
        // It was read before from the same bytes, so it can be read now.
        let _ = event.parse(&mut Tokens::new(bytes, Tail::Closed));
        Seen { event, bytes, offset: self.offset }
    }
}

/// The room for waiting events.
#[derive(Default)]
pub(super) struct Room<'s> {
    scratch: Option<&'s dyn Scratch>,
    used_len: usize,
    away_len: usize,
    /// Offsets of the pieces in the scratch space.
    pieces: Vec<u64>,
    /// The piece that comes after them.
    piece: Vec<u8>,
    spare: Vec<Vec<u8>>,
}

impl<'s> Room<'s> {
    /// With a scratch space, where there is one.
    pub(super) fn new(scratch: Option<&'s dyn Scratch>) -> Self {
        Self { scratch, ..Self::default() }
    }

    /// Keeps an event, or gives `None` where there is no more room.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub(super) fn keep(
        &mut self,
        seen: Seen<'_>,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<Option<Waiting>> {
        let cost = seen.bytes.len() + OVERHEAD_LEN;
        let text = if self.used_len + cost <= MAX_WAITING_LEN {
            self.used_len += cost;
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.extend_from_slice(seen.bytes);
            Text::Here(bytes)
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
            Text::Away { piece: self.pieces.len(), at, len: seen.bytes.len() }
        } else {
            return Ok(None);
        };
        Ok(Some(Waiting { time_ps, offset: seen.offset, track, text }))
    }

    /// Brings the text of an event back from the scratch space.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub(super) fn fetch(&mut self, waiting: &mut Waiting) -> Result<()> {
        let Text::Away { piece, at, len } = waiting.text else { return Ok(()) };
        let mut bytes = vec![0; len];
        match (self.pieces.get(piece), self.scratch) {
            (Some(start), Some(scratch)) => scratch.read(start + at as u64, &mut bytes)?,
            _ => bytes.copy_from_slice(&self.piece[at..at + len]),
        }
        self.away_len -= OVERHEAD_LEN;
        self.used_len += len + OVERHEAD_LEN;
        waiting.text = Text::Here(bytes);
        Ok(())
    }

    /// Keeps the begin of a slice, where there is room; else hands it over without its end, and counts it.
    pub(super) fn begin(
        &mut self,
        out: &mut Output<'_>,
        of: Of,
        seen: Seen<'_>,
        (track, time_ps): (TrackIndex, i64),
    ) -> Result<Option<Waiting>> {
        out.tracks.reach(track, time_ps);
        let kept = self.keep(seen, track, time_ps)?;
        if kept.is_none() {
            out.warn(WarningKind::Unpaired, "too many open slices; kept without its end", seen.offset);
            emit_unfinished(out, of, seen, (track, time_ps))?;
        }
        Ok(kept)
    }

    /// Takes the room of an event back.
    pub(super) fn release(&mut self, waiting: Waiting) {
        /// Spare buffers are for nesting, which is rarely deeper; larger ones would add up.
        const MAX_SPARE: usize = 256;
        const MAX_SPARE_LEN: usize = 4096;
        let Text::Here(mut bytes) = waiting.text else {
            self.away_len -= OVERHEAD_LEN;
            return;
        };
        self.used_len -= bytes.len() + OVERHEAD_LEN;
        if self.spare.len() < MAX_SPARE && bytes.capacity() <= MAX_SPARE_LEN {
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

/// Hands over a slice whose begin and end are both known.
pub(super) fn emit_pair(
    out: &mut Output<'_>,
    of: Of,
    begin: (Seen<'_>, &Waiting),
    end: (Seen<'_>, i64),
) -> Result<()> {
    let ((begin, waiting), (end, end_ps)) = (begin, end);
    out.start_row();
    out.add_event(of, begin)?;
    out.add_place(of, begin, waiting.track)?;
    out.add_end(of, begin, end)?;
    let duration_ps = in_range(out, end_ps.checked_sub(waiting.time_ps), end.offset);
    let key = out.emit(waiting.track, (waiting.time_ps, duration_ps), Form::Complete, begin)?;
    flow::of_slice(out, end, key, end_ps)
}

/// The length of a slice; beyond the range it is cut.
fn in_range(out: &mut Output<'_>, duration_ps: Option<i64>, offset: u64) -> i64 {
    duration_ps.unwrap_or_else(|| {
        out.warn(WarningKind::AdjustedValue, "a slice longer than the range of time; its end is cut", offset);
        i64::MAX
    })
}

/// Hands over a slice that has no end: it reaches the last moment of its track.
pub(super) fn emit_unfinished(
    out: &mut Output<'_>,
    of: Of,
    seen: Seen<'_>,
    (track, start_ps): (TrackIndex, i64),
) -> Result<()> {
    out.start_row();
    out.add_event(of, seen)?;
    if seen.event.dur.is_present() {
        out.add(of, (super::field::Level::Event, b"dur"), (seen.bytes, seen.event.dur), seen.offset)?;
    }
    out.add_place(of, seen, track)?;
    let last_ps = out.tracks.last_ps(track).max(start_ps);
    let duration_ps = in_range(out, last_ps.checked_sub(start_ps), seen.offset);
    out.emit(track, (start_ps, duration_ps), Form::Unfinished, seen)?;
    Ok(())
}

/// Hands over an end without a begin as a moment, and counts it.
pub(super) fn emit_unpaired_end(
    out: &mut Output<'_>,
    of: Of,
    seen: Seen<'_>,
    (track, time_ps): (TrackIndex, i64),
) -> Result<()> {
    out.warn(WarningKind::Unpaired, "an end without a begin; kept as an instant", seen.offset);
    out.start_row();
    out.add_event(of, seen)?;
    out.add_text(of, "ph", &seen.phase())?;
    out.add_place(of, seen, track)?;
    out.emit(track, (time_ps, 0), Form::Instant, seen)?;
    Ok(())
}
