//! Tracks of threads by the bytes of `pid` and `tid`, which repeat from event to event. Equal
//! tokens name the same thread, so neither numbers nor names have to be parsed again.

use super::event::EventBytes;
use super::tokens::{Raw, ValueKind};
use super::track::TrackIndex;

/// Most threads that are remembered.
const PLACES: usize = 64;

/// Longest token that is remembered, in bytes.
const MAX_LEN: usize = 14;

/// A token: its first and its last eight bytes as numbers, its length and its kind. The bytes of a
/// shorter token are one number.
type ThreadToken = (u64, u64, usize, ValueKind);

/// The most recent threads. The hash of the tokens gives the place.
#[derive(Debug)]
pub(super) struct RecentThreads([Option<([ThreadToken; 2], TrackIndex)>; PLACES]);

impl Default for RecentThreads {
    fn default() -> Self {
        Self([None; PLACES])
    }
}

impl RecentThreads {
    /// The track of an event's thread. `find` is called if it is not remembered.
    pub(super) fn track(&mut self, seen: EventBytes<'_>, find: impl FnOnce() -> TrackIndex) -> TrackIndex {
        let (Some(pid), Some(tid)) = (token(seen.event.pid, seen.bytes), token(seen.event.tid, seen.bytes))
        else {
            return find();
        };
        let tokens = [pid, tid];
        let place = &mut self.0[place(&tokens)];
        match *place {
            Some((known, track)) if known == tokens => track,
            _ => place.insert((tokens, find())).1,
        }
    }
}

/// The token of a value. `None` if it is too long.
fn token(raw: Raw, bytes: &[u8]) -> Option<ThreadToken> {
    let inside = raw.of(bytes);
    if inside.len() > MAX_LEN {
        return None;
    }
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (first, last) = match (inside.first_chunk(), inside.last_chunk()) {
        (Some(first), Some(last)) => (word(first), word(last)),
        _ => (inside.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)), 0),
    };
    Some((first, last, inside.len(), raw.kind()))
}

/// Any spread will do, because two threads at one place only replace each other.
fn place([pid, tid]: &[ThreadToken; 2]) -> usize {
    const RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let ends = |token: &ThreadToken| token.0 ^ token.1;
    (ends(pid).rotate_left(32) ^ ends(tid)).wrapping_mul(RATIO) as usize >> (usize::BITS - PLACES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::super::event::{EventParts, Parser};
    use super::super::tokens::{Tail, Tokens};
    use super::*;

    /// The token of a value as text.
    fn token_of(value: &str) -> Option<ThreadToken> {
        let bytes = format!("{{\"pid\":{value}}}").into_bytes();
        let mut event = EventParts::default();
        Parser::default().parse(&mut event, &mut Tokens::new(&bytes, Tail::Closed)).unwrap();
        token(event.pid, &bytes)
    }

    #[test]
    fn only_equal_tokens_are_one() {
        let values = ["1", "\"1\"", "11", "\"\"", "null", "0", "\"\\u0000\"", "[1]", "12345678901234"];
        let tokens = values.map(|value| token_of(value).unwrap());
        for (at, token) in tokens.iter().enumerate() {
            assert_eq!(tokens.iter().position(|other| other == token), Some(at));
            assert_eq!(Some(*token), token_of(values[at]));
        }
        assert_eq!(token_of("123456789012345"), None);
    }
}
