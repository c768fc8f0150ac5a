//! Sorting in bounded memory: runs that fill the buffer are sorted and spilled, and merged at the end.

use std::ops::Range;

use super::{ByteSpan, Key, NoBytes, Scratch, Span};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// Bytes read from a run at once: large enough for a disk, small enough for a hundred runs.
const READ_LEN: usize = 256 << 10;
/// Bytes of a length in a run at most.
const MAX_LEN_LEN: usize = 10;

/// Keys that are sorted together: while they come, so that little is left to do when they have to be in order.
const CHUNK_KEYS: usize = 1 << 17;

/// Where a part of a run lies in the scratch space.
type Piece = Range<u64>;
/// A key, and where its bytes lie in the arena.
type Entry<K> = (K, <K as Key>::Span);

/// Takes keys, each with some bytes, and gives them back in order.
#[derive(Debug)]
pub struct Sorter<K: Key, S> {
    scratch: S,
    limit: usize,
    keys: Vec<Entry<K>>,
    /// Full chunks, each in order.
    chunks: Vec<Vec<Entry<K>>>,
    arena: Vec<u8>,
    /// Spilled runs: the pieces of each.
    spilled: Vec<Vec<Piece>>,
}

impl<K: Key, S: Scratch> Sorter<K, S> {
    /// Keeps at most about `limit` bytes in memory.
    pub fn new(scratch: S, limit: usize) -> Self {
        Self {
            scratch,
            // The arena is addressed with 32 bits.
            limit: limit.min(1 << 30),
            keys: Vec::new(),
            chunks: Vec::new(),
            arena: Vec::new(),
            spilled: Vec::new(),
        }
    }

    /// Takes a key whose bytes begin at `start` of the arena, which is spilled long before it has 4 GiB.
    fn take(&mut self, key: K, start: usize) -> Result<()> {
        self.keys.push((key, K::Span::of(start, self.arena.len())));
        if self.keys.len() == CHUNK_KEYS {
            self.end_chunk();
        }
        let keys = self.chunks.len() * CHUNK_KEYS + self.keys.len();
        if self.arena.len() + keys * size_of::<Entry<K>>() >= self.limit { self.spill() } else { Ok(()) }
    }

    fn end_chunk(&mut self) {
        self.keys.sort_unstable_by_key(|&(key, _)| key);
        self.chunks.push(std::mem::take(&mut self.keys));
    }

    /// The chunks that are in memory, as runs.
    fn kept(&mut self) -> Vec<Run<K>> {
        self.end_chunk();
        self.chunks.drain(..).map(|chunk| Run::Kept { keys: chunk, next: 0 }).collect()
    }

    /// Writes what is in memory as one run.
    fn spill(&mut self) -> Result<()> {
        let mut merge = Merge::new(self.kept(), &self.scratch)?;
        let mut buffer = Vec::with_capacity(READ_LEN + READ_LEN / 4);
        let mut run = Vec::new();
        while let Some(key) = merge.next(&self.scratch)? {
            key.put(&mut buffer);
            if K::Span::HAS_BYTES {
                buffer.put_bytes(merge.bytes(&self.arena));
            }
            if buffer.len() >= READ_LEN {
                append(&mut run, &mut buffer, &self.scratch)?;
            }
        }
        append(&mut run, &mut buffer, &self.scratch)?;
        self.spilled.push(run);
        self.arena.clear();
        Ok(())
    }

    /// Ends the taking; the keys come back in order.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn finish(mut self) -> Result<Sorted<K, S>> {
        let mut runs = self.kept();
        runs.extend(self.spilled.into_iter().map(|pieces| Run::Spilled(RunReader::new(pieces))));
        let merge = Merge::new(runs, &self.scratch)?;
        Ok(Sorted { scratch: self.scratch, arena: self.arena, merge })
    }
}

impl<K: Key<Span = NoBytes>, S: Scratch> Sorter<K, S> {
    /// Takes a key.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn push(&mut self, key: K) -> Result<()> {
        self.take(key, 0)
    }
}

impl<K: Key<Span = ByteSpan>, S: Scratch> Sorter<K, S> {
    /// Takes a key: `pack` appends its bytes.
    ///
    /// # Errors
    /// Those of the scratch space and of `pack`.
    pub fn push_with(&mut self, key: K, pack: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.arena.len();
        pack(&mut self.arena)?;
        self.take(key, start)
    }
}

/// Appends the buffer, which is empty then, to a run.
fn append<S: Scratch>(run: &mut Vec<Piece>, buffer: &mut Vec<u8>, scratch: &S) -> Result<()> {
    if buffer.is_empty() {
        return Ok(());
    }
    let offset = scratch.append(buffer)?;
    let end = offset + buffer.len() as u64;
    match run.last_mut() {
        Some(last) if last.end == offset => last.end = end,
        // The first, or somebody else appended meanwhile.
        _ => run.push(offset..end),
    }
    buffer.clear();
    Ok(())
}

/// Keys in order.
#[derive(Debug)]
pub struct Sorted<K: Key, S> {
    scratch: S,
    arena: Vec<u8>,
    merge: Merge<K>,
}

impl<K: Key, S: Scratch> Sorted<K, S> {
    /// The next key.
    ///
    /// # Errors
    /// Those of the scratch space.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not fail")]
    pub fn next(&mut self) -> Result<Option<K>> {
        self.merge.next(&self.scratch)
    }

    /// The next key and its bytes.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn next_with(&mut self) -> Result<Option<(K, &[u8])>> {
        let key = self.merge.next(&self.scratch)?;
        Ok(key.map(|key| (key, self.merge.bytes(&self.arena))))
    }
}

/// Merges runs, in a tree of losers: the next key of the run that went on plays against those that lost on its way to the
/// top, one a level, where a heap looks at two.
#[derive(Debug)]
struct Merge<K: Key> {
    /// Each at its next key.
    runs: Vec<Run<K>>,
    /// The next key of each run, `None` where it has ended; of the winner the one that was given last.
    heads: Vec<Option<K>>,
    /// The winner, then the loser of each match. The match of leaf `n` is `(n + runs) / 2`, that above match `m` is `m / 2`.
    tree: Vec<usize>,
    /// Whether the winner's key was given.
    is_given: bool,
}

impl<K: Key> Merge<K> {
    fn new<S: Scratch>(mut runs: Vec<Run<K>>, scratch: &S) -> Result<Self> {
        let count = runs.len();
        let mut heads = vec![None; count];
        runs.iter_mut().zip(&mut heads).try_for_each(|(run, head)| run.advance(scratch, head))?;
        let mut merge = Self { runs, heads, tree: vec![0; count], is_given: false };
        // Who comes out of each match, the leaves behind the matches.
        let mut winners: Vec<usize> = (0..2 * count).map(|node| node.saturating_sub(count)).collect();
        for node in (1..count).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if merge.beats(a, b) { (a, b) } else { (b, a) };
            (winners[node], merge.tree[node]) = (winner, loser);
        }
        if let (Some(top), Some(&winner)) = (merge.tree.first_mut(), winners.get(1)) {
            *top = winner;
        }
        Ok(merge)
    }

    /// Whether the next key of run `a` comes before that of `b`. Of equal keys that of the earlier run does.
    fn beats(&self, a: usize, b: usize) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(of_a), Some(of_b)) => (of_a, a) < (of_b, b),
            (of_a, _) => of_a.is_some(),
        }
    }

    fn next<S: Scratch>(&mut self, scratch: &S) -> Result<Option<K>> {
        let Some(&winner) = self.tree.first() else { return Ok(None) };
        if std::mem::replace(&mut self.is_given, true) {
            self.runs[winner].advance(scratch, &mut self.heads[winner])?;
            self.play(winner);
        }
        Ok(self.heads[self.tree[0]])
    }

    /// Finds the winner after the head of a run, which was the winner, has changed.
    fn play(&mut self, changed: usize) {
        let mut winner = changed;
        let mut node = (changed + self.runs.len()) / 2;
        while node > 0 {
            let loser = self.tree[node];
            if self.beats(loser, winner) {
                self.tree[node] = winner;
                winner = loser;
            }
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// Those of the key that was given last.
    fn bytes<'b>(&'b self, arena: &'b [u8]) -> &'b [u8] {
        match self.tree.first().map(|&winner| &self.runs[winner]) {
            Some(Run::Kept { keys, next }) => {
                let of_last = next.checked_sub(1).and_then(|last| keys.get(last));
                of_last.map_or(&[], |&(_, span)| &arena[span.range()])
            }
            Some(Run::Spilled(run)) => run.bytes(),
            None => &[],
        }
    }
}

/// Keys in order: a chunk in memory, or what was spilled.
#[derive(Debug)]
enum Run<K: Key> {
    Kept { keys: Vec<Entry<K>>, next: usize },
    Spilled(RunReader),
}

impl<K: Key> Run<K> {
    /// Steps to the next key and puts it into `head`, where it is compared: keys that are handed from call to call are copied
    /// as often.
    #[inline]
    fn advance<S: Scratch>(&mut self, scratch: &S, head: &mut Option<K>) -> Result<()> {
        match self {
            Self::Kept { keys, next } => {
                *head = keys.get(*next).map(|&(key, _)| key);
                *next += 1;
                Ok(())
            }
            Self::Spilled(run) => run.advance(scratch, head),
        }
    }
}

/// Reads a spilled run.
#[derive(Debug)]
struct RunReader {
    /// What is left of the piece that is read, and the pieces after it.
    piece: Piece,
    pieces: std::vec::IntoIter<Piece>,
    buffer: Vec<u8>,
    at: usize,
    bytes: (usize, usize),
}

impl RunReader {
    fn new(pieces: Vec<Piece>) -> Self {
        let pieces = pieces.into_iter();
        Self { piece: 0..0, pieces, buffer: Vec::new(), at: 0, bytes: (0, 0) }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.bytes.0..self.bytes.1]
    }

    /// Steps to the next key.
    fn advance<K: Key, S: Scratch>(&mut self, scratch: &S, head: &mut Option<K>) -> Result<()> {
        self.fill(scratch, K::MAX_LEN + MAX_LEN_LEN)?;
        if self.at == self.buffer.len() {
            *head = None;
            return Ok(());
        }
        let mut cursor = Cursor::new(&self.buffer[self.at..], 0, "scratch space");
        let before = cursor.remaining();
        *head = Some(K::take(&mut cursor)?);
        let len = if K::Span::HAS_BYTES { cursor.varint_u32()? as usize } else { 0 };
        self.at += before - cursor.remaining();
        self.fill(scratch, len)?;
        self.bytes = (self.at, self.at + len);
        self.at += len;
        Ok(())
    }

    /// Makes sure that `len` bytes are in the buffer, or all that the run has left.
    #[inline]
    fn fill<S: Scratch>(&mut self, scratch: &S, len: usize) -> Result<()> {
        if self.buffer.len() - self.at >= len { Ok(()) } else { self.read(scratch, len) }
    }

    fn read<S: Scratch>(&mut self, scratch: &S, len: usize) -> Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        while self.buffer.len() < len {
            if self.piece.is_empty() {
                let Some(next) = self.pieces.next() else { break };
                self.piece = next;
            }
            let left = usize::try_from(self.piece.end - self.piece.start).unwrap_or(usize::MAX);
            let wanted = READ_LEN.max(len).min(left);
            let old = self.buffer.len();
            self.buffer.resize(old + wanted, 0);
            scratch.read(self.piece.start, &mut self.buffer[old..])?;
            self.piece.start += wanted as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spill::{MemoryScratch, Pile};

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Moment(i64, u32);

    impl Key for Moment {
        type Span = NoBytes;
        const MAX_LEN: usize = 15;

        fn put(&self, out: &mut Vec<u8>) {
            out.put_signed(self.0);
            out.put_varint(u64::from(self.1));
        }

        fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
            Ok(Self(cursor.signed()?, cursor.varint_u32()?))
        }
    }

    /// One that comes with bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Packed(Moment);

    impl Key for Packed {
        type Span = ByteSpan;
        const MAX_LEN: usize = Moment::MAX_LEN;

        fn put(&self, out: &mut Vec<u8>) {
            self.0.put(out);
        }

        fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
            Moment::take(cursor).map(Self)
        }
    }

    proptest! {
        #[test]
        fn spilled_or_not_keys_come_back_in_order_with_their_bytes(
            rows in prop::collection::vec((any::<i64>(), 0_usize..300), 0..400),
            limit in 100_usize..100_000,
        ) {
            let scratch = MemoryScratch::default();
            let mut sorter = Sorter::new(&scratch, limit);
            let mut expected = Vec::new();
            for (arrival, &(time_ps, len)) in (0_u32..).zip(&rows) {
                let key = Packed(Moment(time_ps % 50, arrival));
                let bytes = vec![arrival as u8; len];
                let pack = |out: &mut Vec<u8>| {
                    out.extend_from_slice(&bytes);
                    Ok(())
                };
                sorter.push_with(key, pack).unwrap();
                expected.push((key, bytes));
            }
            expected.sort();
            let mut sorted = sorter.finish().unwrap();
            let mut found = Vec::new();
            while let Some((key, bytes)) = sorted.next_with().unwrap() {
                found.push((key, bytes.to_vec()));
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn chunks_in_memory_and_in_scratch_space_are_merged() {
        let scratch = MemoryScratch::default();
        // Five chunks and a half: twice two are spilled.
        let limit = 2 * CHUNK_KEYS * size_of::<Entry<Moment>>();
        let mut sorter = Sorter::new(&scratch, limit);
        let count = (CHUNK_KEYS * 11 / 2) as u32;
        let moment = |at: u32| Moment(i64::from(at.wrapping_mul(2_654_435_761)) % 1_000_003, at);
        (0..count).for_each(|at| sorter.push(moment(at)).unwrap());
        let mut expected: Vec<Moment> = (0..count).map(moment).collect();
        expected.sort_unstable();
        let mut sorted = sorter.finish().unwrap();
        for key in expected {
            assert_eq!(sorted.next().unwrap(), Some(key));
        }
        assert_eq!(sorted.next().unwrap(), None);
    }

    #[test]
    fn two_sorters_spill_to_the_same_space_at_the_same_time() {
        let scratch = MemoryScratch::default();
        // Runs of several pieces, one sorter's between the other's.
        let count = 300_000_u32;
        let limit = count as usize / 3 * size_of::<Entry<Moment>>();
        let moment = |at: u32| Moment(i64::from(at.wrapping_mul(2_654_435_761)), at);
        let sorted = |step: u32| {
            let mut sorter = Sorter::new(&scratch, limit);
            (0..count).for_each(|at| sorter.push(moment(at * step)).unwrap());
            let mut sorted = sorter.finish().unwrap();
            let found: Vec<Moment> = std::iter::from_fn(|| sorted.next().unwrap()).collect();
            let mut expected: Vec<Moment> = (0..count).map(|at| moment(at * step)).collect();
            expected.sort_unstable();
            assert!(found == expected, "all come back in order");
        };
        std::thread::scope(|scope| {
            [1, 3].map(|step| scope.spawn(move || sorted(step))).map(|done| done.join().unwrap())
        });
    }

    #[test]
    fn two_readers_of_a_pile_step_on_their_own() {
        let scratch = MemoryScratch::default();
        let mut pile = Pile::new(&scratch);
        // More than one piece, and a rest.
        let items: Vec<Moment> = (0..400_000).map(|at| Moment(i64::from(at) * -977, at)).collect();
        items.iter().for_each(|&item| pile.push(item).unwrap());
        assert_eq!(pile.len(), items.len() as u64);
        let (mut first, mut second) = (pile.read(), pile.read());
        for &item in &items {
            assert_eq!(first.next().unwrap(), Some(item));
            if item.1 % 2 == 0 {
                assert_eq!(second.next().unwrap(), Some(items[item.1 as usize / 2]));
            }
        }
        assert_eq!((first.next().unwrap(), first.next().unwrap()), (None, None));
        assert_eq!(second.next().unwrap(), Some(items[200_000]));
    }
}
