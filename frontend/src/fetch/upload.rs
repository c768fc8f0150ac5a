//! Sends trace files with `XMLHttpRequest`, because the browser's `fetch` does not report how much
//! has been sent.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{ArrayBuffer, Promise, Uint8Array};
use nprof_engine::wire::POSTCARD;
use nprof_engine::wire::job::JobReport;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{FormData, ProgressEvent, XmlHttpRequest, XmlHttpRequestResponseType};

use super::decode;
use super::error::FetchError;

/// Progress of an upload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Bytes in flight or received.
    pub done_bytes: f64,
    /// Total bytes.
    pub total_bytes: f64,
}

/// One upload, which can be cancelled.
#[derive(Debug)]
pub struct UploadTransfer {
    request: XmlHttpRequest,
    is_aborted: Cell<bool>,
}

impl UploadTransfer {
    /// Creates an upload. Nothing is sent yet.
    ///
    /// # Errors
    /// If the browser cannot create a request.
    pub fn new() -> Result<Self, FetchError> {
        let request = XmlHttpRequest::new().map_err(|_| FetchError::Unreachable)?;
        Ok(Self { request, is_aborted: Cell::new(false) })
    }

    /// Cancels the upload.
    pub fn abort(&self) {
        self.is_aborted.set(true);
        // Never fails. A request that was already sent in full ends too.
        self.request.abort().ok();
    }

    /// Sends the files of one profile. When all are sent, returns the job that ingests them.
    ///
    /// # Errors
    /// [`FetchError`] says what happened in words for people. [`FetchError::Cancelled`] after
    /// [`UploadTransfer::abort`].
    pub async fn send(&self, files: &FormData, on_sent: Rc<dyn Fn(Sent)>) -> Result<JobReport, FetchError> {
        let request = &self.request;
        request.open("POST", "/api/profiles").map_err(|_| FetchError::Unreachable)?;
        // RFC 7240: asks for a job to watch, in place of an answer at the end.
        for (name, value) in [("Accept", POSTCARD), ("Prefer", "respond-async")] {
            request.set_request_header(name, value).map_err(|_| FetchError::Unreachable)?;
        }
        request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
        // Keep the closure until the answer arrives, because the request calls it.
        let progress = Closure::<dyn Fn(ProgressEvent)>::new(move |event: ProgressEvent| {
            on_sent(Sent { done_bytes: event.loaded(), total_bytes: event.total() });
        });
        if let Ok(upload) = request.upload() {
            upload.set_onprogress(Some(progress.as_ref().unchecked_ref()));
        }
        // `loadend` always comes: after success, failure and abort.
        let ended = Promise::new(&mut |resolve, _| request.set_onloadend(Some(&resolve)));
        request.send_with_opt_form_data(Some(files)).map_err(|_| FetchError::Unreachable)?;
        JsFuture::from(ended).await.map_err(|_| FetchError::Unreachable)?;
        if self.is_aborted.get() { Err(FetchError::Cancelled) } else { answer(request) }
    }
}

fn answer(request: &XmlHttpRequest) -> Result<JobReport, FetchError> {
    // Status 0 means that there was no answer.
    let status = request.status().unwrap_or(0);
    let body = request.response().ok().and_then(|body| body.dyn_into::<ArrayBuffer>().ok());
    let body = body.map(|body| Uint8Array::new(&body).to_vec()).unwrap_or_default();
    match status {
        0 => Err(FetchError::Unreachable),
        200..300 => decode::message(&body),
        _ => Err(decode::refusal(status, &body)),
    }
}
