//! The waits of the current rank, or of all ranks: who waited for whom. They are drawn in the
//! timeline meanwhile.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;
use nprof_engine::wire::run_waits::{RunWaits, WaitEntry};

use super::panel_table::table_of;
use super::run_answer::{RunAnswerWords, run_answer, slice_links};
use crate::ui::profile::open_profile::Opened;
use crate::ui::table::{TableToolsState, VirtualTable};
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
    let words = RunAnswerWords { pending: "The waits are", failed: "The waits did not arrive" };
    move || {
        run_answer(opened, words, answer.get(), opened.waits.retry(), |waits| {
            if waits.table.rows.is_empty() {
                return view! { <p class="panel-empty">"No queue and no thread waited."</p> }.into_any();
            }
            view! { <WaitsOf opened waits /> }.into_any()
        })
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
    let place = move |row: u32| rows.with_value(|waits| place_of(&waits.table.rows, row));
    let open = Callback::new(move |row: u32| {
        if let Some((rank, row)) = place(row) {
            opened.reveal_in(opened.beside(rank), row);
        }
    });
    let cells = slice_links(LONGEST_AT, move |row| place(row).is_some(), open);
    let source = table_of(opened, PanelTable::Waits, data, cells);
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
