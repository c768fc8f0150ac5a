//! Warnings of the ingest beside the timeline: a timestamp in one leads to its place there.

use std::sync::Arc;

use leptos::prelude::*;

use super::panel_table::table_of;
use crate::ui::profile::data::{warning_cells, warnings_table};
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::PlainTable;
use crate::view::state::orders::PanelTable;

/// Returns true if the current rank has warnings.
#[must_use]
pub fn has_warnings(opened: Opened) -> bool {
    opened.rank_detail().is_some_and(|rank| !rank.warnings.is_empty())
}

/// The warnings of the current rank.
#[component]
pub fn Warnings(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let table = Memo::new(move |_| {
        let rank = opened.rank_detail();
        Arc::new(warnings_table(rank.as_ref().map_or(&[][..], |rank| &rank.warnings)))
    });
    let source = table_of(opened, PanelTable::Warnings, table.into(), warning_cells(opened));
    view! {
        <Show
            when=move || has_warnings(opened)
            fallback=|| view! { <p class="panel-empty">"Every event of this rank's trace was read."</p> }
        >
            <PlainTable source most=usize::MAX noun="warnings" />
        </Show>
    }
}
