//! A menu at a point. Arrow keys lead from entry to entry, Enter runs one. Escape, a press outside
//! and an entry close the menu, and the focus returns to where it was.

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::tooltip::viewport;
use crate::view::pointing::placement::place;
use crate::view::slice_menu::moved;
use crate::view::{Point, Size};

/// The entries of a menu.
const ENTRIES: &str = "[role=menuitem]";

/// A menu. It is open as long as it exists.
#[component]
pub fn ContextMenu(
    /// The place of its corner.
    anchor: Point,
    /// Its name.
    label: &'static str,
    /// Number of entries. Some arrive later.
    #[prop(into)]
    count: Signal<usize>,
    /// Called when it should close.
    on_close: Callback<()>,
    /// The entries.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    Effect::new(move || {
        count.track();
        let Some(menu) = node.get() else { return };
        request_animation_frame(move || show(&menu, anchor));
    });
    close_outside(node, on_close);
    let press = move |event: KeyboardEvent| {
        // The page has keys of its own.
        event.stop_propagation();
        let key = event.key();
        if matches!(key.as_str(), "Escape" | "Tab") {
            event.prevent_default();
            on_close.run(());
        } else if let Some(menu) = node.get_untracked()
            && walk(&menu, &key)
        {
            event.prevent_default();
        }
    };
    view! {
        <div
            node_ref=node
            class="menu"
            role="menu"
            aria-label=label
            tabindex="-1"
            style="visibility: hidden"
            on:keydown=press
            on:contextmenu=move |event| event.prevent_default()
        >
            {children()}
        </div>
    }
}

/// Closes the menu at a press outside. The focus returns when the menu goes.
fn close_outside(node: NodeRef<html::Div>, on_close: Callback<()>) {
    let before = StoredValue::new_local(document().active_element());
    let pressed = window_event_listener(leptos::ev::pointerdown, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
        if !node.get_untracked().is_some_and(|menu| menu.contains(target.as_ref())) {
            on_close.run(());
        }
    });
    on_cleanup(move || {
        pressed.remove();
        let element = before.try_get_value().flatten();
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            element.focus().ok();
        }
    });
}

/// Places the menu beside its anchor. Its first entry gets the focus, unless another one has it.
fn show(menu: &web_sys::HtmlElement, anchor: Point) {
    let rect = menu.get_bounding_client_rect();
    let Point { x_px, y_px } = place(anchor, Size::new(rect.width(), rect.height()), viewport());
    let style = menu.style();
    // Fails only for an invalid property name.
    style.set_property("transform", &format!("translate({x_px:.0}px, {y_px:.0}px)")).ok();
    style.set_property("visibility", "visible").ok();
    let focused = document().active_element();
    if !focused.is_some_and(|focused| focused.matches(ENTRIES).unwrap_or(false)) {
        let first = menu.query_selector(ENTRIES).ok().flatten();
        focus(first.as_ref().unwrap_or(menu));
    }
}

/// Moves the focus to the entry that a key leads to. Returns false if the key is none of the menu.
fn walk(menu: &web_sys::HtmlElement, key: &str) -> bool {
    let Ok(entries) = menu.query_selector_all(ENTRIES) else { return false };
    let entries: Vec<web_sys::Element> =
        (0..entries.length()).filter_map(|at| entries.item(at)?.dyn_into().ok()).collect();
    let focused = document().active_element();
    let now = entries.iter().position(|entry| focused.as_ref() == Some(entry));
    let next = moved(key, now, entries.len()).and_then(|at| entries.get(at));
    next.into_iter().for_each(focus);
    next.is_some()
}

fn focus(element: &web_sys::Element) {
    if let Some(element) = element.dyn_ref::<web_sys::HtmlElement>() {
        element.focus().ok();
    }
}
