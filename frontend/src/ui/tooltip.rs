//! Tooltips: explanations of labels, and what the pointer is on in the timeline. They never leave the viewport and never
//! take a pointer's event.

use leptos::html;
use leptos::prelude::*;

use super::placement::{Pixels, place};

/// Shows its content beside a point, while there is one.
#[component]
pub fn Tooltip(
    /// The point; `None` for no tooltip.
    #[prop(into)]
    at: Signal<Option<Pixels>>,
    /// What it shows.
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    // The size is known once the content is drawn, and the place depends on the size. Written to the element directly:
    // the place is a matter of the picture alone.
    Effect::new(move || {
        let (Some(anchor), Some(element)) = (at.get(), node.get()) else { return };
        request_animation_frame(move || {
            let rect = element.get_bounding_client_rect();
            let (x, y) = place(anchor, (rect.width(), rect.height()), viewport());
            let style = (*element).style();
            // Fails only for names that are no property's.
            style.set_property("transform", &format!("translate({x:.0}px, {y:.0}px)")).ok();
            style.set_property("visibility", "visible").ok();
        });
    });
    let shown = Memo::new(move |_| at.with(Option::is_some));
    view! {
        <Show when=move || shown.get()>
            <div node_ref=node class="tooltip" role="tooltip" style="visibility: hidden">
                {children()}
            </div>
        </Show>
    }
}

fn viewport() -> Pixels {
    let of =
        |size: Result<wasm_bindgen::JsValue, _>| size.ok().and_then(|px| px.as_f64()).unwrap_or(f64::MAX);
    (of(window().inner_width()), of(window().inner_height()))
}
