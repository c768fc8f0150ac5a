//! Lists that are too long for memory, and are read all the same as if they were there.
//!
//! The memory of a list on a shelf belongs to the system: it can take the pages back at any time,
//! and reads them again when they are needed.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::base::Result;

/// Bytes that a shelf keeps.
pub type ShelfBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A place for lists that no longer change.
pub trait Shelf: Sync {
    /// Keeps bytes as long as the result lives. `None` if the shelf keeps nothing.
    fn keep(&self, bytes: &[u8]) -> Result<Option<ShelfBytes>>;
}

/// A shelf that keeps nothing: all lists stay in memory.
#[derive(Debug, Clone, Copy)]
pub struct NoShelf;

impl Shelf for NoShelf {
    fn keep(&self, _bytes: &[u8]) -> Result<Option<ShelfBytes>> {
        Ok(None)
    }
}

/// An item of a list: its bytes are itself.
pub trait ShelfItem: FromBytes + IntoBytes + Immutable + KnownLayout + Copy {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Copy> ShelfItem for T {}

/// A list that is read often and changes seldom.
#[derive(Clone)]
pub enum Shelved<T> {
    /// A list in memory.
    InMemory(Vec<T>),
    /// The bytes of a list on a shelf.
    OnShelf(ShelfBytes),
}

impl<T: ShelfItem> Shelved<T> {
    /// The items, to change them. Those on a shelf are copied into memory.
    pub fn make_mut(&mut self) -> &mut Vec<T> {
        if let Self::OnShelf(_) = self {
            *self = Self::InMemory(self.to_vec());
        }
        match self {
            Self::InMemory(items) => items,
            Self::OnShelf(_) => unreachable!("it is in memory"),
        }
    }

    /// Puts the list on a shelf, unless the shelf keeps nothing.
    pub fn shelve(&mut self, shelf: &dyn Shelf) -> Result<()> {
        if let Self::InMemory(items) = self
            && !items.is_empty()
            && let Some(bytes) = shelf.keep(items.as_bytes())?
            && <[T]>::ref_from_bytes((*bytes).as_ref()).is_ok_and(|of| of.len() == items.len())
        {
            *self = Self::OnShelf(bytes);
        }
        Ok(())
    }
}

impl<T: ShelfItem> Deref for Shelved<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::InMemory(items) => items,
            // It was checked when the shelf took it.
            Self::OnShelf(bytes) => <[T]>::ref_from_bytes((**bytes).as_ref()).unwrap_or_default(),
        }
    }
}

impl<T> Default for Shelved<T> {
    fn default() -> Self {
        Self::InMemory(Vec::new())
    }
}

impl<T> From<Vec<T>> for Shelved<T> {
    fn from(items: Vec<T>) -> Self {
        Self::InMemory(items)
    }
}

impl<T> FromIterator<T> for Shelved<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::InMemory(items.into_iter().collect())
    }
}

impl<'l, T: ShelfItem> IntoIterator for &'l Shelved<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: ShelfItem + PartialEq> PartialEq for Shelved<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ShelfItem + Eq> Eq for Shelved<T> {}

impl<T: ShelfItem + fmt::Debug> fmt::Debug for Shelved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A shelf in memory. Its bytes begin at a multiple of eight, or one behind it.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct MemoryShelf {
        pub(crate) is_aligned: bool,
    }

    struct KeptBytes {
        words: Vec<u64>,
        first: usize,
        len: usize,
    }

    impl AsRef<[u8]> for KeptBytes {
        fn as_ref(&self) -> &[u8] {
            &self.words.as_bytes()[self.first..self.first + self.len]
        }
    }

    impl Shelf for MemoryShelf {
        fn keep(&self, bytes: &[u8]) -> Result<Option<ShelfBytes>> {
            let (first, len) = (usize::from(!self.is_aligned), bytes.len());
            let mut words = vec![0_u64; len / 8 + 1];
            words.as_mut_bytes()[first..first + len].copy_from_slice(bytes);
            Ok(Some(Arc::new(KeptBytes { words, first, len })))
        }
    }

    #[test]
    fn a_list_reads_the_same_on_a_shelf() {
        let items: Vec<u64> = (0..1000).map(|at| at * at).collect();
        for (is_aligned, is_kept) in [(true, true), (false, false)] {
            let mut list = Shelved::from(items.clone());
            list.shelve(&MemoryShelf { is_aligned }).unwrap();
            assert_eq!(matches!(list, Shelved::OnShelf(_)), is_kept);
            assert_eq!(list[..], items[..]);
            list.make_mut().push(7);
            assert_eq!((list.len(), list[1000]), (1001, 7));
        }
        let mut list = Shelved::from(items.clone());
        list.shelve(&NoShelf).unwrap();
        assert_eq!(list, Shelved::InMemory(items));
    }
}
