//! The first unpacked bytes of a dropped file, which show its kind. The rest stays on the disk
//! until it is sent.
//!
//! The browser unpacks gzip, this module zstd. The server opens archives.

#[cfg(feature = "browser")]
use js_sys::{Array, Function, Reflect, Uint8Array};
#[cfg(feature = "browser")]
use nprof_capture::inputs::{Candidate, FileHead, PackingKind};
use nprof_capture::probe::HEAD_LEN;
#[cfg(feature = "browser")]
use wasm_bindgen::{JsCast, JsValue};
#[cfg(feature = "browser")]
use wasm_bindgen_futures::JsFuture;
#[cfg(feature = "browser")]
use web_sys::{File, ReadableStream, ReadableStreamDefaultReader, ReadableWritablePair};
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// Limit of the window of a zstd frame. The server handles frames that need more than 8 MiB of
/// memory.
const MAX_WINDOW_LOG: u32 = 23;

/// Reads the start of a file. An unreadable file counts as empty: the server reports what is wrong
/// with it.
#[cfg(feature = "browser")]
pub async fn candidate(file: &File) -> Candidate {
    let head = packed_head(file).await.unwrap_or_default();
    let unpacked = match PackingKind::of(&head) {
        Some(PackingKind::Gzip) => gzip_head(file).await.ok(),
        Some(PackingKind::Zstd) => zstd_head(&head),
        _ => None,
    };
    Candidate::of(FileHead { name: &file.name(), head: unpacked.as_deref().unwrap_or(&head) })
}

#[cfg(feature = "browser")]
async fn packed_head(file: &File) -> Result<Vec<u8>, JsValue> {
    let start = file.slice_with_f64_and_f64(0.0, HEAD_LEN as f64)?;
    let buffer = JsFuture::from(start.array_buffer()).await?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

#[cfg(feature = "browser")]
async fn gzip_head(file: &File) -> Result<Vec<u8>, JsValue> {
    // web-sys has this class only among its unstable APIs.
    let class: Function =
        Reflect::get(&js_sys::global(), &JsValue::from_str("DecompressionStream"))?.dyn_into()?;
    let gzip = Reflect::construct(&class, &Array::of1(&JsValue::from_str("gzip")))?;
    let unpacked: ReadableStream = file.stream().pipe_through(gzip.unchecked_ref::<ReadableWritablePair>());
    let reader: ReadableStreamDefaultReader = unpacked.get_reader().unchecked_into();
    let mut head = Vec::new();
    while head.len() < HEAD_LEN {
        let chunk = JsFuture::from(reader.read()).await?;
        let bytes = Reflect::get(&chunk, &JsValue::from_str("value"))?;
        if bytes.is_undefined() {
            break;
        }
        head.extend(Uint8Array::new(&bytes).to_vec());
    }
    // The rest of the file is not needed here. An early end of the stream is not an error.
    JsFuture::from(reader.cancel()).await.ok();
    head.truncate(HEAD_LEN);
    Ok(head)
}

/// The first unpacked bytes of a zstd frame that begins with `head`.
#[must_use]
pub fn zstd_head(head: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = DCtx::try_create()?;
    decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).ok()?;
    let mut unpacked = vec![0; HEAD_LEN];
    let mut from = InBuffer::around(head);
    let mut to = OutBuffer::around(&mut unpacked[..]);
    while to.pos() < HEAD_LEN && from.pos() < head.len() {
        decoder.decompress_stream(&mut to, &mut from).ok()?;
    }
    let len = to.pos();
    unpacked.truncate(len);
    (len > 0).then_some(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_frame_gives_its_beginning() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| n.to_string().into_bytes()).collect();
        let frame = zstd::bulk::compress(&text, 3).unwrap();
        assert_eq!(zstd_head(&frame[..HEAD_LEN.min(frame.len())]).unwrap(), text[..HEAD_LEN]);
        assert_eq!(zstd_head(&zstd::bulk::compress(b"[]", 3).unwrap()).unwrap(), b"[]");
        assert_eq!(zstd_head(&frame[..6]), None);
        assert_eq!(zstd_head(b"\x28\xb5\x2f\xfdnonsense"), None);
    }
}
