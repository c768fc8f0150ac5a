//! The state of a picture of two runs: what is visible, and what pointer and keys do with it.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;
use nprof_engine::wire::paired_tracks::PairedTracks;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent, PointerEvent};

use crate::ui::profile::open_profile::Opened;
use crate::view::run_pair::paths::longer_ps;
use crate::view::run_pair::point::{PairedPoint, point_at};
use crate::view::run_pair::sight::PairedSight;
use crate::view::source_id::SourceId;
use crate::view::{Axes, Command, ProfilePlace, Size};

/// A shorter drag is a click, in CSS pixels.
const CLICK_PX: f64 = 4.0;
/// A step of the zoom.
pub(super) const STEP: f64 = 0.5;
/// Zoom of a wheel by one of its units.
const WHEEL: f64 = 1.002;

/// The place of a picture of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedPlace {
    /// The place that compares two runs.
    Compare,
    /// Below the timeline, which shows the first run. The second one is its replay.
    Prediction,
}

impl PairedPlace {
    /// The heading of the picture.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Compare => "Both timelines",
            Self::Prediction => "Recorded and predicted",
        }
    }
}

/// State of the picture.
#[derive(Clone, Copy)]
pub(super) struct PairedState {
    pub(super) opened: Opened,
    pub(super) place: PairedPlace,
    of: StoredValue<Arc<PairedTracks>>,
    pub(super) sight: RwSignal<PairedSight>,
    /// The words of what lies under the pointer.
    pub(super) said: RwSignal<String>,
    /// The span that is dragged over, in shares of the width.
    pub(super) dragged: RwSignal<Option<(f64, f64)>>,
    /// A moment of each run, in picoseconds since its begin, that the timeline puts one above the
    /// other.
    together_ps: RwSignal<(i64, i64)>,
    pub(super) size: RwSignal<Size>,
}

impl PairedState {
    /// All of both runs.
    pub(super) fn new(opened: Opened, place: PairedPlace, of: Arc<PairedTracks>) -> Self {
        Self {
            opened,
            place,
            of: StoredValue::new(of),
            sight: RwSignal::new(PairedSight::default()),
            said: RwSignal::new(String::new()),
            dragged: RwSignal::new(None),
            together_ps: RwSignal::new((0, 0)),
            size: RwSignal::new(Size::default()),
        }
    }

    pub(super) fn of(self) -> Arc<PairedTracks> {
        self.of.get_value()
    }

    /// The share of the width, and the height in CSS pixels, of the pointer in a track.
    fn pointed(event: &PointerEvent) -> Option<(f64, f64)> {
        let area = event.current_target()?.dyn_into::<Element>().ok()?.get_bounding_client_rect();
        let across = (f64::from(event.client_x()) - area.left()) / area.width().max(1.0);
        Some((across.clamp(0.0, 1.0), f64::from(event.client_y()) - area.top()))
    }

    pub(super) fn move_over(self, at: usize, event: &PointerEvent) {
        let Some((across, y_px)) = Self::pointed(event) else { return };
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

    pub(super) fn press(self, event: &PointerEvent) {
        let Some((across, _)) = Self::pointed(event).filter(|_| event.button() == 0) else { return };
        if let Some(area) = event.current_target().and_then(|of| of.dyn_into::<Element>().ok()) {
            // Fails only for a pointer that is gone.
            area.set_pointer_capture(event.pointer_id()).ok();
        }
        self.dragged.set(Some((across, across)));
    }

    /// A drag shows what it went over, and a click what is under it.
    pub(super) fn release(self, at: usize, event: &PointerEvent) {
        let (Some((from, to)), Some((_, y_px))) = (self.dragged.get_untracked(), Self::pointed(event)) else {
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

    pub(super) fn show(self, point: PairedPoint<'_>) {
        let (from, to) = point.extent(&self.of());
        self.sight.set(PairedSight::around(from, to));
        if let PairedPoint::Stretch(stretch) = point {
            self.together_ps.set((stretch.a_ps, stretch.b_ps));
        }
    }

    pub(super) fn show_all(self) {
        self.sight.set(PairedSight::default());
        self.together_ps.set((0, 0));
    }

    /// By how much a rank began after another one of the same run, in words.
    pub(super) fn later_begin(self) -> Option<String> {
        let of = self.of();
        let profiles = self.opened.session.profiles.get()?.ok()?;
        let axes = Axes::of(&profiles[..1], self.opened.session.view.with(|view| view.timebase));
        let begin = |rank: u32, ps| axes.axis(SourceId::of_first(rank)).shared(ps);
        let later_ps = begin(of.b.rank, of.b.start_ps) - begin(of.a.rank, of.a.start_ps);
        let is_same = profiles.len() == 1 && of.a.repetition == of.b.repetition && of.a.rank != of.b.rank;
        let words = if later_ps < 0 { "before" } else { "after" };
        is_same.then(|| format!("· B began {} {words} A", short_duration(later_ps.unsigned_abs() as f64)))
    }

    /// Shows what is visible of the first run in the timeline; of a compared pair with the second
    /// one above the same work.
    pub(super) fn open_timeline(self) {
        match self.place {
            PairedPlace::Compare => self.open_both(),
            PairedPlace::Prediction => self.show_recorded(),
        }
    }

    fn show_recorded(self) {
        let of = self.of();
        let span = self.sight.get_untracked().span(longer_ps(&of));
        let at = |ps: i64| {
            let ps = of.a.start_ps.saturating_add(ps);
            self.opened.path.times.with_untracked(|times| times.shown(Some(of.a.rank), ps))
        };
        self.opened.act(&Command::Show(Interval::new(at(span.start.0), at(span.end.0))));
    }

    fn open_both(self) {
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

    pub(super) fn zoom(self, times: f64) {
        self.sight.update(|sight| *sight = sight.zoomed(times, 0.5));
    }

    pub(super) fn wheel(self, event: &web_sys::WheelEvent) {
        // A wheel alone scrolls the tracks.
        if !event.ctrl_key() && !event.meta_key() {
            return;
        }
        event.prevent_default();
        let Some((across, _)) = Self::pointed(event.unchecked_ref()) else { return };
        self.sight.update(|sight| *sight = sight.zoomed(WHEEL.powf(event.delta_y()), across));
    }

    pub(super) fn key(self, event: &KeyboardEvent) {
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
