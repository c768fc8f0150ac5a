//! Draws one frame: requests the tiles in sight, uploads new ones, and paints what is here.

use std::sync::Arc;

use leptos::prelude::window;
use nprof_engine::base::Interval;
use nprof_engine::wire::detail::SliceEntry;

use super::canvases::{Below, RULER_PX, Ruled};
use super::first_picture;
use super::minimap::Overview;
use super::shown::{Gesture, Hit, Shown};
use super::stage::{Outcome, Stage};
use crate::draw::arrow::arrows;
use crate::draw::batch::Batch;
use crate::draw::front::{Front, FrontOf, front};
use crate::draw::label::labels;
use crate::draw::overlay::{Above, Shade};
use crate::draw::scene::Camera;
use crate::draw::surface::Surface;
use crate::fetch::Wanted;
use crate::fetch::cache::Piece;
use crate::ui::format;
use crate::view::ticks::Ruler;
use crate::view::{Hovered, Reading};

/// Time limit for unpacking tiles in a frame. The first drawing of these tiles takes about twice as
/// long again.
const UNPACK_MS: f64 = 1.5;
/// Time limit for adding tiles to the minimap in a frame.
const MINIMAP_MS: f64 = 1.0;

impl Stage {
    /// Draws a frame.
    pub(super) fn frame(&mut self) -> Outcome {
        self.is_frame_requested = false;
        if self.shown.sheet.tracks().is_empty() {
            return Outcome::default();
        }
        let (width_px, height_px) = self.shown.size_px;
        if width_px < 1.0 || height_px < 1.0 || self.tools.is_none() {
            return Outcome::default();
        }
        // The first picture is not delayed.
        let mut is_unfinished = self.tiles.unpack(if self.has_drawn { UNPACK_MS } else { f64::INFINITY });
        let ratio = window().device_pixel_ratio().max(0.5);
        let scale = self.shown.scale();
        let top_px = self.shown.scroll_px;
        let rows = self.shown.layout.visible(top_px, top_px + height_px);
        let wanted = Wanted::new(&self.shown.sheet, &self.shown.layout, rows, &scale, ratio);
        let fetch = self.tiles.plan(&wanted, self.shown.current);
        let mut pieces = Vec::new();
        wanted.shown.iter().for_each(|id| self.tiles.cache().pieces(*id, &mut pieces));
        let hover = self.hover();
        is_unfinished |= self.paint(&pieces, ratio);
        if !pieces.is_empty() && !std::mem::replace(&mut self.has_drawn, true) {
            first_picture::mark();
        }
        let problem = self.tiles.cache().failure(&wanted.shown).map(ToString::to_string);
        Outcome { is_unfinished, fetch, hover, problem }
    }

    /// Paints all canvases. Returns true if the minimap is not complete.
    fn paint(&mut self, pieces: &[Piece], ratio: f64) -> bool {
        let (width_px, height_px) = self.shown.size_px;
        let (scale, ground, scroll_px) = (self.shown.scale(), self.shown.ground, self.shown.scroll_px);
        let (sheet, layout) = (Arc::clone(&self.shown.sheet), Arc::clone(&self.shown.layout));
        let (sheet, source) = (&*sheet, self.shown.current);
        let Some(tools) = &mut self.tools else { return false };
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
                let (look, source) = (layout.rank_look, piece.id.source);
                let mut batch = Batch::looking(look, &piece.tile, source, sheet, &self.shape, &self.names);
                if let Some(painter) = &mut tools.painter {
                    painter.upload(piece.id, &batch);
                }
                // From now on only the lanes of the instances are needed.
                batch.instances = Vec::new();
                self.batches.insert(piece.id, batch);
            }
        }
        let (shape, names) = (&self.shape, &self.names);
        let layout = &*layout;
        let camera = Camera { scale, scroll_px, height_px, sheet, source, shape, layout, names, ground };
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
                painter.set_bands(self.shape.bands(sheet, layout));
            }
            painter.set_palette(ground);
            let quads = |piece: &Piece| camera.quads(piece, self.batches.get(&piece.id)?);
            let quads: Vec<_> = pieces.iter().filter_map(quads).collect();
            let lines_px = ruler.ticks.iter().map(|tick| scale.px_from_time(tick.time_ps)).collect();
            let surface = Surface { width_px, height_px, scroll_px, ratio, lines_px, ground };
            painter.draw(&surface, &quads);
            let drawn = pieces.iter().filter_map(|piece| Some((piece, self.batches.get(&piece.id)?)));
            let mut loose = camera.group_bands(drawn.clone(), ratio);
            loose.extend(camera.cut_diamonds(drawn, ratio));
            painter.draw_loose(&surface, &loose);
        }
        let mut above = above(&camera, &self.shown, &self.gesture, self.hovered.as_ref());
        let drawn = pieces.iter().filter_map(|piece| Some((piece, self.batches.get(&piece.id)?)));
        above.labels = labels(&camera, drawn, &mut |text| tools.above.width_px(text));
        tools.above.draw_above(&scale, height_px, ratio, ground, &above);
        let ruled = Ruled { scale, zero_ps, ratio, ground, shades: above.shades };
        if tools.is_ruler_new(ruled.clone()) {
            tools.ruler.draw_ruler(&scale, &ruler, RULER_PX, ratio, ground, &ruled.shades);
        }
        let whole = self.shown.whole;
        tools.minimap.draw(
            &tools.canvases.minimap,
            Overview { sheet, source, whole },
            self.tiles.overview(source),
            (ground, MINIMAP_MS),
        )
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
    let rect_of = |slice: &SliceEntry| {
        let track = camera.sheet.position(camera.source, slice.track)?;
        camera.rect(track, slice.lane, slice.start_ps, slice.duration_ps)
    };
    let rect_of_reading = |Reading { track, time_ps }: &Reading| {
        camera.rect(camera.sheet.find(camera.source, track)?, 0, *time_ps, 0)
    };
    Above {
        labels: Vec::new(),
        hovered: hovered.and_then(|hit| match hit.what {
            Hovered::Slice { start_ps, duration_ps, .. } => {
                camera.rect(hit.track, hit.lane, start_ps, duration_ps)
            }
            Hovered::Cell { span, .. } => camera.rect(hit.track, hit.lane, span.start.0, span.duration_ps()),
            Hovered::Group { .. } | Hovered::Sample { .. } | Hovered::Range { .. } => None,
        }),
        selected: match &shown.reading {
            Some(reading) => rect_of_reading(reading),
            None => shown.selected.as_ref().and_then(|detail| rect_of(&detail.slice)),
        },
        arrows: shown
            .selected
            .as_ref()
            .map_or_else(Vec::new, |detail| arrows(camera, detail, format::duration)),
        fronts: fronts(camera, shown),
        shades: marked.into_iter().chain(dragged).collect(),
        pointer_px: gesture.pointer.map(|pointer| pointer.x_px),
    }
}

/// The fronts of the operation under the pointer and of the selected one, which is drawn last.
fn fronts(camera: &Camera<'_>, shown: &Shown) -> Vec<Front> {
    let selected = shown.selected.as_ref().filter(|_| shown.reading.is_none());
    let pointed = shown.pointed.as_ref();
    let pointed = pointed.filter(|one| selected.is_none_or(|selected| selected.members != one.members));
    let both = [(pointed, FrontOf::Pointed), (selected, FrontOf::Selected)];
    both.into_iter().filter_map(|(one, of)| front(camera, &one?.members, of)).collect()
}
