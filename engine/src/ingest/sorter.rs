//! Sorting rows in bounded memory: runs that fill the buffer are sorted and spilled, and merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Scratch;
use super::row::RowKey;
use crate::base::Result;
use crate::base::bytes::{Cursor, Put};

/// Bytes read from a run at once: large enough for a disk, small enough for a hundred runs.
const READ_LEN: usize = 256 << 10;
/// Bytes of a key and length in a run at most: five varints.
const MAX_KEY_LEN: usize = 50;

/// Takes rows, gives them back in order.
#[derive(Debug)]
pub struct Sorter<S> {
    scratch: S,
    limit: usize,
    keys: Vec<(RowKey, u32, u32)>,
    arena: Vec<u8>,
    /// Spilled runs: offset and end.
    runs: Vec<(u64, u64)>,
}

impl<S: Scratch> Sorter<S> {
    /// Keeps at most about `limit` bytes in memory.
    pub fn new(scratch: S, limit: usize) -> Self {
        // The arena is addressed with 32 bits.
        Self { scratch, limit: limit.min(1 << 30), keys: Vec::new(), arena: Vec::new(), runs: Vec::new() }
    }

    /// Takes a row: `pack` appends its values.
    ///
    /// # Errors
    /// Those of the scratch space.
    #[expect(clippy::cast_possible_truncation, reason = "the arena is spilled long before 4 GiB")]
    pub fn push(&mut self, key: RowKey, pack: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let start = self.arena.len();
        pack(&mut self.arena);
        self.keys.push((key, start as u32, self.arena.len() as u32));
        let used = self.arena.len() + self.keys.len() * size_of::<(RowKey, u32, u32)>();
        if used >= self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        self.keys.sort_unstable_by_key(|&(key, ..)| key);
        let mut buffer = Vec::with_capacity(READ_LEN + READ_LEN / 4);
        let mut first = None;
        let mut end = 0;
        for &(key, from, to) in &self.keys {
            put_key(&key, &mut buffer);
            buffer.put_bytes(&self.arena[from as usize..to as usize]);
            if buffer.len() >= READ_LEN {
                let offset = self.scratch.append(&buffer)?;
                first.get_or_insert(offset);
                end = offset + buffer.len() as u64;
                buffer.clear();
            }
        }
        if !buffer.is_empty() {
            let offset = self.scratch.append(&buffer)?;
            first.get_or_insert(offset);
            end = offset + buffer.len() as u64;
        }
        self.runs.extend(first.map(|offset| (offset, end)));
        self.keys.clear();
        self.arena.clear();
        Ok(())
    }

    /// Ends the taking; the rows come back in order.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn finish(mut self) -> Result<SortedRows<S>> {
        if self.runs.is_empty() {
            self.keys.sort_unstable_by_key(|&(key, ..)| key);
            return Ok(SortedRows::Memory { keys: self.keys, arena: self.arena, at: 0 });
        }
        self.spill()?;
        self.arena = Vec::new();
        self.keys = Vec::new();
        let mut runs: Vec<RunReader> = self.runs.iter().map(|&(at, end)| RunReader::new(at, end)).collect();
        let mut heap = BinaryHeap::new();
        for (index, run) in runs.iter_mut().enumerate() {
            if let Some(key) = run.advance(&self.scratch)? {
                heap.push(Reverse((key, index)));
            }
        }
        Ok(SortedRows::Merge { scratch: self.scratch, runs, heap, current: None })
    }
}

fn put_key(key: &RowKey, out: &mut Vec<u8>) {
    out.put_varint(key.place);
    out.put_signed(key.start_ps);
    out.put_varint(key.duration_ps.cast_unsigned());
    out.put_varint(u64::from(key.arrival));
}

/// Rows in order.
pub enum SortedRows<S> {
    /// All were in memory.
    Memory {
        /// Sorted keys, with the spans of their values.
        keys: Vec<(RowKey, u32, u32)>,
        /// Values.
        arena: Vec<u8>,
        /// The next key.
        at: usize,
    },
    /// Spilled runs are merged.
    Merge {
        /// Where the runs are.
        scratch: S,
        /// Each at its next row.
        runs: Vec<RunReader>,
        /// The next key of each run.
        heap: BinaryHeap<Reverse<(RowKey, usize)>>,
        /// The run whose row was given last.
        current: Option<usize>,
    },
}

impl<S: Scratch> SortedRows<S> {
    /// The next row: key and packed values.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn next(&mut self) -> Result<Option<(RowKey, &[u8])>> {
        match self {
            Self::Memory { keys, arena, at } => {
                let Some(&(key, from, to)) = keys.get(*at) else { return Ok(None) };
                *at += 1;
                Ok(Some((key, &arena[from as usize..to as usize])))
            }
            Self::Merge { scratch, runs, heap, current } => {
                if let Some(index) = current.take()
                    && let Some(key) = runs[index].advance(scratch)?
                {
                    heap.push(Reverse((key, index)));
                }
                let Some(Reverse((key, index))) = heap.pop() else { return Ok(None) };
                *current = Some(index);
                Ok(Some((key, runs[index].row())))
            }
        }
    }
}

/// Reads a spilled run.
#[derive(Debug)]
pub struct RunReader {
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    row: (usize, usize),
}

impl RunReader {
    fn new(offset: u64, end: u64) -> Self {
        Self { next: offset, end, buffer: Vec::new(), at: 0, row: (0, 0) }
    }

    fn row(&self) -> &[u8] {
        &self.buffer[self.row.0..self.row.1]
    }

    /// Steps to the next row; gives its key.
    fn advance<S: Scratch>(&mut self, scratch: &S) -> Result<Option<RowKey>> {
        if self.at == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        self.fill(scratch, MAX_KEY_LEN)?;
        let (key, len, used) = {
            let mut cursor = Cursor::new(&self.buffer[self.at..], 0, "scratch space");
            let before = cursor.remaining();
            let key = RowKey {
                place: cursor.varint()?,
                start_ps: cursor.signed()?,
                duration_ps: cursor.varint()?.cast_signed(),
                arrival: cursor.varint_u32()?,
            };
            let len = cursor.varint_u32()? as usize;
            (key, len, before - cursor.remaining())
        };
        self.at += used;
        self.fill(scratch, len)?;
        self.row = (self.at, self.at + len);
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

    proptest! {
        #[test]
        fn spilled_or_not_rows_come_back_in_order(
            rows in prop::collection::vec((0_u64..4, -50_i64..50, 0_i64..9, 0_usize..300), 0..400),
            limit in 100_usize..100_000,
        ) {
            let mut sorter = Sorter::new(Vec::new(), limit);
            let mut expected = Vec::new();
            for (arrival, &(place, start_ps, duration_ps, len)) in (0_u32..).zip(&rows) {
                let key = RowKey { place, start_ps, duration_ps, arrival };
                let bytes = vec![arrival as u8; len];
                sorter.push(key, |out| out.extend_from_slice(&bytes)).unwrap();
                expected.push((key, bytes));
            }
            expected.sort_by_key(|(key, _)| *key);
            let mut sorted = sorter.finish().unwrap();
            let mut found = Vec::new();
            while let Some((key, bytes)) = sorted.next().unwrap() {
                found.push((key, bytes.to_vec()));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
