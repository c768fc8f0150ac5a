//! The panel below the timeline.

use leptos::prelude::*;

use super::details::Details;
use super::opened::{Opened, Tab};
use super::page::{TABS, warnings};
use super::search::{Search, SearchPanel};
use super::search_cursor::{Walk, step};
use super::selection::Selection;
use super::summary::SummaryPanel;
use super::warnings::WarningsPanel;
use crate::ui::format;

/// The id that joins tabs to what they show.
const BODY_ID: &str = "panel-body";

/// The panel with its tabs.
#[component]
pub fn Panel(
    /// The opened profile.
    opened: Opened,
    /// Its search.
    search: Search,
    /// Its height.
    height_px: RwSignal<f64>,
) -> impl IntoView {
    let press = move |event: web_sys::KeyboardEvent| {
        let walk = match event.key().as_str() {
            "ArrowLeft" => Walk::Backward,
            "ArrowRight" => Walk::Forward,
            _ => return,
        };
        event.prevent_default();
        // The arrows are also the timeline's.
        event.stop_propagation();
        let at = TABS.iter().position(|(tab, _)| *tab == opened.tab.get_untracked());
        if let Some(next) = step(at, TABS.len(), walk) {
            opened.show(TABS[next].0);
        }
    };
    let body = move || match opened.tab.get() {
        Tab::Details => view! { <Details opened /> }.into_any(),
        Tab::Selection => view! { <Selection opened /> }.into_any(),
        Tab::Search => view! { <SearchPanel search /> }.into_any(),
        Tab::Summary => view! { <SummaryPanel opened /> }.into_any(),
        Tab::Warnings => view! { <WarningsPanel opened /> }.into_any(),
    };
    let label = move || TABS.iter().find(|(tab, _)| *tab == opened.tab.get()).map(|(_, name)| *name);
    view! {
        <section class="panel" aria-label="Panel" style:height=move || format!("{:.0}px", height_px.get())>
            <div class="panel-head">
                <div class="tabs" role="tablist" aria-label="Panel" on:keydown=press>
                    {TABS.map(|(tab, name)| view! { <PanelTab opened tab name /> }).collect_view()}
                </div>
            </div>
            <div id=BODY_ID class="panel-body" role="tabpanel" tabindex="0" aria-label=label>
                {body}
            </div>
        </section>
    }
}

#[component]
fn PanelTab(opened: Opened, tab: Tab, name: &'static str) -> impl IntoView {
    let node = NodeRef::<leptos::html::Button>::new();
    let is_open = Memo::new(move |_| opened.tab.get() == tab);
    Effect::new(move |_| {
        let focused =
            document().active_element().is_some_and(|at| at.matches(".panel-head .tab").unwrap_or(false));
        if let (true, true, Some(button)) = (is_open.get(), focused, node.get()) {
            // The arrow keys move the focus with the tab.
            button.focus().ok();
        }
    });
    let chip = move || {
        let count = if tab == Tab::Warnings { warnings(opened) } else { 0 };
        (count > 0).then(|| view! { <span class="chip chip-warning">{format::count(count)}</span> })
    };
    view! {
        <button
            node_ref=node
            class="tab"
            type="button"
            role="tab"
            aria-controls=BODY_ID
            aria-selected=move || is_open.get().to_string()
            tabindex=move || if is_open.get() { "0" } else { "-1" }
            on:click=move |_| opened.show(tab)
        >
            {name}
            {chip}
        </button>
    }
}
