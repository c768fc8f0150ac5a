//! Facts that an event tells of the element that handles it.
//!
//! The browser tells of a scroll and of a lost focus after the element has left the page. Then the
//! signals and node references of its component are gone, and reading those panics. Handlers of
//! `scroll`, `blur`, `focusout`, `pointerleave` and `close` therefore ask the event for its
//! element, and set signals or `try_` to read them.

use wasm_bindgen::JsCast;

/// The element whose handler runs.
pub fn own_element<E: JsCast>(event: &web_sys::Event) -> Option<E> {
    event.current_target().and_then(|target| target.dyn_into().ok())
}

/// Sends all further events of a pointer to the listening element until the pointer is released.
pub fn capture(event: &web_sys::PointerEvent) {
    if let Some(element) = own_element::<web_sys::Element>(event) {
        // Fails only if the pointer is gone.
        element.set_pointer_capture(event.pointer_id()).ok();
    }
}

/// How far the element whose handler runs is scrolled down, in CSS pixels.
pub fn scrolled_px(event: &web_sys::Event) -> Option<f64> {
    own_element(event).map(|element: web_sys::Element| f64::from(element.scroll_top()))
}

/// Whether the focus stays inside the element whose `focusout` handler runs.
pub fn keeps_focus(event: &web_sys::FocusEvent) -> bool {
    let to = event.related_target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
    own_element(event).is_some_and(|own: web_sys::Node| own.contains(to.as_ref()))
}
