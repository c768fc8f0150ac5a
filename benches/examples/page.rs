//! [`nprof_benches::page`] for wasm: node fills two buffers with bytes, then calls and times the
//! functions.
#![expect(unsafe_code, reason = "a function that the host calls by name needs an unsafe attribute")]

use std::cell::RefCell;

use nprof_benches::page::PageBytes;

thread_local! {
    static PLACES: RefCell<[Vec<u8>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
    static PAGE: RefCell<Option<PageBytes>> = const { RefCell::new(None) };
}

/// Allocates a buffer for the tile's frame (place 0) or the segment (any other place) and returns
/// its address. The buffer stays until `open`.
// SAFETY: no other function of this name is linked in.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(place: u32, len: usize) -> *mut u8 {
    PLACES.with_borrow_mut(|places| {
        let bytes = &mut places[usize::from(place != 0)];
        *bytes = vec![0; len];
        bytes.as_mut_ptr()
    })
}

/// Opens the filled buffers. Returns 1, or 0 if they are damaged.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    let [frame, segment] = PLACES.take();
    let page = PageBytes::new(frame, segment).ok();
    let is_open = page.is_some();
    PAGE.set(page);
    u32::from(is_open)
}

fn with_page(ask: impl FnOnce(&PageBytes) -> Option<f64>) -> f64 {
    PAGE.with_borrow(|page| page.as_ref().and_then(ask)).unwrap_or(-1.0)
}

/// Unpacks the tile. Returns the number of lanes, or -1 for damage.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn unpack_tile() -> f64 {
    with_page(|page| page.unpack_tile().map(|lanes| lanes as f64))
}

/// Summarises the whole segment. Returns the number of slices, or -1 for damage.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn select_all() -> f64 {
    with_page(|page| page.select_all().ok().map(|count| count as f64))
}
