//! Placeholders while content loads or after it failed.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// A message of the server or the page about missing content, and a button to try again.
#[component]
pub fn Failure(
    /// The missing content.
    #[prop(into)]
    title: String,
    /// The reason.
    #[prop(into)]
    reason: String,
    /// Called to try again.
    #[prop(into)]
    on_retry: Callback<()>,
) -> impl IntoView {
    view! {
        <div class="notice notice-error" role="alert">
            <Icon glyph=Glyph::Warning />
            <h2>{title}</h2>
            <p>{reason}</p>
            <button class="button" type="button" on:click=move |_| on_retry.run(())>
                "Try again"
            </button>
        </div>
    }
}

/// Content is loading. Appears with a delay, so that fast answers do not flicker.
#[component]
pub fn Loading(
    /// The content that is loading.
    #[prop(into)]
    what: Signal<String>,
) -> impl IntoView {
    view! {
        <div class="loading" role="status">
            <span>{what}</span>
            <div class="progress progress-open">
                <span></span>
            </div>
        </div>
    }
}
