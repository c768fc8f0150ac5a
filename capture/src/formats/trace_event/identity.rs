//! Identity of a group of events, as a hash of what they share.

use std::hash::{BuildHasher, Hash, Hasher};

use super::event::EventBytes;
use super::role::BorrowedId;
use super::text::text_of;
use super::tokens::{Raw, Tail, Tokens, ValueKind};

/// The reach of an id, as its event states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdReach {
    /// Nothing.
    Unsaid,
    /// The id belongs to one process: `id2.local`.
    Local,
    /// The id belongs to all processes: `id2.global`.
    Global,
}

/// The id with the bytes it is a span of, and its reach. The value of `id2` is preferred to that of
/// `id`. An `id2` without `local` and `global` is an id as a whole.
pub(super) fn id_of(seen: EventBytes<'_>) -> (Raw, &[u8], IdReach) {
    let id2 = seen.event.id2;
    if matches!(id2.kind(), ValueKind::Absent | ValueKind::Null) {
        return (seen.event.id, seen.bytes, IdReach::Unsaid);
    }
    let mut id = (id2, seen.bytes, IdReach::Unsaid);
    if id2.kind() != ValueKind::Object {
        return id;
    }
    let bytes = id2.of(seen.bytes);
    let mut tokens = Tokens::new(bytes, Tail::Closed);
    tokens.advance();
    while let Ok(key) = tokens.peek_item().and_then(|_| tokens.key()) {
        let Ok(value) = tokens.value() else { break };
        match &*text_of(bytes, key) {
            "local" => id = (value, bytes, IdReach::Local),
            "global" => id = (value, bytes, IdReach::Global),
            _ => {}
        }
    }
    id
}

/// Hasher for identities. The 64 bits are well spread for any input.
pub(super) fn identity_hasher() -> impl Hasher {
    foldhash::quality::FixedState::default().build_hasher()
}

/// Hashes the parts of an id: the value, its scope, and the process if the id is local to it.
pub(super) fn hash_id(seen: EventBytes<'_>, hasher: &mut impl Hasher) {
    if seen.event.scope.is_present() {
        seen.text(seen.event.scope).hash(hasher);
    }
    let (value, bytes, reach) = id_of(seen);
    BorrowedId::new(value, bytes).hash(hasher);
    if reach == IdReach::Local {
        BorrowedId::new(seen.event.pid, seen.bytes).hash(hasher);
    }
}
