//! What a reader may take for what it has to sort.

use super::{Key, Pile, Scratch, Sorter};
use crate::exec::{Exec, InPlace};

/// Memory and scratch space.
#[derive(Clone, Copy)]
pub struct Space<'s> {
    /// For what does not fit into memory.
    pub scratch: &'s dyn Scratch,
    /// Bytes of memory for the largest thing that is sorted; whatever is sorted beside it takes a part of that.
    pub sort_bytes: usize,
    /// Runs tasks that are independent of each other.
    pub exec: &'s dyn Exec,
}

impl<'s> Space<'s> {
    /// As much as a reader takes that has the machine for itself.
    pub const SORT_BYTES: usize = 64 << 20;

    /// The usual memory.
    #[must_use]
    pub fn new(scratch: &'s dyn Scratch) -> Self {
        Self { scratch, sort_bytes: Self::SORT_BYTES, exec: &InPlace }
    }

    /// Sorts in one `share`th of the memory.
    #[must_use]
    pub fn sorter<K: Key>(&self, share: usize) -> Sorter<K, &'s dyn Scratch> {
        Sorter::new(self.scratch, self.sort_bytes / share.max(1))
    }

    /// A list.
    #[must_use]
    pub fn pile<T: Key>(&self) -> Pile<T, &'s dyn Scratch> {
        Pile::new(self.scratch)
    }
}
