//! The memory that an open segment may take for its decoded lists and texts.
//!
//! A list of three bytes can stand for 16,384 numbers, and a chunk of a hundred bytes for 256 MiB
//! of texts. So each decoder takes room for what a list states before it decodes the list. The room
//! of a segment is larger than anything that an ingest writes into a file of its length.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::base::{Error, Result};

/// Bytes of memory that every segment may take.
const LEAST_BYTES: u64 = 192 << 20;
/// Bytes of memory for each byte of the file, in addition. The lists and texts of traces take 1 to
/// 10 times their bytes in the file.
const BYTES_OF_BYTE: u64 = 16;

/// Error of a list or text that needs more memory than is left.
pub const FULL: Error =
    Error::Inconsistent { what: "lists or texts that take more memory than a file of this length may" };

/// Memory that is left.
#[derive(Debug)]
pub struct SegmentRoom {
    left: AtomicU64,
    whole: u64,
}

impl SegmentRoom {
    /// The room of a segment whose file has this many bytes.
    pub fn of_file(len: u64) -> Self {
        Self::new(LEAST_BYTES.saturating_add(len.saturating_mul(BYTES_OF_BYTE)))
    }

    fn new(whole: u64) -> Self {
        Self { left: AtomicU64::new(whole), whole }
    }

    /// Bytes that are taken now.
    pub fn taken(&self) -> u64 {
        self.whole.saturating_sub(self.left.load(Relaxed))
    }

    /// Takes no memory yet.
    pub fn part(&self) -> RoomShare<'_> {
        RoomShare { room: self, bytes: 0 }
    }
}

/// Memory that was taken. It is given back when dropped, unless it is kept.
#[derive(Debug)]
pub struct RoomShare<'r> {
    room: &'r SegmentRoom,
    bytes: u64,
}

impl<'r> RoomShare<'r> {
    /// Takes memory for `count` entries of `each` bytes.
    ///
    /// # Errors
    /// [`FULL`] if less is left.
    pub fn grow(&mut self, count: usize, each: usize) -> Result<()> {
        let bytes = (count as u64).saturating_mul(each as u64);
        self.room.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).map_err(|_| FULL)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives back all but this many bytes.
    pub fn shrink(&mut self, bytes: usize) {
        let more = self.bytes.saturating_sub(bytes as u64);
        self.room.left.fetch_add(more, Relaxed);
        self.bytes -= more;
    }

    /// Another part of the same room, for working memory.
    pub fn beside(&self) -> RoomShare<'r> {
        self.room.part()
    }

    /// Never gives the memory back.
    pub fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for RoomShare<'_> {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_unless_it_is_kept() {
        let room = SegmentRoom::new(100);
        let mut taken = room.part();
        assert_eq!(taken.grow(10, 8), Ok(()));
        assert_eq!(taken.beside().grow(21, 1), Err(FULL));
        assert_eq!(taken.grow(usize::MAX, 8), Err(FULL));
        taken.shrink(50);
        assert_eq!(room.part().grow(50, 1), Ok(()));
        taken.keep();
        assert_eq!(room.taken(), 50);
        assert_eq!(room.part().grow(51, 1), Err(FULL));
        assert_eq!(room.part().grow(50, 1), Ok(()), "given back by the part before");
    }
}
