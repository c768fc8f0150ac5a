//! Draws the timeline's canvases, frame by frame. A frame is drawn only after a change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::leptos_dom::helpers::{request_animation_frame, set_timeout};
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::tile::TileId;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};

use super::canvases::{Below, Canvases, RULER_PX, Ruled, Tools};
use super::first_picture;
use super::tiles::Tiles;
use crate::draw::arrow::arrows;
use crate::draw::batch::Batch;
use crate::draw::names::Names;
use crate::draw::overlay::{Above, Shade};
use crate::draw::palette::Ground;
use crate::draw::scene::{Camera, Labels};
use crate::draw::shape::Shape;
use crate::draw::surface::Surface;
use crate::fetch::FetchError;
use crate::fetch::RankSource;
use crate::fetch::cache::Piece;
use crate::fetch::decode::PackedTile;
use crate::ui::format;
use crate::view::ticks::Ruler;
use crate::view::{Hover, Hovered, Layout, Reading, TimeScale};

/// Time limit for unpacking tiles in a frame. The first drawing of these tiles takes about twice as
/// long again.
const UNPACK_MS: f64 = 1.5;

/// Content of the canvases. Replaced as a whole whenever a part changes.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// The source of answers about the rank.
    pub source: Option<RankSource>,
    /// The rank.
    pub rank: Option<Arc<RankDetail>>,
    /// From the first timestamp of the profile to the last. Its start counts as zero.
    pub whole: Interval,
    /// The rank's rows.
    pub layout: Arc<Layout>,
    /// The visible span.
    pub window: Interval,
    /// Width and height of the tracks in CSS pixels.
    pub size_px: (f64, f64),
    /// Distance of the tracks' top from the top of the first row.
    pub scroll_px: f64,
    /// The selected slice.
    pub selected: Option<Arc<SliceDetail>>,
    /// The counter that is read instead of a selected slice.
    pub reading: Option<Reading>,
    /// The marked span.
    pub marked: Option<Interval>,
    /// Background of the canvases.
    pub ground: Ground,
}

impl Shown {
    /// The time scale of the tracks.
    #[must_use]
    pub fn scale(&self) -> TimeScale {
        TimeScale { window: self.window, width_px: self.size_px.0 }
    }
}

/// State of a pointer gesture.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gesture {
    /// Position of the pointer, in CSS pixels of the tracks and of the viewport.
    pub pointer: Option<Pointer>,
    /// The span that is being dragged.
    pub dragged: Option<Interval>,
}

/// Position of the pointer, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pointer {
    /// Distance from the left of the tracks.
    pub x_px: f64,
    /// Distance from the top of the tracks.
    pub y_px: f64,
    /// Position in the viewport.
    pub client_px: (f64, f64),
}

/// The item at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Number of the track.
    pub track: u32,
    /// Number of the lane.
    pub lane: u32,
    /// The item.
    pub what: Hovered,
}

/// State of the timeline's drawing.
#[derive(Debug, Default)]
pub struct Stage {
    pub(super) shown: Shown,
    pub(super) shape: Shape,
    pub(super) tiles: Tiles,
    tools: Option<Tools>,
    batches: HashMap<TileId, Batch>,
    names: Names,
    gesture: Gesture,
    hovered: Option<Hit>,
    is_frame_requested: bool,
    are_bands_stale: bool,
    /// True after the rank's first slices were drawn.
    has_drawn: bool,
}

/// Work that a frame leaves until the stage is no longer borrowed.
#[derive(Debug, Default)]
struct Outcome {
    /// True if another frame is needed.
    is_unfinished: bool,
    fetch: super::tiles::Orders,
    hover: Option<Option<Hover>>,
    problem: Option<String>,
}

/// A handle to the stage, for event handlers and answers to requests. It does nothing after the
/// timeline is gone.
#[derive(Debug, Clone, Copy)]
pub struct StageHandle {
    stage: StoredValue<Rc<RefCell<Stage>>, LocalStorage>,
    on_hover: Callback<Option<Hover>>,
    problem: RwSignal<Option<String>>,
}

impl StageHandle {
    /// Creates an empty stage. `problem` receives the reason why tiles are missing.
    #[must_use]
    pub fn new(on_hover: Callback<Option<Hover>>, problem: RwSignal<Option<String>>) -> Self {
        Self { stage: StoredValue::new_local(Rc::default()), on_hover, problem }
    }

    /// Accesses the stage.
    pub fn with<R>(self, look: impl FnOnce(&mut Stage) -> R) -> Option<R> {
        let stage = self.stage.try_get_value()?;
        let mut stage = stage.try_borrow_mut().ok()?;
        Some(look(&mut stage))
    }

    /// Requests a frame.
    pub fn invalidate(self) {
        let is_first = self.with(|stage| !std::mem::replace(&mut stage.is_frame_requested, true));
        if is_first == Some(true) {
            request_animation_frame(move || self.frame());
        }
    }

    fn frame(self) {
        let Some(outcome) = self.with(Stage::frame) else { return };
        for order in outcome.fetch.start {
            order.send(move |id, generation, answer| self.arrived(id, generation, answer));
        }
        if let Some(wait_ms) = outcome.fetch.retry_in_ms {
            set_timeout(move || self.invalidate(), Duration::from_millis(wait_ms));
        }
        if outcome.is_unfinished {
            self.invalidate();
        }
        if let Some(hover) = outcome.hover {
            self.on_hover.run(hover);
        }
        if self.problem.try_get_untracked().is_some_and(|now| now != outcome.problem) {
            self.problem.set(outcome.problem);
        }
    }

    fn arrived(self, id: TileId, generation: u64, answer: Result<PackedTile, FetchError>) {
        if self.with(|stage| stage.tiles.arrived(id, generation, answer)) == Some(true) {
            self.invalidate();
        }
    }

    /// Sends all failed requests again.
    pub fn retry(self) {
        self.with(|stage| stage.tiles.forgive());
        self.invalidate();
    }

    /// Sets the content to show.
    pub fn show(self, shown: Shown) {
        self.with(|stage| stage.show(shown));
        self.invalidate();
    }

    /// Changes the state of the gesture.
    pub fn gesture(self, change: impl FnOnce(&mut Gesture)) {
        self.with(|stage| change(&mut stage.gesture));
        self.invalidate();
    }
}

impl Stage {
    /// Takes the canvases. The returned text says what cannot be drawn. It stays true until the
    /// page is loaded again.
    pub fn open(&mut self, canvases: Canvases) -> Option<String> {
        self.are_bands_stale = true;
        match Tools::new(canvases) {
            Ok((tools, missing)) => {
                self.tools = Some(tools);
                missing
            }
            Err(reason) => Some(reason),
        }
    }

    /// Handles loss or return of the graphics card.
    pub fn change_card(&mut self, change: impl FnOnce(&mut Tools)) {
        if let Some(tools) = &mut self.tools {
            change(tools);
        }
        self.are_bands_stale = true;
    }

    /// The content that is shown.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    fn show(&mut self, shown: Shown) {
        let is_same = |a: &Option<Arc<RankDetail>>, b: &Option<Arc<RankDetail>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let is_other = !is_same(&self.shown.rank, &shown.rank);
        if is_other {
            self.has_drawn = false;
            self.names = shown.rank.as_deref().map(|rank| Names::new(&rank.names)).unwrap_or_default();
            self.shape = shown.rank.as_deref().map(Shape::new).unwrap_or_default();
            self.tiles.open(shown.source.clone(), shown.rank.clone());
            self.batches.clear();
            self.hovered = None;
            if let Some(painter) = self.tools.as_mut().and_then(|tools| tools.painter.as_mut()) {
                painter.drop_all();
            }
            self.are_bands_stale = true;
        }
        self.are_bands_stale |= !Arc::ptr_eq(&self.shown.layout, &shown.layout);
        self.shown = shown;
    }

    fn frame(&mut self) -> Outcome {
        self.is_frame_requested = false;
        let Some(rank) = self.shown.rank.clone() else { return Outcome::default() };
        let (width_px, height_px) = self.shown.size_px;
        if width_px < 1.0 || height_px < 1.0 || self.tools.is_none() {
            return Outcome::default();
        }
        // The first picture is not delayed.
        let is_unfinished = self.tiles.unpack(if self.has_drawn { UNPACK_MS } else { f64::INFINITY });
        let ratio = window().device_pixel_ratio().max(0.5);
        let scale = self.shown.scale();
        let top_px = self.shown.scroll_px;
        let rows = self.shown.layout.visible(top_px, top_px + height_px);
        let (wanted, fetch) = self.tiles.plan(&self.shown.layout, rows, &scale, ratio);
        let mut pieces = Vec::new();
        wanted.shown.iter().for_each(|id| self.tiles.cache().pieces(*id, &mut pieces));
        let hover = self.hover();
        self.paint(&rank, &pieces, ratio);
        if !pieces.is_empty() && !std::mem::replace(&mut self.has_drawn, true) {
            first_picture::mark();
        }
        let problem = self.tiles.cache().failure(&wanted.shown).map(ToString::to_string);
        Outcome { is_unfinished, fetch, hover, problem }
    }

    fn paint(&mut self, rank: &RankDetail, pieces: &[Piece], ratio: f64) {
        let (width_px, height_px) = self.shown.size_px;
        let (scale, ground, scroll_px) = (self.shown.scale(), self.shown.ground, self.shown.scroll_px);
        let layout = Arc::clone(&self.shown.layout);
        let Some(tools) = &mut self.tools else { return };
        tools.fit((width_px, height_px), ratio);
        for id in self.tiles.take_dropped() {
            self.batches.remove(&id);
            if let Some(painter) = &mut tools.painter {
                painter.drop_tile(id);
            }
        }
        let zero_ps = self.shown.whole.start.0;
        let ruler = Ruler::new(&scale, zero_ps);
        for piece in pieces {
            let is_new = tools.painter.as_ref().is_some_and(|painter| !painter.has(piece.id));
            if is_new || !self.batches.contains_key(&piece.id) {
                let mut batch = Batch::new(&piece.tile, &rank.tracks, &self.shape, &self.names);
                if let Some(painter) = &mut tools.painter {
                    painter.upload(piece.id, &batch);
                }
                // From now on only the lanes of the instances are needed.
                batch.instances = Vec::new();
                self.batches.insert(piece.id, batch);
            }
        }
        let (shape, names) = (&self.shape, &self.names);
        let camera = Camera { scale, scroll_px, height_px, rank, shape, layout: &layout, names, ground };
        let are_bands_stale = std::mem::take(&mut self.are_bands_stale);
        let below = Below {
            scale,
            height_px,
            scroll_px,
            ratio,
            ground,
            pieces: pieces.iter().map(|piece| (piece.id, piece.clip)).collect(),
        };
        if (tools.is_below_new(below) || are_bands_stale)
            && let Some(painter) = &mut tools.painter
        {
            if are_bands_stale {
                painter.set_bands(self.shape.bands(&rank.tracks, &layout));
            }
            painter.set_palette(ground);
            let quads = |piece: &Piece| camera.quads(piece, self.batches.get(&piece.id)?);
            let quads: Vec<_> = pieces.iter().filter_map(quads).collect();
            let lines_px = ruler.ticks.iter().map(|tick| scale.px_from_time(tick.time_ps)).collect();
            let surface = Surface { width_px, height_px, scroll_px, ratio, lines_px, ground };
            painter.draw(&surface, &quads);
            let drawn = pieces.iter().filter_map(|piece| Some((piece, self.batches.get(&piece.id)?)));
            painter.draw_loose(&surface, &camera.group_bands(drawn, ratio));
        }
        let mut above = above(&camera, &self.shown, &self.gesture, self.hovered.as_ref());
        for piece in pieces {
            if let Some(batch) = self.batches.get(&piece.id) {
                camera.labels(piece, batch, &mut |text| tools.above.width_px(text), &mut above.labels);
            }
        }
        tools.above.draw_above(&scale, height_px, ratio, ground, &above);
        let ruled = Ruled { scale, zero_ps, ratio, ground, shades: above.shades };
        if tools.is_ruler_new(ruled.clone()) {
            tools.ruler.draw_ruler(&scale, &ruler, RULER_PX, ratio, ground, &ruled.shades);
        }
        let whole = self.shown.whole;
        tools.minimap.draw(
            &tools.canvases.minimap,
            (rank, whole),
            &self.shape,
            self.tiles.overview(),
            ground,
        );
    }

    /// The item under the pointer, if it changed.
    fn hover(&mut self) -> Option<Option<Hover>> {
        let pointer = self.gesture.pointer.filter(|_| self.gesture.dragged.is_none());
        let hit = pointer.and_then(|at| self.hit(at.x_px, at.y_px));
        let is_same = hit == self.hovered && (hit.is_none() || pointer.is_none());
        self.hovered.clone_from(&hit);
        let tell =
            || Some(Hover { client_px: pointer?.client_px, track: hit.as_ref()?.track, what: hit?.what });
        (!is_same).then(tell)
    }
}

fn above<'a>(camera: &Camera<'a>, shown: &Shown, gesture: &Gesture, hovered: Option<&Hit>) -> Above<'a> {
    let scale = &camera.scale;
    let shade = |span: Interval, label: String| Shade {
        span_px: (
            scale.px_from_time(span.start.0).max(-1.0),
            scale.px_from_time(span.end.0).min(scale.width_px + 1.0),
        ),
        label,
    };
    let label = |span: Interval| format::duration(span.duration_ps());
    let is_in_sight = |span: &Interval| scale.window.overlaps(span.start.0, span.end.0);
    let marked = shown.marked.filter(is_in_sight).map(|span| shade(span, label(span)));
    let dragged = gesture.dragged.map(|span| shade(span, label(span)));
    let rect_of =
        |slice: &SliceEntry| camera.rect(slice.track, slice.lane, slice.start_ps, slice.duration_ps);
    Above {
        labels: Labels::default(),
        hovered: hovered.and_then(|hit| match hit.what {
            Hovered::Slice { start_ps, duration_ps, .. } => {
                camera.rect(hit.track, hit.lane, start_ps, duration_ps)
            }
            Hovered::Cell { span, .. } => camera.rect(hit.track, hit.lane, span.start.0, span.duration_ps()),
            Hovered::Group { .. } | Hovered::Sample { .. } | Hovered::Range { .. } => None,
        }),
        selected: match shown.reading {
            Some(Reading { track, time_ps }) => camera.rect(track, 0, time_ps, 0),
            None => shown.selected.as_ref().and_then(|detail| rect_of(&detail.slice)),
        },
        arrows: shown
            .selected
            .as_ref()
            .map_or_else(Vec::new, |detail| arrows(camera, detail, format::duration)),
        shades: marked.into_iter().chain(dragged).collect(),
        pointer_px: gesture.pointer.map(|pointer| pointer.x_px),
    }
}
