//! Asynchronous events: `b`, `n`, `e`, matched by id and name, and the older `S`, `T`, `p`, `F`.
//!
//! Events of one slice have the same category, id and scope. If the id is local to a process, they
//! also have the same process. The older kind also has the same name. All slices of a process with
//! the same category and name share a track. A track for each id would give as many tracks as
//! slices.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::model::{SliceForm, WarningKind};
use nprof_engine::spill::Scratch;

use super::event::EventBytes;
use super::identity::{hash_id, identity_hasher};
use super::named_begins::{NameHash, NamedEvent, Stack};
use super::open::{WaitingEvent, WaitingRoom, emit_pair, emit_unpaired_end};
use super::output::{EventOutput, EventTable};
use super::track::{TimeOnTrack, TrackIndex};

/// Kind of asynchronous event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Family {
    /// Phases `b`, `n` and `e`.
    Nestable,
    /// Phases `S`, `T`, `p` and `F`.
    Older,
}

/// Effect of an event on its slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AsyncStep {
    /// The slice begins.
    Begin,
    /// Something happened within the slice.
    Within,
    /// The slice ends.
    End,
}

/// All ids with open slices.
#[derive(Default)]
pub(super) struct Asyncs<'s> {
    /// Open slices by a 64-bit hash of their identity. A collision is as rare as one in a trillion.
    stacks: BTreeMap<u64, Stack>,
    room: WaitingRoom<'s>,
}

impl<'s> Asyncs<'s> {
    /// An empty set. Waiting events use the scratch space, if there is one.
    pub(super) fn new(scratch: Option<&'s dyn Scratch>) -> Self {
        Self { room: WaitingRoom::new(scratch), ..Self::default() }
    }

    /// Takes an event.
    pub(super) fn take(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        family: Family,
        step: AsyncStep,
        time_ps: i64,
    ) -> Result<()> {
        if !seen.event.id.is_present() && !seen.event.id2.is_present() {
            let what = "an asynchronous event without an id; matched by category and name";
            out.warn(WarningKind::MissingData, what, seen.offset);
        }
        let key = key(seen, family);
        let outer =
            self.stacks.get(&key).and_then(|stack| stack.begins.first()).map(|outer| outer.waiting.track);
        let track = match outer {
            Some(track) => track,
            None => out.tracks.asynchronous(&EventOutput::pid(seen), &seen.cat(), &seen.name()),
        };
        match step {
            AsyncStep::Begin => self.begin(out, seen, key, track, time_ps),
            AsyncStep::Within => {
                out.start_row();
                out.add_event(EventTable::Asyncs, seen)?;
                if family == Family::Older {
                    out.add_text(EventTable::Asyncs, "ph", &seen.phase())?;
                }
                out.add_place(EventTable::Asyncs, seen, track)?;
                out.emit(TimeOnTrack { track, time_ps }, 0, SliceForm::Instant, seen)?;
                Ok(())
            }
            AsyncStep::End => self.end(out, seen, key, track, time_ps),
        }
    }

    fn begin(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        key: u64,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<()> {
        if let Some(waiting) =
            self.room.begin(out, EventTable::Asyncs, seen, TimeOnTrack { track, time_ps })?
        {
            let name = NameHash::of(seen);
            push(&mut self.stacks.entry(key).or_default().begins, NamedEvent { name, waiting });
        }
        Ok(())
    }

    fn end(
        &mut self,
        out: &mut EventOutput<'_>,
        seen: EventBytes<'_>,
        key: u64,
        track: TrackIndex,
        time_ps: i64,
    ) -> Result<()> {
        let name = NameHash::of(seen);
        let stack = self.stacks.entry(key).or_default();
        let Some(begin) = stack.begin_of(name, time_ps) else {
            out.tracks.reach(track, time_ps);
            match self.room.keep(seen, track, time_ps)? {
                Some(waiting) => push(&mut stack.ends, NamedEvent { name, waiting }),
                None => emit_unpaired_end(out, EventTable::Asyncs, seen, TimeOnTrack { track, time_ps })?,
            }
            return Ok(());
        };
        if stack.is_empty() {
            self.stacks.remove(&key);
        }
        let begin = self.room.fetch(begin)?;
        emit_pair(out, EventTable::Asyncs, &begin, seen, time_ps)?;
        self.room.release(begin);
        Ok(())
    }

    /// Matches the remaining events. Events without a partner are emitted as such.
    pub(super) fn finish(&mut self, out: &mut EventOutput<'_>) -> Result<()> {
        let mut left: Vec<WaitingEvent> = Vec::new();
        for (_, stack) in std::mem::take(&mut self.stacks) {
            left.extend(stack.emit_all(&mut self.room, out, EventTable::Asyncs)?);
        }
        // Ordered by file offset, not by hash.
        left.sort_by_key(|begin| begin.offset);
        self.room.unfinished(out, EventTable::Asyncs, left)
    }
}

/// Appends to a list that rarely has more than one item.
fn push(list: &mut Vec<NamedEvent>, item: NamedEvent) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Hash of the identity that the events of one slice share.
fn key(seen: EventBytes<'_>, family: Family) -> u64 {
    let mut hasher = identity_hasher();
    family.hash(&mut hasher);
    seen.cat().hash(&mut hasher);
    if family == Family::Older || (!seen.event.id.is_present() && !seen.event.id2.is_present()) {
        seen.name().hash(&mut hasher);
    }
    hash_id(seen, &mut hasher);
    hasher.finish()
}
