//! The calls of an operation of all ranks, as a table: who came when. A click leads to the call in
//! the timeline of its rank.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::detail::{OperationMember, SliceDetail};

use crate::ui::controls::{Glyph, Icon};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::panels::panel_table::table_of;
use crate::ui::shell::Commands;
use crate::ui::table::{DrawCell, TableToolsState, VirtualTable};
use crate::ui::text::format;
use crate::view::ranks::members::{RANK, members_table};
use crate::view::state::orders::PanelTable;
use crate::view::{Act, Late};

/// Most rows in sight. Others scroll.
const MOST_IN_SIGHT: usize = 10;
/// Height of a row and of the head, in CSS pixels, as in the style sheet.
const ROW_PX: usize = 28;

/// The table with its heading. Nothing without members.
#[component]
pub fn Members(
    /// The opened profile.
    opened: Opened,
    /// The members, sorted by rank.
    members: Vec<OperationMember>,
) -> impl IntoView {
    let count = members.len();
    if count == 0 {
        return ().into_any();
    }
    let table = Signal::stored(Arc::new(members_table(&members)));
    let calls: Vec<(u32, u32)> = members.iter().map(|one| (one.rank, one.call)).collect();
    let calls = StoredValue::new(calls);
    let open = Callback::new(move |row: u32| {
        let call = calls.with_value(|calls| calls.get(row as usize).copied());
        call.into_iter().for_each(|(rank, call)| opened.reveal_in(opened.beside(rank), call));
    });
    let source = table_of(opened, PanelTable::Arrivals, table, draw(members, open));
    let tools = TableToolsState::new(source);
    let height = format!("{}px", (count.min(MOST_IN_SIGHT) + 1) * ROW_PX + 1);
    let on_open = Signal::stored(Some(open));
    view! {
        <section class="group members">
            <h3>"Arrivals (" {format::count(count as u64)} ")"</h3>
            <div class="members-table" style:height=height>
                <VirtualTable source tools label="Arrivals of ranks" on_open />
            </div>
        </section>
    }
    .into_any()
}

/// Draws ranks as links. The one for which others waited is marked.
fn draw(members: Vec<OperationMember>, open: Callback<u32>) -> DrawCell {
    let late = Late::of(&members).filter(|_| members.len() > 1);
    let last_ps = members.iter().map(|one| one.start_ps).max();
    Arc::new(move |column, row| {
        let one = members.get(row as usize).filter(|_| column.key == RANK)?;
        let rank = one.rank;
        let is_late = late.is_some_and(|late| late.rank == rank);
        // Receivers wait for the root, also if one of them came last.
        let word = if Some(one.start_ps) == last_ps { "last" } else { "awaited" };
        let mark = is_late.then(|| view! { <span class="chip members-last">{word}</span> });
        let link = view! {
            <button
                class="button-link"
                type="button"
                title=format!("Show its call in rank {rank}")
                on:click=move |event| {
                    event.stop_propagation();
                    open.run(row);
                }
            >
                {rank}
            </button>
            " "
            {mark}
        };
        Some(link.into_any())
    })
}

/// Buttons of an operation: what the late rank did, and steps to the operations beside it. Nothing
/// for other slices.
#[component]
pub fn OperationActions(
    /// The opened profile.
    opened: Opened,
    /// The selected slice.
    detail: Arc<SliceDetail>,
) -> impl IntoView {
    let commands = expect_context::<Commands>();
    if detail.members.is_empty() {
        return ().into_any();
    }
    let row = detail.slice.row;
    let late = Late::of(&detail.members).filter(|_| detail.members.len() > 1).map(|late| {
        view! {
            <button
                class="button"
                type="button"
                title="Open the rank at the time when others waited for it"
                on:click=move |_| opened.reveal_late(row)
            >
                {format!("What rank {} did", late.rank)}
            </button>
        }
    });
    let step = move |act: Act, name: &'static str, glyph: Glyph| {
        view! {
            <button
                class="button button-icon"
                type="button"
                aria-label=name
                title=act.titled(name)
                on:click=move |_| _ = commands.run(act.row())
            >
                <Icon glyph />
            </button>
        }
    };
    view! {
        {late}
        {step(Act::PreviousOperation, "Previous operation of this kind", Glyph::Left)}
        {step(Act::NextOperation, "Next operation of this kind", Glyph::Right)}
    }
    .into_any()
}
