//! The strip: the rank in small on top of the summary. Findings have brackets on it, and the place
//! of what is looked at lights up.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::wire::questions::{SearchQuestion, Toward};
use nprof_engine::wire::search::SearchResult;
use web_sys::MouseEvent;

use super::scope::strip_span;
use crate::fetch::FetchError;
use crate::ui::controls::{own_element, rested};
use crate::ui::profile::ground::current_ground;
use crate::ui::profile::lit::Lit;
use crate::ui::profile::open_profile::{Opened, ShownFinding};
use crate::ui::shell::QuestionAnswers;
use crate::ui::timeline::OverviewCanvas;
use crate::view::finding_place::FindingPlace;
use crate::view::source_id::SourceId;
use crate::view::summary::lit_place::{CELLS, LitPlace, StripSpan, density_path};
use crate::view::{Command, ProfilePlace, TimeScale};

/// Brackets at most, those of the largest findings.
const MOST_BRACKETS: usize = 48;
/// A click shows this part of the strip, with the clicked time in the middle.
const PARTS: i64 = 10;

/// The strip. It asks for its picture once `is_open`.
#[component]
pub(super) fn Strip(opened: Opened, lit: Lit, #[prop(into)] is_open: Signal<bool>) -> impl IntoView {
    let whole = Memo::new(move |_| strip_span(opened));
    let picture = move || {
        let profiles = opened.names();
        is_open.get().then(|| {
            let ground = Signal::derive(current_ground);
            view! { <OverviewCanvas tracks=opened.tracks profiles span=whole ground /> }
        })
    };
    let go = move |event: MouseEvent| match clicked(&event, whole.get_untracked()) {
        Some(span) => opened.act(&Command::Show(span)),
        None => opened.act(&Command::GoTo(ProfilePlace::Timeline)),
    };
    let is_lit = move || lit.place.with(Option::is_some);
    view! {
        <section class="strip" class:is-lit=is_lit aria-label="Overview of the rank">
            <button
                type="button"
                class="strip-picture"
                aria-label="Open the timeline"
                title="Opens the timeline here"
                on:click=go
            >
                {picture}
                <LitSpans lit whole />
                <LitSlices opened lit whole />
            </button>
            <Brackets opened whole />
        </section>
    }
}

/// The span around a click. `None` if a key pressed the button.
fn clicked(event: &MouseEvent, whole: Option<Interval>) -> Option<Interval> {
    let button = own_element::<web_sys::Element>(event)?;
    let scale = TimeScale { window: whole?, width_px: f64::from(button.client_width()) };
    let at_ps = scale.time_from_px(f64::from(event.client_x()) - button.get_bounding_client_rect().left());
    let half_ps = (scale.window.duration_ps() / PARTS / 2).max(1);
    (event.detail() > 0).then(|| Interval::new(at_ps.saturating_sub(half_ps), at_ps.saturating_add(half_ps)))
}

/// The spans that light up.
#[component]
fn LitSpans(lit: Lit, whole: Memo<Option<Interval>>) -> impl IntoView {
    move || {
        let whole = whole.get()?;
        let spans = lit.place.with(|place| match place {
            Some(LitPlace::Spans(spans)) => spans.clone(),
            _ => Vec::new(),
        });
        let parts = spans.into_iter().filter_map(|span| StripSpan::of(span, whole));
        Some(parts.map(|part| view! { <i class="strip-span" style=part.style()></i> }).collect_view())
    }
}

/// The slices that light up: how many start in each part. They are asked for after a rest.
#[component]
fn LitSlices(opened: Opened, lit: Lit, whole: Memo<Option<Interval>>) -> impl IntoView {
    let query = Memo::new(move |_| {
        lit.place.with(|place| match place {
            Some(LitPlace::Slices(query)) => Some(query.clone()),
            _ => None,
        })
    });
    let calm = rested(query);
    let question = Memo::new(move |_| {
        Some(LitQuestion { source: opened.current.source.get()?, span: whole.get()?, text: calm.get()? })
    });
    let asked = QuestionAnswers::new(question, move |of: LitQuestion, _| hits_over_time(opened, of));
    // Slices of what was looked at before are not those of what is looked at now.
    let path = move || {
        let (of, found) = asked.last.get()?;
        let found = found.ok().filter(|_| query.get() == Some(of.text))?;
        Some(density_path(&found.density))
    };
    move || {
        path().map(|path| {
            view! {
                <svg
                    class="strip-slices"
                    viewBox=format!("0 0 {CELLS} 1")
                    preserveAspectRatio="none"
                    aria-hidden="true"
                >
                    <path d=path></path>
                </svg>
            }
        })
    }
}

/// A question about the slices that light up.
#[derive(Clone, PartialEq)]
struct LitQuestion {
    source: SourceId,
    span: Interval,
    /// The query.
    text: String,
}

async fn hits_over_time(opened: Opened, of: LitQuestion) -> Result<SearchResult, FetchError> {
    let LitQuestion { source, span, text } = of;
    let zero_ps = opened.times.zero.get_untracked().0;
    let (at, toward, syntax) = (HitPlace::FIRST, Toward::Next, Syntax::Query);
    let span = Some(span);
    let search = SearchQuestion { text, syntax, zero_ps, at, toward, limit: 0, cells: CELLS, span };
    opened.ask(source, search, None).await
}

/// The places of findings as brackets above the picture.
#[component]
fn Brackets(opened: Opened, whole: Memo<Option<Interval>>) -> impl IntoView {
    move || {
        let whole = whole.get()?;
        let shown = opened.findings.shown.get();
        let of_finding = |finding: &ShownFinding| {
            let spans = finding.place.iter().flat_map(FindingPlace::spans);
            let parts = spans.filter_map(|span| StripSpan::of(span, whole));
            parts.map(|part| (finding.clone(), part)).collect::<Vec<_>>()
        };
        let brackets = shown.iter().flat_map(of_finding).take(MOST_BRACKETS);
        let brackets = brackets.map(|(finding, part)| view! { <Bracket opened finding part /> });
        Some(view! { <div class="strip-brackets">{brackets.collect_view()}</div> })
    }
}

/// A bracket leads to its finding. The list of findings is the way for the keyboard.
#[component]
fn Bracket(opened: Opened, finding: ShownFinding, part: StripSpan) -> impl IntoView {
    let title = format!("{}: {}", finding.entry.rule, finding.entry.text);
    let spans = finding.place.iter().flat_map(FindingPlace::spans).collect();
    let looked = Lit::follow(Some(LitPlace::Spans(spans)));
    let go = move |_| opened.reveal_finding(&finding);
    view! {
        <button
            type="button"
            class="strip-bracket"
            tabindex="-1"
            title=title.clone()
            aria-label=title
            style=part.style()
            on:click=go
            on:pointerenter=move |_| looked.enter()
            on:pointerleave=move |_| looked.leave()
        ></button>
    }
}
