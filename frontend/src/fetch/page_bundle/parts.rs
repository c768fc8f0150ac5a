//! The elements of the page that hold the profile: `<script type="application/octet-stream">` with
//! base64 or, on a web host, with the name of a file next to the page. `nprof export` writes them
//! with `--format html` and `--format site`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use js_sys::{Promise, Reflect, Uint8Array};
use leptos::prelude::document;
use nprof_engine::wire::ask::RankId;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, Url};

use crate::fetch::decode;
use crate::fetch::error::FetchError;
use crate::view::source_id::SourceId;

/// The page's embedded data other than segments.
#[derive(Debug)]
pub(super) struct PageParts {
    /// The profiles' names for addresses. The first one is that of the page.
    pub slugs: Vec<String>,
    /// The address of the view that the file opens at, if the sender chose one.
    pub view: Option<String>,
}

/// The segment of a rank.
pub(super) struct SegmentElements {
    /// Length of the segment.
    pub size_bytes: u64,
    elements: Vec<Element>,
}

impl PageParts {
    /// The data embedded in this page, if any.
    pub fn of_page() -> Option<Self> {
        let first = document().get_element_by_id(&bundle_id(0))?;
        let slug = |at: usize| document().get_element_by_id(&bundle_id(at))?.get_attribute("data-slug");
        let slugs: Vec<String> = (0..).map_while(slug).collect();
        (!slugs.is_empty()).then(|| Self { slugs, view: first.get_attribute("data-view") })
    }

    /// The lists of ranks of the profiles, in postcard.
    pub fn bundles(&self) -> Result<Vec<Vec<u8>>, FetchError> {
        (0..self.slugs.len()).map(|at| unpacked(&bundle_id(at))).collect()
    }

    /// The workers' script.
    pub fn script(&self) -> Result<String, FetchError> {
        String::from_utf8(unpacked("nprof-worker-script")?).map_err(|_| damaged())
    }

    /// The workers' program, as wasm. `boot/unpack.js` leaves a promise of its frame, and the
    /// page's own program, which is the dictionary.
    pub async fn program(&self) -> Result<Vec<u8>, FetchError> {
        let page: Uint8Array = left_behind("nprofProgram")?;
        let frame = JsFuture::from(left_behind::<Promise>("nprofWorkers")?).await;
        let frame: Uint8Array = frame.and_then(JsCast::dyn_into).map_err(|_| damaged())?;
        decode::unpacked(&frame.to_vec(), &page.to_vec()).map_err(|_| damaged())
    }

    /// The ranks whose segments the page lists, without the views of all of them.
    pub fn ranks(&self) -> Vec<SourceId> {
        let list = document().query_selector_all("script[data-segment]").ok();
        let elements = list.iter().flat_map(|list| (0..list.length()).filter_map(|at| list.item(at)));
        let name = |node: web_sys::Node| node.dyn_into::<Element>().ok()?.get_attribute("data-segment");
        let mut ranks: Vec<SourceId> = elements.filter_map(|node| name(node)?.parse().ok()).collect();
        // A long segment is several elements.
        ranks.sort_unstable();
        ranks.dedup();
        ranks.retain(|source| !source.rank.is_all());
        ranks
    }

    /// The rank of the page that a question is about.
    pub fn source(&self, id: &RankId) -> SourceId {
        let profile = self.slugs.iter().position(|slug| *slug == id.profile).unwrap_or(0);
        SourceId { rank: id.rank, profile: profile as u8 }
    }

    /// The segment of a rank, if the page lists it.
    pub fn segment(&self, source: SourceId) -> Option<SegmentElements> {
        let list = document().query_selector_all(&format!("script[data-segment='{source}']")).ok()?;
        let elements: Vec<Element> =
            (0..list.length()).filter_map(|at| list.item(at)?.dyn_into().ok()).collect();
        // As a whole number: Rust's parser of floats has large tables.
        let size_bytes: u64 = elements.first()?.get_attribute("data-size")?.parse().ok()?;
        Some(SegmentElements { size_bytes, elements })
    }
}

impl SegmentElements {
    /// The URL of the segment, if it is a file next to the page.
    pub fn url(&self) -> Option<String> {
        let name = self.elements.first()?.get_attribute("data-href")?;
        let base = document().base_uri().ok()??;
        Some(Url::new_with_base(&name, &base).ok()?.href())
    }

    /// The segment in base64, part by part.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.elements.iter().map(|element| element.text_content().unwrap_or_default())
    }
}

/// The element with the list of ranks of the profile at a position.
fn bundle_id(at: usize) -> String {
    if at == 0 { "nprof-bundle".to_owned() } else { format!("nprof-bundle-{at}") }
}

/// Unpacks the content of an element: base64 of a zstd frame.
fn unpacked(id: &str) -> Result<Vec<u8>, FetchError> {
    let text = document().get_element_by_id(id).and_then(|element| element.text_content());
    let frame = STANDARD.decode(text.ok_or_else(damaged)?.trim()).map_err(|_| damaged())?;
    decode::unpacked(&frame, &[]).map_err(|_| damaged())
}

/// A value that `boot/unpack.js` has left.
fn left_behind<T: JsCast>(name: &str) -> Result<T, FetchError> {
    let value = Reflect::get(&js_sys::global(), &name.into()).map_err(|_| damaged())?;
    value.dyn_into().map_err(|_| damaged())
}

fn damaged() -> FetchError {
    FetchError::Unreadable { what: "this file is damaged or was cut: get it again" }
}
