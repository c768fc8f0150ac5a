//! The space bar: while it is held, a drag moves the view.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Elements that the space bar presses or types into.
const USERS: &str = "button, a, summary, input, select, textarea, dialog, [contenteditable]";

/// Whether the space bar is held, until the current component goes.
pub fn follow() -> RwSignal<bool> {
    let is_held = RwSignal::new(false);
    let change = move |event: web_sys::KeyboardEvent, now: bool| {
        if event.code() != "Space" || now && is_used(&event) {
            return;
        }
        if now {
            // The rows would scroll by a page.
            event.prevent_default();
        }
        is_held.try_set(now);
    };
    let pressed = window_event_listener(leptos::ev::keydown, move |event| change(event, true));
    let released = window_event_listener(leptos::ev::keyup, move |event| change(event, false));
    // The release of a key is not told to a page without the focus.
    let left = window_event_listener(leptos::ev::blur, move |_| {
        is_held.try_set(false);
    });
    on_cleanup(move || {
        pressed.remove();
        released.remove();
        left.remove();
    });
    is_held
}

/// Whether the space bar means something where the focus is.
fn is_used(event: &web_sys::KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    // `closest` fails only for an invalid selector.
    event.default_prevented() || target.is_some_and(|target| matches!(target.closest(USERS), Ok(Some(_))))
}
