//! What the timeline has to say about itself: why something is missing on it, and what was
//! selected, for those who hear the page.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::detail::SliceDetail;

use super::stage::StageHandle;
use crate::ui::format;
use crate::view::outside::Outside;
use crate::view::window::Reach;
use crate::view::{Clock, Command, View};

/// Says why tiles do not come. They are asked for again by themselves; the button does not wait.
#[component]
pub fn Problem(
    /// Why.
    problem: RwSignal<Option<String>>,
    /// What asks for tiles.
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

/// Says what the browser lacks to draw the timeline. Stays as long as the page does.
#[component]
pub fn Missing(
    /// What it lacks.
    missing: RwSignal<Option<String>>,
) -> impl IntoView {
    move || {
        missing.get().map(
            |reason| view! { <div class="timeline-problem timeline-missing" role="alert">{reason}</div> },
        )
    }
}

/// Says that the window lies beside the trace, and offers to show everything.
#[component]
pub fn BesideTrace(
    /// The visible span.
    window: Memo<Interval>,
    /// From the first moment of the profile to the last.
    whole: Memo<Interval>,
    /// How moments are written.
    clock: Memo<Clock>,
    /// What the user does.
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

/// Says that only the part in which something is done is shown, and offers the rest.
#[component]
pub fn ActivePart(
    /// What is looked at.
    view: Signal<View>,
    /// What windows can show.
    reach: Memo<Reach>,
    /// What the user does.
    on_command: Callback<Command>,
) -> impl IntoView {
    let shown = Memo::new(move |_| {
        let is_first = view.with(|view| view.window.is_none());
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
                </div>
            }
        })
    }
}

/// The selected slice in words.
#[must_use]
pub fn describe(rank: Option<Arc<RankDetail>>, selected: Option<Arc<SliceDetail>>, clock: &Clock) -> String {
    let (Some(rank), Some(selected)) = (rank, selected) else { return String::new() };
    let slice = &selected.slice;
    let track = rank.tracks.iter().find(|track| track.id == slice.track).map_or("", |track| &track.name);
    let start = format::duration(clock.since_zero(slice.start_ps));
    let length = match slice.duration_ps {
        0 => String::new(),
        duration_ps => format!(", {} long", format::duration(duration_ps)),
    };
    format!("Selected: {} on {track}, {start} after the start{length}", slice.name)
}

/// What moments count from, in words; with the time on the wall clock where that is known.
#[must_use]
pub fn zero_in_words(zero_unix_ns: Option<i64>) -> String {
    let zero = "Times count from the profile's first event";
    zero_unix_ns.map_or_else(|| zero.to_owned(), |unix_ns| format!("{zero}: {}", format::utc(unix_ns)))
}
