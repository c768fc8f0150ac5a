//! Labels with an explanation, shown while the pointer or the keyboard focus is on the label.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::tooltip::Tooltip;
use crate::view::Point;
use crate::view::pointing::placement::GAP_PX;

#[derive(Debug, Clone, PartialEq)]
struct ShownExplanation {
    at: Point,
    text: String,
}

/// The explanation shown now. One for the whole page, as a context.
#[derive(Debug, Clone, Copy)]
pub struct Explanation(RwSignal<Option<ShownExplanation>>);

impl Explanation {
    /// No explanation.
    #[must_use]
    pub fn new() -> Self {
        Self(RwSignal::new(None))
    }

    fn show(self, label: Option<web_sys::EventTarget>, text: &str) {
        let Some(label) = label.and_then(|target| target.dyn_into::<web_sys::Element>().ok()) else { return };
        let rect = label.get_bounding_client_rect();
        // The tooltip keeps a gap that a label needs less than a pointer: align it with the label's
        // start, close below.
        let at = Point::new(rect.left() - GAP_PX, rect.bottom() - GAP_PX / 2.0);
        self.0.set(Some(ShownExplanation { at, text: text.to_owned() }));
    }

    /// Hides the explanation.
    pub fn hide(self) {
        self.0.set(None);
    }
}

impl Default for Explanation {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the explanation. Used once per page.
#[component]
pub fn ExplanationView() -> impl IntoView {
    let explanation = expect_context::<Explanation>();
    let at = Signal::derive(move || explanation.0.with(|shown| shown.as_ref().map(|shown| shown.at)));
    let text = move || explanation.0.with(|shown| shown.as_ref().map(|shown| shown.text.clone()));
    view! { <Tooltip at>{move || text()}</Tooltip> }
}

/// A text with an explanation, or a plain text if there is none.
#[component]
pub fn Explained(
    /// The text.
    #[prop(into)]
    text: String,
    /// The explanation; can be empty.
    #[prop(into)]
    doc: String,
) -> impl IntoView {
    if doc.is_empty() {
        return text.into_any();
    }
    let explanation = expect_context::<Explanation>();
    let doc = StoredValue::new(doc);
    let show = move |target| doc.with_value(|doc| explanation.show(target, doc));
    on_cleanup(move || explanation.hide());
    view! {
        <span
            class="explained"
            tabindex="0"
            aria-description=doc.get_value()
            on:pointerenter=move |event| show(event.current_target())
            on:pointerleave=move |_| explanation.hide()
            on:focus=move |event| show(event.current_target())
            on:blur=move |_| explanation.hide()
            on:keydown=move |event| {
                // Hide without leaving the label, so that the text below can be read.
                if event.key() == "Escape" {
                    event.stop_propagation();
                    explanation.hide();
                }
            }
        >
            {text}
        </span>
    }
    .into_any()
}
