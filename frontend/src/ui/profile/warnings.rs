//! Warnings of the ingest about the rank's trace.

use leptos::prelude::*;
use nprof_engine::wire::catalog::WarningEntry;

use super::opened::Opened;
use crate::ui::format;
use crate::view::Command;
use crate::view::moments::{Part, parts};

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
        let rows = rank.warnings.iter().cloned().map(|warning| row(opened, warning)).collect_view();
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

fn row(opened: Opened, warning: WarningEntry) -> impl IntoView {
    view! {
        <tr>
            <td class="wrap">{with_moments(opened, &warning.what)}</td>
            <td>{warning.title}</td>
            <td class="wrap muted">{with_moments(opened, &warning.first_place)}</td>
            <td class="number">{format::count(warning.count)}</td>
        </tr>
    }
}

/// A text of the ingest. A click on a timestamp in it shows the time around that timestamp.
fn with_moments(opened: Opened, text: &str) -> impl IntoView + use<> {
    let clock = opened.clock;
    let part = |part: &Part<'_>| match *part {
        Part::Text(text) => text.to_owned().into_any(),
        Part::Moment(ps) => view! {
            <button
                class="button-link"
                type="button"
                title=move || {
                    let exact = clock.with(|clock| format::exact_ns(clock.since_zero(ps)));
                    format!("{exact}: show the time around it")
                }
                on:click=move |_| opened.act(&Command::Show(opened.around(ps)))
            >
                {move || clock.with(|clock| clock.text(ps))}
            </button>
        }
        .into_any(),
    };
    parts(text).iter().map(part).collect_view()
}
