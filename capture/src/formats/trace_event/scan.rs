//! The bytes of the input, as a window that moves forward and grows if one item needs it.

use std::io::Read;

use nprof_engine::base::in_memory;

use super::tokens::{Tail, TokenStop, Tokens};
use crate::error::Error;

/// Bytes per read of the input.
const CHUNK_LEN: usize = 256 << 10;

/// Longest event or value that is read as a whole. This bounds the window.
pub(super) const MAX_ITEM_LEN: usize = 24 << 20;

/// Result of an attempt to read an item.
#[derive(Debug)]
pub(super) enum Attempt<T> {
    /// The item, which lies at the start of the window, and its length in bytes.
    Done(T, usize),
    /// The item cannot be read, with the reason.
    Damaged(&'static str),
    /// The input ends within the item.
    Truncated,
    /// The item is longer than the limit.
    TooLong,
}

/// Source of the bytes.
enum ByteSource<'a> {
    /// A stream. The buffer's first byte is the input's byte `base`.
    Read { input: &'a mut dyn Read, buffer: Vec<u8>, base: u64 },
    /// The whole input in memory.
    Bytes(&'a [u8]),
}

/// The window over the input.
pub(super) struct Scan<'a> {
    source: ByteSource<'a>,
    progress: &'a mut dyn FnMut(u64),
    /// The window is `bytes()[start..end]`.
    start: usize,
    end: usize,
    tail: Tail,
}

impl<'a> Scan<'a> {
    /// A window at the start of a stream.
    pub(super) fn new(input: &'a mut dyn Read, progress: &'a mut dyn FnMut(u64)) -> Self {
        let source = ByteSource::Read { input, buffer: Vec::new(), base: 0 };
        Self { source, progress, start: 0, end: 0, tail: Tail::Open }
    }

    /// A window at the start of bytes in memory, which are not copied.
    pub(super) fn over(bytes: &'a [u8], progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { source: ByteSource::Bytes(bytes), progress, start: 0, end: 0, tail: Tail::Open }
    }

    fn bytes(&self) -> &[u8] {
        match &self.source {
            ByteSource::Read { buffer, .. } => buffer,
            ByteSource::Bytes(bytes) => bytes,
        }
    }

    /// The bytes of the window.
    pub(super) fn window(&self) -> &[u8] {
        &self.bytes()[self.start..self.end]
    }

    /// Offset of the window in the input.
    pub(super) fn offset(&self) -> u64 {
        let base = match self.source {
            ByteSource::Read { base, .. } => base,
            ByteSource::Bytes(_) => 0,
        };
        base + self.start as u64
    }

    /// Whether the input ends with the window.
    pub(super) fn tail(&self) -> Tail {
        self.tail
    }

    /// The whole input, if it is in memory.
    pub(super) fn whole(&self) -> Option<&'a [u8]> {
        match self.source {
            ByteSource::Bytes(bytes) => Some(bytes),
            ByteSource::Read { .. } => None,
        }
    }

    /// Moves to a later byte of an input that is in memory as a whole.
    pub(super) fn go_to(&mut self, at: usize) {
        self.start = at.min(self.bytes().len());
        if self.end < self.start {
            self.end = self.start;
            (self.progress)(self.end as u64);
        }
    }

    /// Drops the first `len` bytes of the window.
    pub(super) fn consume(&mut self, len: usize) {
        self.start = (self.start + len).min(self.end);
    }

    /// Drops the next `len` bytes of the input.
    pub(super) fn skip(&mut self, len: u64) -> Result<(), Error> {
        let mut left = in_memory(len);
        while left > self.end - self.start && self.tail == Tail::Open {
            left -= self.end - self.start;
            self.start = self.end;
            self.fill()?;
        }
        self.consume(left.min(self.end - self.start));
        Ok(())
    }

    /// Reads more bytes. The window keeps its start.
    pub(super) fn fill(&mut self) -> Result<(), Error> {
        let Self { source, start, end, tail, .. } = self;
        // Doubling keeps the work linear if an item needs many steps.
        let wanted = (*end - *start).max(CHUNK_LEN);
        match source {
            ByteSource::Bytes(bytes) => {
                *end = bytes.len().min(*end + wanted);
                if *end == bytes.len() {
                    *tail = Tail::Closed;
                }
            }
            ByteSource::Read { input, buffer, base } => {
                buffer.copy_within(*start..*end, 0);
                *base += *start as u64;
                *end -= *start;
                *start = 0;
                let target = *end + wanted;
                if buffer.len() < target {
                    buffer.resize(target, 0);
                }
                while *end < target && *tail == Tail::Open {
                    match input.read(&mut buffer[*end..target]) {
                        Ok(0) => *tail = Tail::Closed,
                        Ok(len) => *end += len,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        let read = self.offset() + self.window().len() as u64;
        (self.progress)(read);
        Ok(())
    }

    /// Reads one item of at most `limit` bytes. The window does not move: [`Scan::consume`] drops
    /// the item.
    pub(super) fn attempt<T>(
        &mut self,
        limit: usize,
        mut parse: impl FnMut(&mut Tokens<'_>) -> Result<T, TokenStop>,
    ) -> Result<Attempt<T>, Error> {
        loop {
            let mut tokens = Tokens::new(self.window(), self.tail);
            match parse(&mut tokens) {
                Ok(item) => return Ok(Attempt::Done(item, tokens.position())),
                Err(TokenStop::Damaged(what)) => return Ok(Attempt::Damaged(what)),
                Err(TokenStop::Incomplete) if self.tail == Tail::Closed => return Ok(Attempt::Truncated),
                Err(TokenStop::Incomplete) if self.end - self.start >= limit => return Ok(Attempt::TooLong),
                Err(TokenStop::Incomplete) => self.fill()?,
            }
        }
    }

    /// Skips a value that is too long for the window. Returns `false` if the input ends before the
    /// value.
    pub(super) fn skip_value(&mut self) -> Result<bool, Error> {
        let mut skip = Skip::default();
        loop {
            if let Some(len) = skip.end_in(self.window()) {
                self.consume(len);
                return Ok(true);
            }
            self.start = self.end;
            if self.tail == Tail::Closed {
                return Ok(false);
            }
            self.fill()?;
        }
    }
}

/// Finds the end of a value in several pieces, by brackets and quotes alone.
#[derive(Debug, Default)]
struct Skip {
    depth: u64,
    quote: Option<u8>,
    escaped: bool,
}

impl Skip {
    /// Length of the value's last piece, if the value ends in these bytes.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, &byte) in bytes.iter().enumerate() {
            match (self.quote, byte) {
                _ if self.escaped => self.escaped = false,
                (Some(_), b'\\') => self.escaped = true,
                (Some(quote), byte) => {
                    self.quote = (byte != quote).then_some(quote);
                    if self.quote.is_none() && self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                (None, b'"') => self.quote = Some(byte),
                (None, b'{' | b'[') => self.depth += 1,
                (None, b'}' | b']' | b',') if self.depth == 0 => return Some(index),
                (None, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives one byte at a time, to meet every boundary.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((&first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn items_are_found_whatever_the_pieces() {
        let mut input = Drip(br#" [1, "two", {"a": 3}]  "x""#);
        let mut seen = 0;
        let mut progress = |bytes| seen = bytes;
        let mut scan = Scan::new(&mut input, &mut progress);
        let mut items = Vec::new();
        while let Attempt::Done(raw, len) = scan.attempt(MAX_ITEM_LEN, |tokens| tokens.value()).unwrap() {
            items.push(String::from_utf8(raw.of(scan.window()).to_vec()).unwrap());
            scan.consume(len);
        }
        assert_eq!(items, [r#"[1, "two", {"a": 3}]"#, "x"]);
        assert_eq!(seen, 26);
    }

    #[test]
    fn a_long_value_is_left_behind_in_pieces() {
        let text = format!("{{\"a\":[{}\"]}}\\\"\"]}},7", "1,".repeat(CHUNK_LEN));
        let mut input = text.as_bytes();
        let mut progress = |_| {};
        let mut scan = Scan::new(&mut input, &mut progress);
        assert!(matches!(scan.attempt(CHUNK_LEN, |tokens| tokens.value()).unwrap(), Attempt::TooLong));
        assert!(scan.skip_value().unwrap());
        assert_eq!(scan.window(), b",7");
    }
}
