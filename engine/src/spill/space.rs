//! Memory and scratch space that a reader may use for sorting, and whether it still shall.

use super::{Pile, Scratch, Sorter, SpillKey};
use crate::exec::Work;

/// Memory and scratch space, and the cancellation of the reading.
#[derive(Clone, Copy)]
pub struct Space<'s> {
    /// Holds data that does not fit into memory.
    pub scratch: &'s dyn Scratch,
    /// Bytes of memory for the largest sorter; sorters beside it take a share of it.
    pub sort_bytes: usize,
    /// Runs independent tasks, and tells whether the reading is cancelled. A reader looks at that
    /// wherever it can read for long without a call of its sink.
    pub work: Work<'s>,
}

impl<'s> Space<'s> {
    /// Usual `sort_bytes` of a reader that is alone on the machine.
    pub const SORT_BYTES: usize = 64 << 20;

    /// Creates a space with the usual memory, which is never cancelled.
    #[must_use]
    pub fn new(scratch: &'s dyn Scratch) -> Self {
        Self { scratch, sort_bytes: Self::SORT_BYTES, work: Work::IN_PLACE }
    }

    /// Creates a sorter with one `share`th of the memory.
    #[must_use]
    pub fn sorter<K: SpillKey>(&self, share: usize) -> Sorter<K, &'s dyn Scratch> {
        Sorter::new(self.scratch, self.sort_bytes / share.max(1))
    }

    /// Creates an empty list.
    #[must_use]
    pub fn pile<T: SpillKey>(&self) -> Pile<T, &'s dyn Scratch> {
        Pile::new(self.scratch)
    }
}
