//! Sorting in bounded memory: runs that fill the buffer are sorted and spilled, and merged at the end.

use super::merge::{Entry, Merge, Piece, READ_LEN, Run, RunReader};
use super::{ByteSpan, Key, NoBytes, Scratch, Span};
use crate::base::Result;
use crate::base::bytes::Put;

/// Keys that are sorted together: while they come, so that little is left to do when they have to be in order.
const CHUNK_KEYS: usize = 1 << 17;
/// One in so many keys of a chunk, the largest, wait for the next chunk. Keys that come nearly in order then make chunks that
/// follow each other, and need no merging.
const CARRIED_SHARE: usize = 32;
/// Places that a key may move on average for a chunk to count as nearly in order.
const MOVES: usize = 12;

/// Takes keys, each with some bytes, and gives them back in order.
#[derive(Debug)]
pub struct Sorter<K: Key, S> {
    scratch: S,
    limit: usize,
    keys: Vec<Entry<K>>,
    /// Full chunks, by runs: each chunk is in order and begins where the one before it ends, or later.
    runs: Vec<Vec<Vec<Entry<K>>>>,
    /// Keys in all chunks.
    chunked: usize,
    arena: Vec<u8>,
    /// Spilled runs: the pieces of each, and its last key.
    spilled: Vec<(Vec<Piece>, K)>,
}

impl<K: Key, S: Scratch> Sorter<K, S> {
    /// Keeps at most about `limit` bytes in memory.
    pub fn new(scratch: S, limit: usize) -> Self {
        Self {
            scratch,
            // The arena is addressed with 32 bits.
            limit: limit.min(1 << 30),
            keys: Vec::new(),
            runs: Vec::new(),
            chunked: 0,
            arena: Vec::new(),
            spilled: Vec::new(),
        }
    }

    /// Takes a key whose bytes begin at `start` of the arena, which is spilled long before it has 4 GiB.
    fn take(&mut self, key: K, start: usize) -> Result<()> {
        self.keys.push((key, K::Span::of(start, self.arena.len())));
        if self.keys.len() == CHUNK_KEYS {
            self.end_chunk(CHUNK_KEYS / CARRIED_SHARE);
        }
        let keys = self.chunked + self.keys.len();
        if self.arena.len() + keys * size_of::<Entry<K>>() >= self.limit { self.spill() } else { Ok(()) }
    }

    /// Ends a chunk; the last `carried` keys go to the next one.
    fn end_chunk(&mut self, carried: usize) {
        sort(&mut self.keys);
        let end = self.keys.len() - carried;
        let mut next = if carried > 0 { Vec::with_capacity(CHUNK_KEYS) } else { Vec::new() };
        next.extend_from_slice(&self.keys[end..]);
        let mut chunk = std::mem::replace(&mut self.keys, next);
        chunk.truncate(end);
        let Some(&(first, _)) = chunk.first() else { return };
        self.chunked += chunk.len();
        let goes_on = |run: &&mut Vec<Vec<Entry<K>>>| {
            run.last().and_then(|chunk| chunk.last()).is_some_and(|&(last, _)| last <= first)
        };
        match self.runs.last_mut().filter(goes_on) {
            Some(run) => run.push(chunk),
            None => self.runs.push(vec![chunk]),
        }
    }

    /// The chunks that are in memory, as runs. The last `carried` keys stay.
    fn kept(&mut self, carried: usize) -> Vec<Run<K>> {
        self.end_chunk(carried);
        self.chunked = 0;
        let run = |chunks: Vec<Vec<Entry<K>>>| {
            let mut chunks = chunks.into_iter();
            Run::Kept { keys: chunks.next().unwrap_or_default(), next: 0, chunks }
        };
        self.runs.drain(..).map(run).collect()
    }

    /// Writes what is in memory as one run, which may be the last one going on.
    fn spill(&mut self) -> Result<()> {
        // Bytes do not outlive the arena.
        let carried = if K::Span::HAS_BYTES { 0 } else { self.keys.len() / CARRIED_SHARE };
        let mut merge = Merge::new(self.kept(carried), &self.scratch)?;
        let (mut first, mut last) = (None, None);
        let mut buffer = Vec::with_capacity(READ_LEN + READ_LEN / 4);
        let mut run = Vec::new();
        while let Some(key) = merge.next(&self.scratch)? {
            first.get_or_insert(key);
            last = Some(key);
            key.put(&mut buffer);
            if K::Span::HAS_BYTES {
                buffer.put_bytes(merge.bytes(&self.arena));
            }
            if buffer.len() >= READ_LEN {
                append(&mut run, &mut buffer, &self.scratch)?;
            }
        }
        append(&mut run, &mut buffer, &self.scratch)?;
        if let Some((first, last)) = first.zip(last) {
            match self.spilled.last_mut().filter(|(_, before)| *before <= first) {
                Some((pieces, end)) => {
                    pieces.append(&mut run);
                    *end = last;
                }
                None => self.spilled.push((run, last)),
            }
        }
        self.arena.clear();
        Ok(())
    }

    /// Ends the taking; the keys come back in order.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn finish(mut self) -> Result<Sorted<K, S>> {
        let mut runs = self.kept(0);
        runs.extend(self.spilled.into_iter().map(|(pieces, _)| Run::Spilled(RunReader::new(pieces))));
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

/// Sorts keys: by moving the few that are out of place, where the keys are nearly in order.
fn sort<K: Key>(keys: &mut [Entry<K>]) {
    let mut moves = MOVES * keys.len();
    for at in 1..keys.len() {
        let entry = keys[at];
        let mut place = at;
        while place > 0 && entry.0 < keys[place - 1].0 {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        if place < at {
            keys[place] = entry;
            let Some(left) = moves.checked_sub(at - place) else {
                return keys.sort_unstable_by_key(|&(key, _)| key);
            };
            moves = left;
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::bytes::Cursor;
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
    fn keys_nearly_in_order_are_one_run_spilled_or_not() {
        for limit in [2 * CHUNK_KEYS * size_of::<Entry<Moment>>(), usize::MAX] {
            let scratch = MemoryScratch::default();
            let mut sorter = Sorter::new(&scratch, limit);
            let count = (CHUNK_KEYS * 11 / 2) as u32;
            // Four neighbours at a time, backwards.
            (0..count).for_each(|at| sorter.push(Moment(i64::from(at ^ 3), at)).unwrap());
            let mut sorted = sorter.finish().unwrap();
            let spilled = usize::from(limit < usize::MAX);
            assert_eq!(sorted.merge.runs.len(), 1 + spilled);
            for at in 0..count {
                assert_eq!(sorted.next().unwrap().map(|key| key.0), Some(i64::from(at)));
            }
            assert_eq!(sorted.next().unwrap(), None);
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
