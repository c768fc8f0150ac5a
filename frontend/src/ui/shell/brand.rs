//! The program's name at the left of every bar.

use leptos::prelude::*;

use super::address::Link;
use crate::view::url::page::PagePlace;

/// The program's name as a link to the list.
#[component]
pub fn Brand() -> impl IntoView {
    view! {
        <Link place=PagePlace::list() class="brand">
            <svg viewBox="0 0 16 16" aria-hidden="true">
                <rect width="16" height="16" rx="3.5" fill="#3b5bdb" />
                <path d="M3 4.75h6M6 8h7M4.5 11.25h4.5" stroke="#fff" stroke-width="2" stroke-linecap="round" />
            </svg>
            "nprof"
        </Link>
    }
}
