//! Rank tabs. Several ranks can be shown below each other; one of them is the current one, which
//! panel and search are about. If there are many, those beside the current one have tabs, and a
//! list has all of them.

use std::collections::BTreeSet;

use leptos::html;
use leptos::prelude::*;
use nprof_engine::base::order::gathered;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::rank_ref::RankRef;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

use super::clock_switch::{ClockSwitch, has_clocks};
use super::finder::RankFinder;
use super::rank_choice::{open_neighbour, ranks, shown, single, toggle_beside};
use crate::ui::controls::{If, keyed};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::act::Need;
use crate::view::ranks::rank_list::{MOST_TABS, tabs};
use crate::view::ring::Walk;
use crate::view::source_id::SourceId;
use crate::view::source_id::rank_label;

/// Number of ranks from which the list of ranks is shown.
const MANY: usize = 8;

/// The needs of commands that the ranks meet.
pub fn needs(opened: Opened) -> Vec<Need> {
    let numbers: Vec<RankRef> = ranks(opened).iter().map(|rank| rank.rank).collect();
    let met = [
        (Need::Ranks, numbers.len() > 1),
        (Need::ManyRanks, single(&numbers).count() >= MANY),
        (Need::Clocks, has_clocks(opened)),
        (Need::SeveralShown, shown(opened).len() > 1),
    ];
    met.into_iter().filter(|(_, is_met)| *is_met).map(|(need, _)| need).collect()
}

/// The tabs. Nothing for a single rank.
#[component]
pub fn RankTabs(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let ranks = Memo::new(move |_| ranks(opened));
    let numbers =
        Memo::new(move |_| ranks.with(|ranks| ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>()));
    let several = move || numbers.with(|ranks| ranks.len() > 1);
    let many = move || numbers.with(|ranks| single(ranks).count() >= MANY);
    let few = move || numbers.with(|ranks| single(ranks).count() <= MOST_TABS);
    let tabs = Memo::new(move |_| {
        let shown = shown(opened);
        let current = opened.current.source.get().map(|source| source.rank);
        numbers.with(|ranks| tabs(ranks, current, &shown))
    });
    let entries = move || {
        let tabs: BTreeSet<RankRef> = gathered(tabs.get());
        ranks.with(|ranks| ranks.iter().filter(|rank| tabs.contains(&rank.rank)).cloned().collect())
    };
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
        <If is=several>
            <nav class="ranks" aria-label="Ranks">
                <span class="ranks-label">"Ranks"</span>
                <div class="tabs" role="tablist" aria-label="Ranks" on:keydown=press>
                    {keyed(
                        entries,
                        |rank| rank.rank.to_string(),
                        move |rank| view! { <RankTab opened rank /> }.into_any(),
                    )}
                </div>
                <If is=few>
                    <AllRanks opened ranks=numbers />
                </If>
                <If is=many>
                    <RankFinder opened ranks=numbers />
                </If>
                <ClockSwitch opened />
            </nav>
        </If>
    }
}

#[component]
fn RankTab(opened: Opened, rank: RankEntry) -> impl IntoView {
    let node = NodeRef::<html::Button>::new();
    let number = rank.rank;
    let is_open = Memo::new(move |_| opened.current.source.get().is_some_and(|source| source.rank == number));
    let is_shown = Memo::new(move |_| shown(opened).contains(&number));
    let has_others = Memo::new(move |_| shown(opened).len() > 1);
    let click = move |event: web_sys::MouseEvent| match event.ctrl_key() || event.meta_key() {
        true => toggle_beside(opened, number),
        false => opened.act(&Command::OpenRank(SourceId::of_first(number))),
    };
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
        <span class="rank-tab" role="presentation" class:is-shown=move || is_shown.get() && has_others.get()>
            <button
                node_ref=node
                class="tab"
                type="button"
                role="tab"
                title=describe(&rank)
                aria-label=tab_name(number)
                aria-selected=move || is_open.get().to_string()
                tabindex=move || if is_open.get() { "0" } else { "-1" }
                on:click=click
            >
                {tab_label(number)}
            </button>
            <If is=move || !is_open.get() || has_others.get()>
                // For the pointer alone: a list of tabs may hold nothing but tabs. Keys are "{" and
                // "}".
                <button
                    class="rank-beside"
                    type="button"
                    aria-hidden="true"
                    tabindex="-1"
                    title=move || beside(number, is_shown.get())
                    on:click=move |_| toggle_beside(opened, number)
                >
                    {move || if is_shown.get() { "−" } else { "+" }}
                </button>
            </If>
        </span>
    }
}

/// The text of a tab. Tabs of ranks follow the word "Rank".
fn tab_label(rank: RankRef) -> String {
    if rank.is_all() { "Collectives".to_owned() } else { rank.to_string() }
}

/// The name of a tab for those who do not see the others. It contains the text.
fn tab_name(rank: RankRef) -> String {
    if rank.is_all() { "Collectives of all ranks".to_owned() } else { rank_label(rank) }
}

fn beside(rank: RankRef, is_shown: bool) -> String {
    match (rank, is_shown) {
        (RankRef::All, true) => "Hide the collectives of all ranks".to_owned(),
        (RankRef::All, false) => "Show the collectives of all ranks above the others".to_owned(),
        (RankRef::Number(number), true) => format!("Hide rank {number}"),
        (RankRef::Number(number), false) => format!("Show rank {number} below the others"),
    }
}

/// Shows all ranks below each other, or only the current one again.
#[component]
fn AllRanks(opened: Opened, ranks: Memo<Vec<RankRef>>) -> impl IntoView {
    let is_all = Memo::new(move |_| {
        let shown = shown(opened);
        ranks.with(|ranks| single(ranks).all(|rank| shown.contains(&rank)))
    });
    let toggle = move |_| {
        let Some(current) = opened.current.source.get_untracked() else { return };
        let shown = match is_all.get_untracked() {
            true => [current.rank].into(),
            false => ranks.with_untracked(|ranks| single(ranks).chain([current.rank]).collect()),
        };
        opened.act(&Command::ShowRanks { ranks: shown, current });
    };
    view! {
        <button
            class="tab rank-all"
            type="button"
            title="Show all ranks below each other, or only the current one"
            aria-pressed=move || is_all.get().to_string()
            on:click=toggle
        >
            "All"
        </button>
    }
}

fn describe(rank: &RankEntry) -> String {
    let mut text = match rank.rank {
        RankRef::All => "Collective operations of all ranks".to_owned(),
        rank => rank_label(rank),
    };
    if let Some(host) = &rank.host {
        text.push_str(&format!(" · {host}"));
    }
    for (what, number) in [("device", rank.device), ("core", rank.core)] {
        if let Some(number) = number {
            text.push_str(&format!(" · {what} {number}"));
        }
    }
    // Nothing is known of operations that were not compared yet.
    if rank.events > 0 {
        text.push_str(" · ");
        text.push_str(&format::counted(rank.events, "event", "events"));
    }
    text
}
