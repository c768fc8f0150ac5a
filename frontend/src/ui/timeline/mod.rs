//! The timeline of the shown ranks: minimap, ruler, track list and tracks.
//!
//! The tracks are drawn on canvases that never scroll themselves. The canvases lie over the lists
//! of tracks, which scroll: one of the pinned rows, one of all others. They draw what is in sight
//! of both. The window, the selection and the open groups belong to the page's [`View`]; the
//! timeline only sends [`Command`]s.

mod areas;
mod bands;
mod canvas_content;
mod canvases;
mod first_picture;
mod fit;
mod frame;
mod glide;
mod heading;
mod hits;
pub mod measure;
mod menu_key;
mod minimap;
mod notices;
mod overview_canvas;
mod pin;
mod pointee;
mod pointer;
mod reveal;
mod row_heights;
mod row_steps;
mod row_walk;
mod scroll;
mod slice_search;
mod space_key;
mod stage;
mod step;
mod tiles;
mod track_list;
mod wheel;
mod window_announcement;

use std::sync::Arc;

use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::base::{Interval, Time};
use nprof_engine::wire::detail::SliceDetail;

use self::areas::{Rows, RulerArea};
use self::bands::BandRows;
pub use self::bands::Bands;
use self::canvas_content::ShownTimeline;
use self::canvases::Canvases;
use self::minimap::Minimap;
use self::notices::{BesideTrace, Missing, NoTracks, Problem, TimeNotices, describe, zero_in_words};
pub use self::overview_canvas::OverviewCanvas;
pub use self::pointee::Pointed;
use self::pointer::Asks;
use self::stage::StageHandle;
use self::step::Steps;
pub use self::wheel::ChosenWheel;
use self::window_announcement::SpokenWindow;
use crate::draw::painter::Grounds;
use crate::draw::palette::Ground;
use crate::fetch::Source;
use crate::ui::shell::{Commands, CurrentTheme, Handler, Theme};
use crate::ui::text::format;
use crate::view::act::Need;
use crate::view::finding_box::{PlacedBox, placed_boxes};
use crate::view::light::Light;
use crate::view::ranks::standing::Standings;
use crate::view::rows::layout::RankHeight;
use crate::view::rows::layout::RankRows;
use crate::view::rows::layout::sight::{RowPart, RowSight};
use crate::view::rows::occupancy::Occupied;
use crate::view::rows::pins::PinOffers;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::run_path::PathStretch;
use crate::view::run_waits::WaitStretch;
use crate::view::source_id::SourceId;
use crate::view::state::tracks::TracksState;
use crate::view::time::ticks::Ruler;
use crate::view::time::window::{Reach, widest};
use crate::view::{Clock, Command, Hover, Layout, Point, Sheet, Size, TimeScale, View};

/// Time settings of the timeline.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// From the first timestamp of the profile to the last, over all ranks.
    pub whole: Memo<Interval>,
    /// The moment that counts as zero: the start of `whole`, unless this is a part of a profile.
    pub zero: Memo<Time>,
    /// Limits of windows.
    pub reach: Memo<Reach>,
    /// Format of timestamps.
    pub clock: Memo<Clock>,
    /// Width and height of the tracks in CSS pixels, measured by the timeline.
    pub tracks_size: RwSignal<Size>,
}

/// The tracks of a timeline.
#[derive(Debug, Clone, Copy)]
pub struct Tracks {
    /// The tracks of all shown ranks that are present.
    pub sheet: Memo<Arc<Sheet>>,
    /// The current rank.
    pub current: Memo<SourceId>,
    /// Lateness of all ranks, as far as known.
    pub standings: Memo<Arc<Standings>>,
    /// The ranks that a pinned track can be shown of.
    pub offers: Memo<PinOffers>,
}

/// Answers that are drawn in the timeline.
#[derive(Clone, Copy)]
pub struct DrawnRun {
    /// The critical path, if it is shown.
    pub path: Memo<Option<Arc<Vec<PathStretch>>>>,
    /// The waits, if they are shown.
    pub waits: Memo<Option<Arc<Vec<WaitStretch>>>>,
    /// The light on the hits of a search, if there is one.
    pub light: Memo<Option<Arc<Light>>>,
    /// The hits of the current rank over all time, as a path over so many parts as an overview has.
    pub overview: Memo<Option<String>>,
}

/// The timeline of the shown ranks.
#[component]
pub fn Timeline(
    /// The current view.
    view: Signal<View>,
    /// The tracks to show.
    tracks: Tracks,
    /// Time settings.
    times: Times,
    /// The bands under the ruler.
    bands: Bands,
    /// All details of the selected slice, once they are present.
    selected: Signal<Option<Arc<SliceDetail>>>,
    /// Answers about the run that are drawn.
    run: DrawnRun,
    /// Receives the user's commands. The owner of the view applies them.
    on_command: Callback<Command>,
    /// The operation on which the pointer rests.
    pointed: Pointed,
    /// Receives the item under the pointer, for a tooltip. `None` when the pointer leaves.
    on_hover: Callback<Option<Hover>>,
    /// Receives the place of the menu of the selected slice.
    on_menu: Callback<Point>,
) -> impl IntoView {
    let (problem, missing) = (RwSignal::new(None::<String>), RwSignal::new(None::<String>));
    let occupied = RwSignal::new(Occupied::default());
    let stage = StageHandle::new(pointed.before(on_hover), problem, occupied);
    let parts = TimelineElements::new();
    let scene = Scene::new(view, tracks, times, occupied, run.light);
    row_heights::follow(stage, scene.window);
    open_canvases(stage, parts, missing);
    measure::follow(parts.frame, parts.width, scene.times.tracks_size);
    let asks = Asks { on_open: bands.on_open, on_menu };
    menu_key::listen(stage, parts.above, on_menu);
    show(stage, scene, Marked { selected, pointed: pointed.detail, run, boxes: placed(bands, scene) });
    reveal::keep_selected_in_sight(scene, parts, selected);
    RowPart::ALL.into_iter().for_each(|part| scroll::follow(part, scene, parts, on_command));
    reveal::show_new_pin(scene, parts);
    let said = RwSignal::new(None::<String>);
    let (is_stepping, fitted) = (StoredValue::new(false), StoredValue::new(None));
    let steps = Steps { view, tracks, stage, on_command, problem, said, is_stepping, fitted };
    handle_commands(steps);
    on_cleanup(move || on_hover.run(None));
    let zero = words_of_zero(tracks, scene);
    let spoken = move || {
        let selected = || describe(tracks, selected.get(), &times.clock.get());
        said.get().unwrap_or_else(selected)
    };
    view! {
        <section class="timeline" aria-label="Timeline">
            <TimelineHead parts scene stage bands hits=run.overview asks zero on_command />
            <Rows parts scene stage on_command asks />
            <BesideTrace window=scene.window whole=scene.times.whole clock=times.clock on_command />
            <NoTracks layout=scene.layout />
            <TimeNotices view reach=times.reach on_command />
            <Problem problem stage />
            <Missing missing />
            <p class="unseen" role="status" aria-live="polite">{spoken}</p>
            <SpokenWindow view window=scene.window zero=scene.times.zero />
        </section>
    }
}

/// The overview, the ruler and the bands, which do not scroll with the tracks.
#[component]
fn TimelineHead(
    parts: TimelineElements,
    scene: Scene,
    stage: StageHandle,
    bands: Bands,
    hits: Memo<Option<String>>,
    asks: Asks,
    /// The zero of timestamps, in words.
    zero: Signal<String>,
    on_command: Callback<Command>,
) -> impl IntoView {
    let base = Memo::new(move |_| Ruler::new(&scene.scale(), scene.times.zero.get().0).base);
    view! {
        <div class="timeline-head">
            <div class="timeline-corner">{move || format::duration(scene.times.whole.get().duration_ps())}</div>
            <Minimap canvas=parts.minimap span=scene.widest shown=scene.window bands hits on_command />
            <div class="timeline-corner timeline-base" title=zero>{move || base.get()}</div>
            <RulerArea parts stage zero on_command asks />
            <BandRows bands scene />
        </div>
    }
}

/// The zero of timestamps in words.
fn words_of_zero(tracks: Tracks, scene: Scene) -> Signal<String> {
    let zero_unix_ns = Memo::new(move |_| zero_unix_ns(tracks, scene));
    Signal::derive(move || zero_in_words(zero_unix_ns.get()))
}

/// Wall clock at the zero of timestamps, in nanoseconds since 1970, if the current rank states it.
fn zero_unix_ns(tracks: Tracks, scene: Scene) -> Option<i64> {
    let origin_unix_ns = tracks.sheet.with(|sheet| sheet.origin_unix_ns(tracks.current.get()))?;
    origin_unix_ns.checked_add(scene.times.zero.get().0 / PS_PER_NS)
}

fn handle_commands(steps: Steps) {
    let run = Callback::new(move |act| steps.run(act));
    let given = Callback::new(move |()| given(steps.tracks.sheet));
    expect_context::<Commands>().handle(Handler { run, given, find: None });
    glide::listen(steps.on_command);
}

/// The needs of commands that the tracks meet.
fn given(sheet: Memo<Arc<Sheet>>) -> Vec<Need> {
    let has_rank_rows = sheet.with_untracked(|sheet| sheet.rank_group().is_some());
    [Need::Timeline].into_iter().chain(has_rank_rows.then_some(Need::RankRows)).collect()
}

/// The elements that are drawn on or measured.
#[derive(Debug, Clone, Copy)]
struct TimelineElements {
    minimap: NodeRef<Canvas>,
    ruler: NodeRef<Canvas>,
    quads: NodeRef<Canvas>,
    /// Canvas for rectangles without a graphics card.
    plain: NodeRef<Canvas>,
    above: NodeRef<Canvas>,
    /// The element around both lists of tracks, as high as what is in sight of them.
    frame: NodeRef<Div>,
    /// An element as wide as the tracks.
    width: NodeRef<Div>,
    scrollers: Scrollers,
}

/// The elements that scroll.
#[derive(Debug, Clone, Copy)]
struct Scrollers {
    /// The list of pinned tracks.
    pinned: NodeRef<Div>,
    /// The list of all other tracks.
    others: NodeRef<Div>,
}

impl Scrollers {
    /// The element that scrolls a part of the rows.
    fn of(self, part: RowPart) -> NodeRef<Div> {
        match part {
            RowPart::Pinned => self.pinned,
            RowPart::Others => self.others,
        }
    }
}

impl TimelineElements {
    fn new() -> Self {
        Self {
            minimap: NodeRef::new(),
            ruler: NodeRef::new(),
            quads: NodeRef::new(),
            plain: NodeRef::new(),
            above: NodeRef::new(),
            frame: NodeRef::new(),
            width: NodeRef::new(),
            scrollers: Scrollers { pinned: NodeRef::new(), others: NodeRef::new() },
        }
    }
}

/// Content of the canvases, derived from the view.
#[derive(Debug, Clone, Copy)]
struct Scene {
    view: Signal<View>,
    tracks: Tracks,
    times: Times,
    widest: Memo<Interval>,
    window: Memo<Interval>,
    layout: Memo<Arc<Layout>>,
    /// How far the elements are scrolled: that of the pinned rows, then that of the others.
    scrolled_px: RwSignal<(f64, f64)>,
    sight: Memo<RowSight>,
}

impl Scene {
    fn new(
        view: Signal<View>,
        tracks: Tracks,
        times: Times,
        occupied: RwSignal<Occupied>,
        light: Memo<Option<Arc<Light>>>,
    ) -> Self {
        let widest = Memo::new(move |_| widest(times.whole.get()));
        let window = Memo::new(move |_| view.with(|view| view.window_in(times.reach.get())));
        let state = Memo::new(move |_| view.with(|view| view.tracks.groups.clone()));
        let size = times.tracks_size;
        let order = Memo::new(move |_| view.with(|view| view.tracks.order));
        let fit_px = Memo::new(move |_| {
            let is_fit = view.with(|view| view.tracks.height == RankHeight::Fit);
            is_fit.then(|| size.get().height_px).filter(|height_px| *height_px > 0.0)
        });
        let only_hits = Memo::new(move |_| view.with(|view| view.search.is_only_hits()));
        let layout = Memo::new(move |_| {
            let light = only_hits.get().then(|| light.get()).flatten();
            let state = TracksState { groups: state.get(), ..TracksState::default() };
            let (order, standings) = (order.get(), tracks.standings.get());
            let ranks = RankRows { key: |rank| standings.key(rank, order), fit_px: fit_px.get() };
            let is_closed = |group: &SheetTrack| state.is_closed(group);
            tracks.sheet.with(|sheet| {
                let usual = Layout::of_ranks(sheet, Some(ranks), is_closed);
                let usual = match &light {
                    Some(light) => usual.of_hits(sheet, |source, track| light.has_hits(source, track)),
                    None => usual,
                };
                Arc::new(occupied.with(|occupied| usual.shrunk(sheet, occupied)))
            })
        });
        let scrolled_px = RwSignal::new((0.0, 0.0));
        let sight = Memo::new(move |_| {
            let (pinned_px, others_px) = scrolled_px.get();
            layout.with(|layout| RowSight::new(layout, size.get().height_px, pinned_px, others_px))
        });
        Self { view, tracks, times, widest, window, layout, scrolled_px, sight }
    }

    /// How far a part of the rows is scrolled.
    fn scrolled_px(self, part: RowPart) -> f64 {
        let (pinned_px, others_px) = self.scrolled_px.get();
        match part {
            RowPart::Pinned => pinned_px,
            RowPart::Others => others_px,
        }
    }

    fn scale(self) -> TimeScale {
        TimeScale { window: self.window.get(), width_px: self.times.tracks_size.get().width_px }
    }
}

/// Gives the canvases to the stage once they are in the page. `missing` receives what the browser
/// lacks to draw on them.
fn open_canvases(stage: StageHandle, parts: TimelineElements, missing: RwSignal<Option<String>>) {
    Effect::new(move |_| {
        let (Some(card), Some(plain)) = (parts.quads.get(), parts.plain.get()) else { return };
        let (Some(above), Some(ruler), Some(minimap)) =
            (parts.above.get(), parts.ruler.get(), parts.minimap.get())
        else {
            return;
        };
        let canvases = Canvases { grounds: Grounds { card, plain }, above, ruler, minimap };
        missing.set(stage.with(|stage| stage.open(canvases)).flatten());
        stage.invalidate();
    });
}

/// The items that stand out on the canvases.
#[derive(Clone, Copy)]
struct Marked {
    /// The selected slice.
    selected: Signal<Option<Arc<SliceDetail>>>,
    /// The operation on which the pointer rests.
    pointed: Memo<Option<Arc<SliceDetail>>>,
    /// Answers about the run.
    run: DrawnRun,
    /// The boxes of findings.
    boxes: Memo<Arc<Vec<PlacedBox>>>,
}

/// The boxes of findings with their rows.
fn placed(bands: Bands, scene: Scene) -> Memo<Arc<Vec<PlacedBox>>> {
    Memo::new(move |_| {
        let (sheet, layout) = (scene.tracks.sheet.get(), scene.layout.get());
        Arc::new(bands.boxes.with(|boxes| placed_boxes(boxes, &sheet, &layout)))
    })
}

/// Updates the stage whenever any drawn value has changed.
fn show(stage: StageHandle, scene: Scene, Marked { selected, pointed, run, boxes }: Marked) {
    let theme = expect_context::<CurrentTheme>();
    let source = Source::of_page();
    Effect::new(move |_| {
        let (profiles, marked, reading) = scene
            .view
            .with(|view| (view.profiles.clone(), view.selection.marked, view.selection.reading.clone()));
        stage.show(ShownTimeline {
            source: Some(source),
            profiles,
            sheet: scene.tracks.sheet.get(),
            current: scene.tracks.current.get(),
            widest: scene.widest.get(),
            zero: scene.times.zero.get(),
            layout: scene.layout.get(),
            window: scene.window.get(),
            size: scene.times.tracks_size.get(),
            sight: scene.sight.get(),
            selected: selected.get(),
            pointed: pointed.get(),
            reading,
            marked,
            path: run.path.get(),
            waits: run.waits.get(),
            light: run.light.get(),
            boxes: boxes.get(),
            ground: match theme.get() {
                Theme::Light => Ground::Light,
                Theme::Dark => Ground::Dark,
            },
        });
    });
}
