//! Answers in the form that the client requested: postcard for the page, JSON for all others.

use std::convert::Infallible;
use std::io::{self, Write};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use nprof_engine::wire::allowance::{MAX_ANSWER_BYTES, TOO_LARGE};
use nprof_engine::wire::refusal::Refusal;
use nprof_engine::wire::{POSTCARD, POSTCARD_ZSTD};
use serde::Serialize;

use crate::http::error::ApiError;
use crate::http::negotiation::accepts;
use crate::markup::{escaped, page};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// For the page: small and quick to decode.
    Postcard,
    /// For people and scripts.
    Json,
}

impl ReplyForm {
    /// The form that the request accepts.
    pub fn of(headers: &HeaderMap) -> Self {
        if accepts(headers, POSTCARD) { Self::Postcard } else { Self::Json }
    }

    /// A message in this form. The message depends on the current state of the store, so clients
    /// must not cache it.
    pub fn reply<T: Serialize>(self, message: &T) -> Result<Response, ApiError> {
        let mut response = match self {
            Self::Json => {
                let bytes = json(message, 2 * MAX_ANSWER_BYTES)?;
                ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
            }
            Self::Postcard => {
                // Takes no more than the message in memory.
                let bytes = postcard::to_allocvec(message).map_err(|error| not_encoded(&error))?;
                ([(header::CONTENT_TYPE, POSTCARD)], bytes).into_response()
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
        Ok(response)
    }
}

fn not_encoded(error: &dyn std::fmt::Display) -> ApiError {
    ApiError::Internal(format!("the answer could not be encoded: {error}"))
}

/// A message as JSON of at most `most` bytes: characters that JSON escapes take six times their
/// bytes.
fn json<T: Serialize>(message: &T, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut bounded = Bounded { written: Vec::new(), most };
    match serde_json::to_writer(&mut bounded, message) {
        Ok(()) => Ok(bounded.written),
        Err(error) if error.io_error_kind() == Some(io::ErrorKind::FileTooLarge) => {
            Err(Refusal::from(TOO_LARGE).into())
        }
        Err(error) => Err(not_encoded(&error)),
    }
}

/// Takes bytes up to a limit.
struct Bounded {
    written: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answer to a question without a result: status 204, not cached.
pub fn nothing() -> Response {
    (StatusCode::NO_CONTENT, [(header::CACHE_CONTROL, "no-cache")]).into_response()
}

/// Rewrites refusals to the form that the page reads, if the page sent the request. A person in
/// front of a browser gets a page of text if the guard refused the request.
pub async fn refusals(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_page = accepts(headers, POSTCARD) || accepts(headers, POSTCARD_ZSTD);
    let is_browser = accepts(headers, "text/html");
    let mut response = next.run(request).await;
    let is_guards = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let Some(refusal) = response.extensions().get::<Refusal>().filter(|_| is_guards && is_browser) {
        let text = format!("<h1>Not admitted</h1>\n<p>{}</p>", escaped(&refusal.message));
        let page = Html(page("Not admitted · nprof", "", &text)).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = page.into_body();
        return response;
    }
    match response.extensions().get::<Refusal>().map(postcard::to_allocvec) {
        Some(Ok(bytes)) if is_page => {
            let (mut parts, _) = response.into_parts();
            parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(POSTCARD));
            parts.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(parts, bytes.into())
        }
        _ => response,
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ReplyForm {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &[&str], expected: ReplyForm) {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, value.parse().unwrap());
        }
        assert_eq!(ReplyForm::of(&headers), expected, "{accept:?}");
    }

    #[test]
    fn json_that_grows_by_its_escapes_ends_at_the_limit() {
        let text = "\u{1}".repeat(100);
        assert_eq!(json(&text, 602).unwrap().len(), 602);
        let refused = json(&text, 601).unwrap_err().to_string();
        assert!(refused.contains("ask for fewer rows"), "{refused}");
    }

    #[test]
    fn postcard_only_for_those_who_name_it() {
        check(&[], ReplyForm::Json);
        check(&["*/*"], ReplyForm::Json);
        check(&["application/x-nprof"], ReplyForm::Postcard);
        check(&["text/html, Application/X-Nprof;q=0.9"], ReplyForm::Postcard);
        check(&["text/html", "application/x-nprof"], ReplyForm::Postcard);
        check(&["application/x-nprof+zstd"], ReplyForm::Json);
        check(&["application/x-nprof;q=0"], ReplyForm::Json);
    }
}
