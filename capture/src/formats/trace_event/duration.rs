//! Duration events: `B` and `E`, matched per thread, the innermost of their name first; `X`, which
//! has both in one.
//!
//! Events of a thread are usually ordered by time. If not, an end takes the innermost open begin
//! that fits and is not later than itself. Ends without such a begin wait. After the last event
//! they are matched in the order of time.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::model::{SliceForm, WarningKind};
use nprof_engine::spill::Scratch;

use super::event::EventBytes;
use super::field::HintedKey;
use super::identity::identity_hasher;
use super::named_begins::{NameHash, NamedEvent, Stack};
use super::open::{WaitingEvent, WaitingRoom, emit_pair, emit_unfinished, emit_unpaired_end};
use super::output::{EventOutput, EventTable};
use super::time::{self, NoTime};
use super::track::{TimeOnTrack, TrackIndex};

/// Second part of the key of a stack whose track belongs to one thread.
const ALONE: u64 = 0;

/// Key of the stack of a thread.
fn key(out: &EventOutput<'_>, seen: EventBytes<'_>, track: TrackIndex) -> (TrackIndex, u64) {
    if !out.tracks.is_shared(track) {
        return (track, ALONE);
    }
    let mut hasher = identity_hasher();
    (EventOutput::pid(seen), EventOutput::tid(seen)).hash(&mut hasher);
    (track, hasher.finish().max(1))
}

/// Open slices of all threads.
#[derive(Default)]
pub(super) struct OpenSlices<'s> {
    /// By track, and by process and thread if several share the track.
    stacks: BTreeMap<(TrackIndex, u64), Stack>,
    /// Complete events without a duration.
    endless: Vec<WaitingEvent>,
    room: WaitingRoom<'s>,
}

impl<'s> OpenSlices<'s> {
    /// An empty set. Waiting events use the scratch space, if there is one.
    pub(super) fn new(scratch: Option<&'s dyn Scratch>) -> Self {
        Self { room: WaitingRoom::new(scratch), ..Self::default() }
    }

    /// Takes an event of phase `B`.
    pub(super) fn begin(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<()> {
        if let Some(waiting) =
            self.room.begin(out, EventTable::Slices, seen, TimeOnTrack { track, time_ps })?
        {
            let key = key(out, seen, track);
            let name = NameHash::of(seen);
            self.stacks.entry(key).or_default().begins.push(NamedEvent { name, waiting });
        }
        Ok(())
    }

    /// Takes an event of phase `E`.
    pub(super) fn end(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<()> {
        out.tracks.reach(track, time_ps);
        let key = key(out, seen, track);
        let stack = self.stacks.entry(key).or_default();
        let name = NameHash::of(seen);
        let Some(begin) = stack.begin_of(name, time_ps) else {
            match self.room.keep(seen, track, time_ps)? {
                Some(waiting) => stack.ends.push(NamedEvent { name, waiting }),
                None => emit_unpaired_end(out, EventTable::Slices, seen, TimeOnTrack { track, time_ps })?,
            }
            return Ok(());
        };
        let is_over = key.1 != ALONE && stack.is_empty();
        if is_over {
            self.stacks.remove(&key);
        }
        let begin = self.room.fetch(begin)?;
        emit_pair(out, EventTable::Slices, &begin, seen, time_ps)?;
        self.room.release(begin);
        Ok(())
    }

    /// Takes an event of phase `X`. Without a duration the slice is unfinished. A negative duration
    /// is an error of the writer's clock: the slice becomes an instant at its start, with the
    /// duration as a field. `emit` emits the slice: [`EventOutput::emit`], or
    /// [`EventOutput::emit_keyed`].
    #[inline(always)]
    pub(super) fn complete<'o, K>(
        &mut self,
        out: &mut EventOutput<'o>,
        seen: EventBytes<'_>,
        start: TimeOnTrack,
        emit: impl Fn(&mut EventOutput<'o>, TimeOnTrack, i64, SliceForm, EventBytes<'_>) -> Result<K>,
    ) -> Result<Option<K>> {
        let duration_ps = match time::duration(seen.event.dur, seen.bytes) {
            Ok(ps) if ps >= 0 => ps,
            Ok(_) => {
                out.warn(WarningKind::AdjustedValue, "`dur` is negative; kept as an instant", seen.offset);
                out.start_row();
                out.add_event(EventTable::Slices, seen)?;
                out.add(EventTable::Slices, HintedKey::of_event(b"dur"), seen.event.dur, seen)?;
                return emit(out, start, 0, SliceForm::Instant, seen).map(Some);
            }
            Err(no_time) => {
                self.endless(out, seen, start, no_time)?;
                return Ok(None);
            }
        };
        let duration_ps = match start.time_ps.checked_add(duration_ps) {
            Some(_) => duration_ps,
            None => {
                self.endless(out, seen, start, NoTime::OutOfRange)?;
                return Ok(None);
            }
        };
        out.start_row();
        out.add_event(EventTable::Slices, seen)?;
        if out.tracks.is_shared(start.track) {
            out.add_place(EventTable::Slices, seen, start.track)?;
        }
        emit(out, start, duration_ps, SliceForm::Complete, seen).map(Some)
    }

    fn endless(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        TimeOnTrack { track, time_ps }: TimeOnTrack,
        why: NoTime,
    ) -> Result<()> {
        let (kind, what) = match why {
            NoTime::Missing => (WarningKind::Unpaired, "`dur` is missing; kept as unfinished"),
            NoTime::NotANumber => (WarningKind::DamagedRecord, "`dur` is not a number; kept as unfinished"),
            NoTime::OutOfRange => (WarningKind::AdjustedValue, "`dur` is out of range; kept as unfinished"),
        };
        out.warn(kind, what, seen.offset);
        out.tracks.reach(track, time_ps);
        match self.room.keep(seen, track, time_ps)? {
            Some(waiting) => self.endless.push(waiting),
            None => emit_unfinished(out, EventTable::Slices, seen, TimeOnTrack { track, time_ps })?,
        }
        Ok(())
    }

    /// Matches the remaining events. Events without a partner are emitted as such.
    pub(super) fn finish(&mut self, out: &mut EventOutput<'_>) -> Result<()> {
        for (_, stack) in std::mem::take(&mut self.stacks) {
            let left = stack.emit_all(&mut self.room, out, EventTable::Slices)?;
            self.room.unfinished(out, EventTable::Slices, left)?;
        }
        for waiting in std::mem::take(&mut self.endless) {
            let endless = self.room.fetch(waiting)?;
            emit_unfinished(out, EventTable::Slices, endless.seen(), endless.at())?;
            self.room.release(endless);
        }
        Ok(())
    }
}
