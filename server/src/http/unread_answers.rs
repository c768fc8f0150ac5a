//! Memory of answers that clients have not read yet.
//!
//! An answer is complete before its first byte is sent, and a client can read it slowly. So each
//! large answer takes a share of the memory for all of them, until the last byte has gone to the
//! system.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use super::error::ApiError;
use super::peer::Peer;
use super::shares::{ResourceShare, Shares};

/// Bytes of all large answers that are not read yet.
pub const MAX_UNREAD_BYTES: u64 = 512 << 20;
/// Answers up to this length are not counted: all connections together have some of them.
pub const SMALL_BYTES: u64 = 64 << 10;

/// Counts a complete answer until it is sent.
///
/// # Errors
/// If too much is unread already.
pub fn counted(response: Response, unread: &Arc<Shares>, peer: Peer) -> Result<Response, ApiError> {
    let bytes = response.body().size_hint().lower();
    if bytes <= SMALL_BYTES {
        return Ok(response);
    }
    let share = unread.take(peer, bytes).ok_or_else(|| {
        let what = "answers that were not read yet take too much memory; read them first, or ask for less";
        Refusal::new(RefusalKind::TooSlow, what)
    })?;
    Ok(response.map(|body| Body::new(CountedBody { body, share: Arc::new(share) })))
}

/// A body whose bytes hold a share.
struct CountedBody {
    body: Body,
    share: Arc<ResourceShare>,
}

/// Bytes of a body. The connection keeps them until they are sent, also after the body's end.
struct BodyBytes {
    bytes: Bytes,
    _share: Arc<ResourceShare>,
}

impl AsRef<[u8]> for BodyBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let share = Arc::clone(&self.share);
        let held = |bytes| Bytes::from_owner(BodyBytes { bytes, _share: share });
        Pin::new(&mut self.body)
            .poll_frame(context)
            .map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(held))))
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

    use super::*;

    fn answer(bytes: usize) -> Response {
        Response::new(Body::from(vec![7; bytes]))
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_gone() {
        let unread = Shares::of(1 << 20);
        let large = counted(answer(100_000), &unread, Peer::SameUser).unwrap();
        assert_eq!((unread.in_use(), large.body().size_hint().exact()), (100_000, Some(100_000)));
        let mut body = large.into_body();
        let bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        drop(body);
        assert_eq!((unread.in_use(), bytes.len()), (100_000, 100_000), "the connection still has them");
        drop(bytes);
        assert_eq!(unread.in_use(), 0);
    }

    #[tokio::test]
    async fn too_many_unread_answers_are_refused_and_small_ones_never() {
        let unread = Shares::of(1 << 20);
        let other = Peer::Local(None);
        let kept: Vec<Response> = (0..2).map(|_| counted(answer(100_000), &unread, other).unwrap()).collect();
        let refused = counted(answer(100_000), &unread, other).unwrap_err();
        assert!(refused.to_string().contains("not read yet"), "{refused}");
        assert!(counted(answer(64 << 10), &unread, other).is_ok());
        assert!(counted(answer(100_000), &unread, Peer::SameUser).is_ok());
        drop(kept);
        assert!(counted(answer(100_000), &unread, other).is_ok());
    }
}
