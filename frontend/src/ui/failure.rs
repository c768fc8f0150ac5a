//! What stands where something should, while it loads or when it failed.

use leptos::prelude::*;

use super::icon::{Glyph, Icon};

/// The server's or the page's own words on why something is missing, and a way to try again.
#[component]
pub fn Failure(
    /// What is missing.
    #[prop(into)]
    title: String,
    /// Why.
    #[prop(into)]
    reason: String,
    /// Tries again.
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

/// Something is on its way. Shows itself late, so that fast answers do not flicker.
#[component]
pub fn Loading(
    /// What.
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
