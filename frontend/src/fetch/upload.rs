//! Sending trace files. With `XMLHttpRequest`: the browser's `fetch` does not say how much has been sent.

use std::rc::Rc;

use js_sys::{ArrayBuffer, Promise, Uint8Array};
use nprof_engine::wire::POSTCARD;
use nprof_engine::wire::catalog::ProfileInfo;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{FormData, ProgressEvent, XmlHttpRequest, XmlHttpRequestResponseType};

use super::decode;
use super::error::FetchError;

/// How much of an upload has been sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Bytes that are on their way or there.
    pub done_bytes: f64,
    /// Bytes in all.
    pub total_bytes: f64,
}

/// Sends the files of one profile, and answers once it is in the store.
///
/// # Errors
/// [`FetchError`] says what happened in words for people.
pub async fn send(files: &FormData, on_sent: Rc<dyn Fn(Sent)>) -> Result<ProfileInfo, FetchError> {
    let request = XmlHttpRequest::new().map_err(|_| FetchError::Unreachable)?;
    request.open("POST", "/api/profiles").map_err(|_| FetchError::Unreachable)?;
    request.set_request_header("Accept", POSTCARD).map_err(|_| FetchError::Unreachable)?;
    request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
    // Kept until the answer is here: the request calls it.
    let progress = Closure::<dyn Fn(ProgressEvent)>::new(move |event: ProgressEvent| {
        on_sent(Sent { done_bytes: event.loaded(), total_bytes: event.total() });
    });
    if let Ok(upload) = request.upload() {
        upload.set_onprogress(Some(progress.as_ref().unchecked_ref()));
    }
    // `loadend` comes in any case: after success, failure and abort.
    let ended = Promise::new(&mut |resolve, _| request.set_onloadend(Some(&resolve)));
    request.send_with_opt_form_data(Some(files)).map_err(|_| FetchError::Unreachable)?;
    JsFuture::from(ended).await.map_err(|_| FetchError::Unreachable)?;
    answer(&request)
}

fn answer(request: &XmlHttpRequest) -> Result<ProfileInfo, FetchError> {
    // Status 0: there was no answer.
    let status = request.status().unwrap_or(0);
    let body = request.response().ok().and_then(|body| body.dyn_into::<ArrayBuffer>().ok());
    let body = body.map(|body| Uint8Array::new(&body).to_vec()).unwrap_or_default();
    match status {
        0 => Err(FetchError::Unreachable),
        200..300 => decode::message(&body),
        _ => Err(FetchError::Refused { status, message: decode::refusal(&String::from_utf8_lossy(&body)) }),
    }
}
