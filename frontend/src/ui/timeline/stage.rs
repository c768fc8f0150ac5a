//! State of the timeline's drawing. A frame is drawn only after a change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::leptos_dom::helpers::{request_animation_frame, set_timeout};
use leptos::prelude::*;
use nprof_engine::base::Interval;

use super::canvas_content::{GestureState, Hit, ShownTimeline};
use super::canvases::{Canvases, Tools};
use super::tiles::{TileOrders, Tiles};
use crate::draw::batch::Batch;
use crate::draw::finding_box::BoxTag;
use crate::draw::names::NameColours;
use crate::draw::scene::Rect;
use crate::draw::shape::Shape;
use crate::fetch::decode::PackedTile;
use crate::fetch::{FetchError, TileKey};
use crate::view::rows::layout::sight::RowSight;
use crate::view::rows::occupancy::Occupied;
use crate::view::{Hover, Point, Size};

/// Inputs of the last look for empty rows: the window, the tiles in sight, and the number of
/// tiles in the cache.
pub(super) type OccupancyKey = (Interval, Vec<TileKey>, usize);

/// State of the timeline's drawing.
#[derive(Debug, Default)]
pub struct Stage {
    pub(super) shown: ShownTimeline,
    pub(super) shape: Shape,
    pub(super) tiles: Tiles,
    pub(super) tools: Option<Tools>,
    pub(super) batches: HashMap<TileKey, Batch>,
    pub(super) names: NameColours,
    pub(super) gesture: GestureState,
    pub(super) hovered: Option<Hit>,
    pub(super) is_frame_requested: bool,
    pub(super) are_bands_stale: bool,
    /// True after the first slices of the sheet were drawn.
    pub(super) has_drawn: bool,
    /// The span and the rows of the last frame.
    pub(super) drawn_part: Option<(Interval, RowSight)>,
    /// True once the window has rested.
    pub(super) is_settled: bool,
    /// The places of the selected slice that are drawn.
    pub(super) selected_rects: Vec<Rect>,
    /// The tags of findings that are drawn.
    pub(super) tags: Vec<BoxTag>,
    /// The last look for empty rows.
    pub(super) looked: Option<OccupancyKey>,
}

/// Work that a frame leaves until the stage is no longer borrowed.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// True if another frame is needed.
    pub(super) is_unfinished: bool,
    pub(super) fetch: TileOrders,
    pub(super) hover: Option<Option<Hover>>,
    pub(super) problem: Option<String>,
    pub(super) occupied: Option<Occupied>,
}

/// A handle to the stage, for event handlers and answers to requests. It does nothing after the
/// timeline is gone.
#[derive(Debug, Clone, Copy)]
pub struct StageHandle {
    stage: StoredValue<Rc<RefCell<Stage>>, LocalStorage>,
    on_hover: Callback<Option<Hover>>,
    problem: RwSignal<Option<String>>,
    occupied: RwSignal<Occupied>,
}

impl StageHandle {
    /// Creates an empty stage. `problem` receives the reason why tiles are missing, and `occupied`
    /// which lanes have anything in the window.
    #[must_use]
    pub fn new(
        on_hover: Callback<Option<Hover>>,
        problem: RwSignal<Option<String>>,
        occupied: RwSignal<Occupied>,
    ) -> Self {
        Self { stage: StoredValue::new_local(Rc::default()), on_hover, problem, occupied }
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
            order.send(move |id, ticket, answer| self.arrived(id, ticket, answer));
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
        if let Some(occupied) = outcome.occupied
            && self.occupied.try_with_untracked(|now| *now != occupied) == Some(true)
        {
            self.occupied.set(occupied);
        }
        if self.problem.try_get_untracked().is_some_and(|now| now != outcome.problem) {
            self.problem.set(outcome.problem);
        }
    }

    fn arrived(self, id: TileKey, ticket: u64, answer: Result<PackedTile, FetchError>) {
        if self.with(|stage| stage.tiles.arrived(id, ticket, answer)) == Some(true) {
            self.invalidate();
        }
    }

    /// Sends all failed requests again.
    pub fn retry(self) {
        self.with(|stage| stage.tiles.forgive());
        self.invalidate();
    }

    /// Sets the content to show.
    pub fn show(self, shown: ShownTimeline) {
        self.with(|stage| stage.show(shown));
        self.invalidate();
    }

    /// Changes the state of the gesture.
    pub fn gesture(self, change: impl FnOnce(&mut GestureState)) {
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
    pub fn shown(&self) -> &ShownTimeline {
        &self.shown
    }

    fn show(&mut self, shown: ShownTimeline) {
        if self.shown.sheet != shown.sheet || self.shown.profiles != shown.profiles {
            let first = shown.sheet.sources().first();
            self.has_drawn = false;
            // The profile numbers the names of all its ranks.
            self.names = first.map(|first| NameColours::new(&first.rank.names)).unwrap_or_default();
            self.shape = Shape::new(&shown.sheet);
            if let Some(source) = shown.source {
                self.tiles.open(source, &shown.profiles, &shown.sheet);
            }
            self.hovered = None;
            self.drop_batches();
        } else if self.shown.layout.rank_look != shown.layout.rank_look {
            self.drop_batches();
        }
        self.are_bands_stale |= !Arc::ptr_eq(&self.shown.layout, &shown.layout);
        self.shown = shown;
    }

    /// Drops all rectangles, so that they are computed again from the tiles.
    fn drop_batches(&mut self) {
        self.batches.clear();
        if let Some(painter) = self.tools.as_mut().and_then(|tools| tools.painter.as_mut()) {
            painter.drop_all();
        }
        self.are_bands_stale = true;
    }

    /// The lower end of the selected slice, in CSS pixels of the tracks. `None` if it is out of
    /// sight.
    #[must_use]
    pub fn selected_foot(&self) -> Option<Point> {
        self.shown.selected.as_ref()?;
        let Size { width_px, height_px } = self.shown.size;
        let foot = |of: &Rect| {
            let (left_px, right_px) = (of.x_px.max(0.0), (of.x_px + of.width_px).min(width_px));
            let y_px = of.y_px + of.height_px;
            (left_px <= right_px && (0.0..=height_px).contains(&y_px)).then_some(Point::new(left_px, y_px))
        };
        self.selected_rects.iter().find_map(foot)
    }

    /// The item under the pointer, if it changed.
    pub(super) fn hover(&mut self) -> Option<Option<Hover>> {
        let pointer = self.gesture.pointer.filter(|_| self.gesture.dragged.is_none());
        let hit = pointer.and_then(|at| self.hit(at.at));
        let is_same = hit == self.hovered && (hit.is_none() || pointer.is_none());
        self.hovered.clone_from(&hit);
        let tell = || Some(Hover { client: pointer?.client, track: hit.as_ref()?.track, what: hit?.what });
        (!is_same).then(tell)
    }
}
