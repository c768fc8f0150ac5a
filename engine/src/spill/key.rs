//! What is sorted or piled up.

use std::fmt::Debug;
use std::ops::Range;

use crate::base::Result;
use crate::base::bytes::Cursor;

/// A small value of fixed parts, which can be written to scratch space and read back.
pub trait Key: Copy + Ord {
    /// Whether it is all there is ([`NoBytes`]) or comes with bytes ([`ByteSpan`]).
    type Span: Span;

    /// Bytes that [`Key::put`] appends at most.
    const MAX_LEN: usize;

    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes its bytes back.
    ///
    /// # Errors
    /// Where the bytes are not what [`Key::put`] wrote.
    fn take(cursor: &mut Cursor<'_>) -> Result<Self>;
}

/// Where the bytes lie that come with a key: part of what is sorted, so that keys without any are as small as they are.
pub trait Span: Copy + Debug {
    /// Whether there are any.
    const HAS_BYTES: bool;

    /// Of the bytes from `start` to `end`, both below 2^32.
    fn of(start: usize, end: usize) -> Self;

    /// Where they are.
    fn range(self) -> Range<usize>;
}

/// A key is all there is.
#[derive(Debug, Clone, Copy)]
pub struct NoBytes;

impl Span for NoBytes {
    const HAS_BYTES: bool = false;

    fn of(_start: usize, _end: usize) -> Self {
        Self
    }

    fn range(self) -> Range<usize> {
        0..0
    }
}

/// A key comes with bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByteSpan {
    start: u32,
    end: u32,
}

impl Span for ByteSpan {
    const HAS_BYTES: bool = true;

    #[expect(clippy::cast_possible_truncation, reason = "as the trait says")]
    fn of(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}
