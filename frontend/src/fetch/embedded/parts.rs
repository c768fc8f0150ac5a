//! The elements of the page that hold the profile: `<script type="application/octet-stream">` with
//! base64, as `nprof export --format html` writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use js_sys::{Reflect, Uint8Array};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::fetch::decode;
use crate::fetch::error::FetchError;

/// What the page holds beside segments.
#[derive(Debug)]
pub(super) struct Parts {
    /// The profile's name for addresses.
    pub slug: String,
}

/// The segment of a rank, in base64.
pub(super) struct SegmentText {
    /// Length of the segment.
    pub size_bytes: f64,
    elements: Vec<Element>,
}

impl Parts {
    /// Those of this page, if it has any.
    pub fn of_page() -> Option<Self> {
        let slug = document().get_element_by_id("nprof-bundle")?.get_attribute("data-slug")?;
        Some(Self { slug })
    }

    /// The list of ranks, in postcard.
    pub fn bundle(&self) -> Result<Vec<u8>, FetchError> {
        unpacked("nprof-bundle")
    }

    /// The workers' script.
    pub fn script(&self) -> Result<String, FetchError> {
        String::from_utf8(unpacked("nprof-worker-script")?).map_err(|_| damaged())
    }

    /// The workers' program, as wasm. `boot/unpack.js` leaves the page's own program, which is the
    /// dictionary.
    pub fn program(&self) -> Result<Vec<u8>, FetchError> {
        let page: Uint8Array = Reflect::get(&js_sys::global(), &"nprofProgram".into())
            .ok()
            .and_then(|program| program.dyn_into().ok())
            .ok_or_else(damaged)?;
        unpacked_beside("nprof-worker-program", &page.to_vec())
    }

    /// The segment of a rank, if it is here.
    pub fn segment(&self, rank: u32) -> Option<SegmentText> {
        let list = document().query_selector_all(&format!("script[data-segment='{rank}']")).ok()?;
        let elements: Vec<Element> =
            (0..list.length()).filter_map(|at| list.item(at)?.dyn_into().ok()).collect();
        let size_bytes = elements.first()?.get_attribute("data-size")?.parse().ok()?;
        Some(SegmentText { size_bytes, elements })
    }
}

impl SegmentText {
    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = String> {
        self.elements.iter().map(|element| element.text_content().unwrap_or_default())
    }
}

/// What an element holds: base64 of a zstd frame.
fn unpacked(id: &str) -> Result<Vec<u8>, FetchError> {
    unpacked_beside(id, &[])
}

/// As [`unpacked`], with a dictionary.
fn unpacked_beside(id: &str, dictionary: &[u8]) -> Result<Vec<u8>, FetchError> {
    let text = document().get_element_by_id(id).and_then(|element| element.text_content());
    let frame = STANDARD.decode(text.ok_or_else(damaged)?.trim()).map_err(|_| damaged())?;
    decode::unpacked(&frame, dictionary).map_err(|_| damaged())
}

fn damaged() -> FetchError {
    FetchError::Unreadable { what: "this file is damaged or was cut: get it again" }
}
