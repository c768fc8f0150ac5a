//! Where a segment's bytes come from. The engine asks; the caller fetches.

use std::collections::BTreeMap;

use crate::base::{Error, Result};

/// The bytes of a segment, as far as they are here. Several may read them at once.
pub trait Bytes: Sync {
    /// Length of the whole file.
    fn file_len(&self) -> u64;

    /// `len` bytes from `offset`.
    ///
    /// # Errors
    /// `Missing` where they have to be fetched first, `Truncated` where the file ends before.
    fn range(&self, offset: u64, len: u64) -> Result<&[u8]>;
}

/// A whole file in memory or mapped.
impl<T: AsRef<[u8]> + Sync> Bytes for T {
    fn file_len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn range(&self, offset: u64, len: u64) -> Result<&[u8]> {
        part_of(self.as_ref(), offset, len)
    }
}

/// `len` bytes from `offset` of all the bytes of a file.
pub(crate) fn part_of(bytes: &[u8], offset: u64, len: u64) -> Result<&[u8]> {
    let needed = offset.saturating_add(len);
    let truncated = Error::Truncated { needed, available: bytes.len() as u64 };
    let start = usize::try_from(offset).map_err(|_| truncated)?;
    let end = usize::try_from(needed).map_err(|_| truncated)?;
    bytes.get(start..end).ok_or(truncated)
}

/// A file of which some ranges have been fetched.
#[derive(Debug)]
pub struct Fetched {
    len: u64,
    /// By offset; ranges may overlap.
    ranges: BTreeMap<u64, Vec<u8>>,
}

impl Fetched {
    /// Nothing yet of a file of this length.
    #[must_use]
    pub fn new(len: u64) -> Self {
        Self { len, ranges: BTreeMap::new() }
    }

    /// Takes the bytes that an [`Error::Missing`] asked for.
    pub fn provide(&mut self, offset: u64, bytes: Vec<u8>) {
        self.ranges.insert(offset, bytes);
    }
}

impl Bytes for Fetched {
    fn file_len(&self) -> u64 {
        self.len
    }

    fn range(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let needed = offset.saturating_add(len);
        if needed > self.len {
            return Err(Error::Truncated { needed, available: self.len });
        }
        let missing = Error::Missing { offset, len };
        let (start, bytes) = self.ranges.range(..=offset).next_back().ok_or(missing)?;
        let from = usize::try_from(offset - start).map_err(|_| missing)?;
        let count = usize::try_from(len).map_err(|_| missing)?;
        from.checked_add(count).and_then(|to| bytes.as_slice().get(from..to)).ok_or(missing)
    }
}

/// A reader may be opened again and again over the same ranges while they grow.
impl Bytes for &Fetched {
    fn file_len(&self) -> u64 {
        Fetched::file_len(self)
    }

    fn range(&self, offset: u64, len: u64) -> Result<&[u8]> {
        Fetched::range(self, offset, len)
    }
}
