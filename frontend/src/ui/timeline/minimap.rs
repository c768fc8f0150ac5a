//! The current rank in small, above the timeline: shows the busy parts and the visible part.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::tile::Tile;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::bands::Bands;
use super::tiles::now_ms;
use crate::draw::density::Density;
use crate::draw::palette::{self, Ground};
use crate::fetch::TileKey;
use crate::ui::controls::capture;
use crate::view::band::{BandSpan, BandTarget};
use crate::view::light::WHOLE_CELLS;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::source_id::SourceId;
use crate::view::time::window;
use crate::view::{Axis, Command, Sheet, TimeScale};

/// Columns of the picture. The browser stretches them.
const COLUMNS: usize = 1024;
/// Limit of rows of the picture.
const MOST_ROWS: usize = 48;
/// Distance at which the window's edges can be gripped.
const GRIP_PX: f64 = 5.0;
/// Places of findings that are marked.
const MOST_MARKS: usize = 200;
/// Least width of the window's frame.
const LEAST_PX: f64 = 6.0;

/// Content of the minimap: a source over a span.
#[derive(Debug, Clone, Copy)]
pub struct Overview<'a> {
    /// The tracks.
    pub sheet: &'a Sheet,
    /// The source.
    pub source: SourceId,
    /// The span.
    pub span: Interval,
}

/// Content of the minimap's canvas. It is drawn again only if there is more to show.
#[derive(Debug)]
pub struct Picture {
    context: CanvasRenderingContext2d,
    kept: Option<KeptOverview>,
}

/// The facts that an overview depends on.
#[derive(Debug, PartialEq)]
struct OverviewKey {
    /// Content id of the source's segment.
    content: String,
    span: Interval,
    axis: Axis,
}

/// The overview of a source, as far as its tiles have arrived.
#[derive(Debug)]
struct KeptOverview {
    key: OverviewKey,
    rows: Rows,
    density: Density,
    /// The tiles that the density contains.
    added: HashSet<TileKey>,
    /// Background of the last drawing.
    ground: Option<Ground>,
}

/// Rows of the picture: each stands for one or more tracks.
#[derive(Debug)]
struct Rows {
    /// Row of each track of slices, by its number in the source. An index of the sheet would change
    /// when other ranks are shown.
    of_track: HashMap<u32, usize>,
    /// Lanes that share a row.
    lanes: Vec<f32>,
}

impl Picture {
    /// Prepares a canvas. `None` if the browser gives no context.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { context, kept: None })
    }

    /// Draws the rank's overview over a span, unless it is already drawn. Adds new tiles for about
    /// `at_most_ms`, at least one. Returns true if some are left for the next frame.
    pub fn draw<'a>(
        &mut self,
        canvas: &HtmlCanvasElement,
        overview: Overview<'_>,
        tiles: impl Iterator<Item = (TileKey, &'a Rc<Tile>)>,
        ground: Ground,
        at_most_ms: f64,
    ) -> bool {
        let Overview { sheet, source, span } = overview;
        let content = sheet.source(source).map_or_else(String::new, |rank| rank.entry.content.clone());
        let key = OverviewKey { content, span, axis: sheet.axis(source) };
        let mut kept = match self.kept.take() {
            Some(kept) if kept.key == key => kept,
            _ => KeptOverview::new(key, Rows::of(overview)),
        };
        let mut is_new = kept.ground != Some(ground);
        let (mut is_late, start_ms) = (false, now_ms());
        for (key, tile) in tiles {
            if kept.added.contains(&key) {
                continue;
            }
            is_late = is_new && now_ms() - start_ms >= at_most_ms;
            if is_late {
                break;
            }
            is_new = true;
            kept.density.add(tile, sheet.axis(source), |track| {
                let row = *kept.rows.of_track.get(&track)?;
                Some((row, kept.rows.lanes[row]))
            });
            kept.added.insert(key);
        }
        if is_new {
            kept.ground = Some(ground);
            self.put(canvas, &kept.density, ground);
        }
        self.kept = Some(kept);
        is_late
    }

    fn put(&self, canvas: &HtmlCanvasElement, density: &Density, ground: Ground) {
        let pixels = pixels(density, ground);
        let width = density.columns() as u32;
        let height = (pixels.len() / 4 / density.columns()) as u32;
        canvas.set_width(width);
        canvas.set_height(height);
        if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), width, height) {
            // Fails only for NaN.
            self.context.put_image_data(&image, 0.0, 0.0).ok();
        }
    }
}

impl KeptOverview {
    fn new(key: OverviewKey, rows: Rows) -> Self {
        let density = Density::new(key.span, COLUMNS, rows.lanes.len());
        Self { key, rows, density, added: HashSet::new(), ground: None }
    }
}

impl Rows {
    fn of(Overview { sheet, source, .. }: Overview<'_>) -> Self {
        let is_work = |track: &&SheetTrack| track.kind == TrackKind::Slices && track.is_work;
        let of_source = sheet.tracks().iter().filter(|track| track.source == source);
        let tracks: Vec<_> = of_source.filter(is_work).collect();
        let rows = tracks.len().clamp(1, MOST_ROWS);
        let (mut of_track, mut lanes) = (HashMap::new(), vec![0.0_f32; rows]);
        for (position, track) in tracks.iter().enumerate() {
            let row = position * rows / tracks.len();
            of_track.extend(track.number.map(|number| (number, row)));
            lanes[row] += track.lanes.max(1) as f32;
        }
        Self { of_track, lanes }
    }
}

/// Red, green, blue and alpha of each place. A row that is idle all the time is left out: the
/// tracks of semaphores, of which a chip has hundreds, only have instants.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 0 to 1 times 255")]
fn pixels(density: &Density, ground: Ground) -> Vec<u8> {
    let colour = palette::colours(ground)[usize::from(palette::COUNTER)];
    // The busiest place is solid. Otherwise a rank of many idle lanes would be a uniform haze.
    let peak = density.peak().max(f32::MIN_POSITIVE);
    let is_busy = |row: &usize| (0..density.columns()).any(|column| density.busy(column, *row) > 0.0);
    let mut rows: Vec<usize> = (0..density.rows()).filter(is_busy).collect();
    if rows.is_empty() {
        rows.push(0);
    }
    let mut pixels = Vec::with_capacity(density.columns() * rows.len() * 4);
    for row in rows {
        for column in 0..density.columns() {
            let busy = density.busy(column, row);
            // The square root makes rarely busy places visible on the background.
            let alpha = if busy > 0.0 { 0.15 + 0.85 * (busy / peak).sqrt() } else { 0.0 };
            pixels.extend_from_slice(&[colour[0], colour[1], colour[2], (alpha * 255.0) as u8]);
        }
    }
    pixels
}

/// Target of a drag.
#[derive(Debug, Clone, Copy)]
enum MinimapDrag {
    /// The whole window. The timestamp under the pointer stays under it.
    Window { grip_ps: i64, duration_ps: i64 },
    /// One edge. The other one stays.
    Edge { other_ps: i64 },
}

/// The minimap.
#[component]
pub fn Minimap(
    /// Canvas of the minimap. The stage draws on it.
    canvas: NodeRef<leptos::html::Canvas>,
    /// The span of the minimap: the widest window, so that both begin and end at the same times.
    span: Memo<Interval>,
    /// The visible span.
    shown: Memo<Interval>,
    /// The bands, of which the places of findings are marked.
    bands: Bands,
    /// The hits of a search, as a path over [`WHOLE_CELLS`] parts of the span.
    hits: Memo<Option<String>>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let area = NodeRef::<leptos::html::Div>::new();
    let drag = StoredValue::new(None::<MinimapDrag>);
    let scale = move || {
        let width_px = area.get_untracked().map_or(1.0, |area| f64::from(area.client_width()));
        TimeScale { window: span.get_untracked(), width_px }
    };
    let press = move |event: web_sys::PointerEvent| {
        let scale = scale();
        let at_px = f64::from(event.offset_x());
        capture(&event);
        drag.set_value(Some(grip(&scale, shown.get_untracked(), at_px)));
        if let Some(drag) = drag.get_value() {
            on_command.run(slide(drag, scale.time_from_px(at_px)));
        }
    };
    let pull = move |event: web_sys::PointerEvent| {
        if let Some(drag) = drag.get_value() {
            on_command.run(slide(drag, scale().time_from_px(f64::from(event.offset_x()))));
        }
    };
    let frame = move || frame_style(span.get(), shown.get());
    view! {
        <div
            class="minimap"
            node_ref=area
            aria-hidden="true"
            title="Drag to move the window, its edges to widen it"
            on:pointerdown=press
            on:pointermove=pull
            on:pointerup=move |_| drag.set_value(None)
            on:pointercancel=move |_| drag.set_value(None)
        >
            <canvas node_ref=canvas></canvas>
            {move || marks(bands, span.get())}
            {move || hits.get().map(hit_marks)}
            <div class="minimap-window" style=frame></div>
        </div>
    }
}

/// The hits of a search, at the upper edge.
fn hit_marks(path: String) -> impl IntoView {
    view! {
        <svg class="minimap-hits" viewBox=format!("0 0 {WHOLE_CELLS} 1") preserveAspectRatio="none">
            <path d=path></path>
        </svg>
    }
}

/// The places of findings, at the lower edge.
fn marks(bands: Bands, span: Interval) -> impl IntoView {
    let scale = TimeScale { window: span, width_px: 100.0 };
    let is_finding = |of: &&BandSpan| matches!(of.target, BandTarget::Finding(_));
    let mark = |of: &BandSpan| {
        let left = scale.px_from_time(of.span.start.0).clamp(0.0, 100.0);
        let right = scale.px_from_time(of.span.end.0).clamp(left, 100.0);
        let width = right - left;
        view! { <i class="minimap-finding" style=format!("left: {left:.3}%; width: max({width:.3}%, 2px)")></i> }
    };
    bands.shown.with(|bands| {
        let spans = bands.iter().flat_map(|band| &band.spans).filter(is_finding);
        spans.take(MOST_MARKS).map(mark).collect_view()
    })
}

/// The target of a drag that starts at a pixel. Outside of the window, the window jumps to the
/// pointer.
fn grip(scale: &TimeScale, shown: Interval, at_px: f64) -> MinimapDrag {
    let (left, right) = (scale.px_from_time(shown.start.0), scale.px_from_time(shown.end.0));
    let is_wide = right - left > 4.0 * GRIP_PX;
    let duration_ps = shown.duration_ps();
    if is_wide && (at_px - left).abs() <= GRIP_PX {
        MinimapDrag::Edge { other_ps: shown.end.0 }
    } else if is_wide && (at_px - right).abs() <= GRIP_PX {
        MinimapDrag::Edge { other_ps: shown.start.0 }
    } else if (left..=right).contains(&at_px) {
        MinimapDrag::Window { grip_ps: scale.time_from_px(at_px).saturating_sub(shown.start.0), duration_ps }
    } else {
        MinimapDrag::Window { grip_ps: duration_ps / 2, duration_ps }
    }
}

fn slide(drag: MinimapDrag, at_ps: i64) -> Command {
    Command::Slide(match drag {
        MinimapDrag::Window { grip_ps, duration_ps } => {
            let start_ps = at_ps.saturating_sub(grip_ps);
            Interval::new(start_ps, start_ps.saturating_add(duration_ps))
        }
        MinimapDrag::Edge { other_ps } => {
            let (start, end) = (other_ps.min(at_ps), other_ps.max(at_ps));
            Interval::new(start, end.max(start.saturating_add(window::NARROWEST_PS)))
        }
    })
}

fn frame_style(span: Interval, shown: Interval) -> String {
    let scale = TimeScale { window: span, width_px: 100.0 };
    let left = scale.px_from_time(shown.start.0).clamp(0.0, 100.0);
    let right = scale.px_from_time(shown.end.0).clamp(left, 100.0);
    format!("left: min({left}%, calc(100% - {LEAST_PX}px)); width: max({}%, {LEAST_PX}px)", right - left)
}
