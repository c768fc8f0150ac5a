//! The regions of the current rank: steps, layers and phases that were found, and the spans that
//! users named. A span gets a name here, too.

use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::{PS_PER_MS, short_duration};
use nprof_engine::wire::regions::RegionKindEntry;
use web_sys::MouseEvent;

use super::panel_table::table_of;
use super::run_answer::slice_links;
use super::selection::NewName;
use crate::ui::profile::open_profile::{NamedSpan, Opened};
use crate::ui::table::{DrawCell, TableToolsState, VirtualTable};
use crate::view::region_list::{ACTIONS, ListedRegion, NAME, region_table, regions_in_words, typed_span};
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
    // A region of the user that gets another name.
    let renamed = RwSignal::new(None::<NamedSpan>);
    let close = Callback::new(move |()| renamed.set(None));
    let form = move || match renamed.get() {
        Some(of) => view! { <NewName opened span=of.span renames=Some(of) close /> }.into_any(),
        None => view! { <NewRegion opened /> }.into_any(),
    };
    view! {
        <article class="run-waits" aria-label="Regions">
            <h2 class="run-answer">{answer}</h2>
            {move || (can_name && !is_all()).then(form)}
            {move || (!is_empty.get()).then(|| view! { <RegionRows opened regions renamed /> })}
        </article>
    }
}

/// The regions as a table. A row shows and marks its span; two of them can be compared, and those
/// of users renamed and deleted.
#[component]
fn RegionRows(
    opened: Opened,
    regions: Memo<Vec<ListedRegion>>,
    renamed: RwSignal<Option<NamedSpan>>,
) -> impl IntoView {
    let can_compare = opened.can_compare_parts();
    // The first one of the two regions to compare.
    let first = RwSignal::new(None::<String>);
    let table = Memo::new(move |_| {
        let zero = opened.times.zero.get();
        Arc::new(regions.with(|regions| region_table(regions, zero.0, can_compare)))
    });
    let open = Callback::new(move |row: u32| {
        let span = regions.with_untracked(|regions| regions.get(row as usize).map(|of| of.span));
        span.into_iter().for_each(|span| opened.show_region(span));
    });
    let links = slice_links(NAME, |_| true, open);
    let region = move |row: u32| regions.with_untracked(|all| all.get(row as usize).cloned());
    let cells: DrawCell = Arc::new(move |column, row| match (column.key.as_str(), region(row)) {
        (ACTIONS, Some(region)) => Some(view! { <Actions opened region first renamed /> }.into_any()),
        _ => links(column, row),
    });
    let source = table_of(opened, PanelTable::Regions, table.into(), cells);
    let tools = TableToolsState::new(source);
    view! {
        <section class="wait-rows">
            <VirtualTable source tools label="Regions of the rank" on_open=Signal::stored(Some(open)) />
        </section>
    }
}

/// The ways to compare a region with another one, and to change one of a user.
#[component]
fn Actions(
    opened: Opened,
    region: ListedRegion,
    first: RwSignal<Option<String>>,
    renamed: RwSignal<Option<NamedSpan>>,
) -> impl IntoView {
    let is_named = region.kind == RegionKindEntry::User;
    let span = NamedSpan { name: region.name, span: region.span };
    let name = StoredValue::new(span.name.clone());
    let is_first =
        move || first.with(|first| first.as_ref().is_some_and(|first| name.with_value(|name| name == first)));
    let text = move || match first.get() {
        None => "compare".to_owned(),
        Some(_) if is_first() => "choose another one".to_owned(),
        Some(first) => format!("with {first}"),
    };
    let compare = move |event: MouseEvent| {
        event.stop_propagation();
        match first.get_untracked() {
            None => first.set(Some(name.get_value())),
            Some(_) if untrack(is_first) => first.set(None),
            Some(other) => opened.compare_regions(Some(other), name.get_value()),
        }
    };
    let of_user = is_named.then(|| {
        let of = StoredValue::new(span);
        let rename = move |event: MouseEvent| {
            event.stop_propagation();
            renamed.set(Some(of.get_value()));
        };
        let delete = move |event: MouseEvent| {
            event.stop_propagation();
            opened.drop_region(of.with_value(|of| of.name.clone()));
        };
        view! {
            <button type="button" class="button-link" on:click=rename>"rename"</button>
            <button type="button" class="button-link" on:click=delete>"delete"</button>
        }
    });
    view! {
        <span class="region-actions">
            <button type="button" class="button-link" aria-pressed=move || is_first().to_string() on:click=compare>
                {text}
            </button>
            {of_user}
        </span>
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
