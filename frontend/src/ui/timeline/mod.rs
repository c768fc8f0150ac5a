//! The timeline of a rank: minimap, ruler, track list and tracks.
//!
//! The tracks are drawn on canvases that never scroll themselves: they stick to the top of the area in which the track
//! list scrolls, and draw what is in sight. The window, the selection and the open groups are the page's [`View`]; the
//! timeline only sends [`Command`]s.

mod first_picture;
mod hits;
mod measure;
mod minimap;
mod pointer;
mod scroll;
mod stage;
mod step;
mod tiles;
mod track_list;

use std::sync::Arc;

use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::detail::SliceDetail;

use self::minimap::Minimap;
use self::pointer::Gestures;
use self::stage::{Canvases, Shown, StageHandle};
use self::step::Keys;
use self::track_list::TrackList;
use super::app::is_for_page;
use super::format;
use super::theme::{CurrentTheme, Theme};
use crate::draw::palette::Ground;
use crate::view::ticks::Ruler;
use crate::view::{Command, Hover, Layout, TimeScale, View};

/// The timeline of a rank.
#[component]
pub fn Timeline(
    /// What is looked at.
    view: Signal<View>,
    /// The rank, once it is here.
    rank: Signal<Option<Arc<RankDetail>>>,
    /// All about the selected slice, once it is here.
    selected: Signal<Option<Arc<SliceDetail>>>,
    /// What the user does; the owner of the view applies it.
    on_command: Callback<Command>,
    /// What is under the pointer, for a tooltip; `None` when it leaves.
    on_hover: Callback<Option<Hover>>,
) -> impl IntoView {
    let problem = RwSignal::new(None::<String>);
    let stage = StageHandle::new(on_hover, problem);
    let parts = Parts::new();
    let scene = Scene::new(view, rank);
    open_canvases(stage, parts, problem);
    measure::follow(parts.rows, parts.sight, scene.size_px);
    show(stage, scene, selected);
    keep_selected_in_sight(scene, parts, selected);
    scroll::follow(scene, parts, on_command);
    let keys = Keys { view, stage, on_command, problem, is_stepping: StoredValue::new(false) };
    let listener = window_event_listener(leptos::ev::keydown, move |event| {
        if is_for_page(&event) && keys.press(&event.key()) {
            event.prevent_default();
        }
    });
    on_cleanup(move || {
        listener.remove();
        on_hover.run(None);
    });
    let base = Memo::new(move |_| Ruler::new(&scene.scale()).base);
    view! {
        <section class="timeline" aria-label="Timeline">
            <div class="timeline-head">
                <div class="timeline-corner">{move || format::duration(scene.whole.get().duration_ps())}</div>
                <Minimap canvas=parts.minimap whole=scene.whole shown=scene.window on_command />
                <div class="timeline-corner timeline-base">{move || base.get()}</div>
                <RulerArea parts stage on_command />
            </div>
            <Rows parts scene stage on_command />
            <Problem problem stage />
            <p class="unseen" role="status" aria-live="polite">{move || describe(rank.get(), selected.get())}</p>
        </section>
    }
}

/// The elements that are drawn on or measured.
#[derive(Debug, Clone, Copy)]
struct Parts {
    minimap: NodeRef<Canvas>,
    ruler: NodeRef<Canvas>,
    quads: NodeRef<Canvas>,
    above: NodeRef<Canvas>,
    /// Scrolls the rows.
    rows: NodeRef<Div>,
    /// As wide as the tracks.
    sight: NodeRef<Div>,
}

impl Parts {
    fn new() -> Self {
        Self {
            minimap: NodeRef::new(),
            ruler: NodeRef::new(),
            quads: NodeRef::new(),
            above: NodeRef::new(),
            rows: NodeRef::new(),
            sight: NodeRef::new(),
        }
    }
}

/// What the canvases show, derived from what is looked at.
#[derive(Debug, Clone, Copy)]
struct Scene {
    view: Signal<View>,
    rank: Signal<Option<Arc<RankDetail>>>,
    whole: Memo<Interval>,
    window: Memo<Interval>,
    layout: Memo<Arc<Layout>>,
    size_px: RwSignal<(f64, f64)>,
    scroll_px: RwSignal<f64>,
}

impl Scene {
    fn new(view: Signal<View>, rank: Signal<Option<Arc<RankDetail>>>) -> Self {
        let whole = Memo::new(move |_| {
            rank.with(|rank| {
                rank.as_ref().map_or_else(Interval::default, |rank| {
                    Interval::new(rank.entry.start_ps, rank.entry.end_ps)
                })
            })
        });
        let window = Memo::new(move |_| view.with(|view| view.window_in(whole.get())));
        let toggled = Memo::new(move |_| view.with(|view| view.toggled.clone()));
        let layout = Memo::new(move |_| {
            let toggled = toggled.get();
            let is_closed = |group: &nprof_engine::wire::catalog::Track| {
                group.initially_closed != toggled.contains(&group.id)
            };
            Arc::new(rank.with(|rank| {
                rank.as_ref().map_or_else(Layout::default, |rank| Layout::new(&rank.tracks, is_closed))
            }))
        });
        let (size_px, scroll_px) = (RwSignal::new((0.0, 0.0)), RwSignal::new(0.0));
        Self { view, rank, whole, window, layout, size_px, scroll_px }
    }

    fn scale(self) -> TimeScale {
        TimeScale { window: self.window.get(), width_px: self.size_px.get().0 }
    }
}

/// Hands the canvases to the stage once they are in the page, and keeps them drawn when the browser loses them.
fn open_canvases(stage: StageHandle, parts: Parts, problem: RwSignal<Option<String>>) {
    Effect::new(move |_| {
        let (Some(quads), Some(above), Some(ruler), Some(minimap)) =
            (parts.quads.get(), parts.above.get(), parts.ruler.get(), parts.minimap.get())
        else {
            return;
        };
        let opened = stage.with(|stage| stage.open(Canvases { quads, above, ruler, minimap }));
        if let Some(Err(reason)) = opened {
            problem.set(Some(reason));
        }
        stage.invalidate();
    });
}

/// Tells the stage whenever anything that it draws has changed.
fn show(stage: StageHandle, scene: Scene, selected: Signal<Option<Arc<SliceDetail>>>) {
    let theme = expect_context::<CurrentTheme>();
    Effect::new(move |_| {
        let (slug, marked) = scene.view.with(|view| (view.profile.clone(), view.marked));
        stage.show(Shown {
            slug,
            rank: scene.rank.get(),
            layout: scene.layout.get(),
            window: scene.window.get(),
            size_px: scene.size_px.get(),
            scroll_px: scene.scroll_px.get(),
            selected: selected.get(),
            marked,
            ground: match theme.get() {
                Theme::Light => Ground::Light,
                Theme::Dark => Ground::Dark,
            },
        });
    });
}

/// Scrolls to the selected slice's lane when another slice is selected out of sight.
fn keep_selected_in_sight(scene: Scene, parts: Parts, selected: Signal<Option<Arc<SliceDetail>>>) {
    let place = Memo::new(move |_| {
        let detail = selected.get()?;
        let rank = scene.rank.get()?;
        let at = rank.tracks.iter().position(|track| track.id == detail.slice.track)?;
        let (top_px, height_px) = scene
            .layout
            .with(|layout| Some(layout.row_of(at)?.lane_px(&rank.tracks[at], detail.slice.lane)))?;
        Some((detail.slice.row, top_px, height_px))
    });
    Effect::new(move |before: Option<Option<u32>>| {
        let (row, top_px, height_px) = place.get()?;
        // Before the first measure nothing is in sight, and nothing would be scrolled rightly.
        if scene.size_px.with(|(_, height_px)| *height_px <= 0.0) {
            return None;
        }
        // Only a new selection scrolls: opening a group above must not.
        if before.flatten() != Some(row)
            && let Some(rows) = parts.rows.get_untracked()
        {
            let (scroll_px, sight_px) = (scene.scroll_px.get_untracked(), scene.size_px.get_untracked().1);
            if top_px < scroll_px || top_px + height_px > scroll_px + sight_px {
                rows.set_scroll_top((top_px - sight_px / 2.0) as i32);
            }
        }
        Some(row)
    });
}

#[component]
fn RulerArea(parts: Parts, stage: StageHandle, on_command: Callback<Command>) -> impl IntoView {
    let gestures = Gestures::new(stage, parts.rows, on_command);
    view! {
        <canvas
            class="ruler"
            node_ref=parts.ruler
            title="Drag to mark a span"
            aria-hidden="true"
            on:pointerdown=move |event| gestures.press_ruler(&event)
            on:pointermove=move |event| gestures.pull_ruler(&event)
            on:pointerup=move |event| gestures.release(&event)
            on:pointercancel=move |event| gestures.lose(&event)
        ></canvas>
    }
}

#[component]
fn Rows(parts: Parts, scene: Scene, stage: StageHandle, on_command: Callback<Command>) -> impl IntoView {
    let gestures = Gestures::new(stage, parts.rows, on_command);
    let scroll = move |_| {
        if let Some(rows) = parts.rows.get_untracked() {
            scene.scroll_px.set(f64::from(rows.scroll_top()));
        }
    };
    let wheel = move |event: web_sys::WheelEvent| {
        if let Some(rows) = parts.rows.get_untracked() {
            gestures.wheel(&event, &rows);
        }
    };
    let size = move || {
        let (width_px, height_px) = scene.size_px.get();
        format!("width: {width_px}px; height: {height_px}px")
    };
    view! {
        <div
            class="timeline-rows"
            node_ref=parts.rows
            role="group"
            tabindex="0"
            aria-label="Tracks over time"
            on:scroll=scroll
        >
            <div class="timeline-sight" node_ref=parts.sight>
                <canvas
                    node_ref=parts.quads
                    style=size
                    aria-hidden="true"
                    on:webglcontextlost=move |event: web_sys::Event| {
                        // Without this the browser never gives it back.
                        event.prevent_default();
                        stage.with(stage::Stage::lose_context);
                    }
                    on:webglcontextrestored=move |_: web_sys::Event| {
                        stage.with(stage::Stage::restore_context);
                        stage.invalidate();
                    }
                ></canvas>
                <canvas
                    class="timeline-above"
                    node_ref=parts.above
                    style=size
                    aria-hidden="true"
                    on:pointerdown=move |event| gestures.press(&event)
                    on:pointermove=move |event| gestures.pull(&event)
                    on:pointerup=move |event| gestures.release(&event)
                    on:pointercancel=move |event| gestures.lose(&event)
                    on:pointerleave=move |_| gestures.leave()
                    on:dblclick=move |event| gestures.focus(&event)
                    on:wheel=wheel
                ></canvas>
            </div>
            <TrackList
                view=scene.view
                rank=scene.rank
                layout=scene.layout
                scroll_px=scene.scroll_px.into()
                height_px=Signal::derive(move || scene.size_px.get().1)
                on_command
            />
        </div>
    }
}

/// Says why tiles do not come. They are asked for again by themselves; the button does not wait.
#[component]
fn Problem(problem: RwSignal<Option<String>>, stage: StageHandle) -> impl IntoView {
    let retry = move |_| {
        problem.set(None);
        stage.retry();
    };
    move || {
        problem.get().map(|reason| {
            view! {
                <div class="timeline-problem" role="alert">
                    <span>{reason}</span>
                    <button type="button" class="button" on:click=retry>"Try again"</button>
                </div>
            }
        })
    }
}

/// The selected slice in words, for those who hear the page.
fn describe(rank: Option<Arc<RankDetail>>, selected: Option<Arc<SliceDetail>>) -> String {
    let (Some(rank), Some(selected)) = (rank, selected) else { return String::new() };
    let slice = &selected.slice;
    let track = rank.tracks.iter().find(|track| track.id == slice.track).map_or("", |track| &track.name);
    let start = format::duration(slice.start_ps.saturating_sub(rank.entry.start_ps));
    let length = match slice.duration_ps {
        0 => String::new(),
        duration_ps => format!(", {} long", format::duration(duration_ps)),
    };
    format!("Selected: {} on {track}, {start} after the start{length}", slice.name)
}
