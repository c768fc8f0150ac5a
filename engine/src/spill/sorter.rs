//! Sorting in bounded memory. Runs that fill the buffer are sorted and spilled; at the end they are
//! merged.

use super::merge::{LEAST_READ_LEN, MergeEntry, READ_LEN, RunMerge, RunPart, SortedRun};
use super::{ByteSpan, NoBytes, Scratch, SpanKind, SpillKey};
use crate::base::Result;
use crate::base::bytes::Put;

/// Keys of a chunk. Chunks are sorted as they fill, so that little work is left for the end. This
/// many keys stay in the second-level cache.
const CHUNK_KEYS: usize = 1 << 15;
/// Keys of a chunk if keys come with bytes: rows of many tracks, whose chunks do not follow each
/// other. Fewer chunks leave less work for the merge.
const CHUNK_KEYS_OF_BYTES: usize = 1 << 17;
/// The largest keys of a chunk, one in this many, wait for the next chunk. Keys that come nearly in
/// order then make chunks that follow each other and need no merge.
const CARRIED_SHARE: usize = 8;
/// Least memory for sorting. With less, there would be too many runs to merge.
const LEAST_BYTES: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };
/// Keys count as nearly in order if they move at most this many places on average.
const MOVES: usize = 12;

/// Takes keys, each with some bytes, and returns them in order.
#[derive(Debug)]
pub struct Sorter<K: SpillKey, S> {
    scratch: S,
    limit: usize,
    /// Number of keys at which the chunk ends, or the memory is full.
    full_at: usize,
    keys: Vec<MergeEntry<K>>,
    /// Full chunks, by runs. Each chunk is sorted and begins at or after the end of the chunk
    /// before it.
    runs: Vec<Vec<Vec<MergeEntry<K>>>>,
    /// Keys in all chunks.
    chunked: usize,
    /// Memory of chunks that were spilled, for reuse. The system takes as long to clear new pages
    /// as a chunk takes to be sorted.
    free: Vec<Vec<MergeEntry<K>>>,
    arena: Vec<u8>,
    /// Spilled runs: the pieces of each, and its last key.
    spilled: Vec<(Vec<RunPart>, K)>,
}

impl<K: SpillKey, S: Scratch> Sorter<K, S> {
    const CHUNK: usize = if K::Span::HAS_BYTES { CHUNK_KEYS_OF_BYTES } else { CHUNK_KEYS };

    /// Creates a sorter that keeps at most about `limit` bytes in memory.
    pub fn new(scratch: S, limit: usize) -> Self {
        Self {
            scratch,
            // The arena is addressed with 32 bits.
            limit: limit.min(1 << 30),
            full_at: 0,
            keys: Vec::new(),
            runs: Vec::new(),
            chunked: 0,
            free: Vec::new(),
            arena: Vec::new(),
            spilled: Vec::new(),
        }
    }

    /// Takes this many bytes from the limit, for something else that must stay in memory. The limit
    /// does not fall below [`LEAST_BYTES`].
    pub fn shrink(&mut self, bytes: usize) {
        let least = self.limit.min(LEAST_BYTES);
        self.limit = self.limit.saturating_sub(bytes).max(least);
        // The next key finds the new limit.
        self.full_at = 0;
    }

    /// Takes a key whose bytes begin at `start` of the arena. The arena is spilled long before it
    /// has 4 GiB. Inline, so that the key is made where it stays: a copy would wait until all parts
    /// of the key are written.
    #[inline(always)]
    fn take(&mut self, key: K, start: usize) -> Result<()> {
        self.keys.push((key, K::Span::of(start, self.arena.len())));
        if self.keys.len() >= self.full_at || K::Span::HAS_BYTES && self.is_full() {
            return self.make_room();
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        let keys = self.chunked + self.keys.len();
        self.arena.len() + keys * size_of::<MergeEntry<K>>() >= self.limit
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.keys.len() == Self::CHUNK {
            self.end_chunk(Self::CHUNK / CARRIED_SHARE);
        }
        if self.is_full() {
            self.spill()?;
        }
        let most = self.limit.div_ceil(size_of::<MergeEntry<K>>());
        self.full_at = most.saturating_sub(self.chunked).min(Self::CHUNK);
        Ok(())
    }

    /// Ends a chunk. The last `carried` keys go to the next one.
    fn end_chunk(&mut self, carried: usize) {
        sort_nearly(&mut self.keys, |&(key, _)| key);
        let end = self.keys.len() - carried;
        let fresh = || Vec::with_capacity(if carried > 0 { Self::CHUNK } else { 0 });
        // Without this, every spill would leave memory of one more chunk behind.
        let mut next = self.free.pop().unwrap_or_else(fresh);
        next.extend_from_slice(&self.keys[end..]);
        let mut chunk = std::mem::replace(&mut self.keys, next);
        chunk.truncate(end);
        let Some(&(first, _)) = chunk.first() else { return };
        self.chunked += chunk.len();
        let goes_on = |run: &&mut Vec<Vec<MergeEntry<K>>>| {
            run.last().and_then(|chunk| chunk.last()).is_some_and(|&(last, _)| last <= first)
        };
        match self.runs.last_mut().filter(goes_on) {
            Some(run) => run.push(chunk),
            None => self.runs.push(vec![chunk]),
        }
    }

    /// Takes the runs that are in memory. The last `carried` keys stay.
    fn take_runs(&mut self, carried: usize) -> Vec<Vec<Vec<MergeEntry<K>>>> {
        self.end_chunk(carried);
        self.chunked = 0;
        std::mem::take(&mut self.runs)
    }

    /// Writes the content of the memory as one run, which can continue the last one.
    fn spill(&mut self) -> Result<()> {
        // Bytes do not outlive the arena, so keys with bytes cannot wait.
        let carried = if K::Span::HAS_BYTES { 0 } else { self.keys.len() / CARRIED_SHARE };
        let mut runs = self.take_runs(carried);
        let mut spilling = Spilling { pieces: Vec::new(), buffer: Vec::new(), ends: None };
        if let [run] = &mut runs[..] {
            for mut chunk in run.drain(..) {
                for &(key, span) in &chunk {
                    spilling.put(key, &self.arena[span.range()], &self.scratch)?;
                }
                chunk.clear();
                self.free.push(chunk);
            }
        } else {
            let runs = runs.into_iter().map(|chunks| SortedRun::new(Vec::new(), chunks)).collect();
            let mut merge = RunMerge::new(runs, &self.scratch)?;
            while let Some(&key) = merge.next(&self.scratch)? {
                spilling.put(key, merge.bytes(&self.arena), &self.scratch)?;
            }
        }
        spilling.append(&self.scratch)?;
        if let Some((first, last)) = spilling.ends {
            match self.spilled.last_mut().filter(|(_, before)| *before <= first) {
                Some((pieces, end)) => {
                    pieces.append(&mut spilling.pieces);
                    *end = last;
                }
                None => self.spilled.push((spilling.pieces, last)),
            }
        }
        self.arena.clear();
        Ok(())
    }

    /// Ends the input and returns the keys in order.
    pub fn finish(mut self) -> Result<Sorted<K, S>> {
        let mut kept = self.take_runs(0);
        // The last spilled run can continue in memory.
        let first = kept.first().and_then(|run| run.first()?.first()).map(|&(key, _)| key);
        let goes_on = self.spilled.last().zip(first).is_some_and(|((_, last), first)| *last <= first);
        let rest = if goes_on { kept.remove(0) } else { Vec::new() };
        let mut runs: Vec<SortedRun<K>> =
            kept.into_iter().map(|chunks| SortedRun::new(Vec::new(), chunks)).collect();
        let read_len = (self.limit / self.spilled.len().max(1)).clamp(LEAST_READ_LEN, READ_LEN);
        let last = self.spilled.pop().map(|(pieces, _)| SortedRun::new(pieces, rest).reading(read_len));
        let whole = |(pieces, _)| SortedRun::new(pieces, Vec::new()).reading(read_len);
        runs.extend(self.spilled.into_iter().map(whole));
        runs.extend(last);
        let merge = RunMerge::new(runs, &self.scratch)?;
        Ok(Sorted { scratch: self.scratch, arena: self.arena, merge })
    }
}

impl<K: SpillKey<Span = NoBytes>, S: Scratch> Sorter<K, S> {
    /// Takes a key.
    #[inline(always)]
    pub fn push(&mut self, key: K) -> Result<()> {
        self.take(key, 0)
    }
}

impl<K: SpillKey<Span = ByteSpan>, S: Scratch> Sorter<K, S> {
    /// Takes a key. `pack` appends its bytes.
    pub fn push_with(&mut self, key: K, pack: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.arena.len();
        pack(&mut self.arena)?;
        self.take(key, start)
    }
}

/// Sorts values. If they are nearly in order, only the few that are out of place are moved.
pub fn sort_nearly<T: Copy, K: Ord>(values: &mut [T], key: impl Fn(&T) -> K) {
    let mut moves = MOVES * values.len();
    for at in 1..values.len() {
        let value = values[at];
        let mut place = at;
        while place > 0 && key(&value) < key(&values[place - 1]) {
            values[place] = values[place - 1];
            place -= 1;
        }
        if place < at {
            values[place] = value;
            let Some(left) = moves.checked_sub(at - place) else {
                return values.sort_unstable_by_key(key);
            };
            moves = left;
        }
    }
}

/// A run that is being written to the scratch space.
struct Spilling<K> {
    pieces: Vec<RunPart>,
    buffer: Vec<u8>,
    /// First and last key.
    ends: Option<(K, K)>,
}

impl<K: SpillKey> Spilling<K> {
    #[inline]
    fn put<S: Scratch>(&mut self, key: K, bytes: &[u8], scratch: &S) -> Result<()> {
        let (first, _) = self.ends.unwrap_or((key, key));
        self.ends = Some((first, key));
        key.put(&mut self.buffer);
        if K::Span::HAS_BYTES {
            self.buffer.put_bytes(bytes);
        }
        if self.buffer.len() >= READ_LEN { self.append(scratch) } else { Ok(()) }
    }

    /// Appends the buffer to the scratch space and empties it.
    fn append<S: Scratch>(&mut self, scratch: &S) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let offset = scratch.append(&self.buffer)?;
        let end = offset + self.buffer.len() as u64;
        match self.pieces.last_mut() {
            Some(last) if last.end == offset => last.end = end,
            // This is the first piece, or another user has appended meanwhile.
            _ => self.pieces.push(offset..end),
        }
        self.buffer.clear();
        Ok(())
    }
}

/// Keys in order.
#[derive(Debug)]
pub struct Sorted<K: SpillKey, S> {
    scratch: S,
    arena: Vec<u8>,
    merge: RunMerge<K>,
}

impl<K: SpillKey, S: Scratch> Sorted<K, S> {
    /// Returns the next key.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&K>> {
        self.merge.next(&self.scratch)
    }

    /// Returns the next key and its bytes.
    pub fn next_with(&mut self) -> Result<Option<(K, &[u8])>> {
        let key = self.merge.next(&self.scratch)?.copied();
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

    impl SpillKey for Moment {
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

    /// A key that comes with bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Packed(Moment);

    impl SpillKey for Packed {
        type Span = ByteSpan;
        const MAX_LEN: usize = Moment::MAX_LEN;

        fn put(&self, out: &mut Vec<u8>) {
            self.0.put(out);
        }

        fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
            Moment::take(cursor).map(Self)
        }
    }

    #[test]
    fn keys_in_order_take_no_more_memory_with_each_spill() {
        let scratch = MemoryScratch::default();
        let mut sorter = Sorter::new(&scratch, 100_000);
        let taken_after = |sorter: &mut Sorter<Packed, _>, keys: std::ops::Range<u32>| {
            for at in keys {
                sorter
                    .push_with(Packed(Moment(at.into(), at)), |out| {
                        out.put_varint(at.into());
                        Ok(())
                    })
                    .unwrap();
            }
            let of_keys: usize = sorter.free.iter().chain([&sorter.keys]).map(Vec::capacity).sum();
            of_keys * size_of::<MergeEntry<Packed>>() + sorter.arena.capacity()
        };
        let few = taken_after(&mut sorter, 0..20_000);
        let many = taken_after(&mut sorter, 20_000..400_000);
        assert!(sorter.spilled.iter().map(|(pieces, _)| pieces.len()).sum::<usize>() > 50);
        assert!(many <= few.max(400_000), "{few} bytes, then {many}");
    }

    #[test]
    fn memory_that_others_take_is_not_used_for_sorting() {
        let spilled = |taken: usize| {
            let scratch = MemoryScratch::default();
            let mut sorter = Sorter::new(&scratch, LEAST_BYTES + (1 << 20));
            sorter.shrink(taken);
            let keys = (LEAST_BYTES + (1 << 19)) / size_of::<MergeEntry<Moment>>();
            (0..keys as u32).for_each(|at| sorter.push(Moment(i64::from(at ^ 0x155), at)).unwrap());
            let (limit, spilled) = (sorter.limit, sorter.spilled.len());
            let mut sorted = sorter.finish().unwrap();
            let mut last = None;
            while let Some(&key) = sorted.next().unwrap() {
                assert!(last.replace(key).is_none_or(|last| last < key));
            }
            (limit, spilled > 0)
        };
        assert_eq!(spilled(0), (LEAST_BYTES + (1 << 20), false));
        assert_eq!(spilled(3 << 18), (LEAST_BYTES + (1 << 18), true));
        assert_eq!(spilled(1 << 40), (LEAST_BYTES, true));
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
        for limit in [2 * CHUNK_KEYS * size_of::<MergeEntry<Moment>>(), usize::MAX] {
            let scratch = MemoryScratch::default();
            let mut sorter = Sorter::new(&scratch, limit);
            let count = (CHUNK_KEYS * 11 / 2) as u32;
            // Groups of four keys, each backwards.
            (0..count).for_each(|at| sorter.push(Moment(i64::from(at ^ 3), at)).unwrap());
            let mut sorted = sorter.finish().unwrap();
            assert_eq!(sorted.merge.runs.len(), 1);
            for at in 0..count {
                assert_eq!(sorted.next().unwrap().map(|key| key.0), Some(i64::from(at)));
            }
            assert_eq!(sorted.next().unwrap(), None);
        }
    }

    #[test]
    fn chunks_in_memory_and_in_scratch_space_are_merged() {
        let scratch = MemoryScratch::default();
        // Five and a half chunks: two are spilled, twice.
        let limit = 2 * CHUNK_KEYS * size_of::<MergeEntry<Moment>>();
        let mut sorter = Sorter::new(&scratch, limit);
        let count = (CHUNK_KEYS * 11 / 2) as u32;
        let moment = |at: u32| Moment(i64::from(at.wrapping_mul(2_654_435_761)) % 1_000_003, at);
        (0..count).for_each(|at| sorter.push(moment(at)).unwrap());
        let mut expected: Vec<Moment> = (0..count).map(moment).collect();
        expected.sort_unstable();
        let mut sorted = sorter.finish().unwrap();
        for key in expected {
            assert_eq!(sorted.next().unwrap(), Some(&key));
        }
        assert_eq!(sorted.next().unwrap(), None);
    }

    #[test]
    fn two_sorters_spill_to_the_same_space_at_the_same_time() {
        let scratch = MemoryScratch::default();
        // Runs of several pieces; the pieces of the two sorters alternate.
        let count = 300_000_u32;
        let limit = count as usize / 3 * size_of::<MergeEntry<Moment>>();
        let moment = |at: u32| Moment(i64::from(at.wrapping_mul(2_654_435_761)), at);
        let sorted = |step: u32| {
            let mut sorter = Sorter::new(&scratch, limit);
            (0..count).for_each(|at| sorter.push(moment(at * step)).unwrap());
            let mut sorted = sorter.finish().unwrap();
            let found: Vec<Moment> = std::iter::from_fn(|| sorted.next().unwrap().copied()).collect();
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
            assert_eq!(first.next().unwrap(), Some(&item));
            if item.1 % 2 == 0 {
                assert_eq!(second.next().unwrap(), Some(&items[item.1 as usize / 2]));
            }
        }
        assert_eq!(first.next().unwrap(), None);
        assert_eq!(first.next().unwrap(), None);
        assert_eq!(second.next().unwrap(), Some(&items[200_000]));
    }
}
