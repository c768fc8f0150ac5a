//! The palette: a dialog that finds a command by its words and runs it.

use leptos::html;
use leptos::prelude::*;

use super::commands::Commands;
use super::help::keyed;
use crate::ui::controls::{Dialog, Glyph, Icon};
use crate::view::act::fuzzy::score;
use crate::view::act::{ActRow, Need, rows};
use crate::view::ring::{Walk, step};

/// Id of the list, for the field.
const LIST_ID: &str = "palette-list";

/// The dialog with the field and the commands.
#[component]
pub fn Palette(
    /// True while it is shown.
    open: RwSignal<bool>,
) -> impl IntoView {
    view! {
        <Dialog open on_close=move |()| open.set(false) title="Commands".to_owned() class="dialog-palette">
            <Finder open />
        </Dialog>
    }
}

/// The commands that the typed text finds, best first.
fn found(typed: &str) -> Vec<&'static ActRow> {
    let mut found: Vec<(u32, &ActRow)> = Vec::new();
    for row in rows() {
        if let Some(points) = score(typed, row.what) {
            let at = found.partition_point(|(before, _)| *before >= points);
            found.insert(at, (points, row));
        }
    }
    found.into_iter().map(|(_, row)| row).collect()
}

#[component]
fn Finder(open: RwSignal<bool>) -> impl IntoView {
    let commands = expect_context::<Commands>();
    // Nothing changes below the dialog while it is open.
    let given = StoredValue::new(commands.given());
    let works = move |row: &ActRow| given.with_value(|given| row.missing(given)).is_none();
    let typed = RwSignal::new(String::new());
    let first = move |typed: &str| found(typed).iter().position(|row| works(row)).unwrap_or(0);
    let chosen = RwSignal::new(first(""));
    let run = move |at: usize| {
        let row = typed.with_untracked(|typed| found(typed).get(at).copied());
        if let Some(row) = row.filter(|row| works(row)) {
            open.set(false);
            // The dialog closes and returns the focus first: the command may move it.
            request_animation_frame(move || {
                commands.run(row);
            });
        }
    };
    let press = move |event: web_sys::KeyboardEvent| {
        let key = event.key();
        match walk_of(&key) {
            None if key == "Enter" => run(chosen.get_untracked()),
            None => return,
            Some(walk) => {
                let count = typed.with_untracked(|typed| found(typed).len());
                step(Some(chosen.get_untracked()), count, walk).into_iter().for_each(|at| chosen.set(at));
            }
        }
        event.prevent_default();
    };
    let input = move |text: String| {
        chosen.set(first(&text));
        typed.set(text);
    };
    let list = move || {
        let rows = found(&typed.read());
        if rows.is_empty() {
            return view! { <li class="palette-none muted">"No command has these letters."</li> }.into_any();
        }
        let entry = |(at, row): (usize, &'static ActRow)| {
            let missing = given.with_value(|given| row.missing(given));
            view! { <Entry at row missing chosen on_run=Callback::new(run) /> }.into_any()
        };
        rows.into_iter().enumerate().map(entry).collect_view().into_any()
    };
    view! {
        <div on:keydown=press>
            <Field chosen on_input=Callback::new(input) />
        </div>
        <ul id=LIST_ID class="palette-list" role="listbox" aria-label="Commands">
            {list}
        </ul>
    }
}

/// The field, which takes the focus.
#[component]
fn Field(chosen: RwSignal<usize>, on_input: Callback<String>) -> impl IntoView {
    let node = NodeRef::<html::Input>::new();
    Effect::new(move |_| node.get().map(|input| input.focus().ok()));
    view! {
        <label class="field palette-field">
            <Icon glyph=Glyph::Search />
            <span class="unseen">"Find a command"</span>
            <input
                node_ref=node
                type="text"
                role="combobox"
                placeholder="Find a command"
                spellcheck="false"
                autocomplete="off"
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls=LIST_ID
                aria-activedescendant=move || entry_id(chosen.get())
                on:input:target=move |event| on_input.run(event.target().value())
            />
        </label>
    }
}

fn walk_of(key: &str) -> Option<Walk> {
    match key {
        "ArrowUp" => Some(Walk::Backward),
        "ArrowDown" => Some(Walk::Forward),
        _ => None,
    }
}

fn entry_id(at: usize) -> String {
    format!("palette-{at}")
}

#[component]
fn Entry(
    at: usize,
    row: &'static ActRow,
    missing: Option<Need>,
    chosen: RwSignal<usize>,
    on_run: Callback<usize>,
) -> impl IntoView {
    let node = NodeRef::<html::Li>::new();
    let is_chosen = Memo::new(move |_| chosen.get() == at);
    Effect::new(move |_| {
        if let (true, Some(entry)) = (is_chosen.get(), node.get()) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            entry.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    let when = missing.map(|need| view! { <small>{need.words()}</small> });
    view! {
        <li
            node_ref=node
            id=entry_id(at)
            class="palette-entry"
            role="option"
            aria-selected=move || is_chosen.get().to_string()
            aria-disabled=missing.is_some().to_string()
            on:pointermove=move |event| {
                // Entries that scroll below a resting pointer are not pointed at.
                if event.movement_x() != 0 || event.movement_y() != 0 {
                    chosen.set(at);
                }
            }
            on:click=move |_| on_run.run(at)
        >
            <span>{row.what} {when}</span>
            <span class="key-list">{keyed(row)}</span>
        </li>
    }
}
