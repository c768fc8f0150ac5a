//! Completions of the query in the box: a list below it, and the keys that take from it.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::query::Syntax;
use nprof_engine::wire::completions::{CompletionEntry, CompletionKindEntry, CompletionList};
use nprof_engine::wire::questions::CompletionQuestion;

use super::Search;
use super::query_help::{QueryHelp, is_help};
use crate::ui::controls::paced;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::completion::{Completed, completed};
use crate::view::ring::{Walk, step};
use crate::view::source_id::SourceId;

/// Id of the list, for the box.
const LIST_ID: &str = "search-completions";
/// Entries that the list shows.
const SHOWN: u32 = 12;

/// The place in the box that is completed: the rank, the text, and the number of characters before
/// the cursor.
type CompletedPlace = (SourceId, String, u32);

/// The completions of the box.
#[derive(Clone, Copy)]
pub(super) struct Completer {
    search: Search,
    /// Characters before the cursor. `None` while nobody writes.
    cursor: RwSignal<Option<u32>>,
    /// The entry that the arrow keys chose.
    chosen: RwSignal<Option<usize>>,
    list: Memo<Option<Arc<CompletionList>>>,
}

impl Completer {
    /// Asks while somebody writes a query.
    pub(super) fn new(search: Search) -> Self {
        let (cursor, chosen) = (RwSignal::new(None), RwSignal::new(None));
        let place = Memo::new(move |_| -> Option<CompletedPlace> {
            let (cursor, text) = (cursor.get()?, search.text());
            let is_query = search.syntax() != Syntax::Regex && !is_help(&text);
            is_query.then_some((search.opened.current.source.get()?, text, cursor))
        });
        let paced_place = paced(place);
        let asked = Memo::new(move |_| paced_place.get());
        let ask = move |(rank, text, cursor): CompletedPlace, signal| async move {
            let question = CompletionQuestion { limit: SHOWN, ..CompletionQuestion::about(text, cursor) };
            search.opened.ask(rank, question, Some(&signal)).await
        };
        let QuestionAnswers { last, .. } = QuestionAnswers::new(asked, ask);
        // The list of another text would replace the wrong part.
        let list = Memo::new(move |_| {
            let (of, answer) = last.get()?;
            (place.get() == Some(of)).then_some(answer)?.ok()
        });
        Self { search, cursor, chosen, list }
    }

    /// Somebody writes: the box has this text before the cursor.
    pub(super) fn write(self, input: &web_sys::HtmlInputElement) {
        let cursor = input.selection_start().ok().flatten();
        // The browser counts in UTF-16.
        let letters: Vec<u16> = input.value().encode_utf16().collect();
        let before = cursor.map_or(letters.len(), |cursor| (cursor as usize).min(letters.len()));
        let letters = char::decode_utf16(letters[..before].iter().copied()).count();
        self.chosen.set(None);
        self.cursor.set(Some(u32::try_from(letters).unwrap_or(u32::MAX)));
    }

    /// Nobody writes any more.
    pub(super) fn rest(self) {
        self.cursor.set(None);
        self.chosen.set(None);
    }

    fn entries(self) -> Vec<CompletionEntry> {
        self.list.get().map(|list| list.completions.clone()).unwrap_or_default()
    }

    /// Whether the list shows entries: what stands in the box is not complete then.
    pub(super) fn is_listing(self) -> bool {
        self.cursor.with(Option::is_some)
            && self.list.with(|list| list.as_ref().is_some_and(|list| !list.completions.is_empty()))
    }

    /// The id of the chosen entry, for the box.
    pub(super) fn active_id(self) -> Option<String> {
        self.chosen.get().map(entry_id)
    }

    /// Handles a key of the box. Returns false if it is not one of the list.
    pub(super) fn press(self, key: &str) -> bool {
        let (count, chosen) = (untrack(|| self.entries()).len(), self.chosen.get_untracked());
        let walk = match key {
            "ArrowDown" => Walk::Forward,
            "ArrowUp" => Walk::Backward,
            "Tab" => return self.take(chosen.unwrap_or(0), chosen.is_some()),
            "Enter" => return chosen.is_some_and(|at| self.take(at, true)),
            "Escape" if chosen.is_some() => {
                self.chosen.set(None);
                return true;
            }
            _ => return false,
        };
        let next = step(chosen, count, walk);
        self.chosen.set(next);
        next.is_some()
    }

    /// Puts an entry into the box. One that nobody chose completes only what was typed: with an
    /// empty word `Tab` leaves the box.
    fn take(self, at: usize, is_chosen: bool) -> bool {
        let Some(list) = self.list.get_untracked() else { return false };
        let (text, cursor) = (untrack(|| self.search.text()), self.cursor.get_untracked());
        let (Some(entry), Some(cursor)) = (list.completions.get(at), cursor) else { return false };
        let Some(Completed { text, cursor }) = completed(&text, list.from, cursor, entry, is_chosen) else {
            return false;
        };
        self.chosen.set(None);
        match entry.kind {
            CompletionKindEntry::Field => self.search.begin(text),
            _ => self.search.typed(text),
        }
        self.cursor.set(Some(cursor));
        let search = self.search;
        request_animation_frame(move || {
            if let Some(input) = search.input.get_untracked() {
                let text = input.value();
                let at = text.chars().take(cursor as usize).map(char::len_utf16).sum::<usize>();
                // Fails only if the element has no text to select.
                input.set_selection_range(at as u32, at as u32).ok();
            }
        });
        true
    }
}

/// The list below the box, or the help.
#[component]
pub(super) fn CompletionRows(completer: Completer) -> impl IntoView {
    let search = completer.search;
    let is_written = move || completer.cursor.with(Option::is_some);
    move || {
        if !is_written() {
            return ().into_any();
        }
        if is_help(&search.text()) {
            return view! { <QueryHelp search /> }.into_any();
        }
        let entries = completer.entries();
        if entries.is_empty() {
            return ().into_any();
        }
        let total = completer.list.get().map_or(0, |list| list.total);
        let more = total.saturating_sub(entries.len() as u64);
        let more = (more > 0).then(|| format!("{} more · ", format::count(more)));
        let rows = entries.into_iter().enumerate().map(|(at, entry)| view! { <Row completer at entry /> });
        view! {
            <div class="search-list">
                <ul id=LIST_ID role="listbox" aria-label="Completions">
                    {rows.collect_view()}
                </ul>
                <p class="muted">{more} "Tab completes, arrows choose, ? explains"</p>
            </div>
        }
        .into_any()
    }
}

#[component]
fn Row(completer: Completer, at: usize, entry: CompletionEntry) -> impl IntoView {
    let kind = match entry.kind {
        CompletionKindEntry::Field => "field",
        CompletionKindEntry::Value => "value",
        CompletionKindEntry::Track => "track",
        CompletionKindEntry::Region => "region",
    };
    let slices = entry.slices.map(|slices| format::counted(slices, "slice", "slices"));
    let words = match entry.kind {
        CompletionKindEntry::Value => slices,
        _ => Some([Some(kind.to_owned()), slices].into_iter().flatten().collect::<Vec<_>>().join(", ")),
    };
    // The box keeps the focus.
    let press = move |event: web_sys::PointerEvent| {
        event.prevent_default();
        completer.take(at, true);
    };
    view! {
        <li
            id=entry_id(at)
            role="option"
            data-kind=kind
            aria-selected=move || (completer.chosen.get() == Some(at)).to_string()
            on:pointerdown=press
        >
            <span title=entry.text.clone()>{entry.text.clone()}</span>
            <small class="muted">{words}</small>
        </li>
    }
}

fn entry_id(at: usize) -> String {
    format!("{LIST_ID}-{at}")
}
