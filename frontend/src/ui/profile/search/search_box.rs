//! The search box in the bar. On narrow screens it is an icon, which opens the box over the bar.

use leptos::prelude::*;
use nprof_engine::query::Syntax;

use super::Search;
use super::completer::{Completer, CompletionRows};
use crate::ui::controls::{CloseButton, Glyph, Icon, If};
use crate::ui::shell::pressed_in;
use crate::view::Act;
use crate::view::act::Pressed;
use crate::view::act::keys::Scope;
use crate::view::ring::Walk;

/// Id of the message about a wrong pattern, for the box.
const MISTAKE_ID: &str = "search-mistake";

/// The box with its buttons.
#[component]
pub fn SearchBox(
    /// The search.
    search: Search,
) -> impl IntoView {
    let some = move || search.found().is_some_and(|found| found.total > 0);
    // On a narrow screen the box covers the bar from its first focus until it is closed.
    let is_open = RwSignal::new(false);
    let completer = Completer::new(search);
    let opener = NodeRef::<leptos::html::Button>::new();
    let close = move |()| {
        search.clear();
        is_open.set(false);
        if let Some(opener) = opener.get_untracked() {
            // Fails only if the element is not in the page.
            opener.focus().ok();
        }
    };
    view! {
        <search class="search" class:is-open=is_open>
            <button
                node_ref=opener
                class="button button-icon search-opener"
                type="button"
                aria-label="Search"
                on:click=move |_| search.focus()
            >
                <Icon glyph=Glyph::Search />
            </button>
            <div class="search-body" on:focusin=move |_| is_open.set(true)>
                <SearchField search completer is_open />
                <SyntaxButton search />
                <If is=some>
                    <WalkButton search walk=Walk::Backward />
                    <WalkButton search walk=Walk::Forward />
                </If>
                <CloseButton class="search-closer" label="Close the search" on_close=close />
                <div class="search-under">
                    <p class="search-below search-mistake" id=MISTAKE_ID role="alert">
                        {move || search.mistake().filter(|_| !completer.is_listing())}
                    </p>
                    <p class="search-below" role="status">
                        {move || search.mistake().is_none().then(|| search.note())}
                    </p>
                    <CompletionRows completer />
                </div>
            </div>
        </search>
    }
}

/// The field of the text, with the number of hits.
#[component]
fn SearchField(search: Search, completer: Completer, is_open: RwSignal<bool>) -> impl IntoView {
    view! {
        <label class="field">
            <Icon glyph=Glyph::Search />
            <span class="unseen">"Search names and fields"</span>
            <input
                node_ref=search.input
                type="search"
                placeholder=move || placeholder(search.syntax())
                title=move || help(search.syntax())
                spellcheck="false"
                prop:value=move || search.text()
                aria-invalid=move || search.mistake().is_some().to_string()
                aria-describedby=move || search.mistake().map(|_| MISTAKE_ID)
                aria-autocomplete="list"
                aria-activedescendant=move || completer.active_id()
                on:input:target=move |event| {
                    search.typed(event.target().value());
                    completer.write(&event.target());
                }
                on:blur=move |_| completer.rest()
                on:keydown=move |event| press(&event, search, completer, is_open)
            />
            <span class="search-count" aria-live="polite">
                {move || search.mistake().is_none().then(|| search.count())}
            </span>
            <If is=move || search.text().is_empty()>
                <kbd aria-hidden="true">{Act::Search.keys()}</kbd>
            </If>
        </label>
    }
}

/// An example for the empty box.
fn placeholder(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Text | Syntax::Query => "Search: matmul dur>5us",
        Syntax::Regex => "Search: ^MAT(MUL)?$",
    }
}

/// The explanation of what can be written into the box.
fn help(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Text | Syntax::Query => "Words that must all match; ? shows their forms",
        Syntax::Regex => "A regular expression for names and fields",
    }
}

fn blur(search: Search) {
    if let Some(input) = search.input.get_untracked() {
        // Fails only if the element is not in the page.
        input.blur().ok();
    }
}

fn press(event: &web_sys::KeyboardEvent, search: Search, completer: Completer, is_open: RwSignal<bool>) {
    let is_plain = !(event.ctrl_key() || event.alt_key() || event.meta_key() || event.shift_key());
    if is_plain && completer.press(&event.key()) {
        event.prevent_default();
        event.stop_propagation();
        return;
    }
    let Pressed::Row(row) = pressed_in(event, Scope::Search, false) else { return };
    if !search.run(row.act) {
        return;
    }
    completer.rest();
    if row.act == Act::EndSearch {
        is_open.set(false);
        blur(search);
    }
    event.prevent_default();
    event.stop_propagation();
}

/// The button that selects whether the text in the box is a regular expression.
#[component]
fn SyntaxButton(search: Search) -> impl IntoView {
    let pressed = move || (search.syntax() == Syntax::Regex).to_string();
    view! {
        <button
            class="button button-icon button-toggle"
            type="button"
            aria-label="Regular expression"
            title=Act::SwitchSyntax.titled("Regular expression")
            aria-pressed=pressed
            on:click=move |_| search.toggle_syntax()
        >
            ".*"
        </button>
    }
}

#[component]
fn WalkButton(search: Search, walk: Walk) -> impl IntoView {
    let (label, act, glyph) = match walk {
        Walk::Backward => ("Previous hit", Act::PreviousHit, Glyph::Up),
        Walk::Forward => ("Next hit", Act::NextHit, Glyph::Down),
    };
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=label
            title=act.titled(label)
            on:click=move |_| search.walk(walk)
        >
            <Icon glyph />
        </button>
    }
}
