//! What ingest had to say of the rank's trace.

use leptos::prelude::*;
use nprof_engine::wire::catalog::WarningEntry;

use super::opened::Opened;
use crate::ui::format;

/// All warnings.
#[component]
pub fn WarningsPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    move || {
        let Some(rank) = opened.rank_detail() else { return ().into_any() };
        if rank.warnings.is_empty() {
            return view! { <p class="panel-empty">"Every event of this rank's trace was read."</p> }
                .into_any();
        }
        let all: u64 = rank.warnings.iter().map(|warning| warning.count).sum();
        let sum = (rank.warnings.len() > 1).then(|| {
            view! {
                <tfoot>
                    <tr>
                        <td colspan="3">"All"</td>
                        <td class="number">{format::count(all)}</td>
                    </tr>
                </tfoot>
            }
        });
        let rows = rank.warnings.iter().cloned().map(row).collect_view();
        view! {
            <table class="grid-table warnings">
                <thead>
                    <tr>
                        <th scope="col">"What"</th>
                        <th scope="col">"Kind"</th>
                        <th scope="col">"First place"</th>
                        <th scope="col" class="number">
                            "Times"
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
                {sum}
            </table>
        }
        .into_any()
    }
}

fn row(warning: WarningEntry) -> impl IntoView {
    view! {
        <tr>
            <td class="wrap">{warning.what}</td>
            <td>{warning.title}</td>
            <td class="wrap muted">{warning.first_place}</td>
            <td class="number">{format::count(warning.count)}</td>
        </tr>
    }
}
