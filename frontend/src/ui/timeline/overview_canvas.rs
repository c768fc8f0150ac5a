//! The overview of a rank, or of a part of it, as a picture of its own: that of the minimap, on a
//! page without a timeline.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::html::Canvas;
use leptos::leptos_dom::helpers::{request_animation_frame, set_timeout};
use leptos::prelude::*;
use nprof_engine::base::Interval;
use web_sys::HtmlCanvasElement;

use super::Tracks;
use super::minimap::{Overview, Picture};
use super::tiles::{TileOrders, Tiles, now_ms};
use crate::draw::palette::Ground;
use crate::fetch::decode::PackedTile;
use crate::fetch::tile_needs::overview_of;
use crate::fetch::{FetchError, Source, TileKey, TileNeeds};
use crate::view::Sheet;
use crate::view::source_id::SourceId;
use crate::view::state::profile_names::ProfileNames;

/// Time limit for taking answers, and for drawing them, in a frame.
const FRAME_MS: f64 = 3.0;
/// Requests that a frame sends.
const FRAME_REQUESTS: usize = 4;

/// The content of the picture.
#[derive(Debug, Clone)]
struct ShownOverview {
    profiles: ProfileNames,
    sheet: Arc<Sheet>,
    source: SourceId,
    span: Interval,
    ground: Ground,
}

/// The tiles and the picture.
#[derive(Debug, Default)]
struct OverviewStage {
    tiles: Tiles,
    drawn_on: Option<(HtmlCanvasElement, Picture)>,
    shown: Option<ShownOverview>,
    is_frame_requested: bool,
}

/// A handle to the stage. It does nothing after the canvas is gone.
#[derive(Debug, Clone, Copy)]
struct OverviewHandle(StoredValue<Rc<RefCell<OverviewStage>>, LocalStorage>);

impl OverviewStage {
    fn open(&mut self, canvas: HtmlCanvasElement) {
        self.drawn_on = Picture::new(&canvas).map(|picture| (canvas, picture));
    }

    fn show(&mut self, shown: ShownOverview) {
        if self.shown.as_ref().is_none_or(|before| before.sheet != shown.sheet) {
            self.tiles.open(Source::of_page(), &shown.profiles, &shown.sheet);
        }
        self.shown = Some(shown);
    }

    /// Draws the tiles that have arrived. Returns the requests to send, and whether another frame
    /// is needed.
    fn frame(&mut self) -> (TileOrders, bool) {
        self.is_frame_requested = false;
        let (Some(shown), Some((canvas, picture))) = (&self.shown, &mut self.drawn_on) else {
            return (TileOrders::default(), false);
        };
        let start_ms = now_ms();
        while now_ms() - start_ms < FRAME_MS && self.tiles.take_step().is_some() {}
        let ShownOverview { ref sheet, source, span, ground, .. } = *shown;
        let local = sheet.axis(source).local_span(span);
        let keys = sheet.source(source).map_or_else(Vec::new, |rank| overview_of(source, rank, local));
        let needs = TileNeeds { shown: keys, ..TileNeeds::default() };
        let orders = self.tiles.plan(&needs, source, FRAME_REQUESTS);
        let tiles = self.tiles.present(&needs.shown);
        let is_late = picture.draw(canvas, Overview { sheet, source, span }, tiles, ground, FRAME_MS);
        let is_unfinished = is_late || orders.has_more || self.tiles.has_answers();
        (orders, is_unfinished)
    }
}

impl OverviewHandle {
    fn with<R>(self, look: impl FnOnce(&mut OverviewStage) -> R) -> Option<R> {
        let stage = self.0.try_get_value()?;
        let mut stage = stage.try_borrow_mut().ok()?;
        Some(look(&mut stage))
    }

    fn invalidate(self) {
        let is_first = self.with(|stage| !std::mem::replace(&mut stage.is_frame_requested, true));
        if is_first == Some(true) {
            request_animation_frame(move || self.frame());
        }
    }

    fn frame(self) {
        let Some((orders, is_unfinished)) = self.with(OverviewStage::frame) else { return };
        for order in orders.start {
            order.send(move |id, ticket, answer| self.arrived(id, ticket, answer));
        }
        if let Some(wait_ms) = orders.retry_in_ms {
            set_timeout(move || self.invalidate(), Duration::from_millis(wait_ms));
        }
        if is_unfinished {
            self.invalidate();
        }
    }

    fn arrived(self, id: TileKey, ticket: u64, answer: Result<PackedTile, FetchError>) {
        if self.with(|stage| stage.tiles.arrived(id, ticket, answer)) == Some(true) {
            self.invalidate();
        }
    }
}

/// The picture of the current rank. Its tiles are asked for once it is in the page.
#[component]
pub fn OverviewCanvas(
    /// The tracks of all shown ranks.
    tracks: Tracks,
    /// The names of the profiles.
    profiles: ProfileNames,
    /// The span of the picture.
    #[prop(into)]
    span: Signal<Option<Interval>>,
    /// The background.
    #[prop(into)]
    ground: Signal<Ground>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let stage = OverviewHandle(StoredValue::new_local(Rc::default()));
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            stage.with(|stage| stage.open(canvas));
            stage.invalidate();
        }
    });
    Effect::new(move |_| {
        let Some(span) = span.get() else { return };
        let shown = ShownOverview {
            profiles: profiles.clone(),
            sheet: tracks.sheet.get(),
            source: tracks.current.get(),
            span,
            ground: ground.get(),
        };
        stage.with(|stage| stage.show(shown));
        stage.invalidate();
    });
    view! { <canvas node_ref=canvas></canvas> }
}
