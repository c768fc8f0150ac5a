//! A connection whose client must take its answers: not slower, on average, than a given speed.
//!
//! Time in which the client takes nothing is a debt. Bytes that it takes pay the debt off, and are
//! no credit for later: a client that took much at once may not stay away for hours.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::limits::ConnectionLimits;

/// Time between the end of what a client sends and the end of its connection. A client that has
/// closed only its sending side still takes an answer that comes by then. Work for one that has
/// left goes on for so long.
const HALF_CLOSED: Duration = Duration::from_secs(1);

/// A connection with a limit of the debt.
#[derive(Debug)]
pub struct Taken<S> {
    stream: S,
    limits: ConnectionLimits,
    debt: Duration,
    /// Start and latest end of the current wait.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    /// Set once the client sends no more.
    ending: Option<Pin<Box<Sleep>>>,
}

impl<S> Taken<S> {
    /// Limits the waits for this client.
    pub fn new(stream: S, limits: ConnectionLimits) -> Self {
        Self { stream, limits, debt: Duration::ZERO, waiting: None, ending: None }
    }

    /// Judges the outcome of a write of `bytes`.
    fn judged<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
        bytes: impl Fn(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = written {
            if let Some((start, _)) = self.waiting.take() {
                self.debt += start.elapsed();
            }
            let taken = written.as_ref().map_or(0, bytes) as u64;
            let paid_us = taken.saturating_mul(1_000_000) / self.limits.least_bytes_per_s.max(1);
            self.debt = self.debt.saturating_sub(Duration::from_micros(paid_us));
            return Poll::Ready(written);
        }
        let patience = self.limits.unread.saturating_sub(self.debt);
        let (_, end) = self.waiting.get_or_insert_with(|| {
            let start = Instant::now();
            (start, Box::pin(sleep_until(start + patience)))
        });
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taken<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ending.is_none() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        self.ending.get_or_insert_with(|| Box::pin(sleep(HALF_CLOSED))).as_mut().poll(context).map(Ok)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Taken<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written, |count| *count)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judged(context, written, |count| *count)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judged(context, flushed, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn limits(unread: Duration) -> ConnectionLimits {
        ConnectionLimits { header: unread, stall: unread, least_bytes_per_s: 1024, unread, connections: 1 }
    }

    /// Sends 40 pieces to a client that takes one of these every 100 ms.
    async fn sent(piece_bytes: usize) -> io::Result<()> {
        let (own, mut client) = duplex(piece_bytes);
        tokio::spawn(async move {
            let mut piece = vec![0; piece_bytes];
            while client.read_exact(&mut piece).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Taken::new(own, limits(Duration::from_secs(2))).write_all(&vec![0; 40 * piece_bytes]).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_trickles_is_cut_off_and_a_slow_one_is_not() {
        assert_eq!(sent(10).await.unwrap_err().kind(), io::ErrorKind::TimedOut, "100 bytes a second");
        sent(200).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_taken_at_once_is_no_credit() {
        let (own, mut client) = duplex(1 << 20);
        let mut own = Taken::new(own, limits(Duration::from_secs(2)));
        own.write_all(&vec![0; 1 << 20]).await.unwrap();
        let start = Instant::now();
        let late = own.write_all(&[0]).await.unwrap_err();
        assert_eq!((late.kind(), start.elapsed().as_secs()), (io::ErrorKind::TimedOut, 2));
        drop(client.read_u8().await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_what_a_client_sends_is_told_late() {
        let (own, mut client) = duplex(64);
        let mut own = Taken::new(own, limits(Duration::from_secs(2)));
        client.write_all(b"last").await.unwrap();
        client.shutdown().await.unwrap();
        let start = Instant::now();
        let mut sent = Vec::new();
        own.read_to_end(&mut sent).await.unwrap();
        assert_eq!(sent, b"last");
        assert!(start.elapsed() >= HALF_CLOSED);
        own.write_all(b"answer").await.unwrap();
        let mut answer = [0; 6];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"answer");
    }
}
