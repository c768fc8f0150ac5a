//! Pointer on the tracks: drag to zoom, drag with a key or the middle button to move, click to
//! select. Fingers move and pinch instead: see [`Touches`].

use leptos::prelude::*;
use nprof_engine::base::Interval;
use web_sys::{HtmlDivElement, PointerEvent};

use super::Scrollers;
use super::canvas_content::{Hit, Pointer};
use super::stage::{Stage, StageHandle};
use crate::ui::controls::capture;
use crate::view::band::BandSpan;
use crate::view::pointing::touch::Touches;
use crate::view::rows::layout::sight::RowPart;
use crate::view::{Command, Hovered, Point, Reading, TimeScale};

/// Least movement of a drag. A press that moves less is a click.
const CLICK_PX: f64 = 4.0;
/// Longest time between both taps of a double tap, in milliseconds. The browser itself tells
/// which click of a mouse is the second one.
const DOUBLE_TAP_MS: f64 = 600.0;
/// Number of the middle button (`MouseEvent.button`).
const MIDDLE: i16 = 1;
/// Space on both sides of a slice after a zoom to it, as a share of its duration.
const FOCUS_MARGIN: f64 = 0.25;

/// Marks rows that got the focus by a pointer, so that they show no ring. `timeline.css` reads it.
pub const BY_POINTER: &str = "data-by-pointer";

/// A gesture that started with a press on the tracks or the ruler.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PointerGesture {
    /// A span to zoom into.
    Zoom { start_px: f64 },
    /// A span to mark.
    Mark { start_px: f64 },
    /// The tracks follow the pointer.
    Move { start: Point, window: Interval, scroll_px: f64 },
}

/// A click on an item.
#[derive(Debug, Clone, PartialEq)]
struct Click {
    time_ms: f64,
    /// Position in the viewport.
    client: Point,
    hit: Hit,
}

/// Receivers of what the owner of the timeline does.
#[derive(Debug, Clone, Copy)]
pub struct Asks {
    /// Receives a finding that was clicked.
    pub on_open: Callback<BandSpan>,
    /// Receives the place of the menu of the slice that was just selected.
    pub on_menu: Callback<Point>,
}

/// The gestures of one timeline.
#[derive(Debug, Clone, Copy)]
pub struct Gestures {
    stage: StageHandle,
    pub(super) on_command: Callback<Command>,
    asks: Asks,
    /// Whether the space bar is held.
    is_space_held: RwSignal<bool>,
    press: StoredValue<Option<PointerGesture>>,
    clicked: StoredValue<Option<Click>>,
    /// Which press of a row of quick ones the last press of the mouse was: 2 in a double click.
    presses: StoredValue<i32>,
    touches: StoredValue<Touches>,
    /// The part of the rows that the fingers scroll: the one on which the first was put down.
    touched: StoredValue<RowPart>,
    scrollers: Scrollers,
}

/// A slice's span with some space on both sides. Instants get the narrowest window.
#[must_use]
pub fn around(start_ps: i64, duration_ps: i64) -> Interval {
    let margin = (duration_ps as f64 * FOCUS_MARGIN) as i64;
    Interval::new(
        start_ps.saturating_sub(margin),
        start_ps.saturating_add(duration_ps).saturating_add(margin),
    )
}

impl Gestures {
    /// The gestures of a stage with scrolling rows.
    #[must_use]
    pub fn new(
        stage: StageHandle,
        scrollers: Scrollers,
        on_command: Callback<Command>,
        asks: Asks,
        is_space_held: RwSignal<bool>,
    ) -> Self {
        let (press, touches) = (StoredValue::new(None), StoredValue::new(Touches::default()));
        let (clicked, presses) = (StoredValue::new(None), StoredValue::new(0));
        let touched = StoredValue::new(RowPart::Others);
        Self { stage, on_command, asks, is_space_held, press, clicked, presses, touches, touched, scrollers }
    }

    /// The element that scrolls at a distance from the top of the tracks.
    pub(super) fn scroller_at(self, y_px: f64) -> Option<HtmlDivElement> {
        let part = self.stage.with(|stage| stage.shown().sight.part_at(y_px))?;
        self.scrollers.of(part).get_untracked()
    }

    pub(super) fn scale(self) -> Option<TimeScale> {
        self.stage.with(|stage| stage.shown().scale())
    }

    /// Handles a press on the tracks.
    pub fn press(self, event: &PointerEvent) {
        if ![0, MIDDLE].contains(&event.button()) {
            return;
        }
        let Some(scale) = self.scale() else { return };
        capture(event);
        if is_touch(event) {
            let part = self.stage.with(|stage| stage.shown().sight.part_at(position(event).y_px));
            if let (Some(part), Some(false)) = (part, self.touches.try_with_value(Touches::is_any)) {
                self.touched.set_value(part);
            }
            let scroll_px = self.scroll_px();
            self.touches.update_value(|touches| {
                touches.press(event.pointer_id(), position(event), &scale, scroll_px)
            });
            return;
        }
        let start = position(event);
        let moves = event.button() == MIDDLE || event.shift_key() || self.is_space_held.get_untracked();
        self.press.set_value(Some(if moves {
            let scroll_px = self.scroller_at(start.y_px).map_or(0.0, |rows| f64::from(rows.scroll_top()));
            PointerGesture::Move { start, window: scale.window, scroll_px }
        } else {
            PointerGesture::Zoom { start_px: start.x_px }
        }));
    }

    /// Handles what the browser tells of a press after [`Gestures::press`]: whether it is the
    /// second one of a double click. The focus goes to the rows below the pointer, so that the
    /// browser's own keys scroll them. The canvases lie over the rows and not in them.
    pub fn count(self, event: &web_sys::MouseEvent) {
        self.presses.set_value(event.detail());
        event.prevent_default();
        if let Some(rows) = self.scroller_at(f64::from(event.offset_y())) {
            // Browsers take this focus for one by key, and would show the ring. Both calls fail
            // only if the element is gone.
            rows.set_attribute(BY_POINTER, "").ok();
            rows.focus().ok();
        }
    }

    /// Handles a press on the ruler.
    pub fn press_ruler(self, event: &PointerEvent) {
        if event.button() == 0 {
            capture(event);
            self.press.set_value(Some(PointerGesture::Mark { start_px: f64::from(event.offset_x()) }));
        }
    }

    /// Handles a move of the pointer.
    pub fn pull(self, event: &PointerEvent) {
        let Some(scale) = self.scale() else { return };
        let at = position(event);
        if is_touch(event) {
            self.pull_finger(event.pointer_id(), at, &scale);
            return;
        }
        let client = client_position(event);
        let press = self.press.get_value();
        let dragged = press.and_then(|press| span(press, &scale, at.x_px));
        self.stage.gesture(|gesture| {
            gesture.pointer = Some(Pointer { at, client });
            gesture.dragged = dragged;
        });
        if let Some(PointerGesture::Move { start, window, scroll_px }) = press {
            if let Some(rows) = self.scroller_at(start.y_px) {
                rows.set_scroll_top((scroll_px + start.y_px - at.y_px).round() as i32);
            }
            let by_ps = scale.ps_from_px(start.x_px - at.x_px);
            let (start, end) = (window.start.0.saturating_add(by_ps), window.end.0.saturating_add(by_ps));
            self.on_command.run(Command::Slide(Interval::new(start, end)));
        }
    }

    fn pull_finger(self, id: i32, at: Point, scale: &TimeScale) {
        let drag = self.touches.try_update_value(|touches| touches.pull(id, at, scale)).flatten();
        let Some(drag) = drag else { return };
        self.on_command.run(Command::Slide(drag.window));
        if let Some(rows) = self.touched_rows() {
            rows.set_scroll_top(drag.scroll_px.round() as i32);
        }
    }

    fn touched_rows(self) -> Option<HtmlDivElement> {
        self.scrollers.of(self.touched.get_value()).get_untracked()
    }

    fn scroll_px(self) -> f64 {
        self.touched_rows().map_or(0.0, |rows| f64::from(rows.scroll_top()))
    }

    /// Handles a move on the ruler, where only a drag is shown.
    pub fn pull_ruler(self, event: &PointerEvent) {
        let Some((press, scale)) = self.press.get_value().zip(self.scale()) else { return };
        let dragged = span(press, &scale, f64::from(event.offset_x()));
        self.stage.gesture(|gesture| gesture.dragged = dragged);
    }

    /// Handles a release.
    pub fn release(self, event: &PointerEvent) {
        if is_touch(event)
            && let Some(scale) = self.scale()
            && let Some(tap) = self
                .touches
                .try_update_value(|touches| touches.release(event.pointer_id(), &scale, self.scroll_px()))
            && self.press.get_value().is_none()
        {
            if let Some(at) = tap {
                self.click(event, at);
            }
            return;
        }
        let Some(press) = self.press.get_value() else { return };
        self.cancel();
        let Some(scale) = self.scale() else { return };
        let at = position(event);
        let command = match (press, span(press, &scale, at.x_px)) {
            (PointerGesture::Zoom { .. }, Some(span)) => Command::Show(span),
            (PointerGesture::Mark { .. }, span) => Command::Mark(span),
            (PointerGesture::Zoom { .. }, None) => return self.click(event, at),
            (PointerGesture::Move { start, .. }, _)
                if at.distance_px(start) < CLICK_PX && event.button() != MIDDLE =>
            {
                return self.click(event, at);
            }
            (PointerGesture::Move { .. }, _) => return,
        };
        self.on_command.run(command);
    }

    /// Handles a pointer that the browser took for another purpose.
    pub fn lose(self, event: &PointerEvent) {
        if let Some(scale) = self.scale() {
            let scroll_px = self.scroll_px();
            self.touches.update_value(|touches| touches.cancel(event.pointer_id(), &scale, scroll_px));
        }
        self.cancel();
    }

    /// Ends a gesture without a result.
    fn cancel(self) {
        self.press.set_value(None);
        self.stage.gesture(|gesture| gesture.dragged = None);
    }

    /// Handles the pointer leaving.
    pub fn leave(self) {
        if self.press.try_get_value().is_some_and(|press| press.is_none()) {
            self.stage.gesture(|gesture| gesture.pointer = None);
        }
    }

    /// Handles a double click, which zooms to the slice.
    pub fn focus(self, event: &web_sys::MouseEvent) {
        let hit = self
            .clicked_at(event)
            .map(|click| click.hit)
            .or_else(|| self.stage.with(|stage| stage.hit(position(event))).flatten());
        match hit.map(|hit| hit.what) {
            Some(
                Hovered::Slice { start_ps, duration_ps, .. } | Hovered::Limit { start_ps, duration_ps, .. },
            ) => {
                self.on_command.run(Command::Focus(around(start_ps, duration_ps)));
            }
            Some(Hovered::Cell { span, .. }) => {
                self.on_command.run(Command::Focus(around(span.start.0, span.duration_ps())));
            }
            Some(
                Hovered::Group { .. } | Hovered::Sample { .. } | Hovered::Range { .. } | Hovered::Finding(_),
            )
            | None => {}
        }
    }

    /// Handles a click: selects a slice or none, reads a counter, or opens a closed group. The
    /// second click of a double click changes nothing.
    fn click(self, event: &PointerEvent, at: Point) {
        if self.is_second(event) {
            return;
        }
        let hit = self.stage.with(|stage| stage.hit(at)).flatten();
        self.clicked.set_value(hit.clone().map(|hit| Click {
            time_ms: event.time_stamp(),
            client: client_position(event),
            hit,
        }));
        if let Some(Hit { what: Hovered::Finding(mark), .. }) = &hit {
            return self.asks.on_open.run(BandSpan::clone(mark));
        }
        let command = |stage: &mut Stage| command_of(stage, hit?, at.x_px);
        let command = self.stage.with(command).flatten().unwrap_or(Command::Select(None));
        self.on_command.run(command);
    }

    /// Handles a request for a menu, which a right click makes: selects the slice below.
    pub fn menu(self, event: &web_sys::MouseEvent) {
        let at = position(event);
        let command = |stage: &mut Stage| {
            let hit = stage.hit(at)?;
            hit.what.slice_row()?;
            command_of(stage, hit, at.x_px)
        };
        let Some(command) = self.stage.with(command).flatten() else { return };
        event.prevent_default();
        self.on_command.run(command);
        self.asks.on_menu.run(client_position(event));
    }

    /// Whether a click is the second one of a double click.
    fn is_second(self, event: &PointerEvent) -> bool {
        let Some(click) = self.clicked_at(event) else { return false };
        if is_touch(event) {
            event.time_stamp() - click.time_ms < DOUBLE_TAP_MS
        } else {
            self.presses.get_value() > 1
        }
    }

    /// The last click on an item, if it was at the place of this event. In a double click that is
    /// the first one, which can open a panel; then another item is below the pointer.
    fn clicked_at(self, event: &web_sys::MouseEvent) -> Option<Click> {
        let here = client_position(event);
        let click = self.clicked.get_value()?;
        (click.client.distance_px(here) < CLICK_PX).then_some(click)
    }
}

/// The command of a click on an item, at a distance from the left of the tracks.
fn command_of(stage: &Stage, hit: Hit, x_px: f64) -> Option<Command> {
    let shown = stage.shown();
    let track = shown.sheet.tracks().get(hit.track)?;
    let path = track.path.clone();
    let command = match hit.what {
        Hovered::Group { .. } => return Some(Command::SetGroup { path, is_open: true }),
        Hovered::Finding(_) => return None,
        Hovered::Sample { .. } | Hovered::Range { .. } => {
            Command::Read(Reading { track: path, time_ps: shown.scale().time_from_px(x_px) })
        }
        what @ (Hovered::Slice { .. } | Hovered::Limit { .. } | Hovered::Cell { .. }) => {
            Command::Select(what.slice_row())
        }
    };
    Some(command.in_rank(track.source, shown.current))
}

fn is_touch(event: &PointerEvent) -> bool {
    event.pointer_type() == "touch"
}

/// Position of a pointer on the listening element, in CSS pixels.
fn position(event: &web_sys::MouseEvent) -> Point {
    Point::new(f64::from(event.offset_x()), f64::from(event.offset_y()))
}

/// Position of a pointer in the viewport, in CSS pixels.
fn client_position(event: &web_sys::MouseEvent) -> Point {
    Point::new(f64::from(event.client_x()), f64::from(event.client_y()))
}

/// The span of a drag. `None` for a click, and for a drag that moves.
fn span(press: PointerGesture, scale: &TimeScale, x_px: f64) -> Option<Interval> {
    let start_px = match press {
        PointerGesture::Zoom { start_px } | PointerGesture::Mark { start_px } => start_px,
        PointerGesture::Move { .. } => return None,
    };
    if (x_px - start_px).abs() < CLICK_PX {
        return None;
    }
    let time = |px: f64| scale.time_from_px(px.clamp(0.0, scale.width_px));
    Some(Interval::new(time(start_px.min(x_px)), time(start_px.max(x_px))))
}
