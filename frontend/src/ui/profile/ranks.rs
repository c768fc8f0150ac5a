//! Rank tabs. Many tabs scroll, and a field takes the number of a rank.

use leptos::html;
use leptos::prelude::*;
use nprof_engine::wire::catalog::RankEntry;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

use super::opened::Opened;
use crate::ui::format;
use crate::ui::message::Messages;
use crate::view::Command;
use crate::view::hits::{Walk, step};

/// Number of ranks from which a field for the rank's number is shown.
const MANY: usize = 12;

fn ranks(opened: Opened) -> Vec<RankEntry> {
    opened.profile.with(|answer| match answer {
        Some(Ok(profile)) => profile.ranks.clone(),
        _ => Vec::new(),
    })
}

/// Opens the rank before or after this one.
pub fn open_neighbour(opened: Opened, walk: Walk) {
    let ranks = untrack(|| ranks(opened));
    let now = opened.rank_number.get_untracked();
    let at = ranks.iter().position(|rank| Some(rank.rank) == now);
    if let Some(next) = step(at, ranks.len(), walk).map(|at| ranks[at].rank).filter(|next| Some(*next) != now)
    {
        opened.act(&Command::OpenRank(next));
    }
}

/// The tabs. Nothing for a single rank.
#[component]
pub fn RankTabs(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let ranks = Memo::new(move |_| ranks(opened));
    let several = move || ranks.with(|ranks| ranks.len() > 1);
    let many = move || ranks.with(|ranks| ranks.len() >= MANY);
    let press = move |event: web_sys::KeyboardEvent| {
        let walk = match event.key().as_str() {
            "ArrowLeft" => Walk::Backward,
            "ArrowRight" => Walk::Forward,
            _ => return,
        };
        event.prevent_default();
        // The timeline also uses the arrow keys.
        event.stop_propagation();
        open_neighbour(opened, walk);
    };
    view! {
        <Show when=several>
            <nav class="ranks" aria-label="Ranks">
                <span class="ranks-label">"Rank"</span>
                <div class="tabs" role="tablist" aria-label="Ranks" on:keydown=press>
                    <For each=move || ranks.get() key=|rank| rank.rank let:rank>
                        <RankTab opened rank />
                    </For>
                </div>
                <Show when=many>
                    <RankJump opened ranks />
                </Show>
            </nav>
        </Show>
    }
}

#[component]
fn RankTab(opened: Opened, rank: RankEntry) -> impl IntoView {
    let node = NodeRef::<html::Button>::new();
    let number = rank.rank;
    let is_open = Memo::new(move |_| opened.rank_number.get() == Some(number));
    Effect::new(move |_| {
        if let (true, Some(tab)) = (is_open.get(), node.get()) {
            let options = ScrollIntoViewOptions::new();
            options.set_block(ScrollLogicalPosition::Nearest);
            options.set_inline(ScrollLogicalPosition::Nearest);
            tab.scroll_into_view_with_scroll_into_view_options(&options);
            // The arrow keys move the focus along with the tab.
            let focused = document()
                .active_element()
                .is_some_and(|element| element.matches(".ranks .tab").unwrap_or(false));
            if focused {
                tab.focus().ok();
            }
        }
    });
    view! {
        <button
            node_ref=node
            class="tab"
            type="button"
            role="tab"
            title=describe(&rank)
            aria-label=format!("Rank {number}")
            aria-selected=move || is_open.get().to_string()
            tabindex=move || if is_open.get() { "0" } else { "-1" }
            on:click=move |_| opened.act(&Command::OpenRank(number))
        >
            {number}
        </button>
    }
}

fn describe(rank: &RankEntry) -> String {
    let mut text = format!("Rank {}", rank.rank);
    for (what, number) in [("device", rank.device), ("core", rank.core)] {
        if let Some(number) = number {
            text.push_str(&format!(" · {what} {number}"));
        }
    }
    text + " · " + &format::counted(rank.events, "event", "events")
}

/// A field for the number of a rank.
#[component]
fn RankJump(opened: Opened, ranks: Memo<Vec<RankEntry>>) -> impl IntoView {
    let messages = expect_context::<Messages>();
    let text = RwSignal::new(String::new());
    let jump = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let wanted = text.get_untracked();
        let known =
            |number: &u32| ranks.with_untracked(|ranks| ranks.iter().any(|rank| rank.rank == *number));
        match wanted.trim().parse().ok().filter(known) {
            Some(number) => {
                text.set(String::new());
                opened.act(&Command::OpenRank(number));
            }
            None => {
                let span = ranks.with_untracked(|ranks| {
                    ranks
                        .first()
                        .zip(ranks.last())
                        .map(|(first, last)| format!("{} to {}", first.rank, last.rank))
                });
                messages.fail(
                    format!("There is no rank “{wanted}”: ranks go from {}", span.unwrap_or_default()),
                    None,
                );
            }
        }
    };
    view! {
        <form class="rank-jump" on:submit=jump>
            <label class="field">
                <span class="unseen">"Go to the rank with this number"</span>
                <input type="text" inputmode="numeric" placeholder="Go to rank" bind:value=text />
            </label>
        </form>
    }
}
