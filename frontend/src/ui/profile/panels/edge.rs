//! The edge of a panel, which changes its size. Drag it, or focus it and press the arrow keys. A
//! double click or Enter closes the panel and opens it.

use leptos::prelude::*;

use super::state::Panels;
use crate::ui::controls::own_element;
use crate::view::PanelSide;

/// Change of the size per press of an arrow key.
const STEP_PX: u32 = 24;

/// Difference between the edges.
struct Edge {
    label: &'static str,
    orientation: &'static str,
    /// The keys that make the panel larger and smaller.
    keys: (&'static str, &'static str),
}

fn edge(side: PanelSide) -> Edge {
    match side {
        PanelSide::Dock => {
            Edge { label: "Width of the details", orientation: "vertical", keys: ("ArrowLeft", "ArrowRight") }
        }
        PanelSide::Drawer => {
            Edge { label: "Height of the panel", orientation: "horizontal", keys: ("ArrowUp", "ArrowDown") }
        }
    }
}

/// Position of a pointer across the edge.
fn across_px(event: &web_sys::PointerEvent, side: PanelSide) -> f64 {
    f64::from(match side {
        PanelSide::Dock => event.client_x(),
        PanelSide::Drawer => event.client_y(),
    })
}

/// The edge of a panel.
#[component]
pub fn PanelEdge(
    /// The panels.
    panels: Panels,
    /// The panel.
    side: PanelSide,
) -> impl IntoView {
    let Edge { label, orientation, .. } = edge(side);
    let seen_px = move || untrack(|| panels.seen_px(side));
    // Start of the drag: the pointer's position and the size at that time.
    let drag = StoredValue::new(None::<(f64, f64)>);
    let grip = move |event: web_sys::PointerEvent| {
        let Some(line) = own_element::<web_sys::Element>(&event) else { return };
        event.prevent_default();
        // Without the capture, the drag still works while the pointer stays on the page.
        line.set_pointer_capture(event.pointer_id()).ok();
        drag.set_value(Some((across_px(&event, side), f64::from(seen_px()))));
    };
    let pull = move |event: web_sys::PointerEvent| {
        if let Some((from, size_px)) = drag.get_value() {
            let by_px = from - across_px(&event, side);
            // A click, the first half of a double click, changes nothing.
            if by_px != 0.0 {
                panels.drag_to(side, size_px + by_px);
            }
        }
    };
    let release = move |_: web_sys::PointerEvent| {
        if drag.get_value().is_some() {
            drag.set_value(None);
            panels.remember(side);
        }
    };
    view! {
        <div
            class="splitter"
            role="separator"
            tabindex="0"
            aria-label=label
            aria-orientation=orientation
            title="Drag to resize, double-click to close or open"
            aria-valuemin=side.closed_px()
            aria-valuemax=move || side.largest_px(panels.viewport.get())
            aria-valuenow=move || panels.seen_px(side)
            on:pointerdown=grip
            on:pointermove=pull
            on:pointerup=release
            on:pointercancel=release
            on:dblclick=move |_| panels.switch(side)
            on:keydown=move |event| press(&event, panels, side)
        ></div>
    }
}

/// Changes the size by keys.
fn press(event: &web_sys::KeyboardEvent, panels: Panels, side: PanelSide) {
    let (key, (larger, smaller)) = (event.key(), edge(side).keys);
    let (smallest_px, seen_px, is_open) =
        untrack(|| (side.smallest_px(), panels.seen_px(side), panels.is_open(side)));
    match (key == larger, key == smaller, key == "Enter") {
        (true, ..) if is_open => panels.drag_to(side, f64::from(seen_px + STEP_PX)),
        (_, true, _) if seen_px <= smallest_px => panels.close(side),
        (_, true, _) => panels.drag_to(side, f64::from((seen_px - STEP_PX).max(smallest_px))),
        (true, ..) | (.., true) => panels.switch(side),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
    panels.remember(side);
}
