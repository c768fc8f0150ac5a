//! The panel's height, and the splitter between timeline and panel. Drag it, or focus it and press
//! the arrow keys. A double click or Enter closes the panel to its tabs and opens it. Height and
//! state are remembered.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::kept;
use crate::view::panel::{DEFAULT_PX, SMALLEST_PX, TABS_PX, clamped_px, dragged_px, is_low, largest_px};

/// Change of height per press of an arrow key.
const STEP_PX: f64 = 24.0;
/// The stored value for a closed panel.
const CLOSED: &str = "closed";

/// Height of the panel.
#[derive(Debug, Clone, Copy)]
pub struct PanelSize {
    /// Chosen height, independent of the viewport.
    height_px: RwSignal<f64>,
    /// Chosen state, remembered.
    closed: RwSignal<bool>,
    /// Chosen state while the viewport is low.
    closed_when_low: RwSignal<bool>,
    viewport_px: RwSignal<f64>,
}

impl PanelSize {
    /// Restores the stored height and state. Follows the viewport's height from now on.
    #[must_use]
    pub fn new() -> Self {
        // Use the browser's parser: Rust's has tables of 10 kB, which do not compress.
        let kept = kept::read(kept::PANEL_HEIGHT).map(|text| js_sys::parse_float(&text));
        let size = Self {
            height_px: RwSignal::new(kept.filter(|px: &f64| px.is_finite()).unwrap_or(DEFAULT_PX)),
            closed: RwSignal::new(kept::read(kept::PANEL).as_deref() == Some(CLOSED)),
            closed_when_low: RwSignal::new(true),
            viewport_px: RwSignal::new(viewport_px()),
        };
        let listener =
            window_event_listener(leptos::ev::resize, move |_| size.viewport_px.set(viewport_px()));
        on_cleanup(move || listener.remove());
        size
    }

    /// Returns true if only the tabs are shown.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self.choice().get()
    }

    fn choice(self) -> RwSignal<bool> {
        if is_low(self.viewport_px.get()) { self.closed_when_low } else { self.closed }
    }

    /// Height of the open panel.
    #[must_use]
    pub fn height_px(self) -> f64 {
        clamped_px(self.height_px.get(), self.viewport_px.get())
    }

    /// Closes the panel to its tabs, or opens it.
    pub fn close(self, closed: bool) {
        untrack(|| self.choice()).set(closed);
        self.remember();
    }

    /// Closes an open panel and opens a closed one.
    pub fn toggle(self) {
        self.close(!untrack(|| self.is_closed()));
    }

    /// The visible height.
    fn seen_px(self) -> f64 {
        untrack(|| if self.is_closed() { TABS_PX } else { self.height_px() })
    }

    fn drag_to(self, height_px: f64) {
        let dragged = dragged_px(height_px, self.viewport_px.get_untracked());
        untrack(|| self.choice()).set(dragged.is_none());
        if let Some(height_px) = dragged {
            self.height_px.set(height_px);
        }
    }

    fn remember(self) {
        kept::write(kept::PANEL_HEIGHT, &self.height_px.get_untracked().round().to_string());
        if self.closed.get_untracked() {
            kept::write(kept::PANEL, CLOSED);
        } else {
            kept::remove(kept::PANEL);
        }
    }
}

impl Default for PanelSize {
    fn default() -> Self {
        Self::new()
    }
}

fn viewport_px() -> f64 {
    window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(f64::MAX)
}

/// The splitter, which changes the height of the panel below it.
#[component]
pub fn Splitter(
    /// The panel's height.
    size: PanelSize,
) -> impl IntoView {
    // Start of the drag: the pointer's y and the height at that time.
    let drag = StoredValue::new(None::<(f64, f64)>);
    let grip = move |event: web_sys::PointerEvent| {
        let Some(line) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        else {
            return;
        };
        event.prevent_default();
        // Without the capture, the drag still works while the pointer stays on the page.
        line.set_pointer_capture(event.pointer_id()).ok();
        drag.set_value(Some((f64::from(event.client_y()), size.seen_px())));
    };
    let pull = move |event: web_sys::PointerEvent| {
        if let Some((y, height)) = drag.get_value() {
            let by_px = y - f64::from(event.client_y());
            // A click, the first half of a double click, changes nothing.
            if by_px != 0.0 {
                size.drag_to(height + by_px);
            }
        }
    };
    let release = move |_: web_sys::PointerEvent| {
        if drag.get_value().is_some() {
            drag.set_value(None);
            size.remember();
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        match event.key().as_str() {
            "ArrowUp" if untrack(|| size.is_closed()) => size.close(false),
            "ArrowUp" => size.drag_to(size.seen_px() + STEP_PX),
            "ArrowDown" if size.seen_px() <= SMALLEST_PX => size.close(true),
            "ArrowDown" => size.drag_to((size.seen_px() - STEP_PX).max(SMALLEST_PX)),
            "Enter" => size.toggle(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
        size.remember();
    };
    view! {
        <div
            class="splitter"
            role="separator"
            tabindex="0"
            aria-label="Height of the panel"
            aria-orientation="horizontal"
            title="Drag to resize the panel, double-click to close or open it"
            aria-valuemin=TABS_PX
            aria-valuemax=move || largest_px(size.viewport_px.get()).round()
            aria-valuenow=move || if size.is_closed() { TABS_PX } else { size.height_px().round() }
            on:pointerdown=grip
            on:pointermove=pull
            on:pointerup=release
            on:pointercancel=release
            on:dblclick=move |_| size.toggle()
            on:keydown=press
        ></div>
    }
}
