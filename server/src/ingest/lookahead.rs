//! Reads ahead: one thread reads a file, and unpacks gzip, while another thread parses the chunks
//! before.

use std::io::{self, Read};
use std::thread;

use nprof_engine::exec::{Cancel, ConveyorEnd, Feeder, conveyor};

/// Length of a chunk in bytes.
const CHUNK_LEN: usize = 1 << 20;
/// Limit of chunks that wait for the consumer.
const WAITING: usize = 4;

/// Calls `take` with a reader of the content of `source`. Another thread reads the source in
/// parallel. An error of the source appears at the position where it occurred. After a cancellation
/// the next chunk is an error: few packed bytes can become very many chunks.
pub fn read_ahead<'c, T>(
    source: &mut (impl Read + Send),
    cancel: Cancel<'c>,
    take: impl FnOnce(&mut ReadLookahead<'c>) -> T,
) -> T {
    thread::scope(|scope| {
        let (feeder, chunks) = conveyor(WAITING);
        scope.spawn(move || fill(source, &feeder));
        // Dropped before the scope ends, so that the other thread stops: it has no receiver any
        // more.
        take(&mut ReadLookahead { chunks, cancel, chunk: Vec::new(), at: 0 })
    })
}

fn fill(source: &mut impl Read, feeder: &Feeder<io::Result<Vec<u8>>, Vec<u8>>) {
    loop {
        let mut chunk = feeder.emptied();
        chunk.clear();
        chunk.reserve_exact(CHUNK_LEN);
        let read = source.take(CHUNK_LEN as u64).read_to_end(&mut chunk);
        if !chunk.is_empty() && !feeder.send(Ok(chunk)) {
            return;
        }
        match read {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                // If the receiver is dropped, nobody needs the error.
                let _ = feeder.send(Err(error));
                return;
            }
        }
    }
}

/// The consumer's end.
pub struct ReadLookahead<'c> {
    chunks: ConveyorEnd<io::Result<Vec<u8>>, Vec<u8>>,
    cancel: Cancel<'c>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for ReadLookahead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            self.cancel.check().map_err(io::Error::other)?;
            // No more chunks come: the source has ended.
            let Some(next) = self.chunks.take() else { return Ok(0) };
            let read = std::mem::replace(&mut self.chunk, next?);
            self.at = 0;
            self.chunks.give_back(read);
        }
        let len = buffer.len().min(self.chunk.len() - self.at);
        buffer[..len].copy_from_slice(&self.chunk[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields some bytes, then fails.
    struct Failing(u32);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("the cable was pulled"));
            }
            self.0 -= 1;
            buffer.fill(7);
            Ok(buffer.len())
        }
    }

    #[test]
    fn all_bytes_come_in_order() {
        let bytes: Vec<u8> = (0..5 * CHUNK_LEN + 17).map(|at| (at % 251) as u8).collect();
        let mut read = Vec::new();
        read_ahead(&mut &*bytes, Cancel::NEVER, |ahead| ahead.read_to_end(&mut read)).unwrap();
        assert!(read == bytes);
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        let mut read = Vec::new();
        let error =
            read_ahead(&mut Failing(3), Cancel::NEVER, |ahead| ahead.read_to_end(&mut read)).unwrap_err();
        assert_eq!(error.to_string(), "the cable was pulled");
        assert!(!read.is_empty() && read.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn who_stops_early_waits_for_nothing() {
        let first = read_ahead(&mut io::repeat(3), Cancel::NEVER, |ahead| {
            let mut first = [0];
            ahead.read_exact(&mut first).map(|()| first)
        });
        assert_eq!(first.unwrap(), [3]);
    }

    #[test]
    fn nothing_more_comes_after_a_cancellation() {
        let is_cancelled = std::sync::atomic::AtomicBool::new(false);
        let look = || is_cancelled.load(std::sync::atomic::Ordering::Relaxed);
        let read = read_ahead(&mut io::repeat(3), Cancel::when(&look), |ahead| {
            let first = ahead.read(&mut [0; 9]);
            is_cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
            (first, io::copy(ahead, &mut io::sink()).map_err(|error| error.to_string()))
        });
        assert!(matches!(read, (Ok(9), Err(said)) if said.contains("cancelled")));
    }
}
