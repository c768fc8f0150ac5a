//! The hits of the search in the drawer: one page, around the current position.

use leptos::html;
use leptos::prelude::*;
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::wire::search::SearchHit;

use super::details::Details;
use super::rank_hits::RankHitsList;
use crate::ui::controls::{Failure, If, Loading, Name, keyed};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::search::Search;
use crate::ui::text::format;
use crate::view::Act;

/// The panel's content.
#[derive(Debug, Clone, PartialEq)]
enum SearchOutcome {
    NotAsked,
    Searching,
    Failed(String),
    WrongPattern,
    NoHits,
    Hits,
}

fn state(search: Search) -> SearchOutcome {
    if search.query().is_empty() {
        return SearchOutcome::NotAsked;
    }
    let has_hits = search.found().is_some_and(|found| found.total > 0);
    match search.result() {
        None => SearchOutcome::Searching,
        // The box shows the mistake. The last hits stay.
        Some(Err(_)) if search.mistake().is_some() => {
            if has_hits {
                SearchOutcome::Hits
            } else {
                SearchOutcome::WrongPattern
            }
        }
        Some(Err(error)) => SearchOutcome::Failed(error.to_string()),
        Some(Ok(_)) => {
            if has_hits {
                SearchOutcome::Hits
            } else {
                SearchOutcome::NoHits
            }
        }
    }
}

/// The hits, and the details of the selected one if the page has no other place for them.
#[component]
pub fn HitsPanel(
    /// The search.
    search: Search,
    /// Whether the details stand beside the hits.
    has_details: Memo<bool>,
) -> impl IntoView {
    let state = Memo::new(move |_| state(search));
    let is_of_all = move || search.opened.current.source.get().is_some_and(|source| source.rank.is_all());
    let empty = |text: String| view! { <p class="panel-empty">{text}</p> }.into_any();
    let outcome = move || match state.get() {
        SearchOutcome::NotAsked => {
            let of = if is_of_all() { "the collectives of all ranks" } else { "this rank's slices" };
            empty(format!(
                "Search for names, operands or any other text of {of}, or by fields: \
                 opcode=MATMUL dur>5us -layer:head."
            ))
        }
        SearchOutcome::Searching => view! { <Loading what="Searching …" /> }.into_any(),
        SearchOutcome::Failed(reason) => {
            view! { <Failure title="The search failed" reason on_retry=search.retry /> }.into_any()
        }
        SearchOutcome::WrongPattern => empty("Hits show here once the pattern is right.".to_owned()),
        SearchOutcome::NoHits => {
            let verb = match search.syntax() {
                Syntax::Text => "contains",
                Syntax::Regex | Syntax::Query => "matches",
            };
            let query = search.query();
            empty(if is_of_all() {
                format!("No collective {verb} “{query}”.")
            } else {
                format!("Nothing in this rank {verb} “{query}”.")
            })
        }
        SearchOutcome::Hits => view! { <Hits search has_details /> }.into_any(),
    };
    view! {
        <RankHitsList search />
        {outcome}
    }
}

#[component]
fn Hits(search: Search, has_details: Memo<bool>) -> impl IntoView {
    let opened = search.opened;
    let selected = Memo::new(move |_| opened.session.view.with(|view| view.selection.row));
    let hits = move || search.found().map(|found| found.hits.clone()).unwrap_or_default();
    let is_stale = move || search.mistake().is_some();
    view! {
        <div class="results" class:has-details=has_details>
            <div class="hits" class:is-stale=is_stale>
                <HitActions search />
                <More search end=PageEnd::Earlier />
                <ol aria-label="Hits">
                    {keyed(
                        hits,
                        |hit| hit.slice.row.to_string(),
                        move |hit| view! { <li><Hit opened hit selected /></li> }.into_any(),
                    )}
                </ol>
                <More search end=PageEnd::Later />
            </div>
            <If is=move || has_details.get()>
                <div>
                    <Details opened />
                </div>
            </If>
        </div>
    }
}

/// Actions on all hits.
#[component]
fn HitActions(search: Search) -> impl IntoView {
    view! {
        <p class="hit-actions">
            <button
                type="button"
                class="button button-toggle"
                aria-pressed=move || search.is_only_hits().to_string()
                title=Act::SwitchOnlyHits.titled("Leave out tracks without hits")
                on:click=move |_| search.toggle_only_hits()
            >
                "Only tracks with hits"
            </button>
            <button
                type="button"
                class="button"
                title=Act::SumHits.titled("Add up the hits")
                on:click=move |_| search.sum()
            >
                "Totals of the hits"
            </button>
        </p>
    }
}

/// One end of the page of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageEnd {
    Earlier,
    Later,
}

/// The button that fetches the page around an end of this one. Nothing if there are no hits beyond.
#[component]
fn More(search: Search, end: PageEnd) -> impl IntoView {
    // Number of hits beyond this end, and the hit at this end.
    let beyond = Memo::new(move |_| {
        let found = search.found()?;
        let after = found.total.saturating_sub(found.before + found.hits.len() as u64);
        let (count, hit) = match end {
            PageEnd::Earlier => (found.before, found.hits.first()?),
            PageEnd::Later => (after, found.hits.last()?),
        };
        (count > 0).then_some((count, hit.slice.start_ps, hit.slice.row))
    });
    move || {
        let (count, start_ps, row) = beyond.get()?;
        let what = match end {
            PageEnd::Earlier => "earlier",
            PageEnd::Later => "later",
        };
        let text = format::counted(count, &format!("{what} hit"), &format!("{what} hits"));
        let show = move |_| search.show_around(HitPlace { start_ps, row });
        Some(view! { <button class="button-link hits-more" type="button" on:click=show>{text}</button> })
    }
}

#[component]
fn Hit(opened: Opened, hit: SearchHit, selected: Memo<Option<u32>>) -> impl IntoView {
    let slice = hit.slice;
    let row = slice.row;
    let is_current = Memo::new(move |_| selected.get() == Some(row));
    let track = opened.track_title(slice.track);
    // A match in the name is visible already.
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
    let (title, start_ps, clock) = (slice.name.clone(), slice.start_ps, opened.times.clock);
    view! {
        <button
            node_ref=node
            class="hit"
            type="button"
            aria-current=move || is_current.get().to_string()
            on:click=move |_| opened.reveal(&slice)
        >
            <span class="hit-start">{move || clock.with(|clock| clock.text(start_ps))}</span>
            <span class="hit-name" title=title>
                <Name name />
            </span>
            <span class="hit-duration number">{duration}</span>
            <small>{track} {field}</small>
        </button>
    }
}
