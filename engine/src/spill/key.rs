//! Keys and items that a sorter or a pile takes.

use std::fmt::Debug;
use std::ops::Range;

use crate::base::Result;
use crate::base::bytes::Cursor;

/// A small value of fixed parts, which can be written to scratch space and read back.
pub trait SpillKey: Copy + Ord {
    /// [`NoBytes`] for a key without further bytes, [`ByteSpan`] for one with bytes.
    type Span: SpanKind;

    /// Most bytes that [`SpillKey::put`] appends.
    const MAX_LEN: usize;

    /// Appends the encoded key.
    fn put(&self, out: &mut Vec<u8>);

    /// Decodes a key.
    ///
    /// # Errors
    /// If the bytes are not what [`SpillKey::put`] wrote.
    fn take(cursor: &mut Cursor<'_>) -> Result<Self>;
}

/// Position of the bytes that come with a key. The span is part of the sorted entry, so that keys
/// without bytes stay small.
pub trait SpanKind: Copy + Debug {
    /// Whether keys of this kind have bytes.
    const HAS_BYTES: bool;

    /// The span of the bytes from `start` to `end`, both below 2^32.
    fn of(start: usize, end: usize) -> Self;

    /// Range of the bytes.
    fn range(self) -> Range<usize>;
}

/// Span of a key without bytes.
#[derive(Debug, Clone, Copy)]
pub struct NoBytes;

impl SpanKind for NoBytes {
    const HAS_BYTES: bool = false;

    fn of(_start: usize, _end: usize) -> Self {
        Self
    }

    fn range(self) -> Range<usize> {
        0..0
    }
}

/// Span of a key with bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByteSpan {
    start: u32,
    end: u32,
}

impl SpanKind for ByteSpan {
    const HAS_BYTES: bool = true;

    #[expect(clippy::cast_possible_truncation, reason = "as the trait says")]
    fn of(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}
