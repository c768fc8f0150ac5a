//! The menu of the selected slice, which a right click selects first.

use leptos::prelude::*;
use nprof_engine::wire::questions::EditSubjectsQuestion;

use super::open_profile::Opened;
use super::panels::details::edited;
use crate::ui::controls::ContextMenu;
use crate::ui::shell::{Commands, QuestionAnswers};
use crate::view::act::Need;
use crate::view::slice_menu::{MenuDeed, MenuEntry, MenuPart, changes, commands};
use crate::view::{Command, Point, Tab};

/// The menu, as long as it has a place.
#[component]
pub fn SliceMenu(
    /// The opened profile.
    opened: Opened,
    /// The place of the menu; `None` closes it.
    at: RwSignal<Option<Point>>,
) -> impl IntoView {
    move || at.get().map(|anchor| view! { <OpenMenu opened at anchor /> })
}

#[component]
fn OpenMenu(opened: Opened, at: RwSignal<Option<Point>>, anchor: Point) -> impl IntoView {
    let commands_of_page = expect_context::<Commands>();
    let acts = Memo::new(move |_| {
        opened.current.slice.track();
        let given: Vec<Need> = commands_of_page.given();
        commands(&given)
    });
    let question = Memo::new(move |_| {
        let detail = opened.current.slice.get()?.ok()?;
        let profile = opened.names().at(opened.current.source.get()?.profile)?.to_owned();
        let slice = edited(opened, &detail)?;
        Some(EditSubjectsQuestion { profile, rank: slice.rank, row: slice.row })
    });
    let asked = QuestionAnswers::new(question, move |question, cancel| opened.ask_store(question, cancel));
    let is_pending = move || question.with(Option::is_some) && asked.last.with(Option::is_none);
    let tries = Memo::new(move |_| {
        let found = asked.answer().and_then(Result::ok);
        found.map_or_else(|| changes(&[]), |found| changes(&found.subjects))
    });
    let run = Callback::new(move |deed: MenuDeed| {
        at.set(None);
        match deed {
            MenuDeed::Run(act) => {
                commands_of_page.run(act.row());
            }
            MenuDeed::Try(choice, percent) => {
                opened.tried.begin_with(choice, percent);
                opened.act(&Command::ShowTab(Tab::Details));
            }
        }
    });
    let count =
        Signal::derive(move || acts.with(|part| part.entries.len()) + tries.with(|part| part.entries.len()));
    let pending = move || {
        is_pending().then(|| {
            view! { <p class="menu-wait" role="presentation">"The graph of the run is being made …"</p> }
        })
    };
    view! {
        <ContextMenu anchor label="Slice" count on_close=Callback::new(move |()| at.set(None))>
            {move || view! { <Part part=acts.get() run /> }}
            {move || view! { <Part part=tries.get() run /> }}
            {pending}
        </ContextMenu>
    }
}

/// Entries under their heading. Nothing if there are none.
#[component]
fn Part(part: MenuPart, run: Callback<MenuDeed>) -> impl IntoView {
    let MenuPart { title, entries } = part;
    let is_empty = entries.is_empty();
    let entry = move |MenuEntry { words, keys, does }: MenuEntry| {
        let title = words.clone();
        view! {
            <button
                type="button"
                class="menu-entry"
                role="menuitem"
                tabindex="-1"
                title=title
                on:click=move |_| run.run(does.clone())
            >
                <span>{words}</span>
                <kbd>{keys}</kbd>
            </button>
        }
    };
    let heading =
        (!title.is_empty()).then(|| view! { <p class="menu-title" role="presentation">{title}</p> });
    (!is_empty).then(|| {
        let entries = entries.into_iter().map(entry).collect_view();
        view! {
            <div class="menu-part" role="group" aria-label=title>
                {heading} {entries}
            </div>
        }
    })
}
