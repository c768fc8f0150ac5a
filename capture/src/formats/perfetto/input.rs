//! The packets of a trace, one after the other, from a stream of bytes. A length allocates nothing:
//! the buffer grows with the bytes that arrive.

use std::io::{self, Read};

use nprof_engine::base::in_memory;

use crate::protobuf::{MessageDamage, varint};

/// Tag of a packet: field 1 of a trace, a message.
const PACKET_TAG: u64 = 0x0a;
/// Most bytes of one packet. Longer ones are skipped. Perfetto writes at most half a megabyte.
const MAX_PACKET_LEN: u64 = 64 << 20;
/// Bytes that are read at once.
const CHUNK_LEN: usize = 256 << 10;
/// Longest tag with a length behind it.
const MAX_HEAD_LEN: usize = 20;

/// A part of a trace.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputPart<'b> {
    /// A packet.
    Packet(&'b [u8]),
    /// A packet that is too long, or a field that is no packet. It was skipped.
    Skipped(&'static str),
    /// The input ends within this part.
    Cut,
    /// Bytes that begin no field. The rest cannot be read.
    Damaged,
    /// The input ends.
    End,
}

/// Reads packets.
pub(super) struct PacketInput<'i> {
    input: &'i mut dyn Read,
    progress: &'i mut dyn FnMut(u64),
    buffer: Vec<u8>,
    /// Bytes of the buffer that were used.
    start: usize,
    /// Offset of the buffer's first byte in the input.
    base: u64,
    is_at_end: bool,
    /// The error that ended the input.
    failure: Option<io::Error>,
}

impl<'i> PacketInput<'i> {
    /// A reader at the start of the input. `progress` receives the number of bytes read so far.
    pub(super) fn new(input: &'i mut dyn Read, progress: &'i mut dyn FnMut(u64)) -> Self {
        Self { input, progress, buffer: Vec::new(), start: 0, base: 0, is_at_end: false, failure: None }
    }

    /// Offset of the next part.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// The next part of the trace.
    pub(super) fn next(&mut self) -> io::Result<InputPart<'_>> {
        self.fill(MAX_HEAD_LEN);
        let head = &self.buffer[self.start..];
        if head.is_empty() {
            return self.ended(InputPart::End);
        }
        let (tag, after) = match varint(head) {
            Ok((tag, after)) => (tag, after),
            Err(damage) => return self.stop(damage),
        };
        let (len, after) = match (tag & 7, tag >> 3) {
            (_, 0) => return Ok(InputPart::Damaged),
            (2, _) => match varint(after) {
                Ok(both) => both,
                Err(damage) => return self.stop(damage),
            },
            (0, _) => match varint(after) {
                Ok((_, rest)) => (0, rest),
                Err(damage) => return self.stop(damage),
            },
            (1, _) => (8, after),
            (5, _) => (4, after),
            _ => return Ok(InputPart::Damaged),
        };
        let head_len = head.len() - after.len();
        if tag != PACKET_TAG || len > MAX_PACKET_LEN {
            self.start += head_len;
            let what = match tag {
                PACKET_TAG => "a packet of more than 64 MiB; skipped",
                _ => "a field of the trace that is no packet; skipped",
            };
            return if self.skip(len) { Ok(InputPart::Skipped(what)) } else { self.ended(InputPart::Cut) };
        }
        let len = in_memory(len);
        if !self.fill(head_len.saturating_add(len)) {
            return self.ended(InputPart::Cut);
        }
        let from = self.start + head_len;
        self.start = from + len;
        Ok(InputPart::Packet(&self.buffer[from..from + len]))
    }

    /// The part for a head that cannot be read.
    fn stop(&mut self, damage: MessageDamage) -> io::Result<InputPart<'static>> {
        match damage {
            MessageDamage::Cut => self.ended(InputPart::Cut),
            MessageDamage::Invalid => Ok(InputPart::Damaged),
        }
    }

    /// The last part, unless the input has ended with an error.
    fn ended(&mut self, last: InputPart<'static>) -> io::Result<InputPart<'static>> {
        self.failure.take().map_or(Ok(last), Err)
    }

    /// Reads until `len` bytes are in the buffer. `false` if the input ends before.
    fn fill(&mut self, len: usize) -> bool {
        let left = self.buffer.len() - self.start;
        if left >= len {
            return true;
        }
        if !self.is_at_end {
            self.buffer.drain(..self.start);
            self.base += self.start as u64;
            self.start = 0;
            let wanted = (len - left).max(CHUNK_LEN);
            // Bytes before an error are kept, and the error is returned behind them.
            match Read::take(&mut *self.input, wanted as u64).read_to_end(&mut self.buffer) {
                Ok(read) => self.is_at_end = read < wanted,
                Err(error) => (self.is_at_end, self.failure) = (true, Some(error)),
            }
            (self.progress)(self.base + self.buffer.len() as u64);
        }
        self.buffer.len() - self.start >= len
    }

    /// Skips bytes. `false` if the input ends before.
    fn skip(&mut self, mut len: u64) -> bool {
        while len > 0 {
            self.fill(1);
            let left = self.buffer.len() - self.start;
            if left == 0 {
                return false;
            }
            let step = in_memory(len).min(left);
            self.start += step;
            len -= step as u64;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[&str]) {
        let mut input = bytes;
        let mut progress = |_| {};
        let mut packets = PacketInput::new(&mut input, &mut progress);
        let mut parts = Vec::new();
        loop {
            let offset = packets.offset();
            let part = packets.next().unwrap();
            let is_last = matches!(part, InputPart::End | InputPart::Cut | InputPart::Damaged);
            parts.push(match part {
                InputPart::Packet(packet) => format!("{offset}: {}", packet.len()),
                InputPart::Skipped(_) => format!("{offset}: skipped"),
                last => format!("{offset}: {last:?}"),
            });
            if is_last {
                break;
            }
        }
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_trace_is_a_list_of_packets() {
        check(b"", &["0: End"]);
        check(b"\x0a\x02ab\x0a\x00", &["0: 2", "4: 0", "6: End"]);
        check(b"\x0a\x02ab\x0a\x05x", &["0: 2", "4: Cut"]);
        check(b"\x0a\x02ab\x0a", &["0: 2", "4: Cut"]);
        check(b"\x12\x01a\x18\x07\x0a\x01a", &["0: skipped", "3: skipped", "5: 1", "8: End"]);
        check(b"\x0a\x01a\x0b\x01", &["0: 1", "3: Damaged"]);
        check(b"\x00", &["0: Damaged"]);
    }

    #[test]
    fn a_length_without_bytes_allocates_nothing() {
        check(b"\x0a\xff\xff\xff\x1f", &["0: Cut"]);
        check(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", &["0: Cut"]);
    }
}
