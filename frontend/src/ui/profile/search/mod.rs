//! Search over the rank: the query, the current page of hits, and the walk from hit to hit.
//!
//! Hits are ordered by time over all tracks. A page of hits is fetched around the current position.
//! A walk beyond it fetches the next page. The query is in the address.

mod completer;
mod light;
mod query_help;
mod search_box;

use std::sync::Arc;
use std::time::Duration;

use leptos::html;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::wire::questions::{SearchQuestion, Toward};
use nprof_engine::wire::refusal::RefusalKind;
use nprof_engine::wire::search::SearchResult;

use light::SearchLights;
pub use search_box::SearchBox;

use super::open_profile::{Answer, Opened};
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::view::hits::{Here, Next, next};
use crate::view::ring::Walk;
use crate::view::source_id::SourceId;
use crate::view::{Act, Command, Tab};

/// Number of hits in a page, half of them before the current position.
const PAGE_HITS: u32 = 200;
/// Pause in typing after which the search starts.
const TYPING_PAUSE: Duration = Duration::from_millis(180);

/// The text in the box while it is typed.
#[derive(Debug, Clone, PartialEq, Default)]
struct Draft {
    text: String,
    /// The query in the address when the text was typed. If "back" changes the query, the draft is
    /// dropped.
    of: String,
}

/// Rank, text and syntax of a search.
type Pattern = (SourceId, String, Syntax);

/// The state of the search.
#[derive(Clone, Copy)]
pub struct Search {
    pub(super) opened: Opened,
    /// The input element.
    pub(super) input: NodeRef<html::Input>,
    /// Asks again after a failure.
    pub(super) retry: Callback<()>,
    /// The places of the hits.
    pub(super) lights: SearchLights,
    draft: RwSignal<Draft>,
    result: Signal<Answer<SearchResult>>,
    /// The last hits of this rank. They stay while the pattern is wrong.
    found: Memo<Option<Arc<SearchResult>>>,
    /// True while a search is in flight whose hits are missing.
    is_asking: Signal<bool>,
    typing: StoredValue<Option<TimeoutHandle>>,
    walker: Walker,
}

impl Search {
    /// Searches for the query in the address.
    #[must_use]
    pub fn new(opened: Opened) -> Self {
        let walker = Walker::new(opened);
        let asked = Memo::new(move |_| {
            let (query, syntax) =
                opened.session.view.with(|view| (view.search.query.clone(), view.search.syntax));
            let query = Some(query).filter(|query| !query.is_empty())?;
            Some((opened.current.source.get()?, query, syntax))
        });
        let question = Memo::new(move |_| asked.get().map(|asked| (asked, walker.place.get())));
        let ask = move |((rank, text, syntax), at): (Pattern, HitPlace), signal| async move {
            let zero_ps = opened.times.zero.get_untracked().0;
            let (toward, limit) = (Toward::Around, PAGE_HITS);
            let search = SearchQuestion { text, syntax, zero_ps, at, toward, limit, cells: 0, span: None };
            let answer = opened.ask(rank, search, Some(&signal)).await;
            // After a cancelled request, the walk is left to the next one.
            if let Ok(found) = &answer {
                walker.go_on(found);
            }
            answer
        };
        let QuestionAnswers { last, retry } = QuestionAnswers::new(question, ask);
        // The last answer stays while the next one is in flight. Hits of another rank would lead to
        // wrong slices.
        let result = Signal::derive(move || {
            let (rank, ..) = asked.get()?;
            let (((of, ..), _), answer) = last.get()?;
            (of == rank).then_some(answer)
        });
        let found = Memo::new(move |before: Option<&Option<Arc<SearchResult>>>| match result.get() {
            Some(Ok(found)) => Some(found),
            Some(Err(_)) => before.cloned().flatten(),
            None => None,
        });
        let is_asking = Signal::derive(move || {
            let asked = asked.get();
            asked.is_some() && last.get().map(|((of, _), _)| of) != asked
        });
        Self {
            opened,
            input: NodeRef::new(),
            retry,
            lights: SearchLights::new(opened),
            draft: RwSignal::new(Draft::default()),
            result,
            found,
            is_asking,
            typing: StoredValue::new(None),
            walker,
        }
    }

    /// Runs a command. Returns false if it is not one of the search.
    pub fn run(self, act: Act) -> bool {
        match act {
            Act::Search => self.focus(),
            Act::NextHit => self.walk(Walk::Forward),
            Act::PreviousHit => self.walk(Walk::Backward),
            Act::SwitchSyntax => self.toggle_syntax(),
            Act::SwitchOnlyHits => self.toggle_only_hits(),
            Act::SumHits => self.sum(),
            Act::EndSearch => self.clear(),
            _ => return false,
        }
        true
    }

    /// Moves the focus into the box and selects its text.
    pub fn focus(self) {
        if let Some(input) = self.input.get_untracked() {
            // Fails only if the element is not in the page.
            input.focus().ok();
            input.select();
        }
    }

    /// The text or pattern of the search. Empty if there is no search.
    pub(super) fn query(self) -> String {
        self.opened.session.view.with(|view| view.search.query.clone())
    }

    /// The text in the box.
    pub(super) fn text(self) -> String {
        let query = self.query();
        self.draft.with(|draft| if draft.of == query { draft.text.clone() } else { query })
    }

    /// Puts a text into the box that is no query yet: a value has to follow.
    pub(super) fn begin(self, text: String) {
        self.draft.set(Draft { text, of: untrack(|| self.query()) });
        self.stop_waiting();
    }

    /// Handles typing in the box.
    pub(super) fn typed(self, text: String) {
        self.begin(text);
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

    /// Searches for the text in the box. Returns true if it is a new query. The page can be gone
    /// after the pause.
    fn start(self) -> bool {
        if self.draft.try_get_untracked().is_none() {
            return false;
        }
        let (text, query) = untrack(|| (self.text(), self.query()));
        // Help is no query.
        let wanted = if query_help::is_help(&text) { "" } else { text.trim() }.to_owned();
        if wanted == query {
            if !wanted.is_empty() {
                self.opened.act(&Command::TurnTo(Tab::Hits));
            }
            return false;
        }
        self.walker.rest();
        // A space at the end stays in the box, because more words can follow.
        self.draft.set(Draft { text, of: wanted.clone() });
        self.opened.act(&Command::SearchFor(wanted));
        true
    }

    /// Ends the search.
    pub(super) fn clear(self) {
        self.stop_waiting();
        self.walker.rest();
        self.draft.set(Draft::default());
        self.opened.act(&Command::SearchFor(String::new()));
    }

    pub(super) fn syntax(self) -> Syntax {
        self.opened.session.view.with(|view| view.search.syntax)
    }

    /// Switches between query and regular expression.
    pub(super) fn toggle_syntax(self) {
        let other = match untrack(|| self.syntax()) {
            Syntax::Text | Syntax::Query => Syntax::Regex,
            Syntax::Regex => Syntax::Query,
        };
        self.opened.act(&Command::SearchAs(other));
    }

    /// Whether only tracks with hits are shown.
    pub(super) fn is_only_hits(self) -> bool {
        self.opened.session.view.with(|view| view.search.is_only_hits())
    }

    /// Leaves out the tracks without hits, or shows all again.
    pub(super) fn toggle_only_hits(self) {
        self.opened.act(&Command::ShowOnlyHits(!untrack(|| self.is_only_hits())));
    }

    /// Adds up the hits in the marked span, or in all of the profile.
    pub(super) fn sum(self) {
        self.stop_waiting();
        self.start();
        self.opened.act(&Command::SumOnlyHits(true));
        self.opened.act(&Command::ShowTab(Tab::Selection));
    }

    /// The mistake in the pattern in the box.
    pub(super) fn mistake(self) -> Option<String> {
        match self.result.get()? {
            Err(error) if error.is_refusal(RefusalKind::BadPattern) => Some(error.to_string()),
            _ => None,
        }
    }

    /// The last answer.
    pub(super) fn result(self) -> Answer<SearchResult> {
        self.result.get()
    }

    /// The current page of hits.
    pub(super) fn found(self) -> Option<Arc<SearchResult>> {
        self.found.get()
    }

    /// A note if the last step wrapped around an end.
    pub(super) fn note(self) -> Option<&'static str> {
        self.walker.note.get()
    }

    /// Fetches the page of hits around a place.
    pub(super) fn show_around(self, place: HitPlace) {
        self.walker.place.set(place);
    }

    /// Goes to the next or previous hit from the current position.
    pub(super) fn walk(self, walk: Walk) {
        // The first Enter can come before the pause in typing is over, or before the hits arrive.
        self.stop_waiting();
        if self.start() || self.is_asking.get_untracked() {
            self.walker.later(walk);
        } else if let Some(found) = untrack(|| self.found()) {
            self.walker.go(&found, untrack(|| self.walker.here()), walk);
        }
    }

    /// `3 of 1,234`, `4,021 hits · 69 in window`, `no hits`; beside other ranks with the rank that
    /// is meant.
    pub(super) fn count(self) -> Option<String> {
        let found = self.found()?;
        let selected = self.opened.session.view.with(|view| view.selection.row);
        let at = selected.and_then(|row| found.hits.iter().position(|hit| hit.slice.row == row));
        Some(match (at, found.total) {
            (_, 0) => format!("no hits{}", self.on_rank()),
            (Some(at), total) => {
                format!("{} of {}", format::count(found.before + at as u64 + 1), format::count(total))
            }
            (None, total) => {
                let here = self.lights.in_window.get().filter(|here| *here < total);
                let here = here.map(|here| format!(" · {} in window", format::count(here)));
                format::counted(total, "hit", "hits") + &self.on_rank() + &here.unwrap_or_default()
            }
        })
    }

    /// The rank whose hits are counted, if it does not stand alone. Begins with a space.
    fn on_rank(self) -> String {
        let source = self.opened.current.source.get().filter(|_| !self.opened.shown_beside().is_empty());
        source.map_or_else(String::new, |source| format!(" on {}", self.opened.words_of(source)))
    }
}

/// Moves the place to a slice of the address, whose time is in its details. It can be one of many
/// hits in the window.
fn begin_at_slice(opened: Opened, row: u32, place: RwSignal<HitPlace>) {
    Effect::new(move |was_found: Option<bool>| {
        if was_found == Some(true) {
            return true;
        }
        let Some(Ok(detail)) = opened.current.slice.get() else { return false };
        if detail.slice.row == row {
            place.set(HitPlace { start_ps: detail.slice.start_ps, row });
        }
        true
    });
}

/// The walk from hit to hit.
#[derive(Clone, Copy)]
struct Walker {
    opened: Opened,
    /// Place around which the page of hits lies.
    place: RwSignal<HitPlace>,
    /// The walk that waits for a page: direction, and start if it is known.
    waiting: StoredValue<Option<(Walk, Option<Here>)>>,
    /// Row and start of the hit that the last step led to. Its details can still be in flight.
    reached: StoredValue<Option<(u32, i64)>>,
    note: RwSignal<Option<&'static str>>,
}

impl Walker {
    fn new(opened: Opened) -> Self {
        let start_ps = opened.session.view.with_untracked(|view| view.window.map(|window| window.start.0));
        let place = start_ps.map_or(HitPlace::FIRST, |start_ps| HitPlace { start_ps, row: 0 });
        let place = RwSignal::new(place);
        if let Some(row) = opened.session.view.with_untracked(|view| view.selection.row) {
            begin_at_slice(opened, row, place);
        }
        Self {
            opened,
            place,
            waiting: StoredValue::new(None),
            reached: StoredValue::new(None),
            note: RwSignal::new(None),
        }
    }

    /// The selected slice if it is in sight, else the start of the window.
    fn here(self) -> Here {
        let window = self.opened.window();
        let selected = self.opened.session.view.with(|view| view.selection.row);
        let detail = self.opened.current.slice.get().and_then(Result::ok).map(|detail| {
            let slice = &detail.slice;
            (slice.row, slice.start_ps, slice.duration_ps)
        });
        let reached = self.reached.get_value().map(|(row, start_ps)| (row, start_ps, 0));
        let of_selected = detail.into_iter().chain(reached).find(|(row, ..)| Some(*row) == selected);
        match of_selected {
            Some((row, start_ps, duration_ps))
                if window.overlaps(start_ps, start_ps.saturating_add(duration_ps)) =>
            {
                Here::at_slice(start_ps, row)
            }
            _ => Here::at_time(window.start.0),
        }
    }

    /// Starts a new search at the current position.
    fn rest(self) {
        self.waiting.set_value(None);
        self.note.set(None);
        self.place.set(untrack(|| self.here()).place());
    }

    /// Walks when the hits arrive.
    fn later(self, walk: Walk) {
        self.waiting.set_value(Some((walk, None)));
    }

    /// Continues a walk that waited for this page. The component can be gone.
    fn go_on(self, found: &SearchResult) {
        if let Some((walk, here)) = self.waiting.try_update_value(Option::take).flatten() {
            self.go(found, here.unwrap_or_else(|| untrack(|| self.here())), walk);
        }
    }

    /// Selects the next hit and brings it into sight, or fetches the page that contains it.
    fn go(self, found: &SearchResult, here: Here, walk: Walk) {
        match next(found, here, walk) {
            Next::Hit { at, is_around } => {
                let slice = &found.hits[at].slice;
                self.note.set(match walk {
                    _ if !is_around => None,
                    _ if found.total == 1 => Some("This is the only hit"),
                    Walk::Forward => Some("After the last hit: the first one again"),
                    Walk::Backward => Some("Before the first hit: the last one again"),
                });
                self.reached.set_value(Some((slice.row, slice.start_ps)));
                self.opened.act(&Command::TurnTo(Tab::Hits));
                self.opened.reveal(slice);
            }
            Next::Fetch(from) => {
                self.waiting.set_value(Some((walk, Some(from))));
                self.place.set(from.place());
            }
            Next::Nowhere => {}
        }
    }
}
