//! The button that closes the part of the page on which it lies.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// A cross.
#[component]
pub fn CloseButton(
    /// Name for screen readers that says what the button closes, such as "Close the notice".
    #[prop(into)]
    label: String,
    /// Its tooltip.
    #[prop(into, default = String::from("Close"))]
    title: String,
    /// Further CSS class.
    #[prop(default = "")]
    class: &'static str,
    /// Called on a press.
    #[prop(into)]
    on_close: Callback<()>,
) -> impl IntoView {
    view! {
        <button
            class=format!("button button-icon {class}")
            type="button"
            title=title
            aria-label=label
            on:click=move |_| on_close.run(())
        >
            <Icon glyph=Glyph::Close />
        </button>
    }
}
