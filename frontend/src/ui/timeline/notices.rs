//! Notices of the timeline: the reason for missing content, and the selection for users of screen
//! readers.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::detail::SliceDetail;

use super::Tracks;
use super::stage::StageHandle;
use crate::ui::controls::CloseButton;
use crate::ui::text::format;
use crate::view::rows::layout::Layout;
use crate::view::time::window::Reach;
use crate::view::time::window_side::Outside;
use crate::view::{Clock, Command, View};

/// Shows why tiles are missing. They are requested again automatically; the button does it at once.
#[component]
pub fn Problem(
    /// The reason.
    problem: RwSignal<Option<String>>,
    /// The stage, which requests tiles.
    stage: StageHandle,
) -> impl IntoView {
    let retry = move |_| {
        problem.set(None);
        stage.retry();
    };
    move || {
        problem.get().map(|reason| {
            view! {
                <div class="timeline-problem" role="alert">
                    <span>{reason}</span>
                    <button type="button" class="button" on:click=retry>
                        "Try again"
                    </button>
                </div>
            }
        })
    }
}

/// Shows what the browser lacks to draw the timeline. Stays until the page is closed.
#[component]
pub fn Missing(
    /// The missing feature.
    missing: RwSignal<Option<String>>,
) -> impl IntoView {
    move || {
        missing.get().map(
            |reason| view! { <div class="timeline-problem timeline-missing" role="alert">{reason}</div> },
        )
    }
}

/// Shows that the window lies outside of the trace, and offers to show everything.
#[component]
pub fn BesideTrace(
    /// The visible span.
    window: Memo<Interval>,
    /// From the first timestamp of the profile to the last.
    whole: Memo<Interval>,
    /// Format of timestamps.
    clock: Memo<Clock>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let outside = Memo::new(move |_| Outside::of(window.get(), whole.get()));
    let text = move |outside: Outside| {
        let whole = whole.get();
        match outside {
            Outside::Before => "This window lies before the first event.".to_owned(),
            Outside::After => {
                let end = clock.with(|clock| clock.since_zero(whole.end.0));
                format!("This window lies after the last event, at {}.", format::duration(end))
            }
        }
    };
    move || {
        outside.get().map(|outside| {
            view! {
                <div class="timeline-beside" role="status">
                    <span>{text(outside)}</span>
                    <button type="button" class="button" on:click=move |_| on_command.run(Command::ShowAll)>
                        "Show all"
                    </button>
                </div>
            }
        })
    }
}

/// Shows that there is nothing to draw, because the trace has no events.
#[component]
pub fn NoTracks(
    /// The rows of the timeline.
    layout: Memo<Arc<Layout>>,
) -> impl IntoView {
    let is_empty = Memo::new(move |_| layout.with(|layout| layout.rows.is_empty()));
    move || {
        is_empty.get().then(|| {
            view! {
                <div class="timeline-beside" role="status">
                    "This trace has no events."
                </div>
            }
        })
    }
}

/// The notices about the part of the time that is shown.
#[component]
pub fn TimeNotices(
    /// The current view.
    view: Signal<View>,
    /// Limits of windows.
    reach: Memo<Reach>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    view! {
        <ActivePart view reach on_command />
        <MovedProfiles view on_command />
    }
}

/// Shows that only the busy part is visible, and offers the rest. It covers tracks, so it can be
/// closed.
#[component]
fn ActivePart(
    /// The current view.
    view: Signal<View>,
    /// Limits of windows.
    reach: Memo<Reach>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let is_closed = RwSignal::new(false);
    let shown = Memo::new(move |_| {
        let is_first = view.with(|view| view.window.is_none()) && !is_closed.get();
        let reach = reach.get();
        let active = reach.active.filter(|_| is_first)?;
        Some((format::duration(active.duration_ps()), format::duration(reach.whole.duration_ps())))
    });
    move || {
        shown.get().map(|(active, whole)| {
            view! {
                <div class="timeline-part" role="status">
                    <span>"Showing the active "<b>{active}</b>" of "{whole}</span>
                    <button type="button" class="button" on:click=move |_| on_command.run(Command::ShowAll)>
                        "Show all"
                    </button>
                    <CloseButton label="Close the notice" on_close=move |()| is_closed.set(true) />
                </div>
            }
        })
    }
}

/// Shows that other profiles do not begin with the first one, and offers that they do. It covers
/// tracks, so it can be closed.
#[component]
fn MovedProfiles(
    /// The current view.
    view: Signal<View>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let is_closed = RwSignal::new(false);
    let shown = Memo::new(move |_| {
        let later_ps = view.with(|view| view.later_ps);
        (later_ps != 0 && !is_closed.get()).then(|| signed_time(later_ps))
    });
    let together = move |_| on_command.run(Command::StandLater { ps: 0 });
    move || {
        shown.get().map(|later| {
            view! {
                <div class="timeline-part" role="status">
                    <span>"The same work stands one above the other: the second run moves by "<b>{later}</b></span>
                    <button type="button" class="button" on:click=together>"Begin together"</button>
                    <CloseButton label="Close the notice" on_close=move |()| is_closed.set(true) />
                </div>
            }
        })
    }
}

/// The selected slice in words.
#[must_use]
pub fn describe(tracks: Tracks, selected: Option<Arc<SliceDetail>>, clock: &Clock) -> String {
    let Some(selected) = selected else { return String::new() };
    let slice = &selected.slice;
    let sheet = tracks.sheet.get();
    let track = sheet.track(tracks.current.get(), slice.track).map_or("", |track| &track.name);
    let start = format::duration(clock.since_zero(slice.start_ps));
    let length = match slice.duration_ps {
        0 => String::new(),
        duration_ps => format!(", {} long", format::duration(duration_ps)),
    };
    format!("Selected: {} on {track}, {start} after the start{length}", slice.name)
}

/// The zero of timestamps in words, with the wall clock time if it is known.
#[must_use]
pub fn zero_in_words(zero_unix_ns: Option<i64>) -> String {
    let zero = "Times count from the profile's first event";
    zero_unix_ns.map_or_else(|| zero.to_owned(), |unix_ns| format!("{zero}: {}", format::utc(unix_ns)))
}
