//! What is sorted or piled up.

use crate::base::Result;
use crate::base::bytes::Cursor;

/// A small value of fixed parts, which can be written to scratch space and read back.
pub trait Key: Copy + Ord {
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
