//! A window on the input that slides forward.

use std::io::Read;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// The unread part of the input, as much of it as somebody has looked at.
pub(super) struct Input<'a> {
    read: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// Where the unread part starts in the buffer.
    start: usize,
    /// Bytes of the input before the buffer.
    before: u64,
    ended: bool,
}

impl<'a> Input<'a> {
    pub(super) fn new(read: &'a mut dyn Read) -> Self {
        Self { read, buffer: Vec::new(), start: 0, before: 0, ended: false }
    }

    /// Where the unread part starts in the input.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.start as u64
    }

    /// What is here of the unread part.
    pub(super) fn here(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Brings more of the unread part here; false where the input has ended.
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

    /// Passes over bytes that are here.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.buffer.len());
    }

    /// Passes over all bytes that fit, and tells the first that does not.
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
