//! The server that delivered the page. Only this module uses the browser's `fetch`.

use js_sys::{JSON, Uint8Array};
use nprof_engine::wire::export::ExportList;
use nprof_engine::wire::job::JobReport;
use nprof_engine::wire::notes::NotedRegion;
use nprof_engine::wire::percent::percent_encoded;
use nprof_engine::wire::questions::{ProfileQuestion, Question};
use nprof_engine::wire::{POSTCARD, POSTCARD_ZSTD};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

use super::decode;
use super::error::FetchError;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerEncoding {
    /// A postcard message.
    Message,
    /// A zstd frame with a postcard message inside.
    Frame,
}

impl AnswerEncoding {
    fn media_type(self) -> &'static str {
        match self {
            Self::Message => POSTCARD,
            Self::Frame => POSTCARD_ZSTD,
        }
    }
}

/// The part of a profile that a file holds. By default all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportPart {
    /// The only rank.
    pub rank: Option<u32>,
    /// Start and end, counted from the profile's first event.
    pub span_ps: Option<(i64, i64)>,
    /// The address of the view that the file opens at.
    pub view: Option<String>,
}

/// The server that delivered the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Server;

impl Server {
    /// The body of the answer to a question. Empty for an answer without content.
    pub(super) async fn ask(
        self,
        question: &Question,
        form: AnswerEncoding,
        cancel: Option<&AbortSignal>,
    ) -> Result<Vec<u8>, FetchError> {
        let request = RequestInit::new();
        request.set_signal(cancel);
        body(&question.path(), &request, form).await
    }

    /// Deletes a profile from the store.
    ///
    /// # Errors
    /// [`FetchError`] says what happened in words for people.
    pub async fn delete(self, profile: &str) -> Result<(), FetchError> {
        remove(&profile_path(profile)).await
    }

    /// Names a span of a profile.
    pub async fn add_region(self, profile: &str, region: &NotedRegion) -> Result<(), FetchError> {
        let NotedRegion { name, rank, start_ps, end_ps } = region;
        // A number of JavaScript has too few digits for picoseconds.
        let name = JSON::stringify(&name.into()).map_err(|_| FetchError::Unreachable)?;
        let rank = rank.map_or_else(|| "null".to_owned(), |rank| rank.to_string());
        let text = format!("{{\"name\":{name},\"rank\":{rank},\"start_ps\":{start_ps},\"end_ps\":{end_ps}}}");
        send("POST", &regions_path(profile), Some(&text)).await
    }

    /// Gives a region that a user named another name.
    pub async fn rename_region(self, profile: &str, name: &str, new: &str) -> Result<(), FetchError> {
        let new = JSON::stringify(&new.into()).map_err(|_| FetchError::Unreachable)?;
        let path = format!("{}/{}", regions_path(profile), percent_encoded(name));
        send("PATCH", &path, Some(&format!("{{\"name\":{new}}}"))).await
    }

    /// Deletes a region that a user named.
    pub async fn delete_region(self, profile: &str, name: &str) -> Result<(), FetchError> {
        remove(&format!("{}/{}", regions_path(profile), percent_encoded(name))).await
    }

    /// The formats in which a profile can be downloaded.
    pub async fn exports(self) -> Result<ExportList, FetchError> {
        decode::message(&body("/api/exports", &RequestInit::new(), AnswerEncoding::Message).await?)
    }

    /// The path of a profile as a file of this format.
    #[must_use]
    pub fn export_path(profile: &str, format: &str, of: &ExportPart) -> String {
        let path = profile_path(profile);
        let ranks = of.rank.map(|rank| format!("&ranks={rank}"));
        let span = of.span_ps.map(|(from_ps, to_ps)| format!("&from={from_ps}ps&to={to_ps}ps"));
        let view = of.view.as_ref().map(|view| format!("&view={}", percent_encoded(view)));
        let more: String = [ranks, span, view].into_iter().flatten().collect();
        format!("{path}/export?format={format}{more}")
    }

    /// The progress of an ingest.
    pub async fn job(self, id: u64) -> Result<JobReport, FetchError> {
        decode::message(&body(&job_path(id), &RequestInit::new(), AnswerEncoding::Message).await?)
    }

    /// Cancels an ingest.
    pub async fn cancel_job(self, id: u64) -> Result<(), FetchError> {
        remove(&job_path(id)).await
    }
}

fn profile_path(profile: &str) -> String {
    Question::from(ProfileQuestion { profile: profile.to_owned() }).path()
}

fn regions_path(profile: &str) -> String {
    format!("{}/notes/regions", profile_path(profile))
}

fn job_path(id: u64) -> String {
    format!("/api/jobs/{id}")
}

async fn remove(path: &str) -> Result<(), FetchError> {
    send("DELETE", path, None).await
}

/// Changes something by a request, with a text as its body.
async fn send(method: &str, path: &str, text: Option<&str>) -> Result<(), FetchError> {
    let request = RequestInit::new();
    request.set_method(method);
    if let Some(text) = text {
        request.set_body(&text.into());
    }
    body(path, &request, AnswerEncoding::Message).await.map(|_| ())
}

async fn body(path: &str, request: &RequestInit, form: AnswerEncoding) -> Result<Vec<u8>, FetchError> {
    let headers = Headers::new().map_err(|_| FetchError::Unreachable)?;
    headers.set("Accept", form.media_type()).map_err(|_| FetchError::Unreachable)?;
    request.set_headers(&headers);
    let window = web_sys::window().ok_or(FetchError::Unreachable)?;
    let answer = JsFuture::from(window.fetch_with_str_and_init(path, request)).await.map_err(failure)?;
    let answer: Response = answer.dyn_into().map_err(|_| FetchError::Unreachable)?;
    let bytes = JsFuture::from(answer.array_buffer().map_err(failure)?).await.map_err(failure)?;
    let bytes = Uint8Array::new(&bytes).to_vec();
    if answer.ok() { Ok(bytes) } else { Err(decode::refusal(answer.status(), &bytes)) }
}

/// Converts an exception of `fetch`. The browser throws an `AbortError` for a cancelled request,
/// and a `TypeError` if there is no answer.
fn failure(thrown: JsValue) -> FetchError {
    let cancelled =
        thrown.dyn_ref::<web_sys::DomException>().is_some_and(|error| error.name() == "AbortError");
    if cancelled { FetchError::Cancelled } else { FetchError::Unreachable }
}
