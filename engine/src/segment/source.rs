//! Sources of a segment's bytes: memory, a file, or a remote file that is fetched part by part.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

use elsa::sync::FrozenVec;

use crate::base::{Error, Result};

/// The bytes of a segment. Several threads can read them at once.
pub trait Bytes: Sync {
    /// Length of the whole file.
    fn file_len(&self) -> u64;

    /// Returns `len` bytes from `offset`.
    ///
    /// # Errors
    /// `Truncated` if the file ends before, `Storage` if they cannot be read.
    fn range(&self, offset: u64, len: u64) -> Result<SourceBytes<'_>>;
}

/// Some bytes of a source.
#[derive(Debug)]
pub enum SourceBytes<'a> {
    /// The source keeps them as long as it is open.
    Lent(&'a [u8]),
    /// They were read for the caller.
    Read(Vec<u8>),
    /// A range of bytes that others use too.
    Shared(Arc<Vec<u8>>, Range<usize>),
}

impl Deref for SourceBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Read(bytes) => bytes,
            Self::Shared(bytes, range) => bytes.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl PartialEq for SourceBytes<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// A whole file in memory.
impl<T: AsRef<[u8]> + Sync> Bytes for T {
    fn file_len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn range(&self, offset: u64, len: u64) -> Result<SourceBytes<'_>> {
        part_of(self.as_ref(), offset, len).map(SourceBytes::Lent)
    }
}

/// Returns `len` bytes from `offset`; `bytes` is the whole file.
fn part_of(bytes: &[u8], offset: u64, len: u64) -> Result<&[u8]> {
    let needed = offset.saturating_add(len);
    let truncated = Error::Truncated { needed, available: bytes.len() as u64 };
    let start = usize::try_from(offset).map_err(|_| truncated)?;
    let end = usize::try_from(needed).map_err(|_| truncated)?;
    bytes.get(start..end).ok_or(truncated)
}

/// Fetches parts of a remote file, on a web host for example.
pub trait Fetch: Sync {
    /// Returns all of the `len` bytes from `offset`. Blocks until they are here.
    fn fetch(&self, offset: u64, len: u64) -> Result<Vec<u8>>;
}

/// Fewest bytes of a fetch. The bytes that a question needs next mostly follow those that it needs
/// first. A round trip takes as long as a few hundred kilobytes.
const READ_AHEAD_BYTES: u64 = 128 << 10;
/// Most bytes that are fetched ahead. A fetch that begins at most [`READ_AHEAD_BYTES`] after the
/// end of another one is twice as long. So a long run takes few round trips, and a part by itself
/// few bytes.
const MOST_AHEAD_BYTES: u64 = 512 << 10;

/// A remote file, whose parts are fetched when they are first needed, and kept.
pub struct Fetched<F> {
    fetch: F,
    len: u64,
    kept: FrozenVec<Box<[u8]>>,
    /// Positions in `kept` by the offset in the file. Parts can overlap. The lock is held during a
    /// fetch, so that two readers of the same part fetch it once.
    by_offset: Mutex<BTreeMap<u64, usize>>,
}

impl<F: Fetch> Fetched<F> {
    /// A remote file of `len` bytes. `end` holds its last bytes, which a reader takes first.
    #[must_use]
    pub fn new(fetch: F, len: u64, end: Vec<u8>) -> Self {
        let kept = FrozenVec::new();
        let start = len.saturating_sub(end.len() as u64);
        let at = kept.push_get_index(end.into_boxed_slice());
        Self { fetch, len, kept, by_offset: Mutex::new(BTreeMap::from([(start, at)])) }
    }

    /// The source of the parts.
    #[must_use]
    pub fn fetcher(&self) -> &F {
        &self.fetch
    }

    /// Number of bytes to fetch if `len` bytes are needed from `offset`.
    fn wanted(&self, by_offset: &BTreeMap<u64, usize>, offset: u64, len: u64) -> u64 {
        // The header is followed by rows that are not needed yet.
        if offset == 0 {
            return len;
        }
        let before = by_offset.range(..=offset).next_back().and_then(|(start, at)| {
            let len = self.kept.get(*at)?.len() as u64;
            (offset <= start + len + READ_AHEAD_BYTES).then_some(len)
        });
        let ahead =
            before.map_or(READ_AHEAD_BYTES, |len| (len * 2).clamp(READ_AHEAD_BYTES, MOST_AHEAD_BYTES));
        let next = by_offset.range(offset + 1..).next().map(|(start, _)| *start);
        let end = next.unwrap_or(self.len).min(self.len);
        len.max(ahead.min(end.saturating_sub(offset)))
    }
}

impl<F: Fetch> Bytes for Fetched<F> {
    fn file_len(&self) -> u64 {
        self.len
    }

    fn range(&self, offset: u64, len: u64) -> Result<SourceBytes<'_>> {
        let needed = offset.saturating_add(len);
        if needed > self.len {
            return Err(Error::Truncated { needed, available: self.len });
        }
        let mut by_offset = self.by_offset.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((start, at)) = by_offset.range(..=offset).next_back()
            && let Some(found) = self.kept.get(*at).and_then(|part| part_of(part, offset - start, len).ok())
        {
            return Ok(SourceBytes::Lent(found));
        }
        let wanted = self.wanted(&by_offset, offset, len);
        let part = self.fetch.fetch(offset, wanted)?;
        if part.len() as u64 != wanted {
            return Err(Error::Storage { what: "fetching a part of the segment" });
        }
        let at = self.kept.push_get_index(part.into_boxed_slice());
        by_offset.insert(offset, at);
        self.kept.get(at).map_or(Ok(&[][..]), |part| part_of(part, 0, len)).map(SourceBytes::Lent)
    }
}

impl<F: fmt::Debug> fmt::Debug for Fetched<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fetch, len, kept, .. } = self;
        f.debug_struct("Fetched")
            .field("fetch", fetch)
            .field("len", len)
            .field("parts", &kept.len())
            .finish_non_exhaustive()
    }
}
