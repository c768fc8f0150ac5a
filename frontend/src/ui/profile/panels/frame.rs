//! A panel: its edge, its tabs and the content of the open tab. The closed drawer shows only its
//! tabs, the closed dock nothing.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::content::{PanelSubject, content};
use super::edge::PanelEdge;
use super::state::Panels;
use crate::ui::controls::{CloseButton, Glyph, Icon, If};
use crate::view::ring::{Walk, step};
use crate::view::shell::panel::Arrangement;
use crate::view::{Act, PanelSide, Tab};

/// Id of the button that opens the dock.
const OPENER_ID: &str = "dock-opener";

fn class(side: PanelSide) -> &'static str {
    match side {
        PanelSide::Dock => "dock",
        PanelSide::Drawer => "drawer",
    }
}

/// Id that connects the tabs to their content.
fn body_id(side: PanelSide) -> String {
    format!("{}-body", class(side))
}

/// Dock or drawer.
#[component]
pub fn PanelFrame(
    /// Both panels.
    panels: Panels,
    /// The shown one.
    side: PanelSide,
) -> impl IntoView {
    let is_open = Memo::new(move |_| panels.is_open(side));
    let size = move || match (is_open.get(), side) {
        (true, PanelSide::Dock) => format!("width: {}px", panels.size_px(side)),
        (true, PanelSide::Drawer) => format!("height: {}px", panels.size_px(side)),
        (false, _) => String::new(),
    };
    let label = match side {
        PanelSide::Dock => "Panel at the right",
        PanelSide::Drawer => "Panel below",
    };
    let is_shown = move || side == PanelSide::Drawer || is_open.get();
    view! {
        <If is=is_shown>
            <section
                class=format!("panel {}", class(side))
                class:is-closed=move || !is_open.get()
                aria-label=label
                style=size
            >
                <PanelEdge panels side />
                <PanelHead panels side is_open />
                <If is=move || is_open.get()>
                    <PanelBody panels side />
                </If>
            </section>
        </If>
    }
}

#[component]
fn PanelBody(panels: Panels, side: PanelSide) -> impl IntoView {
    let tab = Memo::new(move |_| panels.tab(side));
    let arrangement = Signal::derive(move || panels.arrangement());
    let subject = PanelSubject { opened: panels.opened, search: panels.search, arrangement };
    view! {
        <div
            id=body_id(side)
            class="panel-body"
            role="tabpanel"
            tabindex="0"
            aria-label=move || tab.get().row().title
        >
            {move || (content(tab.get()).view)(subject)}
        </div>
    }
}

/// The tabs and the buttons that open and close.
#[component]
fn PanelHead(panels: Panels, side: PanelSide, is_open: Memo<bool>) -> impl IntoView {
    let tabs = Memo::new(move |_| panels.tabs(side));
    let walk = move |event: web_sys::KeyboardEvent| {
        let walk = match event.key().as_str() {
            "ArrowLeft" => Walk::Backward,
            "ArrowRight" => Walk::Forward,
            _ => return,
        };
        event.prevent_default();
        // The timeline also uses the arrow keys.
        event.stop_propagation();
        let tabs = tabs.get_untracked();
        let at = tabs.iter().position(|tab| *tab == untrack(|| panels.tab(side)));
        if let Some(next) = step(at, tabs.len(), walk) {
            panels.show(tabs[next]);
        }
    };
    let buttons = match side {
        PanelSide::Dock => view! { <DockCloser panels /> }.into_any(),
        PanelSide::Drawer => view! { <DockOpener panels /> <DrawerSwitch panels is_open /> }.into_any(),
    };
    view! {
        <div class="panel-head">
            <div class="tabs" role="tablist" aria-label="Panel" on:keydown=walk>
                {move || {
                    let tabs = tabs.get().into_iter();
                    tabs.map(|tab| view! { <PanelTab panels side tab is_open /> }).collect_view()
                }}
            </div>
            {buttons}
        </div>
    }
}

/// The button that closes the drawer to its tabs and opens it.
#[component]
fn DrawerSwitch(panels: Panels, is_open: Memo<bool>) -> impl IntoView {
    let label = move || if is_open.get() { "Close the panel" } else { "Open the panel" };
    let title = move || Act::SwitchDrawer.titled(label());
    let glyph = move || if is_open.get() { Glyph::Down } else { Glyph::Up };
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=title
            title=title
            aria-expanded=move || is_open.get().to_string()
            on:click=move |_| panels.switch(PanelSide::Drawer)
        >
            {move || view! { <Icon glyph=glyph() /> }}
        </button>
    }
}

/// The button that opens the closed dock.
#[component]
fn DockOpener(panels: Panels) -> impl IntoView {
    let is_closed = move || panels.arrangement() == Arrangement::Wide && !panels.is_open(PanelSide::Dock);
    let title = Act::SwitchDock.titled("Open the details");
    let open = move |_| {
        panels.switch(PanelSide::Dock);
        focus_soon(body_id(PanelSide::Dock));
    };
    view! {
        <If is=is_closed>
            <button
                id=OPENER_ID
                class="button button-icon"
                type="button"
                aria-label=title.clone()
                title=title.clone()
                on:click=open
            >
                <Icon glyph=Glyph::Dock />
            </button>
        </If>
    }
}

/// The button that closes the dock.
#[component]
fn DockCloser(panels: Panels) -> impl IntoView {
    let title = Act::SwitchDock.titled("Close the details");
    let close = move |()| {
        panels.close(PanelSide::Dock);
        focus_soon(OPENER_ID.to_owned());
    };
    view! {
        <CloseButton label=title.clone() title on_close=close />
    }
}

/// Moves the focus to an element that the next picture has: a button that goes loses the focus.
fn focus_soon(id: String) {
    request_animation_frame(move || {
        let element = document().get_element_by_id(&id);
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            element.focus().ok();
        }
    });
}

#[component]
fn PanelTab(panels: Panels, side: PanelSide, tab: Tab, is_open: Memo<bool>) -> impl IntoView {
    let node = NodeRef::<leptos::html::Button>::new();
    let is_chosen = Memo::new(move |_| panels.tab(side) == tab);
    Effect::new(move |_| {
        let selector = format!(".{} .tab", class(side));
        let focused = document().active_element().is_some_and(|at| at.matches(&selector).unwrap_or(false));
        if let (true, true, Some(button)) = (is_chosen.get(), focused, node.get()) {
            // The arrow keys move the focus along with the tab.
            button.focus().ok();
        }
    });
    view! {
        <button
            node_ref=node
            class="tab"
            type="button"
            role="tab"
            title=Act::ShowTab(tab).titled(tab.row().title)
            aria-controls=move || is_open.get().then(|| body_id(side))
            aria-selected=move || is_chosen.get().to_string()
            tabindex=move || if is_chosen.get() { "0" } else { "-1" }
            on:click=move |_| panels.show(tab)
        >
            {tab.row().title}
        </button>
    }
}
