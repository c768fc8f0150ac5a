//! The regions of the current rank: steps, layers and phases that were found, and the spans that
//! users named. A span gets a name here, too.

use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::{PS_PER_MS, short_duration};

use super::panel_table::table_of;
use super::run_answer::slice_links;
use crate::ui::profile::open_profile::{NamedSpan, Opened};
use crate::ui::table::{TableToolsState, VirtualTable};
use crate::view::region_list::{ListedRegion, NAME, region_table, regions_in_words, typed_span};
use crate::view::state::orders::PanelTable;

/// The regions of the current rank.
#[component]
pub fn RegionsPanel(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    opened.regions.want();
    let is_all = move || opened.current.source.get().is_some_and(|source| source.rank.is_all());
    let found = opened.regions.found;
    let answer = move || match found.get() {
        _ if is_all() => "All ranks together have no regions: choose a rank.".to_owned(),
        None => "Looking for steps, layers and phases…".to_owned(),
        Some(Ok(list)) => regions_in_words(&list),
        Some(Err(error)) => error.to_string(),
    };
    let regions = Memo::new(move |_| {
        let named = opened.regions.named.get().into_iter();
        let named = named.map(|NamedSpan { name, span }| ListedRegion::named(name, span));
        let found = found.get().and_then(Result::ok);
        named.chain(found.iter().flat_map(|list| ListedRegion::of(list))).collect::<Vec<_>>()
    });
    let is_empty = Memo::new(move |_| regions.with(Vec::is_empty));
    let can_name = opened.can_name_regions();
    view! {
        <article class="run-waits" aria-label="Regions">
            <h2 class="run-answer">{answer}</h2>
            {move || (can_name && !is_all()).then(|| view! { <NewRegion opened /> })}
            {move || (!is_empty.get()).then(|| view! { <RegionRows opened regions /> })}
        </article>
    }
}

/// The regions as a table. A row shows and marks its span.
#[component]
fn RegionRows(opened: Opened, regions: Memo<Vec<ListedRegion>>) -> impl IntoView {
    let table = Memo::new(move |_| {
        let zero = opened.times.zero.get();
        Arc::new(regions.with(|regions| region_table(regions, zero.0)))
    });
    let open = Callback::new(move |row: u32| {
        let span = regions.with_untracked(|regions| regions.get(row as usize).map(|of| of.span));
        span.into_iter().for_each(|span| opened.show_region(span));
    });
    let cells = slice_links(NAME, |_| true, open);
    let source = table_of(opened, PanelTable::Regions, table.into(), cells);
    let tools = TableToolsState::new(source);
    view! {
        <section class="wait-rows">
            <VirtualTable source tools label="Regions of the rank" on_open=Signal::stored(Some(open)) />
        </section>
    }
}

/// A form for the name and the span of a region. It begins with the marked span, else with the
/// window.
#[component]
fn NewRegion(opened: Opened) -> impl IntoView {
    let (name, from, to) = (RwSignal::new(String::new()), RwSignal::new(None), RwSignal::new(None));
    let zero_ps = move || opened.times.zero.get().0;
    let shown = Memo::new(move |_| {
        let reach = opened.times.reach.get();
        opened.session.view.with(|view| view.selection.marked.unwrap_or_else(|| view.window_in(reach)))
    });
    let text = move |ps: i64| format!("{} ms", ps.saturating_sub(zero_ps()) as f64 / PS_PER_MS as f64);
    let from_text = move || from.get().unwrap_or_else(|| text(shown.get().start.0));
    let to_text = move || to.get().unwrap_or_else(|| text(shown.get().end.0));
    // Times that nobody typed are exact.
    let span = move || -> Option<Interval> {
        match (from.get(), to.get()) {
            (None, None) => Some(shown.get()),
            _ => typed_span(&from_text(), &to_text(), zero_ps()),
        }
    };
    let length = move || match span() {
        Some(span) => short_duration(span.duration_ps() as f64),
        None => "two times such as 1.5ms and 2ms".to_owned(),
    };
    let cannot_keep = move || name.with(|name| name.trim().is_empty()) || span().is_none();
    let keep = move |event: SubmitEvent| {
        event.prevent_default();
        let Some(span) = untrack(span) else { return };
        let named = name.get_untracked().trim().to_owned();
        if !named.is_empty() {
            opened.name_region(named, span);
            name.set(String::new());
            from.set(None);
            to.set(None);
        }
    };
    view! {
        <form class="region-name" aria-label="Name a span" on:submit=keep>
            <input
                type="text"
                aria-label="Name of the region"
                placeholder="Name a span"
                maxlength="200"
                autocomplete="off"
                prop:value=move || name.get()
                on:input=move |event| name.set(event_target_value(&event))
            />
            <TimeField label="From" text=Signal::derive(from_text) typed=from />
            <TimeField label="to" text=Signal::derive(to_text) typed=to />
            <button type="submit" class="button" disabled=cannot_keep>"Keep"</button>
            <span class="muted">{length}</span>
        </form>
    }
}

/// A time on the ruler that can be typed.
#[component]
fn TimeField(label: &'static str, text: Signal<String>, typed: RwSignal<Option<String>>) -> impl IntoView {
    view! {
        <label>
            {label}
            " "
            <input
                type="text"
                class="region-time"
                autocomplete="off"
                prop:value=move || text.get()
                on:input=move |event| typed.set(Some(event_target_value(&event)))
            />
        </label>
    }
}
