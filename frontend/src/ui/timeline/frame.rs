//! Draws one frame: requests the tiles in sight, uploads new ones, and paints what is here.

use std::collections::HashMap;

use leptos::prelude::window;
use nprof_engine::base::Interval;
use nprof_engine::wire::detail::{SliceDetail, SliceEntry};
use nprof_engine::wire::tile::Tile;

use super::canvas_content::{GestureState, Hit, ShownTimeline};
use super::canvases::{Below, RULER_PX, Ruled};
use super::first_picture;
use super::minimap::Overview;
use super::stage::{Outcome, Stage};
use super::tiles::{TileStep, now_ms};
use crate::draw::arrow::arrows;
use crate::draw::batch::Batch;
use crate::draw::finding_box::DrawnBoxes;
use crate::draw::front::{FrontOf, front};
use crate::draw::label::{Label, labels};
use crate::draw::light_band::light_bands;
use crate::draw::overlay::{Above, AreaAbove, Pen, Shade};
use crate::draw::painter::Painter;
use crate::draw::path_line::PathLine;
use crate::draw::path_veil::clear_places;
use crate::draw::scene::Camera;
use crate::draw::surface::Surface;
use crate::draw::transfer::transfers;
use crate::draw::wait_band::{wait_bands, wait_names};
use crate::fetch::cache::Piece;
use crate::fetch::{TileKey, TileNeeds};
use crate::ui::text::format;
use crate::view::run_waits::WaitStretch;
use crate::view::time::ticks::Ruler;
use crate::view::{Hovered, Reading, Size};

/// Work that a frame may do beside drawing.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    /// Time limit for taking answers. The last step can exceed it.
    answers_ms: f64,
    /// Number of requests to send. The browser takes up to a millisecond for each.
    requests: usize,
}

impl Allowance {
    /// A frame that moves must not be late.
    const MOVING: Self = Self { answers_ms: 1.0, requests: 2 };
    /// Nobody notices if a frame is a little late that shows the same part as the frame before it,
    /// and all tiles are wanted soon.
    const RESTING: Self = Self { answers_ms: 3.0, requests: 4 };
    /// The first picture is not delayed.
    const FIRST: Self = Self { answers_ms: f64::INFINITY, requests: usize::MAX };
}

/// Time limit for adding tiles to the minimap in a frame.
const MINIMAP_MS: f64 = 1.0;

impl Stage {
    /// Draws a frame.
    pub(super) fn frame(&mut self) -> Outcome {
        self.is_frame_requested = false;
        if self.shown.sheet.tracks().is_empty() {
            return Outcome::default();
        }
        let Size { width_px, height_px } = self.shown.size;
        if width_px < 1.0 || height_px < 1.0 || self.tools.is_none() {
            return Outcome::default();
        }
        let ratio = window().device_pixel_ratio().max(0.5);
        let scale = self.shown.scale();
        let rows: Vec<_> = self.shown.sight.rows(&self.shown.layout).copied().collect();
        let wanted = TileNeeds::new(&self.shown.sheet, &self.shown.layout, &rows, &scale, ratio);
        let allowance = self.allowance();
        let mut is_unfinished = self.take_answers(&wanted, allowance.answers_ms);
        let fetch = self.tiles.plan(&wanted, self.shown.current, allowance.requests);
        is_unfinished |= fetch.has_more;
        let mut pieces = Vec::new();
        wanted.shown.iter().for_each(|id| self.tiles.cache().pieces(*id, &mut pieces));
        let hover = self.hover();
        is_unfinished |= self.paint(&pieces, ratio);
        if !pieces.is_empty() && !std::mem::replace(&mut self.has_drawn, true) {
            first_picture::mark();
        }
        let problem = self.tiles.cache().failure(&wanted.shown).map(ToString::to_string);
        let occupied = self.newly_occupied(&wanted);
        Outcome { is_unfinished, fetch, hover, problem, occupied }
    }

    /// Work that this frame may do beside drawing.
    fn allowance(&mut self) -> Allowance {
        let part = (self.shown.window, self.shown.sight);
        let is_moving = self.drawn_part.replace(part).is_some_and(|before| before != part);
        match (self.has_drawn, is_moving) {
            (false, _) => Allowance::FIRST,
            (true, true) => Allowance::MOVING,
            (true, false) => Allowance::RESTING,
        }
    }

    /// Unpacks answers and computes the rectangles of their tiles, for a limited time. Returns true
    /// if answers are left for the next frame.
    ///
    /// Many answers arrive during one slow frame, and many tiles come into sight at once. No frame
    /// is slow because of them: a tile in sight enters the cache together with its rectangles.
    fn take_answers(&mut self, wanted: &TileNeeds, at_most_ms: f64) -> bool {
        let start_ms = now_ms();
        while let Some(step) = self.tiles.take_step() {
            // The overview of other groups is for the minimap alone.
            if let TileStep::Cached(key) = step
                && wanted.is_in_sight(&key)
                && let Some(tile) = self.tiles.cache().tile(key).cloned()
            {
                self.update_batch(key, &tile);
            }
            if now_ms() - start_ms >= at_most_ms {
                break;
            }
        }
        self.tiles.has_answers()
    }

    /// Paints all canvases. Returns true if the minimap is not complete.
    fn paint(&mut self, pieces: &[Piece], ratio: f64) -> bool {
        if let Some(tools) = &self.tools {
            tools.fit(self.shown.size, ratio);
        }
        self.update_batches(pieces);
        let Size { width_px, height_px } = self.shown.size;
        let (scale, ground, sight) = (self.shown.scale(), self.shown.ground, self.shown.sight);
        let (sheet, layout, source) = (&*self.shown.sheet, &*self.shown.layout, self.shown.current);
        let (shape, names, span) = (&self.shape, &self.names, self.shown.widest);
        let Some(tools) = &mut self.tools else { return false };
        let ruler = Ruler::new(&scale, self.shown.zero.0);
        let camera = |area| Camera { scale, sight, area, sheet, source, shape, layout, names, ground };
        let (cameras, batches) = (sight.areas().map(camera).collect::<Vec<_>>(), &self.batches);
        let waits = self.shown.waits.as_deref().map_or(&[][..], Vec::as_slice);
        let tiles = |camera| DrawnTiles { camera, pieces, batches, waits };
        let are_bands_stale = std::mem::take(&mut self.are_bands_stale);
        let spans = pieces.iter().map(|piece| (piece.id, piece.clip)).collect();
        let below = Below { scale, sight, ratio, ground, pieces: spans, waits: self.shown.waits.clone() };
        if (tools.is_below_new(below) || are_bands_stale)
            && let Some(painter) = &mut tools.painter
        {
            if are_bands_stale {
                painter.set_bands(shape.bands(sheet, layout));
            }
            let lines_px = ruler.ticks.iter().map(|tick| scale.px_from_time(tick.time_ps)).collect();
            let surface = Surface { width_px, height_px, ratio, lines_px, ground };
            painter.set_palette(ground);
            painter.clear(&surface);
            cameras.iter().for_each(|camera| tiles(camera).paint(painter, &surface));
        }
        let boxes = &self.shown.boxes;
        let areas = cameras.iter().map(|camera| AreaAbove {
            labels: tiles(camera).labels(&mut tools.above),
            boxes: DrawnBoxes::of(camera, boxes, &mut |text| tools.above.width_px(text)),
            ..area_above(camera, &self.shown, self.hovered.as_ref())
        });
        let areas: Vec<_> = areas.collect();
        self.selected_rects = areas.iter().filter_map(|area| area.selected).collect();
        self.tags = areas.iter().flat_map(|area| area.boxes.tags.iter().cloned()).collect();
        if let (Some(lit), Some(light)) = (&mut tools.lit, &self.shown.light) {
            lit.paint(light, &self.shown.sheet, ground, areas.iter().flat_map(|area| &area.light));
        }
        let above = above(&camera(sight.others), &self.shown, &self.gesture, areas);
        let above = Above { lit: tools.lit.as_ref().filter(|_| self.shown.light.is_some()), ..above };
        tools.above.draw_above(&scale, height_px, ratio, ground, &above);
        let ruled = Ruled { scale, zero_ps: self.shown.zero.0, ratio, ground, shades: above.shades };
        if tools.is_ruler_new(ruled.clone()) {
            tools.ruler.draw_ruler(&scale, &ruler, RULER_PX, ratio, ground, &ruled.shades);
        }
        tools.minimap.draw(
            &tools.canvases.minimap,
            Overview { sheet, source, span },
            self.tiles.overview(source),
            ground,
            MINIMAP_MS,
        )
    }

    /// Drops the rectangles of tiles that are gone, and computes those of tiles without any: tiles
    /// that replace others, and all tiles after a change of the look or of the graphics card.
    fn update_batches(&mut self, pieces: &[Piece]) {
        for id in self.tiles.take_dropped() {
            self.batches.remove(&id);
            if let Some(painter) = self.painter() {
                painter.drop_tile(id);
            }
        }
        for piece in pieces {
            self.update_batch(piece.id, &piece.tile);
        }
    }

    /// Computes and uploads the rectangles of a tile, if they are missing.
    fn update_batch(&mut self, id: TileKey, tile: &Tile) {
        let is_new = self.painter().is_some_and(|painter| !painter.has(id));
        if !is_new && self.batches.contains_key(&id) {
            return;
        }
        let (sheet, look) = (&*self.shown.sheet, self.shown.layout.rank_look);
        let mut batch = Batch::looking(look, tile, id.source, sheet, &self.shape, &self.names);
        if let Some(painter) = self.painter() {
            painter.upload(id, &batch);
        }
        // From now on only the lanes of the instances are needed.
        batch.instances = Vec::new();
        self.batches.insert(id, batch);
    }

    fn painter(&mut self) -> Option<&mut Painter> {
        self.tools.as_mut()?.painter.as_mut()
    }
}

/// The tiles of a frame, with their rectangles.
struct DrawnTiles<'f, 'a> {
    camera: &'f Camera<'a>,
    pieces: &'a [Piece],
    batches: &'f HashMap<TileKey, Batch>,
    waits: &'a [WaitStretch],
}

impl<'a> DrawnTiles<'_, 'a> {
    /// Paints the rectangles of all tiles in the area of the camera.
    fn paint(&self, painter: &mut Painter, surface: &Surface) {
        let area = &self.camera.area;
        let quads = |piece: &Piece| self.camera.quads(piece, self.batches.get(&piece.id)?);
        let quads: Vec<_> = self.pieces.iter().filter_map(quads).collect();
        painter.draw(surface, area, &quads);
        let mut loose = self.camera.group_bands(self.drawn(), surface.ratio);
        loose.extend(self.camera.cut_diamonds(self.drawn(), surface.ratio));
        loose.extend(wait_bands(self.camera, self.waits, surface.ratio));
        painter.draw_loose(surface, area, &loose);
    }

    /// The labels of all tiles in the area of the camera. `pen` measures them.
    fn labels(&self, pen: &mut Pen) -> Vec<Label<'a>> {
        let width_px = &mut |text: &str| pen.width_px(text);
        let mut all = labels(self.camera, self.drawn(), width_px);
        all.extend(wait_names(self.camera, self.waits, width_px));
        all
    }

    fn drawn(&self) -> impl Iterator<Item = (&'a Piece, &Batch)> + Clone {
        self.pieces.iter().filter_map(|piece| Some((piece, self.batches.get(&piece.id)?)))
    }
}

/// The drawing above all areas. Arrows lead from one area to another.
fn above<'a>(
    camera: &Camera<'a>,
    shown: &ShownTimeline,
    gesture: &GestureState,
    areas: Vec<AreaAbove<'a>>,
) -> Above<'a> {
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
    Above {
        areas,
        arrows: shown
            .selected
            .as_ref()
            .map_or_else(Vec::new, |detail| arrows(camera, detail, format::duration)),
        path: shown.path.as_ref().map_or_else(PathLine::default, |path| PathLine::of(camera, path)),
        lit: None,
        shades: marked.into_iter().chain(dragged).collect(),
        pointer_px: gesture.pointer.map(|pointer| pointer.at.x_px),
    }
}

/// The drawing above the area of a camera, without labels.
fn area_above<'a>(camera: &Camera<'a>, shown: &ShownTimeline, hovered: Option<&Hit>) -> AreaAbove<'a> {
    let rect_of = |slice: &SliceEntry| {
        let track = camera.sheet.position(camera.source, slice.track)?;
        camera.rect(track, slice.lane, slice.start_ps, slice.duration_ps)
    };
    let rect_of_reading = |Reading { track, time_ps }: &Reading| {
        camera.rect(camera.sheet.find(camera.source, track)?, 0, *time_ps, 0)
    };
    AreaAbove {
        area: camera.area,
        labels: Vec::new(),
        boxes: DrawnBoxes::default(),
        clear: shown.path.as_deref().map(|path| clear_places(camera, path)),
        light: shown.light.as_ref().map_or_else(Vec::new, |light| light_bands(camera, light)),
        hovered: hovered.and_then(|hit| match hit.what {
            Hovered::Slice { start_ps, duration_ps, .. } | Hovered::Limit { start_ps, duration_ps, .. } => {
                camera.rect(hit.track, hit.lane, start_ps, duration_ps)
            }
            Hovered::Cell { span, .. } => camera.rect(hit.track, hit.lane, span.start.0, span.duration_ps()),
            Hovered::Group { .. } | Hovered::Sample { .. } | Hovered::Range { .. } | Hovered::Finding(_) => {
                None
            }
        }),
        selected: match &shown.reading {
            Some(reading) => rect_of_reading(reading),
            None => shown.selected.as_ref().and_then(|detail| rect_of(&detail.slice)),
        },
        fronts: operations(shown).filter_map(|(one, of)| front(camera, &one.members, of)).collect(),
        transfers: operations(shown).flat_map(|(one, _)| transfers(camera, one)).collect(),
    }
}

/// The operation under the pointer and the selected one, which is drawn last.
fn operations(shown: &ShownTimeline) -> impl Iterator<Item = (&SliceDetail, FrontOf)> {
    let selected = shown.selected.as_deref().filter(|_| shown.reading.is_none());
    let pointed = shown.pointed.as_deref();
    let pointed = pointed.filter(|one| selected.is_none_or(|selected| selected.members != one.members));
    let both = [(pointed, FrontOf::Pointed), (selected, FrontOf::Selected)];
    both.into_iter().filter_map(|(one, of)| Some((one?, of)))
}
