//! The palette: a dialog that finds a command, a place or a time by its words, and runs it or goes
//! there.

use leptos::html;
use leptos::prelude::*;
use nprof_engine::base::order::sort_by_key;

use super::commands::{Commands, FoundPlace};
use super::help::keyed;
use super::settings;
use crate::ui::controls::{Dialog, Glyph, Icon};
use crate::view::act::fuzzy::best;
use crate::view::act::{ActRow, Need, rows};
use crate::view::ring::{Walk, step};
use crate::view::sought::{Sought, SoughtKind};

/// Id of the list, for the field.
const LIST_ID: &str = "palette-list";
/// Commands that are remembered.
const MOST_RECENT: usize = 5;

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

/// A line of the palette.
#[derive(Clone)]
enum PaletteLine {
    Command(&'static ActRow),
    Place(FoundPlace),
}

impl PaletteLine {
    fn words(&self) -> &str {
        match self {
            Self::Command(row) => row.what,
            Self::Place(place) => &place.name,
        }
    }

    fn run(self, commands: Commands) {
        match self {
            Self::Command(row) => {
                remember(row);
                commands.run(row);
            }
            Self::Place(place) => (place.go)(),
        }
    }
}

/// The lines that the typed text finds, best first. Without a text the commands that were run last
/// come first.
fn found(commands: Commands, sought: &Sought) -> Vec<PaletteLine> {
    match sought.kind {
        SoughtKind::Command => {
            let recent = recent();
            let mut all: Vec<&ActRow> = rows().collect();
            // A stable sort: the others keep their order.
            sort_by_key(&mut all, |row| {
                recent.iter().position(|what| what == row.what).unwrap_or(usize::MAX)
            });
            best(&sought.words, all, |row| row.what).into_iter().map(PaletteLine::Command).collect()
        }
        SoughtKind::Place | SoughtKind::Time => {
            commands.find(sought).into_iter().map(PaletteLine::Place).collect()
        }
    }
}

/// The words of the commands that were run last, the last one first.
fn recent() -> Vec<String> {
    let kept = settings::read(settings::RECENT_COMMANDS).unwrap_or_default();
    kept.lines().map(str::to_owned).collect()
}

fn remember(row: &ActRow) {
    let before = recent().into_iter().filter(|what| what != row.what);
    let all: Vec<String> = std::iter::once(row.what.to_owned()).chain(before).take(MOST_RECENT).collect();
    settings::write(settings::RECENT_COMMANDS, &all.join("\n"));
}

#[component]
fn Finder(open: RwSignal<bool>) -> impl IntoView {
    let commands = expect_context::<Commands>();
    // Nothing changes below the dialog while it is open.
    let given = StoredValue::new(commands.given());
    let missing = move |choice: &PaletteLine| match choice {
        PaletteLine::Command(row) => given.with_value(|given| row.missing(given)),
        PaletteLine::Place(_) => None,
    };
    let choices = RwSignal::new(found(commands, &Sought::of("")));
    let first =
        move || choices.with_untracked(|all| all.iter().position(|one| missing(one).is_none())).unwrap_or(0);
    let sought = RwSignal::new(SoughtKind::Command);
    let chosen = RwSignal::new(first());
    let run = move |at: usize| {
        let choice = choices.with_untracked(|choices| choices.get(at).cloned());
        let Some(choice) = choice.filter(|choice| missing(choice).is_none()) else { return };
        open.set(false);
        // The dialog closes and returns the focus first: the command may move it.
        request_animation_frame(move || choice.run(commands));
    };
    let press = move |event: web_sys::KeyboardEvent| {
        let key = event.key();
        match walk_of(&key) {
            None if key == "Enter" => run(chosen.get_untracked()),
            None => return,
            Some(walk) => {
                let count = choices.with_untracked(Vec::len);
                step(Some(chosen.get_untracked()), count, walk).into_iter().for_each(|at| chosen.set(at));
            }
        }
        event.prevent_default();
    };
    let input = move |text: String| {
        let asked = Sought::of(&text);
        choices.set(found(commands, &asked));
        sought.set(asked.kind);
        chosen.set(first());
    };
    let list = move || {
        let all = choices.get();
        if all.is_empty() {
            return view! { <li class="palette-none muted">{sought.get().nothing()}</li> }.into_any();
        }
        let entry = |(at, choice): (usize, PaletteLine)| {
            let missing = missing(&choice);
            view! { <Entry at choice missing chosen on_run=Callback::new(run) /> }.into_any()
        };
        all.into_iter().enumerate().map(entry).collect_view().into_any()
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
                placeholder="Find a command, @place or :time"
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
    choice: PaletteLine,
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
    let words = choice.words().to_owned();
    let side = match choice {
        PaletteLine::Command(row) => keyed(row).into_any(),
        PaletteLine::Place(place) => view! { <small class="muted">{place.kind}</small> }.into_any(),
    };
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
            <span class="palette-words">{words} {when}</span>
            <span class="key-list">{side}</span>
        </li>
    }
}
