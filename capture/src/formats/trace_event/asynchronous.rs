//! Asynchronous events: `b`, `n`, `e`, matched by id and name, and the older `S`, `T`, `p`, `F`.
//!
//! Events of one slice have the same category, id and scope. If the id is local to a process, they
//! also have the same process. The older kind also has the same name. All slices of a process with
//! the same category and name share a track. A track for each id would give as many tracks as
//! slices.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use nprof_engine::base::Result;
use nprof_engine::exec::step;
use nprof_engine::model::{Form, WarningKind};
use nprof_engine::spill::Scratch;
use rustc_hash::FxHashMap;

use super::event::Seen;
use super::identity::{hash_id, identity_hasher};
use super::open::{MAX_LOOKED_AT, Room, Waiting, emit_pair, emit_unfinished, emit_unpaired_end};
use super::output::{Of, Output};
use super::track::{TrackIndex, TrackTime};

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

#[derive(Debug)]
struct Named {
    /// Hash of the name; [`NO_NAME`] if it is empty. The name itself can be in the scratch space.
    name: u64,
    waiting: Waiting,
}

const NO_NAME: u64 = 0;

/// Hash of a name, as in [`Named::name`].
fn hash_of(name: &str) -> u64 {
    let mut hasher = identity_hasher();
    name.hash(&mut hasher);
    if name.is_empty() { NO_NAME } else { hasher.finish().max(1) }
}

#[derive(Debug, Default)]
struct Stack {
    begins: Vec<Named>,
    ends: Vec<Named>,
}

/// All ids with open slices.
#[derive(Default)]
pub(super) struct Asyncs<'s> {
    /// Open slices by a 64-bit hash of their identity. A collision is as rare as one in a trillion.
    stacks: BTreeMap<u64, Stack>,
    room: Room<'s>,
}

impl<'s> Asyncs<'s> {
    /// An empty set. Waiting events use the scratch space, if there is one.
    pub(super) fn new(scratch: Option<&'s dyn Scratch>) -> Self {
        Self { room: Room::new(scratch), ..Self::default() }
    }

    /// Takes an event.
    pub(super) fn take(
        &mut self,
        out: &mut Output<'_>,
        seen: Seen<'_>,
        (family, step): (Family, AsyncStep),
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
            None => out.tracks.asynchronous(&Output::pid(seen), &seen.cat(), &seen.name()),
        };
        match step {
            AsyncStep::Begin => self.begin(out, seen, (key, track), time_ps),
            AsyncStep::Within => {
                out.start_row();
                out.add_event(Of::Asyncs, seen)?;
                if family == Family::Older {
                    out.add_text(Of::Asyncs, "ph", &seen.phase())?;
                }
                out.add_place(Of::Asyncs, seen, track)?;
                out.emit(track, (time_ps, 0), Form::Instant, seen)?;
                Ok(())
            }
            AsyncStep::End => self.end(out, seen, (key, track), time_ps),
        }
    }

    fn begin(
        &mut self,
        out: &mut Output<'_>,
        seen: Seen<'_>,
        (key, track): (u64, TrackIndex),
        time_ps: i64,
    ) -> Result<()> {
        if let Some(waiting) = self.room.begin(out, Of::Asyncs, seen, TrackTime { track, time_ps })? {
            let name = hash_of(&seen.name());
            push(&mut self.stacks.entry(key).or_default().begins, Named { name, waiting });
        }
        Ok(())
    }

    fn end(
        &mut self,
        out: &mut Output<'_>,
        seen: Seen<'_>,
        (key, track): (u64, TrackIndex),
        time_ps: i64,
    ) -> Result<()> {
        let name = hash_of(&seen.name());
        let stack = self.stacks.entry(key).or_default();
        let fits =
            |begin: &Named| begin.waiting.time_ps <= time_ps && (name == NO_NAME || begin.name == name);
        let from = stack.begins.len().saturating_sub(MAX_LOOKED_AT);
        let found = stack.begins[from..].iter().rposition(fits);
        step(stack.begins.len() - from - found.unwrap_or_default());
        let Some(at) = found else {
            out.tracks.reach(track, time_ps);
            match self.room.keep(seen, track, time_ps)? {
                Some(waiting) => push(&mut stack.ends, Named { name, waiting }),
                None => emit_unpaired_end(out, Of::Asyncs, seen, TrackTime { track, time_ps })?,
            }
            return Ok(());
        };
        let Named { waiting, .. } = stack.begins.remove(from + at);
        if stack.begins.is_empty() && stack.ends.is_empty() {
            self.stacks.remove(&key);
        }
        let begin = self.room.fetch(waiting)?;
        emit_pair(out, Of::Asyncs, &begin, (seen, time_ps))?;
        self.room.release(begin);
        Ok(())
    }

    /// Matches the remaining events. Events without a partner are emitted as such.
    pub(super) fn finish(&mut self, out: &mut Output<'_>) -> Result<()> {
        let mut left: Vec<Waiting> = Vec::new();
        for (_, stack) in std::mem::take(&mut self.stacks) {
            self.match_late(out, stack, &mut left)?;
        }
        // Ordered by file offset, not by hash.
        left.sort_by_key(|begin| begin.offset);
        for begin in left {
            let begin = self.room.fetch(begin)?;
            let seen = begin.seen();
            out.warn(WarningKind::Unpaired, "a begin without an end; kept as unfinished", seen.offset);
            emit_unfinished(out, Of::Asyncs, seen, begin.at())?;
            self.room.release(begin);
        }
        Ok(())
    }

    /// Matches ends that came before their begins in the file.
    fn match_late(&mut self, out: &mut Output<'_>, stack: Stack, left: &mut Vec<Waiting>) -> Result<()> {
        let Stack { mut begins, mut ends } = stack;
        if ends.is_empty() {
            left.extend(begins.into_iter().map(|begin| begin.waiting));
            return Ok(());
        }
        ends.sort_by_key(|end| (end.waiting.time_ps, end.waiting.offset));
        begins.sort_by_key(|begin| (begin.waiting.time_ps, begin.waiting.offset));
        let mut open = Open::default();
        let mut begins = begins.into_iter().peekable();
        for end in ends {
            let time_ps = end.waiting.time_ps;
            while let Some(begin) = begins.next_if(|begin| begin.waiting.time_ps <= time_ps) {
                open.push(begin);
            }
            let begin = open.pop(end.name);
            let end = self.room.fetch(end.waiting)?;
            match begin {
                Some(begin) => {
                    let begin = self.room.fetch(begin)?;
                    emit_pair(out, Of::Asyncs, &begin, (end.seen(), time_ps))?;
                    self.room.release(begin);
                }
                None => {
                    emit_unpaired_end(out, Of::Asyncs, end.seen(), TrackTime { track: end.track, time_ps })?
                }
            }
            self.room.release(end);
        }
        left.extend(open.begins.into_iter().flatten().map(|begin| begin.waiting));
        left.extend(begins.map(|begin| begin.waiting));
        Ok(())
    }
}

/// Begins of one identity, in the order of time.
#[derive(Default)]
struct Open {
    /// `None` if the slice has ended.
    begins: Vec<Option<Named>>,
    /// Positions of the begins of each name, in order. A position can be that of an ended slice, or
    /// have been used again for another one.
    by_name: FxHashMap<u64, Vec<usize>>,
}

impl Open {
    fn push(&mut self, begin: Named) {
        self.by_name.entry(begin.name).or_default().push(self.begins.len());
        self.begins.push(Some(begin));
    }

    /// Takes the last begin of this name; the last of all if there is no name.
    fn pop(&mut self, name: u64) -> Option<Waiting> {
        if name == NO_NAME {
            let last = std::iter::from_fn(|| self.begins.pop()).flatten().next();
            return last.map(|begin| begin.waiting);
        }
        let places = self.by_name.get_mut(&name)?;
        while let Some(at) = places.pop() {
            if let Some(begin) = self.begins.get_mut(at).and_then(|slot| slot.take_if(|of| of.name == name)) {
                return Some(begin.waiting);
            }
        }
        None
    }
}

/// Appends to a list that rarely has more than one item.
fn push(list: &mut Vec<Named>, item: Named) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Hash of the identity that the events of one slice share.
fn key(seen: Seen<'_>, family: Family) -> u64 {
    let mut hasher = identity_hasher();
    family.hash(&mut hasher);
    seen.cat().hash(&mut hasher);
    if family == Family::Older || (!seen.event.id.is_present() && !seen.event.id2.is_present()) {
        seen.name().hash(&mut hasher);
    }
    hash_id(seen, &mut hasher);
    hasher.finish()
}
