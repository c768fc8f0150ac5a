//! The line between timeline and panel: drag it, or focus it and press the arrow keys. The height is remembered.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::kept;

/// Below this the panel shows nothing useful.
const SMALLEST_PX: f64 = 96.0;
/// The timeline and the bars above keep at least this much.
const ABOVE_PX: f64 = 240.0;
const DEFAULT_PX: f64 = 280.0;
/// One press of an arrow key.
const STEP_PX: f64 = 24.0;

/// The panel's height in pixels as it was left, or the default.
#[must_use]
pub fn remembered_height_px() -> f64 {
    let kept = kept::read(kept::PANEL_HEIGHT).and_then(|text| text.parse().ok());
    clamped(kept.filter(|px: &f64| px.is_finite()).unwrap_or(DEFAULT_PX))
}

fn clamped(height_px: f64) -> f64 {
    height_px.clamp(SMALLEST_PX, largest_px())
}

fn largest_px() -> f64 {
    let viewport_px = window().inner_height().ok().and_then(|px| px.as_f64()).unwrap_or(f64::MAX);
    (viewport_px - ABOVE_PX).max(SMALLEST_PX)
}

/// Changes the height of the panel below it.
#[component]
pub fn Splitter(
    /// The panel's height in pixels.
    height_px: RwSignal<f64>,
) -> impl IntoView {
    // Where the drag began: the pointer's y and the height then.
    let drag = StoredValue::new(None::<(f64, f64)>);
    let resize = move |px: f64| height_px.set(clamped(px));
    let remember = move || kept::write(kept::PANEL_HEIGHT, &height_px.get_untracked().round().to_string());
    let grip = move |event: web_sys::PointerEvent| {
        let Some(line) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        else {
            return;
        };
        event.prevent_default();
        // Without the capture the drag still works while the pointer stays on the page.
        line.set_pointer_capture(event.pointer_id()).ok();
        drag.set_value(Some((f64::from(event.client_y()), height_px.get_untracked())));
    };
    let pull = move |event: web_sys::PointerEvent| {
        if let Some((y, height)) = drag.get_value() {
            resize(height + y - f64::from(event.client_y()));
        }
    };
    let release = move |_: web_sys::PointerEvent| {
        if drag.get_value().is_some() {
            drag.set_value(None);
            remember();
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        let by_px = match event.key().as_str() {
            "ArrowUp" => STEP_PX,
            "ArrowDown" => -STEP_PX,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        resize(height_px.get_untracked() + by_px);
        remember();
    };
    view! {
        <div
            class="splitter"
            role="separator"
            tabindex="0"
            aria-label="Height of the panel"
            aria-orientation="horizontal"
            aria-valuemin=SMALLEST_PX
            aria-valuemax=move || {
                height_px.track();
                largest_px().round()
            }
            aria-valuenow=move || height_px.get().round()
            on:pointerdown=grip
            on:pointermove=pull
            on:pointerup=release
            on:pointercancel=release
            on:keydown=press
        ></div>
    }
}
