//! The panel below the timeline: its tabs and the content of the open tab. A closed panel shows
//! only the tabs.

use leptos::prelude::*;

use super::details::Details;
use super::opened::Opened;
use super::search::Search;
use super::search_panel::SearchPanel;
use super::selection::Selection;
use crate::ui::icon::{Glyph, Icon};
use crate::ui::keyed::If;
use crate::ui::splitter::{PanelSize, Splitter};
use crate::view::hits::{Walk, step};
use crate::view::{Command, Tab};

/// Id that connects the tabs to their content.
const BODY_ID: &str = "panel-body";

/// The panel with its tabs.
#[component]
pub fn Panel(
    /// The opened profile.
    opened: Opened,
    /// The search of the profile.
    search: Search,
    /// Height of the panel.
    size: PanelSize,
) -> impl IntoView {
    let is_closed = Memo::new(move |_| size.is_closed());
    let body = move || match opened.tab.get() {
        Tab::Details => view! { <Details opened /> }.into_any(),
        Tab::Selection => view! { <Selection opened /> }.into_any(),
        Tab::Search => view! { <SearchPanel search /> }.into_any(),
    };
    let height = move || match is_closed.get() {
        true => "auto".to_owned(),
        false => format!("{:.0}px", size.height_px()),
    };
    view! {
        <section class="panel" class:is-closed=is_closed aria-label="Panel" style:height=height>
            <Splitter size />
            <div class="panel-head">
                <div
                    class="tabs"
                    role="tablist"
                    aria-label="Panel"
                    on:keydown=move |event| walk_tabs(&event, opened)
                >
                    {Tab::ALL.map(|tab| view! { <PanelTab opened tab size /> }).collect_view()}
                </div>
                <CloseButton size />
            </div>
            <If is=move || !is_closed.get()>
                <div
                    id=BODY_ID
                    class="panel-body"
                    role="tabpanel"
                    tabindex="0"
                    aria-label=move || opened.tab.get().title()
                >
                    {body}
                </div>
            </If>
        </section>
    }
}

/// Opens the tab before or after the open one.
fn walk_tabs(event: &web_sys::KeyboardEvent, opened: Opened) {
    let walk = match event.key().as_str() {
        "ArrowLeft" => Walk::Backward,
        "ArrowRight" => Walk::Forward,
        _ => return,
    };
    event.prevent_default();
    // The timeline also uses the arrow keys.
    event.stop_propagation();
    let at = Tab::ALL.iter().position(|tab| *tab == opened.tab.get_untracked());
    if let Some(next) = step(at, Tab::ALL.len(), walk) {
        opened.act(&Command::ShowTab(Tab::ALL[next]));
    }
}

/// The button that closes the panel to its tabs and opens it.
#[component]
fn CloseButton(size: PanelSize) -> impl IntoView {
    let label = move || if size.is_closed() { "Open the panel (Q)" } else { "Close the panel (Q)" };
    let glyph = move || if size.is_closed() { Glyph::Up } else { Glyph::Down };
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=label
            title=label
            aria-expanded=move || (!size.is_closed()).to_string()
            on:click=move |_| size.toggle()
        >
            {move || view! { <Icon glyph=glyph() /> }}
        </button>
    }
}

#[component]
fn PanelTab(opened: Opened, tab: Tab, size: PanelSize) -> impl IntoView {
    let node = NodeRef::<leptos::html::Button>::new();
    let is_open = Memo::new(move |_| opened.tab.get() == tab);
    Effect::new(move |_| {
        let focused =
            document().active_element().is_some_and(|at| at.matches(".panel-head .tab").unwrap_or(false));
        if let (true, true, Some(button)) = (is_open.get(), focused, node.get()) {
            // The arrow keys move the focus along with the tab.
            button.focus().ok();
        }
    });
    let show = move |_| {
        opened.act(&Command::ShowTab(tab));
        size.close(false);
    };
    view! {
        <button
            node_ref=node
            class="tab"
            type="button"
            role="tab"
            aria-controls=move || (!size.is_closed()).then_some(BODY_ID)
            aria-selected=move || is_open.get().to_string()
            tabindex=move || if is_open.get() { "0" } else { "-1" }
            on:click=show
        >
            {tab.title()}
        </button>
    }
}
