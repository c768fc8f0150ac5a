//! Sorted runs of keys, in memory or in scratch space, and their merge.

use std::ops::Range;

use super::{Scratch, SpanKind, SpillKey};
use crate::base::bytes::Cursor;
use crate::base::{Result, in_memory};

/// Bytes read from a run at once: large enough for a disk, small enough for a hundred runs.
pub const READ_LEN: usize = 256 << 10;
/// Bytes read at once if there are very many runs.
pub const LEAST_READ_LEN: usize = 16 << 10;
/// Keys of a spilled run that are decoded at once: they stay in the first-level cache.
const BATCH_KEYS: usize = 512;
/// Most bytes of a length in a run.
const MAX_LEN_LEN: usize = 10;

/// Position of a part of a run in the scratch space.
pub type RunPart = Range<u64>;
/// A key, and the position of its bytes in the arena.
pub type MergeEntry<K> = (K, <K as SpillKey>::Span);

/// Merges runs with a tree of losers. The next key of the winning run plays against the losers on
/// its way to the top. A tree of losers compares one key a level; a heap compares two.
#[derive(Debug)]
pub struct RunMerge<K: SpillKey> {
    /// The runs, each at its next key.
    pub(super) runs: Vec<SortedRun<K>>,
    /// Next key of each run, `None` if the run has ended. The winner's entry is the key that was
    /// returned last.
    heads: Vec<Option<K>>,
    /// The winner, then the loser of each match. The match of leaf `n` is `(n + runs) / 2`; the
    /// match above match `m` is `m / 2`.
    tree: Vec<usize>,
    /// Whether the winner's key was returned.
    is_given: bool,
}

impl<K: SpillKey> RunMerge<K> {
    /// Creates a merge of runs, which can be empty.
    pub fn new<S: Scratch>(mut runs: Vec<SortedRun<K>>, scratch: &S) -> Result<Self> {
        let count = runs.len();
        let mut heads = vec![None; count];
        // A single run needs no matches.
        if count > 1 {
            runs.iter_mut().zip(&mut heads).try_for_each(|(run, head)| run.advance(scratch, head))?;
        }
        let mut merge = Self { runs, heads, tree: vec![0; count], is_given: false };
        // Winner of each match; the leaves stand after the matches.
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

    /// Whether the next key of run `a` comes before that of `b`. If the keys are equal, the earlier
    /// run wins.
    fn beats(&self, a: usize, b: usize) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(of_a), Some(of_b)) => (of_a, a) < (of_b, b),
            (of_a, _) => of_a.is_some(),
        }
    }

    /// Returns the next key.
    #[inline]
    pub fn next<S: Scratch>(&mut self, scratch: &S) -> Result<Option<&K>> {
        if self.runs.len() == 1 { self.runs[0].next(scratch) } else { self.next_of_many(scratch) }
    }

    fn next_of_many<S: Scratch>(&mut self, scratch: &S) -> Result<Option<&K>> {
        let Some(&winner) = self.tree.first() else { return Ok(None) };
        if std::mem::replace(&mut self.is_given, true) {
            self.runs[winner].advance(scratch, &mut self.heads[winner])?;
            self.play(winner);
        }
        Ok(self.heads[self.tree[0]].as_ref())
    }

    /// Finds the new winner after the head of run `changed`, the old winner, has changed.
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

    /// Bytes of the key that was returned last.
    pub fn bytes<'b>(&'b self, arena: &'b [u8]) -> &'b [u8] {
        self.tree.first().map_or(&[], |&winner| self.runs[winner].bytes(arena))
    }
}

/// A sorted run of keys.
#[derive(Debug)]
pub struct SortedRun<K: SpillKey> {
    /// Decoded keys. Keys from `next` on were not returned.
    keys: Vec<MergeEntry<K>>,
    next: usize,
    /// Sources of the further keys: first the spilled ones, then chunks in memory.
    spilled: Option<RunReader>,
    chunks: std::vec::IntoIter<Vec<MergeEntry<K>>>,
}

impl<K: SpillKey> SortedRun<K> {
    /// Creates a run of spilled pieces, followed by chunks in memory.
    pub fn new(pieces: Vec<RunPart>, chunks: Vec<Vec<MergeEntry<K>>>) -> Self {
        let pieces = (!pieces.is_empty()).then(|| pieces.into_iter());
        let spilled = pieces.map(|pieces| RunReader {
            piece: 0..0,
            pieces,
            buffer: Vec::new(),
            at: 0,
            read_len: READ_LEN,
        });
        Self { keys: Vec::new(), next: 0, spilled, chunks: chunks.into_iter() }
    }

    /// The same run, of which about this many bytes are read at once.
    pub fn reading(mut self, read_len: usize) -> Self {
        if let Some(spilled) = &mut self.spilled {
            spilled.read_len = read_len;
        }
        self
    }

    /// Steps to the next key.
    #[inline]
    fn next<S: Scratch>(&mut self, scratch: &S) -> Result<Option<&K>> {
        if self.next == self.keys.len() {
            self.refill(scratch)?;
        }
        let key = self.keys.get(self.next).map(|(key, _)| key);
        self.next += usize::from(key.is_some());
        Ok(key)
    }

    /// Steps to the next key and writes it into `head`, where it is compared. A key that is passed
    /// from call to call would be copied at each.
    #[inline]
    fn advance<S: Scratch>(&mut self, scratch: &S, head: &mut Option<K>) -> Result<()> {
        if self.next == self.keys.len() {
            self.refill(scratch)?;
        }
        *head = self.keys.get(self.next).map(|&(key, _)| key);
        self.next += usize::from(head.is_some());
        Ok(())
    }

    #[cold]
    fn refill<S: Scratch>(&mut self, scratch: &S) -> Result<()> {
        self.next = 0;
        if let Some(spilled) = &mut self.spilled {
            spilled.read_keys(scratch, &mut self.keys)?;
            if !self.keys.is_empty() {
                return Ok(());
            }
            self.spilled = None;
        }
        self.keys = self.chunks.next().unwrap_or_default();
        Ok(())
    }

    /// Bytes of the key that was returned last.
    fn bytes<'b>(&'b self, arena: &'b [u8]) -> &'b [u8] {
        let bytes = self.spilled.as_ref().map_or(arena, |spilled| &spilled.buffer);
        let of_last = self.next.checked_sub(1).and_then(|last| self.keys.get(last));
        of_last.map_or(&[], |&(_, span)| &bytes[span.range()])
    }
}

/// Reads a spilled run.
#[derive(Debug)]
struct RunReader {
    /// Unread rest of the current piece, and the pieces after it.
    piece: RunPart,
    pieces: std::vec::IntoIter<RunPart>,
    buffer: Vec<u8>,
    /// Bytes of the buffer whose keys were decoded.
    at: usize,
    read_len: usize,
}

impl RunReader {
    /// Decodes the next keys; none after the last. Their bytes stay in the buffer until the next
    /// call.
    fn read_keys<K: SpillKey, S: Scratch>(
        &mut self,
        scratch: &S,
        keys: &mut Vec<MergeEntry<K>>,
    ) -> Result<()> {
        keys.clear();
        let mut wanted = K::MAX_LEN + MAX_LEN_LEN;
        loop {
            let is_all = !self.fill(scratch, wanted)?;
            let mut cursor = Cursor::new(&self.buffer[self.at..], 0, "scratch space");
            while keys.len() < BATCH_KEYS
                && (cursor.remaining() >= K::MAX_LEN + MAX_LEN_LEN || is_all && cursor.remaining() > 0)
            {
                let key = K::take(&mut cursor)?;
                let len = if K::Span::HAS_BYTES { cursor.varint_u32()? as usize } else { 0 };
                let start = self.buffer.len() - cursor.remaining();
                if len > cursor.remaining() && !is_all {
                    wanted = start - self.at + len;
                    break;
                }
                cursor.take(len)?;
                keys.push((key, K::Span::of(start, start + len)));
                self.at = start + len;
            }
            if is_all || !keys.is_empty() {
                return Ok(());
            }
        }
    }

    /// Fills the buffer up to `len` bytes. `false` if the run has fewer bytes left.
    fn fill<S: Scratch>(&mut self, scratch: &S, len: usize) -> Result<bool> {
        if self.buffer.len() - self.at >= len {
            return Ok(true);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        while self.buffer.len() < len {
            if self.piece.is_empty() {
                let Some(next) = self.pieces.next() else { return Ok(false) };
                self.piece = next;
            }
            let left = in_memory(self.piece.end - self.piece.start);
            let wanted = self.read_len.max(len).min(left);
            let old = self.buffer.len();
            self.buffer.resize(old + wanted, 0);
            scratch.read(self.piece.start, &mut self.buffer[old..])?;
            self.piece.start += wanted as u64;
        }
        Ok(true)
    }
}
