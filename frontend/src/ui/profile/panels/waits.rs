//! The waits of the current rank, or of all ranks: who waited for whom. They are drawn in the
//! timeline meanwhile.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::wire::run_waits::{RunWaits, WaitEntry};

use super::pending_answer::PendingAnswer;
use super::selection::table_of;
use crate::ui::controls::Failure;
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::{DrawCell, TableToolsState, VirtualTable};
use crate::ui::text::format;
use crate::view::run_waits::{LONGEST_AT, wait_table};
use crate::view::state::orders::PanelTable;

/// The waits of the current rank, or of all ranks.
#[component]
pub fn WaitsPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let answer = Memo::new(move |_| opened.waits.last().map(|(_, answer)| answer));
    move || match answer.get() {
        None => view! { <PendingAnswer opened what="The waits are" /> }.into_any(),
        Some(Err(error)) if !error.is_temporary() => {
            view! { <p class="panel-empty">{error.to_string()}</p> }.into_any()
        }
        Some(Err(error)) => {
            let reason = error.to_string();
            view! { <Failure title="The waits did not arrive" reason on_retry=opened.waits.retry() /> }
                .into_any()
        }
        Some(Ok(waits)) if waits.table.rows.is_empty() => {
            view! { <p class="panel-empty">"No queue and no thread waited."</p> }.into_any()
        }
        Some(Ok(waits)) => view! { <WaitsOf opened waits /> }.into_any(),
    }
}

#[component]
fn WaitsOf(opened: Opened, waits: Arc<RunWaits>) -> impl IntoView {
    let table = &waits.table;
    let more = table.total.saturating_sub(table.rows.len() as u64);
    let notes = [
        table.stated_waits.sentence(),
        (waits.left_out > 0).then(|| {
            let time = short_duration(waits.left_out_ps as f64);
            let shorter = format::counted(waits.left_out, "shorter wait", "shorter waits");
            format!("{shorter} of {time} in all are not drawn")
        }),
        (more > 0)
            .then(|| format!("{} not listed", format::counted(more, "shorter row is", "shorter rows are"))),
    ];
    let notes = notes.into_iter().flatten().map(|note| view! { <p class="muted">{note}</p> }).collect_view();
    let first = table.rows.first().map_or(0, |row| row.rank);
    let has_ranks = table.rows.iter().any(|row| row.rank != first);
    let data = Signal::stored(Arc::new(wait_table(&table.rows, has_ranks)));
    let rows = StoredValue::new(Arc::clone(&waits));
    let open = Callback::new(move |row: u32| {
        let place = rows.with_value(|waits| place_of(&waits.table.rows, row));
        if let Some((rank, row)) = place {
            opened.reveal_in(opened.beside(rank), row);
        }
    });
    let source = table_of(opened, PanelTable::Waits, data, draw(rows, open));
    let tools = TableToolsState::new(source);
    view! {
        <article class="run-waits" aria-label="Waits">
            <h2 class="run-answer">{table.answer.clone()}</h2>
            {notes}
            <section class="wait-rows">
                <VirtualTable source tools label="Who waited for whom" on_open=Signal::stored(Some(open)) />
            </section>
        </article>
    }
}

/// The rank and the slice of the longest wait of a row.
fn place_of(rows: &[WaitEntry], row: u32) -> Option<(u32, u32)> {
    let of = rows.get(row as usize)?;
    Some((of.rank, of.row?))
}

/// Draws the work that waited longest as a link to its slice.
fn draw(rows: StoredValue<Arc<RunWaits>>, open: Callback<u32>) -> DrawCell {
    Arc::new(move |column, row| {
        let is_link =
            column.key == LONGEST_AT && rows.with_value(|waits| place_of(&waits.table.rows, row)).is_some();
        is_link.then(|| {
            let go = move |event: web_sys::MouseEvent| {
                event.stop_propagation();
                open.run(row);
            };
            let name = column.text(row);
            view! { <button class="button-link" type="button" title="Show it in the timeline" on:click=go>{name}</button> }.into_any()
        })
    })
}
