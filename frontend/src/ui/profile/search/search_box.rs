//! The search box in the bar. On narrow screens it is an icon, which opens the box over the bar.

use leptos::prelude::*;
use nprof_engine::query::Syntax;

use super::Search;
use crate::ui::controls::{CloseButton, Glyph, Icon, If};
use crate::ui::shell::pressed_in;
use crate::view::Act;
use crate::view::act::Pressed;
use crate::view::act::keys::Scope;
use crate::view::ring::Walk;

/// The forms of the words of a query.
const QUERY_HELP: &str = "Words that must all match:
matmul, \"two words\"   text in the name or a field
opcode:mat,conv   a field with one of these texts
opcode=MATMUL   exactly this
dur>5us, size:512..32KiB   numbers and ranges
/mat(mul)?/, opcode~/^MAT/   regular expressions
track:Vector, rank:3, in:region, start>10ms
-name:DRAIN   all but these";

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
                <SearchField search is_open />
                <SyntaxButton search />
                <If is=some>
                    <WalkButton search walk=Walk::Backward />
                    <WalkButton search walk=Walk::Forward />
                </If>
                <CloseButton class="search-closer" label="Close the search" on_close=close />
                <p class="search-below search-mistake" id=MISTAKE_ID role="alert">
                    {move || search.mistake()}
                </p>
                <p class="search-below" role="status">
                    {move || search.mistake().is_none().then(|| search.note())}
                </p>
            </div>
        </search>
    }
}

/// The field of the text, with the number of hits.
#[component]
fn SearchField(search: Search, is_open: RwSignal<bool>) -> impl IntoView {
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
                on:input:target=move |event| search.typed(event.target().value())
                on:keydown=move |event| press(&event, search, is_open)
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
        Syntax::Text | Syntax::Query => QUERY_HELP,
        Syntax::Regex => "A regular expression for names and fields",
    }
}

fn blur(search: Search) {
    if let Some(input) = search.input.get_untracked() {
        // Fails only if the element is not in the page.
        input.blur().ok();
    }
}

fn press(event: &web_sys::KeyboardEvent, search: Search, is_open: RwSignal<bool>) {
    let Pressed::Row(row) = pressed_in(event, Scope::Search, false) else { return };
    if !search.run(row.act) {
        return;
    }
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
