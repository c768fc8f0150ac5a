//! The web host that delivered the page, with the segments next to it.

use std::sync::{Mutex, PoisonError};

use js_sys::{ArrayBuffer, Uint8Array};
use nprof_engine::base::{Error, Result};
use nprof_engine::segment::Fetch;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{XmlHttpRequest, XmlHttpRequestResponseType};

/// Time limit of an answer in milliseconds, as in `boot/worker.js`, for its first byte and for all
/// others. 32 bytes in a millisecond are a slow network.
const FIRST_MS: u64 = 30_000;
const BYTES_IN_MS: u64 = 32;
/// Status of an answer that is a part of a file.
pub(super) const PARTIAL_CONTENT: u16 = 206;

/// A file on a web host that serves parts of files. Requests block until the answer arrives, which
/// browsers allow in workers.
#[derive(Debug)]
pub struct Host {
    url: String,
    /// The reason why the last request failed.
    cause: Mutex<Option<String>>,
}

impl Host {
    /// The file at this address.
    #[must_use]
    pub fn new(url: String) -> Self {
        Self { url, cause: Mutex::default() }
    }

    /// The reason why the last request failed, in words for people.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, offset: u64, len: u64) -> std::result::Result<Vec<u8>, String> {
        let thrown = |_: JsValue| "the web host does not answer".to_owned();
        let request = XmlHttpRequest::new().map_err(thrown)?;
        request.open_with_async("GET", &self.url, false).map_err(thrown)?;
        request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
        let most_ms = FIRST_MS.saturating_add(len / BYTES_IN_MS);
        request.set_timeout(u32::try_from(most_ms).unwrap_or(u32::MAX));
        let range = format!("bytes={offset}-{}", offset + len.saturating_sub(1));
        request.set_request_header("range", &range).map_err(thrown)?;
        request.send().map_err(thrown)?;
        match request.status().map_err(thrown)? {
            PARTIAL_CONTENT => {}
            status => return Err(format!("the web host answers with status {status}")),
        }
        let buffer: ArrayBuffer = request
            .response()
            .and_then(JsCast::dyn_into)
            .map_err(|_| "the web host's answer has no bytes".to_owned())?;
        let bytes = Uint8Array::new(&buffer).to_vec();
        let found = bytes.len() as u64;
        if found == len { Ok(bytes) } else { Err(format!("the web host sends {found} bytes of {len}")) }
    }
}

impl Fetch for Host {
    fn fetch(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        self.answer(offset, len).map_err(|cause| {
            *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
            Error::Storage { what: "fetching a part of the segment" }
        })
    }
}
