//! A window on the input that slides forward.

use std::io::Read;

/// Bytes per read.
const CHUNK: usize = 1 << 18;

/// The unread part of the input, as far as it has been buffered.
pub(super) struct Input<'a> {
    read: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Start of the unread part in the buffer.
    start: usize,
    /// Number of bytes of the input before the buffer.
    before: u64,
    ended: bool,
}

impl<'a> Input<'a> {
    pub(super) fn new(read: &'a mut dyn Read) -> Self {
        Self { read, buffer: Vec::new(), start: 0, before: 0, ended: false }
    }

    /// Offset of the unread part in the input.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.start as u64
    }

    /// The buffered bytes of the unread part.
    pub(super) fn here(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Buffers more of the unread part. Returns false at the end of the input.
    pub(super) fn extend(&mut self) -> std::io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.before += self.start as u64;
            self.start = 0;
        }
        let more = (&mut *self.read).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
        self.ended = more == 0;
        Ok(!self.ended)
    }

    /// The byte at this distance from the start of the unread part.
    pub(super) fn peek(&mut self, distance: usize) -> std::io::Result<Option<u8>> {
        loop {
            if let Some(&byte) = self.here().get(distance) {
                return Ok(Some(byte));
            }
            if !self.extend()? {
                return Ok(None);
            }
        }
    }

    /// Skips buffered bytes.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.buffer.len());
    }

    /// Skips all bytes that fit. Returns the first that does not.
    pub(super) fn skip_while(&mut self, fits: impl Fn(u8) -> bool) -> std::io::Result<Option<u8>> {
        loop {
            let here = self.here();
            let count = here.iter().take_while(|&&byte| fits(byte)).count();
            let next = here.get(count).copied();
            self.skip(count);
            if next.is_some() || !self.extend()? {
                return Ok(next);
            }
        }
    }
}
