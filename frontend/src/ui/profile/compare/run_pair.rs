//! Both timelines, one above the other on a common axis, with a band that ties the same work.

use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::paired_tracks::{PairedTracks, TracksOfBoth};
use nprof_engine::wire::questions::PairedTracksQuestion;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent, PointerEvent};

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
use crate::view::run_pair::point::{PairedPoint, point_at};
use crate::view::run_pair::sight::PairedSight;
use crate::view::source_id::{SourceId, rank_label};
use crate::view::{Axes, Command, ProfilePlace, Size};

/// Places that are named above the picture.
const MOST_PLACES: usize = 5;
/// A shorter drag is a click, in CSS pixels.
const CLICK_PX: f64 = 4.0;
/// A step of the zoom.
const STEP: f64 = 0.5;
/// Zoom of a wheel by one of its units.
const WHEEL: f64 = 1.002;

/// State of the picture.
#[derive(Clone, Copy)]
struct PairedState {
    opened: Opened,
    of: StoredValue<Arc<PairedTracks>>,
    sight: RwSignal<PairedSight>,
    /// The words of what lies under the pointer.
    said: RwSignal<String>,
    /// The span that is dragged over, in shares of the width.
    dragged: RwSignal<Option<(f64, f64)>>,
    /// A moment of each run, in picoseconds since its begin, that the timeline puts one above the
    /// other.
    together_ps: RwSignal<(i64, i64)>,
    size: RwSignal<Size>,
}

impl PairedState {
    fn of(self) -> Arc<PairedTracks> {
        self.of.get_value()
    }

    /// The share of the width, and the height in CSS pixels, of the pointer in a track.
    fn place(event: &PointerEvent) -> Option<(f64, f64)> {
        let area = event.current_target()?.dyn_into::<Element>().ok()?.get_bounding_client_rect();
        let across = (f64::from(event.client_x()) - area.left()) / area.width().max(1.0);
        Some((across.clamp(0.0, 1.0), f64::from(event.client_y()) - area.top()))
    }

    fn move_over(self, at: usize, event: &PointerEvent) {
        let Some((across, y_px)) = Self::place(event) else { return };
        self.dragged.update(|dragged| {
            if let Some((_, to)) = dragged {
                *to = across;
            }
        });
        let of = self.of();
        let track = &of.tracks[at];
        let place = self.sight.get_untracked().place(across);
        let point = point_at(&of, track, place, y_px);
        self.said.set(point.map(|point| point.in_words(&of, track)).unwrap_or_default());
    }

    fn press(self, event: &PointerEvent) {
        let Some((across, _)) = Self::place(event).filter(|_| event.button() == 0) else { return };
        if let Some(area) = event.current_target().and_then(|of| of.dyn_into::<Element>().ok()) {
            // Fails only for a pointer that is gone.
            area.set_pointer_capture(event.pointer_id()).ok();
        }
        self.dragged.set(Some((across, across)));
    }

    /// A drag shows what it went over, and a click what is under it.
    fn release(self, at: usize, event: &PointerEvent) {
        let (Some((from, to)), Some((_, y_px))) = (self.dragged.get_untracked(), Self::place(event)) else {
            return;
        };
        self.dragged.set(None);
        let sight = self.sight.get_untracked();
        let width_px = self.size.get_untracked().width_px;
        if (to - from).abs() * width_px >= CLICK_PX {
            self.sight.set(PairedSight::between(sight.place(from), sight.place(to)));
            return;
        }
        let of = self.of();
        if let Some(point) = point_at(&of, &of.tracks[at], sight.place(to), y_px) {
            self.show(point);
        }
    }

    fn show(self, point: PairedPoint<'_>) {
        let (from, to) = point.extent(&self.of());
        self.sight.set(PairedSight::around(from, to));
        if let PairedPoint::Stretch(stretch) = point {
            self.together_ps.set((stretch.a_ps, stretch.b_ps));
        }
    }

    fn show_all(self) {
        self.sight.set(PairedSight::default());
        self.together_ps.set((0, 0));
    }

    /// By how much a rank began after another one of the same run, in words.
    fn later_begin(self) -> Option<String> {
        let of = self.of();
        let profiles = self.opened.session.profiles.get()?.ok()?;
        let axes = Axes::of(&profiles[..1], self.opened.session.view.with(|view| view.timebase));
        let begin = |rank: u32, ps| axes.axis(SourceId::of_first(rank)).shared(ps);
        let later_ps = begin(of.b.rank, of.b.start_ps) - begin(of.a.rank, of.a.start_ps);
        let is_same = profiles.len() == 1 && of.a.repetition == of.b.repetition && of.a.rank != of.b.rank;
        let words = if later_ps < 0 { "before" } else { "after" };
        is_same.then(|| format!("· B began {} {words} A", short_duration(later_ps.unsigned_abs() as f64)))
    }

    /// Opens the timeline at what is visible of the first run, with the second one above the same
    /// work.
    fn open_timeline(self) {
        let of = self.of();
        let (opened, together_ps) = (self.opened, self.together_ps.get_untracked());
        let Some(Ok(profiles)) = opened.session.profiles.get_untracked() else { return };
        let are_two = profiles.len() > 1;
        let axes = Axes::of(&profiles, opened.session.view.with_untracked(|view| view.timebase));
        let source_a = SourceId { rank: of.a.rank.into(), profile: 0 };
        let source_b = SourceId { rank: of.b.rank.into(), profile: u8::from(are_two) };
        let shared = |source: SourceId, ps: i64| axes.axis(source).shared(ps);
        let moment_a = shared(source_a, of.a.start_ps.saturating_add(together_ps.0));
        let moment_b = shared(source_b, of.b.start_ps.saturating_add(together_ps.1));
        if are_two {
            opened.act(&Command::StandLater { ps: moment_a.saturating_sub(moment_b) });
        }
        let span = self.sight.get_untracked().span(longer_ps(&of));
        let at = |ps: i64| shared(source_a, of.a.start_ps.saturating_add(ps));
        let window = Interval::new(at(span.start.0), at(span.end.0));
        let current = opened.current.source.get_untracked().unwrap_or_default();
        opened.act(&Command::Show(window).in_rank(source_a, current));
        opened.act(&Command::GoTo(ProfilePlace::Timeline));
    }

    fn zoom(self, times: f64) {
        self.sight.update(|sight| *sight = sight.zoomed(times, 0.5));
    }

    fn wheel(self, event: &web_sys::WheelEvent) {
        // A wheel alone scrolls the tracks.
        if !event.ctrl_key() && !event.meta_key() {
            return;
        }
        event.prevent_default();
        let Some((across, _)) = Self::place(event.unchecked_ref()) else { return };
        self.sight.update(|sight| *sight = sight.zoomed(WHEEL.powf(event.delta_y()), across));
    }

    fn key(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        match event.key().as_str() {
            "ArrowLeft" => self.sight.update(|sight| *sight = sight.moved(-STEP)),
            "ArrowRight" => self.sight.update(|sight| *sight = sight.moved(STEP)),
            "+" | "=" => self.zoom(STEP),
            "-" => self.zoom(1.0 / STEP),
            "Home" | "0" => self.show_all(),
            "Enter" => self.open_timeline(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }
}

/// Both timelines of the pair that is compared.
#[component]
pub(super) fn PairedTimelines(
    /// The opened profiles.
    opened: Opened,
    /// The pair.
    question: Memo<Option<PairedTracksQuestion>>,
) -> impl IntoView {
    let asked =
        QuestionAnswers::new(question, move |question, cancel| opened.paired_tracks(question, cancel));
    let retry = asked.retry;
    move || match asked.answer() {
        None => view! { <Loading what="Matching the programs …" /> }.into_any(),
        Some(Err(error)) if !error.is_temporary() => {
            view! { <p class="muted">{format!("No common timeline: {error}")}</p> }.into_any()
        }
        Some(Err(error)) => {
            view! { <Failure title="The timelines did not arrive" reason=error.to_string() on_retry=retry /> }
                .into_any()
        }
        Some(Ok(of)) => view! { <Picture opened of /> }.into_any(),
    }
}

#[component]
fn Picture(opened: Opened, of: Arc<PairedTracks>) -> impl IntoView {
    let state = PairedState {
        opened,
        of: StoredValue::new(Arc::clone(&of)),
        sight: RwSignal::new(PairedSight::default()),
        said: RwSignal::new(String::new()),
        dragged: RwSignal::new(None),
        together_ps: RwSignal::new((0, 0)),
        size: RwSignal::new(Size::default()),
    };
    let area = NodeRef::<Div>::new();
    measure::follow(area, area, state.size);
    let longer = longer_ps(&of);
    let window = Signal::derive(move || state.sight.get().span(longer));
    let rows = (0..of.tracks.len()).map(|at| view! { <Track state at /> }).collect_view();
    let left_out = (of.left_out > 0)
        .then(|| view! { <p class="muted">{format!("{} other tracks work less.", of.left_out)}</p> });
    let hint = "Drag to look closer, Ctrl and wheel zoom, + − and arrow keys, too";
    view! {
        <section class="paired" aria-label="Both timelines">
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

/// The answer, the places that differ most, and the zoom.
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
    let begin = Memo::new(move |_| state.later_begin());
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
        <header>
            <h3>"Both timelines"</h3>
            <span class="muted paired-runs">{runs} " " {begin}</span>
            <ZoomButtons state />
        </header>
        <p>{of.answer.clone()}</p>
        <div class="paired-places" role="group" aria-label="Places that differ most">
            {places.collect_view()}
        </div>
    }
}

/// The zoom, and the way to the timeline.
#[component]
fn ZoomButtons(state: PairedState) -> impl IntoView {
    let is_whole = move || state.sight.with(|sight| sight.is_whole());
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
                title="Opens the timeline at what is visible, with the second run above the same work"
                on:click=move |_| state.open_timeline()
            >
                "Open in the timeline"
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
