//! Limits of connections: their number, and the time that a client may take.
//!
//! *Invariant.* A client that sends nothing, or takes nothing, loses its connection, also if it
//! sends or takes a little now and then.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use nprof_engine::base::in_memory;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::time::{Instant, Sleep, sleep_until};

/// Limit of connections, if the system allows as many open files.
const MAX_CONNECTIONS: usize = 1024;
/// Files that are not connections: segments, ingests, the runtime.
const OTHER_FILES: usize = 256;
/// Fewer connections are of no use.
const FEWEST_CONNECTIONS: usize = 16;

/// Limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Longest time from a connection's start, or its last answer, to the end of the next header.
    pub header: Duration,
    /// Longest wait for more of a body.
    pub stall: Duration,
    /// A body that comes slower than this many bytes a second is cut off, and so is a client that
    /// takes its answers slower.
    pub least_bytes_per_s: u64,
    /// Longest time in which a client takes nothing of an answer, or that it lags behind the least
    /// speed.
    pub unread: Duration,
    /// Limit of connections.
    pub connections: usize,
}

impl ConnectionLimits {
    /// The limits of a server. Raises the limit of open files as far as the system allows.
    #[must_use]
    pub fn of_system() -> Self {
        let files = in_memory(raise_open_files());
        let connections = files.saturating_sub(OTHER_FILES).clamp(FEWEST_CONNECTIONS, MAX_CONNECTIONS);
        Self {
            header: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            least_bytes_per_s: 1024,
            unread: Duration::from_secs(60),
            connections,
        }
    }
}

/// Raises the limit of open files as far as the system allows. Returns the limit.
pub fn raise_open_files() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    // A system that refuses keeps the old limit.
    let now = if setrlimit(Resource::Nofile, limit).is_ok() { limit.maximum } else { before };
    now.unwrap_or(u64::MAX)
}

/// A request's body that fails if its client sends too slowly. Only the time in which the server
/// waits for the client counts.
#[derive(Debug)]
pub struct Paced<B> {
    body: B,
    limits: ConnectionLimits,
    received_bytes: u64,
    waited: Duration,
    /// Start and latest end of the current wait.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

/// Error of a body that came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the client sent too slowly")]
pub struct TooSlow;

impl<B> Paced<B> {
    /// Limits the waits for this body.
    pub fn new(body: B, limits: ConnectionLimits) -> Self {
        Self { body, limits, received_bytes: 0, waited: Duration::ZERO, waiting: None }
    }

    /// Longest time that the next wait may take.
    fn patience(&self) -> Duration {
        let earned = Duration::from_secs(self.received_bytes / self.limits.least_bytes_per_s.max(1));
        self.limits.stall.min((self.limits.stall + earned).saturating_sub(self.waited))
    }
}

impl<B> HttpBody for Paced<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            if let Some((start, _)) = this.waiting.take() {
                this.waited += start.elapsed();
            }
            let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
            this.received_bytes += bytes.map_or(0, |bytes| bytes.len() as u64);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let patience = this.patience();
        let (_, end) = this.waiting.get_or_insert_with(|| {
            let start = Instant::now();
            (start, Box::pin(sleep_until(start + patience)))
        });
        ready!(end.as_mut().poll(context));
        Poll::Ready(Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use http_body_util::channel::Channel;

    use super::*;

    fn limits(connections: usize, time: Duration) -> ConnectionLimits {
        ConnectionLimits { header: time, stall: time, least_bytes_per_s: 1024, unread: time, connections }
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_cut_off() {
        let (_sender, body) = Channel::<Bytes, TooSlow>::new(1);
        let error =
            Paced::new(body, limits(1, Duration::from_millis(20))).frame().await.unwrap().unwrap_err();
        assert!(error.is::<TooSlow>());
    }

    #[tokio::test]
    async fn a_body_that_trickles_is_cut_off_and_a_fast_one_is_not() {
        for (piece_bytes, is_whole) in [(1, false), (20 * 1024, true)] {
            let (mut sender, body) = Channel::<Bytes, TooSlow>::new(1);
            tokio::spawn(async move {
                for _ in 0..30 {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    let _ = sender.send_data(vec![0; piece_bytes].into()).await;
                }
            });
            let whole = Paced::new(body, limits(1, Duration::from_secs(2))).collect().await;
            assert_eq!(whole.is_ok(), is_whole, "{piece_bytes} bytes every 100 ms");
        }
    }

    #[tokio::test]
    async fn the_time_of_the_server_does_not_count() {
        let (mut sender, body) = Channel::<Bytes, TooSlow>::new(2);
        sender.send_data(Bytes::from_static(b"a")).await.unwrap();
        drop(sender);
        let mut body = Paced::new(body, limits(1, Duration::from_millis(20)));
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(body.frame().await.unwrap().is_ok());
        assert!(body.frame().await.is_none());
    }
}
