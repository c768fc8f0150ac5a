//! Tooltips: explanations of labels, and the item under the pointer in the timeline. They never
//! leave the viewport and never receive pointer events.

use leptos::html;
use leptos::prelude::*;

use super::key_list::If;
use crate::view::pointing::placement::place;
use crate::view::{Point, Size};

/// Shows its content next to a point. Hidden without a point.
#[component]
pub fn Tooltip(
    /// The point; `None` hides the tooltip.
    #[prop(into)]
    at: Signal<Option<Point>>,
    /// The content.
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    // The size is known after the content is rendered, and the position depends on the size. It is
    // written directly to the element, because only the picture depends on it.
    Effect::new(move || {
        let (Some(anchor), Some(element)) = (at.get(), node.get()) else { return };
        request_animation_frame(move || {
            let rect = element.get_bounding_client_rect();
            let Point { x_px, y_px } = place(anchor, Size::new(rect.width(), rect.height()), viewport());
            let style = (*element).style();
            // Fails only for an invalid property name.
            style.set_property("transform", &format!("translate({x_px:.0}px, {y_px:.0}px)")).ok();
            style.set_property("visibility", "visible").ok();
        });
    });
    let shown = Memo::new(move |_| at.with(Option::is_some));
    view! {
        <If is=move || shown.get()>
            <div node_ref=node class="tooltip" role="tooltip" style="visibility: hidden">
                {children()}
            </div>
        </If>
    }
}

/// Size of the viewport.
#[must_use]
pub fn viewport() -> Size {
    let of =
        |size: Result<wasm_bindgen::JsValue, _>| size.ok().and_then(|px| px.as_f64()).unwrap_or(f64::MAX);
    Size::new(of(window().inner_width()), of(window().inner_height()))
}
