//! Begins that wait for ends of their name. An end with a name ends the innermost open slice of
//! that name, else the innermost one without a name. An end without a name ends the innermost
//! slice.

use std::hash::{Hash, Hasher};

use nprof_engine::exec::step;
use rustc_hash::FxHashMap;

use super::event::EventBytes;
use super::identity::identity_hasher;
use super::open::{MAX_LOOKED_AT, WaitingEvent, WaitingRoom, emit_pair, emit_unpaired_end};
use super::output::{EventOutput, EventTable};

/// Hash of a name; [`NO_NAME`] if it is empty. The name itself can be in the scratch space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameHash(u64);

const NO_NAME: NameHash = NameHash(0);

impl NameHash {
    /// Hash of the name of an event.
    pub(super) fn of(seen: EventBytes<'_>) -> Self {
        let name = seen.name();
        if name.is_empty() {
            return NO_NAME;
        }
        let mut hasher = identity_hasher();
        name.hash(&mut hasher);
        Self(hasher.finish().max(1))
    }
}

/// A waiting event with its name.
#[derive(Debug)]
pub(super) struct NamedEvent {
    pub(super) name: NameHash,
    pub(super) waiting: WaitingEvent,
}

/// Begins and ends that wait for each other.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub(super) begins: Vec<NamedEvent>,
    pub(super) ends: Vec<NamedEvent>,
}

impl Stack {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.begins.is_empty() && self.ends.is_empty()
    }

    /// Takes the begin that an end of this name and time ends, if it is among the last ones.
    pub(super) fn begin_of(&mut self, name: NameHash, time_ps: i64) -> Option<WaitingEvent> {
        let mut unnamed = None;
        let mut found = None;
        for (at, begin) in self.begins.iter().enumerate().rev().take(MAX_LOOKED_AT) {
            step(1);
            if begin.waiting.time_ps > time_ps {
                continue;
            }
            if name == NO_NAME || begin.name == name {
                found = Some(at);
                break;
            }
            if begin.name == NO_NAME {
                unnamed.get_or_insert(at);
            }
        }
        found.or(unnamed).map(|at| self.begins.remove(at).waiting)
    }

    /// Pairs the events that still wait for each other, and emits ends without a begin. Returns the
    /// begins that are left.
    pub(super) fn emit_all(
        self,
        room: &mut WaitingRoom<'_>,
        out: &mut EventOutput<'_>,
        of: EventTable,
    ) -> nprof_engine::base::Result<Vec<WaitingEvent>> {
        self.match_all(|begin, end| {
            let end = room.fetch(end)?;
            match begin {
                Some(begin) => {
                    let begin = room.fetch(begin)?;
                    emit_pair(out, of, &begin, end.seen(), end.time_ps)?;
                    room.release(begin);
                }
                None => emit_unpaired_end(out, of, end.seen(), end.at())?,
            }
            room.release(end);
            Ok(())
        })
    }

    /// Pairs the ends with the begins before them in time, whatever their order in the file.
    /// `take` receives each end, with its begin if there is one. Returns the begins that are left.
    fn match_all<E>(
        self,
        mut take: impl FnMut(Option<WaitingEvent>, WaitingEvent) -> Result<(), E>,
    ) -> Result<Vec<WaitingEvent>, E> {
        let Self { mut begins, mut ends } = self;
        ends.sort_by_key(|end| (end.waiting.time_ps, end.waiting.offset));
        if !ends.is_empty() {
            begins.sort_by_key(|begin| (begin.waiting.time_ps, begin.waiting.offset));
        }
        let mut open = NamedBegins::default();
        let mut begins = begins.into_iter().peekable();
        for end in ends {
            // At the same time begins come first, for the empty slices of a file that is written
            // backwards.
            while let Some(begin) = begins.next_if(|begin| begin.waiting.time_ps <= end.waiting.time_ps) {
                open.push(begin);
            }
            take(open.pop(end.name), end.waiting)?;
        }
        let left = open.begins.into_iter().flatten().chain(begins);
        Ok(left.map(|begin| begin.waiting).collect())
    }
}

/// Begins in the order of time.
#[derive(Default)]
struct NamedBegins {
    /// `None` if the slice has ended.
    begins: Vec<Option<NamedEvent>>,
    /// Positions of the begins of each name, in order. A position can be that of an ended slice, or
    /// have been used again for another one.
    by_name: FxHashMap<NameHash, Vec<usize>>,
}

impl NamedBegins {
    fn push(&mut self, begin: NamedEvent) {
        self.by_name.entry(begin.name).or_default().push(self.begins.len());
        self.begins.push(Some(begin));
    }

    /// Takes the begin that an end of this name ends.
    fn pop(&mut self, name: NameHash) -> Option<WaitingEvent> {
        if name == NO_NAME {
            let last = std::iter::from_fn(|| self.begins.pop()).flatten().next();
            return last.map(|begin| begin.waiting);
        }
        self.pop_named(name).or_else(|| self.pop_named(NO_NAME))
    }

    fn pop_named(&mut self, name: NameHash) -> Option<WaitingEvent> {
        let places = self.by_name.get_mut(&name)?;
        while let Some(at) = places.pop() {
            if let Some(begin) = self.begins.get_mut(at).and_then(|slot| slot.take_if(|of| of.name == name)) {
                return Some(begin.waiting);
            }
        }
        None
    }
}
