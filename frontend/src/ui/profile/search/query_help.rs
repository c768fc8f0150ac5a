//! Help for queries: the forms of words, with examples of this rank. A press writes an example into
//! the box.

use leptos::prelude::*;
use nprof_engine::wire::completions::{CompletionEntry, CompletionKindEntry};
use nprof_engine::wire::questions::CompletionQuestion;

use super::Search;
use crate::ui::shell::QuestionAnswers;
use crate::view::query_examples::{QueryExample, query_examples};
use crate::view::source_id::SourceId;

/// Whether the text in the box asks for help.
pub(super) fn is_help(text: &str) -> bool {
    text.trim_start().starts_with('?')
}

/// The forms of words. Examples that the rank gives come as soon as they are known.
#[component]
pub(super) fn QueryHelp(search: Search) -> impl IntoView {
    let name = first_of(search, "name:", CompletionKindEntry::Value);
    let track = first_of(search, "track:", CompletionKindEntry::Track);
    let region = Memo::new(move |_| search.opened.regions.all().into_iter().next().map(|region| region.name));
    let rows = move || {
        let (name, track, region) = (name.get(), track.get(), region.get());
        let examples = query_examples(name.as_deref(), track.as_deref(), region.as_deref());
        examples.into_iter().map(|of| view! { <ExampleRow search of /> }).collect_view()
    };
    view! {
        <div class="search-list search-help" role="group" aria-label="Forms of queries">
            <p class="muted">"Words that must all match. A press writes an example."</p>
            {rows}
        </div>
    }
}

#[component]
fn ExampleRow(search: Search, of: QueryExample) -> impl IntoView {
    let QueryExample { query, meaning } = of;
    let text = query.clone();
    // The box keeps the focus.
    let press = move |event: web_sys::PointerEvent| {
        event.prevent_default();
        search.typed(text.clone());
        search.focus();
    };
    view! {
        <button type="button" class="search-example" tabindex="-1" on:pointerdown=press>
            <code>{query}</code>
            <small class="muted">{meaning}</small>
        </button>
    }
}

/// The text of the completion of a query that has most slices, as a query has it.
fn first_of(search: Search, query: &'static str, kind: CompletionKindEntry) -> Memo<Option<String>> {
    let rank = Memo::new(move |_| search.opened.current.source.get());
    let ask = move |rank: SourceId, signal| async move {
        let question =
            CompletionQuestion { limit: 1, ..CompletionQuestion::about(query.to_owned(), u32::MAX) };
        search.opened.ask(rank, question, Some(&signal)).await
    };
    let asked = QuestionAnswers::new(rank, ask);
    Memo::new(move |_| {
        let list = asked.answer()?.ok()?;
        list.completions.iter().find(|of: &&CompletionEntry| of.kind == kind).map(|of| of.text.clone())
    })
}
