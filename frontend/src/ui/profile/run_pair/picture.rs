//! The picture of two runs: their tracks one above the other on a common axis, with a band that
//! ties the same work.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::paired_tracks::{PairedTracks, TracksOfBoth};

use super::state::{PairedPlace, PairedState, STEP};
use crate::draw::names::NameColours;
use crate::draw::palette;
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::ground::{colours, current_ground};
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::time_axis::TimeAxis;
use crate::ui::shell::QuestionAnswers;
use crate::ui::timeline::measure;
use crate::view::run_pair::paths::{
    BarLabel, PairedSide, TRACK_PX, WIDE, bar_paths, busy_path, labels, longer_ps, stretch_paths,
};
use crate::view::run_pair::point::PairedPoint;
use crate::view::source_id::rank_label;

/// Places that are named above the picture.
const MOST_PLACES: usize = 5;

/// The timelines of two runs, as soon as their tracks are there.
pub fn paired_timelines<Q>(
    opened: Opened,
    place: PairedPlace,
    asked: QuestionAnswers<Q, PairedTracks>,
) -> AnyView
where
    Q: Clone + PartialEq + Send + Sync + 'static,
{
    match asked.answer() {
        None => {
            let what = match place {
                PairedPlace::Compare => "Matching the programs …",
                PairedPlace::Prediction => "Replaying the run …",
            };
            view! { <Loading what /> }.into_any()
        }
        Some(Err(error)) if !error.is_temporary() => {
            view! { <p class="muted">{format!("No common timeline: {error}")}</p> }.into_any()
        }
        Some(Err(error)) => {
            let reason = error.to_string();
            view! { <Failure title="The timelines did not arrive" reason on_retry=asked.retry /> }.into_any()
        }
        Some(Ok(of)) => view! { <Picture opened place of /> }.into_any(),
    }
}

#[component]
fn Picture(opened: Opened, place: PairedPlace, of: Arc<PairedTracks>) -> impl IntoView {
    let state = PairedState::new(opened, place, Arc::clone(&of));
    let area = NodeRef::<Div>::new();
    measure::follow(area, area, state.size);
    let longer = longer_ps(&of);
    let window = Signal::derive(move || state.sight.get().span(longer));
    let rows = (0..of.tracks.len()).map(|at| view! { <Track state at /> }).collect_view();
    let left_out = (of.left_out > 0)
        .then(|| view! { <p class="muted">{format!("{} other tracks work less.", of.left_out)}</p> });
    let hint = "Drag to look closer, Ctrl and wheel zoom, + − and arrow keys, too";
    view! {
        <section class="paired" aria-label=place.heading()>
            <PairedHead state />
            <div
                class="paired-scroll"
                tabindex="0"
                role="group"
                aria-label="Tracks of A above those of B. Arrow keys move, plus and minus zoom, Home shows all, Enter opens the timeline"
                on:keydown=move |event| state.key(&event)
            >
                {rows}
                <div class="paired-axis">
                    <span class="muted">"since the begin"</span>
                    <div node_ref=area>
                        <TimeAxis
                            window
                            first_ps=Signal::stored(0)
                            width_px=Signal::derive(move || state.size.get().width_px)
                        />
                    </div>
                </div>
            </div>
            <p class="paired-said muted">
                {move || state.said.with(|said| if said.is_empty() { hint.to_owned() } else { said.clone() })}
            </p>
            {left_out}
        </section>
    }
}

/// The answer, the runs, and the zoom; of a compared pair also the places that differ most. Below
/// the timeline there is room for one line.
#[component]
fn PairedHead(state: PairedState) -> impl IntoView {
    let of = state.of();
    let runs = format!(
        "A: {}, {} · B: {}, {}",
        rank_label(of.a.rank.into()),
        of.a.repetition,
        rank_label(of.b.rank.into()),
        of.b.repetition
    );
    let answer = of.answer.clone();
    if state.place == PairedPlace::Prediction {
        let whole = answer.clone();
        return view! {
            <header class="paired-line">
                <h3 title=runs>{state.place.heading()}</h3>
                <p class="muted" title=whole>{answer}</p>
                <ZoomButtons state />
            </header>
        }
        .into_any();
    }
    let begin = Memo::new(move |_| state.later_begin());
    view! {
        <header>
            <h3>{state.place.heading()}</h3>
            <span class="muted paired-runs">{runs} " " {begin}</span>
            <ZoomButtons state />
        </header>
        <p>{answer}</p>
        <Places state />
    }
    .into_any()
}

/// The places that differ most.
#[component]
fn Places(state: PairedState) -> impl IntoView {
    let of = state.of();
    let places = of.largest(MOST_PLACES).into_iter().map(|(track, stretch)| {
        let cause_ps = stretch.cause.map_or(0, |cause| cause.difference_ps);
        let direction = if cause_ps > 0 { "worse" } else { "better" };
        let cause = of.cause_of(stretch).unwrap_or_default().to_owned();
        let title = PairedPoint::Stretch(stretch).in_words(&of, track);
        let own = *stretch;
        view! {
            <button
                class="paired-place"
                type="button"
                data-direction=direction
                title=title
                on:click=move |_| state.show(PairedPoint::Stretch(&own))
            >
                <b class="number">{signed_time(cause_ps)}</b>
                <span>{cause}</span>
                <small class="muted">{track.name.clone()}</small>
            </button>
        }
    });
    view! {
        <div class="paired-places" role="group" aria-label="Places that differ most">
            {places.collect_view()}
        </div>
    }
}

/// The zoom, and the way to the timeline.
#[component]
fn ZoomButtons(state: PairedState) -> impl IntoView {
    let is_whole = move || state.sight.with(|sight| sight.is_whole());
    let (timeline, title) = match state.place {
        PairedPlace::Compare => (
            "Open in the timeline",
            "Opens the timeline at what is visible, with the second run above the same work",
        ),
        PairedPlace::Prediction => ("Show in the timeline", "Shows what is visible of the recorded run"),
    };
    view! {
        <div class="paired-zoom" role="group" aria-label="Zoom">
            <button class="button" type="button" aria-label="Zoom in" on:click=move |_| state.zoom(STEP)>
                "+"
            </button>
            <button
                class="button"
                type="button"
                aria-label="Zoom out"
                disabled=is_whole
                on:click=move |_| state.zoom(1.0 / STEP)
            >
                "−"
            </button>
            <button
                class="button"
                type="button"
                disabled=is_whole
                on:click=move |_| state.show_all()
            >
                "All"
            </button>
            <button
                class="button"
                type="button"
                title=title
                on:click=move |_| state.open_timeline()
            >
                {timeline}
            </button>
        </div>
    }
}

/// One track of both runs.
#[component]
fn Track(state: PairedState, at: usize) -> impl IntoView {
    let of = state.of();
    let track = &of.tracks[at];
    let title = match &track.renamed {
        Some(renamed) => format!("{} → {renamed}", track.name),
        None => track.name.clone(),
    };
    let names = state.opened.rank_detail().map(|rank| NameColours::new(&rank.names)).unwrap_or_default();
    let slots: Vec<u8> = of.names.iter().map(|name| names.colour(name)).collect();
    let note = note(track);
    let view_box = move || {
        let sight = state.sight.get();
        format!("{:.3} 0 {:.3} {TRACK_PX}", sight.from * WIDE, sight.width() * WIDE)
    };
    view! {
        <div class="paired-track">
            <span class="paired-name" title=title.clone()>
                {title.clone()} <small class="muted">{note}</small>
            </span>
            <div
                class="paired-area"
                style:height=format!("{TRACK_PX}px")
                on:pointermove=move |event| state.move_over(at, &event)
                on:pointerleave=move |_| state.said.set(String::new())
                on:pointerdown=move |event| state.press(&event)
                on:pointerup=move |event| state.release(at, &event)
                on:pointercancel=move |_| state.dragged.set(None)
                on:dblclick=move |_| state.show_all()
                on:wheel=move |event| state.wheel(&event)
            >
                <svg viewBox=view_box preserveAspectRatio="none" aria-hidden="true">
                    <Shapes of=Arc::clone(&of) at slots=slots.clone() />
                </svg>
                <Names state at slots />
                <Dragged state />
            </div>
        </div>
    }
}

/// The part of a track that both runs have, if it is not all.
fn note(track: &TracksOfBoth) -> String {
    match (&track.a, &track.b) {
        (Some(_), None) => "only in A".to_owned(),
        (None, _) => "only in B".to_owned(),
        (Some(a), Some(b)) if track.matched == a.count.max(b.count) => String::new(),
        (Some(a), Some(b)) => {
            let part = track.matched as f64 / (a.count.max(b.count).max(1)) as f64;
            format!("{:.0} % matched", (part * 100.0).floor())
        }
    }
}

#[component]
fn Shapes(of: Arc<PairedTracks>, at: usize, slots: Vec<u8>) -> impl IntoView {
    let track = &of.tracks[at];
    let colours = colours();
    let side = |side: PairedSide| {
        let bars = bar_paths(&of, track, side, |name| slots[name as usize]);
        let bars = bars.into_iter().map(|(slot, path)| {
            view! { <path d=path fill=colours[usize::from(slot)].clone() /> }
        });
        view! {
            <path class="paired-busy" d=busy_path(&of, track, side) />
            {bars.collect_view()}
        }
    };
    let band = stretch_paths(&of, track).into_iter();
    let band =
        band.map(|(tone, path)| view! { <path class="paired-stretch" data-tone=tone.name() d=path /> });
    view! {
        {side(PairedSide::A)}
        {side(PairedSide::B)}
        {band.collect_view()}
    }
}

/// The names on bars with room.
#[component]
fn Names(state: PairedState, at: usize, slots: Vec<u8>) -> impl IntoView {
    move || {
        let of = state.of();
        let (sight, width_px) = (state.sight.get(), state.size.get().width_px);
        let inks = palette::inks(current_ground());
        let label = |label: BarLabel| {
            let name = of.names.get(label.name as usize).cloned().unwrap_or_default();
            let ink = inks[usize::from(slots[label.name as usize])].css();
            view! {
                <span
                    class="paired-label"
                    data-side=label.side.letter()
                    style:left=format!("{:.3}%", label.left * 100.0)
                    style:width=format!("{:.3}%", label.width * 100.0)
                    style:color=ink
                >
                    {name}
                </span>
            }
        };
        labels(&of, &of.tracks[at], sight, width_px).into_iter().map(label).collect_view()
    }
}

/// The span that is dragged over.
#[component]
fn Dragged(state: PairedState) -> impl IntoView {
    move || {
        let (from, to) = state.dragged.get()?;
        let (left, width) = (from.min(to), (to - from).abs());
        Some(view! {
            <span
                class="paired-dragged"
                style:left=format!("{:.3}%", left * 100.0)
                style:width=format!("{:.3}%", width * 100.0)
            ></span>
        })
    }
}
