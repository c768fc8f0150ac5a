//! The name of a slice, or a note that it has none.

use leptos::prelude::*;

/// A name. A slice without a name gets a note in another colour.
#[component]
pub fn Name(
    /// The name; can be empty.
    name: String,
) -> impl IntoView {
    if name.trim().is_empty() {
        return view! { <span class="muted">"(no name)"</span> }.into_any();
    }
    name.into_any()
}
