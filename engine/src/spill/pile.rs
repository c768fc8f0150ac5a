//! A list in bounded memory. Items come back in the same order, as often as the list is read.

use std::marker::PhantomData;

use super::{Scratch, SpillKey};
use crate::base::Result;
use crate::base::bytes::Cursor;

/// Bytes that are kept in memory and written at once.
const PIECE_LEN: usize = 1 << 20;

/// A list that grows at its end.
#[derive(Debug)]
pub struct Pile<T, S> {
    scratch: S,
    /// Offset and length of what has been written, in order.
    pieces: Vec<(u64, usize)>,
    /// Encoded items after the written pieces.
    last: Vec<u8>,
    len: u64,
    items: PhantomData<T>,
}

impl<T: SpillKey, S: Scratch> Pile<T, S> {
    /// Creates an empty list.
    pub fn new(scratch: S) -> Self {
        Self { scratch, pieces: Vec::new(), last: Vec::new(), len: 0, items: PhantomData }
    }

    /// Number of items.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) -> Result<()> {
        item.put(&mut self.last);
        self.len += 1;
        if self.last.len() >= PIECE_LEN {
            self.pieces.push((self.scratch.append(&self.last)?, self.last.len()));
            self.last.clear();
        }
        Ok(())
    }

    /// Returns a reader that begins at the first item.
    pub fn read(&self) -> PileReader<'_, T, S> {
        PileReader { pile: self, next_piece: 0, piece: Vec::new(), at: 0, items: Vec::new(), next: 0 }
    }
}

/// Steps through a pile.
#[derive(Debug)]
pub struct PileReader<'p, T, S> {
    pile: &'p Pile<T, S>,
    next_piece: usize,
    /// Copy of the current piece. The list cannot grow while it is read.
    piece: Vec<u8>,
    /// Bytes of the piece whose items were decoded.
    at: usize,
    /// Decoded items of the piece. Items from `next` on were not returned.
    items: Vec<T>,
    next: usize,
}

/// Items that are decoded at once: they stay in the first-level cache.
const BATCH_ITEMS: usize = 512;

impl<T: SpillKey, S: Scratch> PileReader<'_, T, S> {
    /// Returns the next item; `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not fail")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<&T>> {
        if self.next == self.items.len() {
            self.refill()?;
        }
        let item = self.items.get(self.next);
        self.next += usize::from(item.is_some());
        Ok(item)
    }

    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.items.clear();
        self.next = 0;
        let pieces = &self.pile.pieces;
        if self.at == self.piece.len() && self.next_piece <= pieces.len() {
            self.at = 0;
            if let Some(&(offset, len)) = pieces.get(self.next_piece) {
                self.piece.resize(len, 0);
                self.pile.scratch.read(offset, &mut self.piece)?;
            } else {
                self.piece.clone_from(&self.pile.last);
            }
            self.next_piece += 1;
        }
        let mut cursor = Cursor::new(&self.piece[self.at..], 0, "scratch space");
        while cursor.remaining() > 0 && self.items.len() < BATCH_ITEMS {
            self.items.push(T::take(&mut cursor)?);
        }
        self.at = self.piece.len() - cursor.remaining();
        Ok(())
    }
}
