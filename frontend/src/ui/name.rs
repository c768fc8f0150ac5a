//! The name of a slice, or that it has none.

use leptos::prelude::*;

/// A name as it is; a slice without one is said to have none, in another colour than names have.
#[component]
pub fn Name(
    /// The name; may be empty.
    name: String,
) -> impl IntoView {
    if name.trim().is_empty() {
        return view! { <span class="muted">"(no name)"</span> }.into_any();
    }
    name.into_any()
}
