//! The timeline of a rank.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::detail::SliceDetail;

use crate::view::{Command, Hover, View};

/// The timeline of a rank: minimap, ruler, track list and tracks.
#[component]
pub fn Timeline(
    /// What is looked at.
    view: Signal<View>,
    /// The rank, once it is here.
    rank: Signal<Option<Arc<RankDetail>>>,
    /// All about the selected slice, once it is here.
    selected: Signal<Option<Arc<SliceDetail>>>,
    /// What the user does; the owner of the view applies it.
    on_command: Callback<Command>,
    /// What is under the pointer, for a tooltip; `None` when it leaves.
    on_hover: Callback<Option<Hover>>,
) -> impl IntoView {
    let _ = (view, selected, on_command, on_hover);
    view! {
        <section class="timeline" aria-label="Timeline">
            {move || rank.get().map(|rank| view! { <p>{format!("{} tracks", rank.tracks.len())}</p> })}
        </section>
    }
}
