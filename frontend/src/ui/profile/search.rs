//! Search over the rank: the box in the bar, and the hits in the panel.

use std::sync::Arc;
use std::time::Duration;

use leptos::html;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use nprof_engine::query::Syntax;
use nprof_engine::wire::search::{SearchHit, SearchResult};

use super::details::Details;
use super::latest::{Latest, last_answer};
use super::opened::{Answer, Opened, Tab};
use super::search_cursor::{Walk, step};
use crate::fetch::{Client, FetchError};
use crate::ui::failure::{Failure, Loading};
use crate::ui::format;
use crate::ui::icon::{Glyph, Icon};
use crate::view::Command;

/// Hits that are fetched and can be walked through; the count goes on beyond.
const MOST_HITS: u32 = 500;
/// Pause in typing after which the search starts.
const TYPING_PAUSE: Duration = Duration::from_millis(180);

/// What the server answers where the request itself is wrong.
const BAD_REQUEST: u16 = 400;
/// Names the message about a wrong pattern for the box.
const MISTAKE_ID: &str = "search-mistake";

/// The state of the search.
#[derive(Clone, Copy)]
pub struct Search {
    opened: Opened,
    /// What stands in the box.
    text: RwSignal<String>,
    /// What is searched for; empty for nothing.
    wanted: RwSignal<String>,
    result: Signal<Answer<SearchResult>>,
    typing: StoredValue<Option<TimeoutHandle>>,
    /// Where to go as soon as the hits are here: Enter was pressed before.
    impatient: StoredValue<Option<Walk>>,
    input: NodeRef<html::Input>,
    retry: Callback<()>,
}

impl Search {
    /// Nothing searched for.
    #[must_use]
    pub fn new(opened: Opened) -> Self {
        let wanted = RwSignal::new(String::new());
        let attempt = RwSignal::new(0_u32);
        let question = Memo::new(move |_| {
            let text = Some(wanted.get()).filter(|text| !text.is_empty())?;
            Some((opened.rank_number.get()?, text, opened.view.with(|view| view.syntax)))
        });
        let latest = Latest::new(question);
        let impatient = StoredValue::new(None::<Walk>);
        let resource = LocalResource::new(move || {
            attempt.track();
            let (slug, question) = (opened.slug(), question.get());
            let signal = latest.begin(question.clone());
            async move {
                let ((rank, text, syntax), signal) = (question.clone()?, signal?);
                let answer = Client.search(&slug, rank, (&text, syntax), MOST_HITS, &signal).await;
                let answer = answer.map(Arc::new);
                // An answer that was called off leaves the haste to the one after it.
                if let Ok(found) = &answer
                    && let Some(walk) = impatient.try_update_value(Option::take).flatten()
                {
                    go(opened, found, None, walk);
                }
                Some((question, answer))
            }
        });
        let last = last_answer(resource);
        // While the next answer is on its way the last one stays; without a question there is none.
        let result = Signal::derive(move || {
            let asked = question.get()?;
            let (of, answer) = last.get()?;
            // Hits of another rank would lead to slices that are not there.
            (of.map(|(rank, ..)| rank) == Some(asked.0)).then_some(answer)
        });
        Self {
            opened,
            text: RwSignal::new(String::new()),
            wanted,
            result,
            typing: StoredValue::new(None),
            impatient,
            input: NodeRef::new(),
            retry: Callback::new(move |()| attempt.update(|attempt| *attempt += 1)),
        }
    }

    /// Puts the focus into the box and marks what stands there.
    pub fn focus(self) {
        if let Some(input) = self.input.get_untracked() {
            // Fails only for an element that is not on the page.
            input.focus().ok();
            input.select();
        }
    }

    fn typed(self, text: String) {
        self.text.set(text);
        self.stop_waiting();
        let start = move || {
            self.start();
        };
        self.typing.set_value(set_timeout_with_handle(start, TYPING_PAUSE).ok());
    }

    fn stop_waiting(self) {
        if let Some(waiting) = self.typing.try_update_value(Option::take).flatten() {
            waiting.clear();
        }
    }

    /// Searches for what stands in the box; tells whether that is anything new. The page may be gone after the pause.
    fn start(self) -> bool {
        let Some(text) = self.text.try_with_untracked(|text| text.trim().to_owned()) else { return false };
        if !text.is_empty() {
            self.opened.show(Tab::Search);
        }
        let is_new = self.wanted.with_untracked(|wanted| *wanted != text);
        if is_new {
            self.impatient.set_value(None);
            self.wanted.set(text);
        }
        is_new
    }

    fn clear(self) {
        self.stop_waiting();
        self.text.set(String::new());
        self.wanted.set(String::new());
    }

    fn syntax(self) -> Syntax {
        self.opened.view.with(|view| view.syntax)
    }

    /// Text instead of a regular expression, or the other way around.
    fn toggle_syntax(self) {
        let other = match untrack(|| self.syntax()) {
            Syntax::Text => Syntax::Regex,
            Syntax::Regex => Syntax::Text,
        };
        self.opened.act(&Command::SearchAs(other));
    }

    /// What is wrong with what stands in the box.
    fn mistake(self) -> Option<String> {
        match self.result.get()? {
            Err(FetchError::Refused { status: BAD_REQUEST, message }) => Some(message),
            _ => None,
        }
    }

    /// The hits that are here.
    fn found(self) -> Option<Arc<SearchResult>> {
        self.result.get().and_then(Result::ok)
    }

    /// Which hit is selected.
    fn current(self) -> Option<usize> {
        let selected = self.opened.view.with(|view| view.selected)?;
        self.found()?.hits.iter().position(|hit| hit.slice.row == selected)
    }

    fn walk(self, walk: Walk) {
        if let Some(found) = untrack(|| self.found()) {
            go(self.opened, &found, untrack(|| self.current()), walk);
        }
    }

    fn press(self, event: &web_sys::KeyboardEvent) {
        match event.key().as_str() {
            "Enter" => {
                let walk = if event.shift_key() { Walk::Backward } else { Walk::Forward };
                // The first Enter may come before the pause in typing is over.
                self.stop_waiting();
                if self.start() {
                    self.impatient.set_value(Some(walk));
                } else {
                    self.walk(walk);
                }
            }
            "Escape" => {
                self.clear();
                if let Some(input) = self.input.get_untracked() {
                    input.blur().ok();
                }
            }
            // By the key's place: with Alt, some keyboards write another character.
            _ if event.alt_key() && event.code() == "KeyR" => self.toggle_syntax(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    /// `3 of 1,234`, `no hits`.
    fn count(self) -> Option<String> {
        let found = self.found()?;
        Some(match (self.current(), found.total) {
            (_, 0) => "no hits".to_owned(),
            (Some(at), total) => format!("{} of {}", format::count(at as u64 + 1), format::count(total)),
            (None, total) => format::counted(total, "hit", "hits"),
        })
    }
}

/// Selects the next hit and brings it into sight.
fn go(opened: Opened, found: &SearchResult, current: Option<usize>, walk: Walk) {
    if let Some(at) = step(current, found.hits.len(), walk) {
        opened.show(Tab::Search);
        opened.reveal(&found.hits[at].slice);
    }
}

/// The box in the bar.
#[component]
pub fn SearchBox(
    /// The search.
    search: Search,
) -> impl IntoView {
    let some = move || search.found().is_some_and(|found| !found.hits.is_empty());
    view! {
        <search class="search">
            <label class="field">
                <Icon glyph=Glyph::Search />
                <span class="unseen">"Search names and fields"</span>
                <input
                    node_ref=search.input
                    type="search"
                    placeholder="Search names and fields"
                    spellcheck="false"
                    prop:value=search.text
                    aria-invalid=move || search.mistake().is_some().to_string()
                    aria-describedby=move || search.mistake().map(|_| MISTAKE_ID)
                    on:input:target=move |event| search.typed(event.target().value())
                    on:keydown=move |event| search.press(&event)
                />
                <span class="search-count" aria-live="polite">
                    {move || search.count()}
                </span>
                <Show when=move || search.text.with(String::is_empty)>
                    <kbd aria-hidden="true">"/"</kbd>
                </Show>
            </label>
            <SyntaxButton search />
            <Show when=some>
                <WalkButton search walk=Walk::Backward />
                <WalkButton search walk=Walk::Forward />
            </Show>
            <p class="search-mistake" id=MISTAKE_ID role="alert">
                {move || search.mistake()}
            </p>
        </search>
    }
}

/// Whether what stands in the box is a regular expression.
#[component]
fn SyntaxButton(search: Search) -> impl IntoView {
    let pressed = move || (search.syntax() == Syntax::Regex).to_string();
    view! {
        <button
            class="button button-icon button-toggle"
            type="button"
            aria-label="Regular expression"
            title="Regular expression (Alt+R)"
            aria-pressed=pressed
            on:click=move |_| search.toggle_syntax()
        >
            ".*"
        </button>
    }
}

#[component]
fn WalkButton(search: Search, walk: Walk) -> impl IntoView {
    let (label, glyph) = match walk {
        Walk::Backward => ("Previous hit", Glyph::Up),
        Walk::Forward => ("Next hit", Glyph::Down),
    };
    view! {
        <button
            class="button button-icon"
            type="button"
            aria-label=label
            title=label
            on:click=move |_| search.walk(walk)
        >
            <Icon glyph />
        </button>
    }
}

/// The hits, with the details of the selected one beside them.
#[component]
pub fn SearchPanel(
    /// The search.
    search: Search,
) -> impl IntoView {
    move || {
        let wanted = search.wanted.get();
        if wanted.is_empty() {
            return view! { <p class="panel-empty">"Search for names, operands or any other text of this rank's slices."</p> }.into_any();
        }
        if let Some(mistake) = search.mistake() {
            return view! { <p class="panel-empty">{mistake}</p> }.into_any();
        }
        match search.result.get() {
            None => view! { <Loading what="Searching …" /> }.into_any(),
            Some(Err(error)) => {
                view! { <Failure title="The search failed" reason=error.to_string() on_retry=search.retry /> }
                    .into_any()
            }
            Some(Ok(found)) if found.hits.is_empty() => {
                let verb = match search.syntax() {
                    Syntax::Text => "contains",
                    Syntax::Regex => "matches",
                };
                view! { <p class="panel-empty">{format!("Nothing in this rank {verb} “{wanted}”.")}</p> }
                    .into_any()
            }
            Some(Ok(found)) => view! { <Hits search found /> }.into_any(),
        }
    }
}

#[component]
fn Hits(search: Search, found: Arc<SearchResult>) -> impl IntoView {
    let selected = Memo::new(move |_| search.opened.view.with(|view| view.selected));
    let more = found.total.saturating_sub(found.hits.len() as u64);
    let more = (more > 0).then(|| {
        view! { <li class="muted hits-more">{format!("and {} more: search for something narrower", format::count(more))}</li> }
    });
    let opened = search.opened;
    let rows =
        found.hits.iter().cloned().map(|hit| view! { <li><Hit opened hit selected /></li> }).collect_view();
    view! {
        <div class="results">
            <ol class="hits" aria-label="Hits">
                {rows}
                {more}
            </ol>
            <div>
                <Details opened />
            </div>
        </div>
    }
}

#[component]
fn Hit(opened: Opened, hit: SearchHit, selected: Memo<Option<u32>>) -> impl IntoView {
    let slice = hit.slice;
    let row = slice.row;
    let is_current = Memo::new(move |_| selected.get() == Some(row));
    let track = opened.track_path(slice.track);
    // That the name matched can be seen.
    let field = (hit.field != "name").then(|| format!(" · in {}", hit.field));
    let node = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        if let (true, Some(button)) = (is_current.get(), node.get()) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            button.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
    let (name, duration) = (slice.name.clone(), format::duration(slice.duration_ps));
    view! {
        <button
            node_ref=node
            class="hit"
            type="button"
            aria-current=move || is_current.get().to_string()
            on:click=move |_| opened.reveal(&slice)
        >
            <span>{name}</span>
            <span class="number">{duration}</span>
            <small>{track} {field}</small>
        </button>
    }
}
