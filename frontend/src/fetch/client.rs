//! Typed requests. The only place that knows the server's routes and the browser's `fetch`: a page that carries its
//! segments inside answers the same questions here.

use js_sys::Uint8Array;
use nprof_engine::base::Interval;
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::tile::TileId;
use nprof_engine::wire::catalog::{ProfileInfo, ProfileList, RankDetail};
use nprof_engine::wire::counter::CounterDetail;
use nprof_engine::wire::detail::SliceDetail;
use nprof_engine::wire::job::JobReport;
use nprof_engine::wire::search::SearchResult;
use nprof_engine::wire::selection::SelectionSummary;
use nprof_engine::wire::summary::Summary;
use nprof_engine::wire::window::WindowEvents;
use nprof_engine::wire::{POSTCARD, POSTCARD_ZSTD};
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

use super::decode;
use super::error::FetchError;
use crate::view::Reading;
use crate::view::url::{percent_encoded, syntax_name};

/// Where to step from a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next slice of its lane.
    Next,
    /// The one before it in its lane.
    Previous,
    /// The nearest slice in the lane above, then in the track above.
    Up,
    /// The nearest slice in the lane below, then in the track below.
    Down,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Previous => "previous",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Asks the server that the page came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Client;

impl Client {
    /// All profiles.
    ///
    /// # Errors
    /// As every request: [`FetchError`] says what happened in words for people.
    pub async fn profiles(self) -> Result<ProfileList, FetchError> {
        message("/api/profiles").await
    }

    /// One profile.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn profile(self, slug: &str) -> Result<ProfileInfo, FetchError> {
        message(&profile_path(slug)).await
    }

    /// Deletes a profile from the store.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn delete(self, slug: &str) -> Result<(), FetchError> {
        let request = RequestInit::new();
        request.set_method("DELETE");
        bytes(&profile_path(slug), &request, POSTCARD).await.map(|_| ())
    }

    /// How far an ingest is.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn job(self, id: u64) -> Result<JobReport, FetchError> {
        message(&format!("/api/jobs/{id}")).await
    }

    /// Asks an ingest to stop.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn cancel_job(self, id: u64) -> Result<(), FetchError> {
        let request = RequestInit::new();
        request.set_method("DELETE");
        bytes(&format!("/api/jobs/{id}"), &request, POSTCARD).await.map(|_| ())
    }

    /// A rank's tracks, tables and warnings.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn rank(self, slug: &str, rank: u32) -> Result<RankDetail, FetchError> {
        message(&rank_path(slug, rank)).await
    }

    /// A tile of the segment with this content, as it came: [`super::decode::tile`] unpacks it.
    ///
    /// # Errors
    /// As [`Client::profiles`]; [`FetchError::Cancelled`] after the signal.
    pub async fn tile(
        self,
        slug: &str,
        rank: u32,
        content: &str,
        id: TileId,
        cancel: &AbortSignal,
    ) -> Result<Vec<u8>, FetchError> {
        let request = RequestInit::new();
        request.set_signal(Some(cancel));
        let content = percent_encoded(content);
        let (group, level, index) = (id.group, id.level.number(), id.index);
        let path = format!("{}/tiles/{content}/{group}/{level}/{index}", rank_path(slug, rank));
        bytes(&path, &request, POSTCARD_ZSTD).await
    }

    /// All about a slice.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn slice(self, slug: &str, rank: u32, row: u32) -> Result<SliceDetail, FetchError> {
        message(&format!("{}/slices/{row}", rank_path(slug, rank))).await
    }

    /// All about the slice beside this one; `None` where there is none. Steps up and down pass over
    /// the tracks below the groups in `closed`.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn step(
        self,
        slug: &str,
        rank: u32,
        row: u32,
        (step, closed): (Step, &[u32]),
    ) -> Result<Option<SliceDetail>, FetchError> {
        let closed: Vec<String> = closed.iter().map(u32::to_string).collect();
        let query = format!("direction={}&closed={}", step.name(), closed.join(","));
        let path = format!("{}/slices/{row}/step?{query}", rank_path(slug, rank));
        let body = bytes(&path, &RequestInit::new(), POSTCARD).await?;
        // An answer without content: no message is empty.
        if body.is_empty() { Ok(None) } else { decode::message(&body).map(Some) }
    }

    /// A counter at a moment, and its values over a span.
    ///
    /// # Errors
    /// As [`Client::profiles`]; [`FetchError::Cancelled`] after the signal.
    pub async fn counter(
        self,
        slug: &str,
        rank: u32,
        reading: Reading,
        span: Interval,
        cancel: &AbortSignal,
    ) -> Result<CounterDetail, FetchError> {
        let request = RequestInit::new();
        request.set_signal(Some(cancel));
        let Reading { track, time_ps } = reading;
        let query = format!("at_ps={time_ps}&{}", span_query(span));
        let path = format!("{}/counters/{track}?{query}", rank_path(slug, rank));
        decode::message(&bytes(&path, &request, POSTCARD).await?)
    }

    /// The slices in a span, at most `limit`.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn events(
        self,
        slug: &str,
        rank: u32,
        span: Interval,
        limit: u32,
    ) -> Result<WindowEvents, FetchError> {
        message(&format!("{}/events?{}&limit={limit}", rank_path(slug, rank), span_query(span))).await
    }

    /// The slices with a text that matches around a place among them, at most `limit`: half of them
    /// before it.
    ///
    /// # Errors
    /// As [`Client::profiles`]; status 400 says what is wrong with a pattern; [`FetchError::Cancelled`] after the signal.
    pub async fn search_around(
        self,
        slug: &str,
        rank: u32,
        (text, syntax): (&str, Syntax),
        at: HitPlace,
        limit: u32,
        cancel: &AbortSignal,
    ) -> Result<SearchResult, FetchError> {
        let request = RequestInit::new();
        request.set_signal(Some(cancel));
        let query = format!("q={}&syntax={}", percent_encoded(text), syntax_name(syntax));
        let place = format!("at_ps={}&at_row={}&direction=around&limit={limit}", at.start_ps, at.row);
        let path = format!("{}/search?{query}&{place}", rank_path(slug, rank));
        decode::message(&bytes(&path, &request, POSTCARD).await?)
    }

    /// Statistics of the slices in a span.
    ///
    /// # Errors
    /// As [`Client::profiles`]; [`FetchError::Cancelled`] after the signal.
    pub async fn selection(
        self,
        slug: &str,
        rank: u32,
        span: Interval,
        cancel: &AbortSignal,
    ) -> Result<SelectionSummary, FetchError> {
        let request = RequestInit::new();
        request.set_signal(Some(cancel));
        let path = format!("{}/selection?{}", rank_path(slug, rank), span_query(span));
        decode::message(&bytes(&path, &request, POSTCARD).await?)
    }

    /// The metrics of a rank.
    ///
    /// # Errors
    /// As [`Client::profiles`].
    pub async fn summary(self, slug: &str, rank: u32) -> Result<Summary, FetchError> {
        message(&format!("{}/summary", rank_path(slug, rank))).await
    }
}

fn profile_path(slug: &str) -> String {
    format!("/api/profiles/{}", percent_encoded(slug))
}

fn rank_path(slug: &str, rank: u32) -> String {
    format!("{}/ranks/{rank}", profile_path(slug))
}

fn span_query(span: Interval) -> String {
    format!("start_ps={}&end_ps={}", span.start.0, span.end.0)
}

async fn message<T: DeserializeOwned>(path: &str) -> Result<T, FetchError> {
    decode::message(&bytes(path, &RequestInit::new(), POSTCARD).await?)
}

/// The body of the answer to a request.
async fn bytes(path: &str, request: &RequestInit, accept: &str) -> Result<Vec<u8>, FetchError> {
    let headers = Headers::new().map_err(|_| FetchError::Unreachable)?;
    headers.set("Accept", accept).map_err(|_| FetchError::Unreachable)?;
    request.set_headers(&headers);
    let window = web_sys::window().ok_or(FetchError::Unreachable)?;
    let answer = JsFuture::from(window.fetch_with_str_and_init(path, request)).await.map_err(failure)?;
    let answer: Response = answer.dyn_into().map_err(|_| FetchError::Unreachable)?;
    if !answer.ok() {
        let body = match answer.text() {
            Ok(text) => JsFuture::from(text).await.ok().and_then(|text| text.as_string()).unwrap_or_default(),
            Err(_) => String::new(),
        };
        return Err(FetchError::Refused { status: answer.status(), message: refusal(&body) });
    }
    let body = answer.array_buffer().map_err(failure)?;
    Ok(Uint8Array::new(&JsFuture::from(body).await.map_err(failure)?).to_vec())
}

/// The browser throws an `AbortError` for requests that the page called off, a `TypeError` without an answer.
fn failure(thrown: JsValue) -> FetchError {
    let cancelled =
        thrown.dyn_ref::<web_sys::DomException>().is_some_and(|error| error.name() == "AbortError");
    if cancelled { FetchError::Cancelled } else { FetchError::Unreachable }
}

/// What the server says when it refuses: `{"error": "…"}`. Empty where it says something else. The
/// browser parses it: a parser of our own would be a fortieth of the page.
pub(super) fn refusal(body: &str) -> String {
    let refusal = js_sys::JSON::parse(body).ok();
    let error = refusal.and_then(|refusal| js_sys::Reflect::get(&refusal, &"error".into()).ok());
    error.and_then(|error| error.as_string()).unwrap_or_default()
}
