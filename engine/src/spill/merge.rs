//! Runs of keys in order, in memory or in scratch space, and merging them.

use std::ops::Range;

use super::{Key, Scratch, Span};
use crate::base::Result;
use crate::base::bytes::Cursor;

/// Bytes read from a run at once: large enough for a disk, small enough for a hundred runs.
pub const READ_LEN: usize = 256 << 10;
/// Bytes of a length in a run at most.
const MAX_LEN_LEN: usize = 10;

/// Where a part of a run lies in the scratch space.
pub type Piece = Range<u64>;
/// A key, and where its bytes lie in the arena.
pub type Entry<K> = (K, <K as Key>::Span);

/// Merges runs, in a tree of losers: the next key of the run that went on plays against those that lost on its way to the
/// top, one a level, where a heap looks at two.
#[derive(Debug)]
pub struct Merge<K: Key> {
    /// Each at its next key.
    pub(super) runs: Vec<Run<K>>,
    /// The next key of each run, `None` where it has ended; of the winner the one that was given last.
    heads: Vec<Option<K>>,
    /// The winner, then the loser of each match. The match of leaf `n` is `(n + runs) / 2`, that above match `m` is `m / 2`.
    tree: Vec<usize>,
    /// Whether the winner's key was given.
    is_given: bool,
}

impl<K: Key> Merge<K> {
    /// Of runs, which may be empty.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn new<S: Scratch>(mut runs: Vec<Run<K>>, scratch: &S) -> Result<Self> {
        let count = runs.len();
        let mut heads = vec![None; count];
        runs.iter_mut().zip(&mut heads).try_for_each(|(run, head)| run.advance(scratch, head))?;
        let mut merge = Self { runs, heads, tree: vec![0; count], is_given: false };
        // The winner of each match; the leaves stand behind the matches.
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

    /// The next key.
    ///
    /// # Errors
    /// Those of the scratch space.
    pub fn next<S: Scratch>(&mut self, scratch: &S) -> Result<Option<K>> {
        let Some(&winner) = self.tree.first() else { return Ok(None) };
        if std::mem::replace(&mut self.is_given, true) {
            self.runs[winner].advance(scratch, &mut self.heads[winner])?;
            if self.runs.len() > 1 {
                self.play(winner);
            }
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
    pub fn bytes<'b>(&'b self, arena: &'b [u8]) -> &'b [u8] {
        match self.tree.first().map(|&winner| &self.runs[winner]) {
            Some(Run::Kept { keys, next, .. }) => {
                let of_last = next.checked_sub(1).and_then(|last| keys.get(last));
                of_last.map_or(&[], |&(_, span)| &arena[span.range()])
            }
            Some(Run::Spilled(run)) => run.bytes(),
            None => &[],
        }
    }
}

/// Keys in order: chunks in memory, or what was spilled.
#[derive(Debug)]
pub enum Run<K: Key> {
    Kept { keys: Vec<Entry<K>>, next: usize, chunks: std::vec::IntoIter<Vec<Entry<K>>> },
    Spilled(RunReader),
}

impl<K: Key> Run<K> {
    /// Steps to the next key and puts it into `head`, where it is compared: keys that are handed from call to call are copied
    /// as often.
    #[inline]
    fn advance<S: Scratch>(&mut self, scratch: &S, head: &mut Option<K>) -> Result<()> {
        match self {
            Self::Kept { keys, next, .. } => {
                *head = keys.get(*next).map(|&(key, _)| key);
                *next += 1;
                if head.is_none() {
                    self.next_chunk(head);
                }
                Ok(())
            }
            Self::Spilled(run) => run.advance(scratch, head),
        }
    }

    #[cold]
    fn next_chunk(&mut self, head: &mut Option<K>) {
        if let Self::Kept { keys, next, chunks } = self {
            *keys = chunks.next().unwrap_or_default();
            *head = keys.first().map(|&(key, _)| key);
            *next = 1;
        }
    }
}

/// Reads a spilled run.
#[derive(Debug)]
pub struct RunReader {
    /// The unread rest of the current piece, and the pieces after it.
    piece: Piece,
    pieces: std::vec::IntoIter<Piece>,
    buffer: Vec<u8>,
    at: usize,
    bytes: (usize, usize),
}

impl RunReader {
    /// Of the pieces, in order.
    pub fn new(pieces: Vec<Piece>) -> Self {
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
