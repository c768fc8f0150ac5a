//! The program of a page's workers. `boot/worker.js` passes messages of the page to it.

mod answers;
mod host;

use js_sys::Uint8Array;
use nprof_engine::wire::refusal::Refusal;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use self::answers::Answers;

fn main() {
    console_error_panic_hook::set_once();
}

/// An embedded profile that answers questions without a server.
#[wasm_bindgen]
pub struct Profile(Answers);

#[wasm_bindgen]
impl Profile {
    /// Reads a bundle in postcard.
    #[wasm_bindgen(constructor)]
    pub fn new(bundle: &[u8]) -> Result<Self, JsError> {
        Answers::new(bundle).map(Self).map_err(JsError::from)
    }

    /// Reads the bundle of another profile of the page.
    pub fn join(&mut self, bundle: &[u8]) -> Result<(), JsError> {
        Ok(self.0.join(bundle)?)
    }

    /// Allocates memory for the segment of a rank, which is named as in addresses.
    pub fn begin(&mut self, rank: &str, size_bytes: usize) -> Result<(), JsError> {
        self.0.begin(rank.parse()?, size_bytes);
        Ok(())
    }

    /// Appends the next part of the segment, in base64.
    pub fn take(&mut self, rank: &str, base64: &str) -> Result<(), JsError> {
        self.0.take(rank.parse()?, base64);
        Ok(())
    }

    /// Opens the segment when all of its parts are present.
    pub fn open(&mut self, rank: &str) -> Result<(), JsError> {
        self.0.open(rank.parse()?);
        Ok(())
    }

    /// Opens the segment at a URL. `status` and `end` are the web host's answer to the request for
    /// the last bytes.
    pub fn reach(
        &mut self,
        rank: &str,
        url: String,
        size_bytes: f64,
        status: u16,
        end: Vec<u8>,
    ) -> Result<(), JsError> {
        self.0.reach(rank.parse()?, url, size_bytes as u64, status, end);
        Ok(())
    }

    /// The answer to a question, in postcard. Throws a refusal in postcard.
    pub fn ask(&self, url: &str) -> Result<Uint8Array, Uint8Array> {
        let start_ms = js_sys::Date::now();
        let answer = self.0.ask(url, &|| js_sys::Date::now() - start_ms);
        answer.map(|bytes| Uint8Array::from(&bytes[..])).map_err(|refusal| thrown(&refusal))
    }
}

fn thrown(refusal: &Refusal) -> Uint8Array {
    // A refusal is a number and a text, which postcard always encodes.
    Uint8Array::from(&postcard::to_allocvec(refusal).unwrap_or_default()[..])
}
