//! The focus of the headings of groups. The keys for the row above and below move it.

use leptos::leptos_dom::helpers::request_animation_frame;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Place of the heading that has the focus among the rows. `None` if another element has it.
#[must_use]
pub fn focused_heading() -> Option<usize> {
    let button = document().active_element()?.closest(".track-group").ok()??;
    let item = button.closest("[aria-posinset]").ok()??;
    item.get_attribute("aria-posinset")?.parse::<usize>().ok()?.checked_sub(1)
}

/// Gives the focus to the heading at a place among the rows. Names of rows that are out of sight
/// are not in the page: `scroll` brings the row into sight.
pub fn focus_heading(place: usize, scroll: impl FnOnce() + 'static) {
    request_animation_frame(move || {
        if !focus(&heading(place)) {
            scroll();
            request_animation_frame(move || {
                focus(&heading(place));
            });
        }
    });
}

/// Gives the focus of a heading back to the rows.
pub fn leave_headings() {
    if focused_heading().is_some() {
        focus(".timeline-rows");
    }
}

fn heading(place: usize) -> String {
    format!(".tracks [aria-posinset=\"{}\"] .track-group", place + 1)
}

/// Whether there is such an element.
fn focus(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    let found = found.and_then(|element| element.dyn_into::<HtmlElement>().ok());
    found.is_some_and(|element| element.focus().is_ok())
}
