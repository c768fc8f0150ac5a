//! Sorting in bounded memory: runs that fill the buffer are sorted and spilled, and merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Key, Scratch};
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// Bytes read from a run at once: large enough for a disk, small enough for a hundred runs.
const READ_LEN: usize = 256 << 10;
/// Bytes of a length in a run at most.
const MAX_LEN_LEN: usize = 10;

/// Keys that are sorted together: while they come, so that little is left to do when they have to be in order.
const CHUNK_KEYS: usize = 1 << 17;

/// A key, and where in the arena its bytes begin and end.
type Entry<K> = (K, u32, u32);

/// Takes keys, each with some bytes, and gives them back in order.
#[derive(Debug)]
pub struct Sorter<K, S> {
    scratch: S,
    limit: usize,
    keys: Vec<Entry<K>>,
    /// Full chunks, each in order.
    chunks: Vec<Vec<Entry<K>>>,
    arena: Vec<u8>,
    /// Spilled runs: offset and end.
    spilled: Vec<(u64, u64)>,
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

    /// Takes a key that has no bytes.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn push(&mut self, key: K) -> Result<()> {
        self.push_with(key, |_| Ok(()))
    }

    /// Takes a key: `pack` appends its bytes.
    ///
    /// # Errors
    /// Those of the scratch space and of `pack`.
    #[expect(clippy::cast_possible_truncation, reason = "the arena is spilled long before 4 GiB")]
    pub fn push_with(&mut self, key: K, pack: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.arena.len();
        pack(&mut self.arena)?;
        self.keys.push((key, start as u32, self.arena.len() as u32));
        if self.keys.len() == CHUNK_KEYS {
            self.end_chunk();
        }
        let keys = self.chunks.len() * CHUNK_KEYS + self.keys.len();
        if self.arena.len() + keys * size_of::<Entry<K>>() >= self.limit { self.spill() } else { Ok(()) }
    }

    fn end_chunk(&mut self) {
        self.keys.sort_unstable_by_key(|&(key, ..)| key);
        self.chunks.push(std::mem::take(&mut self.keys));
    }

    /// The chunks that are in memory, as runs.
    fn kept(&mut self) -> Vec<Run<K>> {
        self.end_chunk();
        self.chunks.drain(..).map(|chunk| Run::Kept { keys: chunk.into_iter(), bytes: (0, 0) }).collect()
    }

    /// Nobody else appends to the scratch space meanwhile, so the run lies there in one piece.
    fn spill(&mut self) -> Result<()> {
        let mut merge = Merge::new(self.kept(), &self.scratch)?;
        let mut buffer = Vec::with_capacity(READ_LEN + READ_LEN / 4);
        let mut run: Option<(u64, u64)> = None;
        while let Some(key) = merge.next(&self.scratch)? {
            key.put(&mut buffer);
            buffer.put_bytes(merge.bytes(&self.arena));
            if buffer.len() >= READ_LEN {
                append(&mut run, &mut buffer, &self.scratch)?;
            }
        }
        append(&mut run, &mut buffer, &self.scratch)?;
        self.spilled.extend(run);
        self.arena.clear();
        Ok(())
    }

    /// Ends the taking; the keys come back in order.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn finish(mut self) -> Result<Sorted<K, S>> {
        let mut runs = self.kept();
        runs.extend(self.spilled.iter().map(|&(at, end)| Run::Spilled(RunReader::new(at, end))));
        let merge = Merge::new(runs, &self.scratch)?;
        Ok(Sorted { scratch: self.scratch, arena: self.arena, merge })
    }
}

/// Appends the buffer, which is empty then, to a run.
fn append<S: Scratch>(run: &mut Option<(u64, u64)>, buffer: &mut Vec<u8>, scratch: &S) -> Result<()> {
    if !buffer.is_empty() {
        let offset = scratch.append(buffer)?;
        run.get_or_insert((offset, offset)).1 = offset + buffer.len() as u64;
        buffer.clear();
    }
    Ok(())
}

/// Keys in order.
#[derive(Debug)]
pub struct Sorted<K: Ord, S> {
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

/// Merges runs.
#[derive(Debug)]
struct Merge<K: Ord> {
    /// Each at its next key.
    runs: Vec<Run<K>>,
    /// The next key of each run; of the current one the last.
    heap: BinaryHeap<Reverse<(K, usize)>>,
    /// The run whose key was given last.
    current: Option<usize>,
}

impl<K: Key> Merge<K> {
    fn new<S: Scratch>(mut runs: Vec<Run<K>>, scratch: &S) -> Result<Self> {
        let mut heap = BinaryHeap::new();
        for (index, run) in runs.iter_mut().enumerate() {
            heap.extend(run.advance(scratch)?.map(|key| Reverse((key, index))));
        }
        Ok(Self { runs, heap, current: None })
    }

    fn next<S: Scratch>(&mut self, scratch: &S) -> Result<Option<K>> {
        // A run often goes on with the smallest key: its last one is still on top and makes room for the next.
        if let Some(index) = self.current.take() {
            let next = self.runs[index].advance(scratch)?;
            if let Some(mut top) = self.heap.peek_mut() {
                match next {
                    Some(key) => *top = Reverse((key, index)),
                    None => drop(PeekMut::pop(top)),
                }
            }
        }
        self.current = self.heap.peek().map(|&Reverse((_, index))| index);
        Ok(self.heap.peek().map(|&Reverse((key, _))| key))
    }

    /// Those of the key that was given last.
    fn bytes<'b>(&'b self, arena: &'b [u8]) -> &'b [u8] {
        match self.current.map(|index| &self.runs[index]) {
            Some(&Run::Kept { bytes: (from, to), .. }) => &arena[from as usize..to as usize],
            Some(Run::Spilled(run)) => run.bytes(),
            None => &[],
        }
    }
}

/// Keys in order: a chunk in memory, or what was spilled.
#[derive(Debug)]
enum Run<K> {
    Kept { keys: std::vec::IntoIter<Entry<K>>, bytes: (u32, u32) },
    Spilled(RunReader),
}

impl<K: Key> Run<K> {
    /// Steps to the next key.
    fn advance<S: Scratch>(&mut self, scratch: &S) -> Result<Option<K>> {
        match self {
            Self::Kept { keys, bytes } => Ok(keys.next().map(|(key, from, to)| {
                *bytes = (from, to);
                key
            })),
            Self::Spilled(run) => run.advance(scratch),
        }
    }
}

/// Reads a spilled run.
#[derive(Debug)]
struct RunReader {
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    bytes: (usize, usize),
}

impl RunReader {
    fn new(offset: u64, end: u64) -> Self {
        Self { next: offset, end, buffer: Vec::new(), at: 0, bytes: (0, 0) }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.bytes.0..self.bytes.1]
    }

    /// Steps to the next key.
    fn advance<K: Key, S: Scratch>(&mut self, scratch: &S) -> Result<Option<K>> {
        if self.at == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        self.fill(scratch, K::MAX_LEN + MAX_LEN_LEN)?;
        let mut cursor = Cursor::new(&self.buffer[self.at..], 0, "scratch space");
        let before = cursor.remaining();
        let key = K::take(&mut cursor)?;
        let len = cursor.varint_u32()? as usize;
        self.at += before - cursor.remaining();
        self.fill(scratch, len)?;
        self.bytes = (self.at, self.at + len);
        self.at += len;
        Ok(Some(key))
    }

    /// Makes sure that `len` bytes are in the buffer, or all that the run has left.
    fn fill<S: Scratch>(&mut self, scratch: &S, len: usize) -> Result<()> {
        if self.buffer.len() - self.at >= len || self.next == self.end {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let wanted = READ_LEN.max(len).min(left);
        let old = self.buffer.len();
        self.buffer.resize(old + wanted, 0);
        scratch.read(self.next, &mut self.buffer[old..])?;
        self.next += wanted as u64;
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
        const MAX_LEN: usize = 15;

        fn put(&self, out: &mut Vec<u8>) {
            out.put_signed(self.0);
            out.put_varint(u64::from(self.1));
        }

        fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
            Ok(Self(cursor.signed()?, cursor.varint_u32()?))
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
                let key = Moment(time_ps % 50, arrival);
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
