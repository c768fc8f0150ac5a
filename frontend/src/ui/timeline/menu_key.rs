//! The menu key, and Shift with F10: the menu of the selected slice.

use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::stage::StageHandle;
use crate::view::Point;

/// Elements that have the focus while the keys of the timeline work.
const ROWS: &str = "body, .timeline-rows, .timeline-pins";
/// The button of the mouse that asks for a menu itself.
const RIGHT_BUTTON: i16 = 2;

/// Listens to requests for a menu by key. The browser makes one event of both keys. Without a
/// selected slice in sight, its own menu opens.
pub fn listen(stage: StageHandle, canvas: NodeRef<Canvas>, on_menu: Callback<Point>) {
    let asked = window_event_listener(leptos::ev::contextmenu, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        // Fails only for an invalid selector.
        let is_row = target.is_some_and(|target| target.matches(ROWS).unwrap_or(false));
        if event.default_prevented() || event.button() == RIGHT_BUTTON || !is_row {
            return;
        }
        let foot = stage.with(|stage| stage.selected_foot()).flatten();
        let Some((foot, canvas)) = foot.zip(canvas.get_untracked()) else { return };
        event.prevent_default();
        let corner = canvas.get_bounding_client_rect();
        on_menu.run(Point::new(corner.left() + foot.x_px, corner.top() + foot.y_px));
    });
    on_cleanup(move || asked.remove());
}
