//! The current rank in small, above the timeline: shows the busy parts and the visible part.

use std::rc::Rc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::tile::Tile;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::pointer::capture;
use crate::draw::density::Density;
use crate::draw::palette::{self, Ground};
use crate::view::sheet::SourceId;
use crate::view::{Command, Sheet, TimeScale, window};

/// Columns of the picture. The browser stretches them.
const COLUMNS: usize = 1024;
/// Limit of rows of the picture.
const MOST_ROWS: usize = 48;
/// Distance at which the window's edges can be gripped.
const GRIP_PX: f64 = 5.0;
/// Least width of the window's frame.
const LEAST_PX: f64 = 6.0;

/// What the minimap shows: a source over a span.
#[derive(Debug, Clone, Copy)]
pub struct Overview<'a> {
    /// The tracks.
    pub sheet: &'a Sheet,
    /// The source.
    pub source: SourceId,
    /// The span.
    pub whole: Interval,
}

/// Content of the minimap's canvas. It is drawn again only if there is more to show.
#[derive(Debug)]
pub struct Picture {
    context: CanvasRenderingContext2d,
    /// The content, span, number of present tiles and background of the last drawing.
    drawn: Option<(String, Interval, usize, Ground)>,
}

impl Picture {
    /// Prepares a canvas. `None` if the browser gives no context.
    #[must_use]
    pub fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { context, drawn: None })
    }

    /// Draws the rank's overview over a span, unless it is already drawn.
    pub fn draw<'a>(
        &mut self,
        canvas: &HtmlCanvasElement,
        overview: Overview<'_>,
        tiles: impl Iterator<Item = &'a Rc<Tile>> + Clone,
        ground: Ground,
    ) {
        let rank = overview.sheet.source(overview.source);
        let content = rank.map_or_else(String::new, |rank| rank.entry.content.clone());
        let key = (content, overview.whole, tiles.clone().count(), ground);
        if self.drawn.as_ref() == Some(&key) {
            return;
        }
        let density = density(overview, tiles);
        let (width, height) = (density.columns() as u32, density.rows() as u32);
        canvas.set_width(width);
        canvas.set_height(height);
        let pixels = pixels(&density, ground);
        if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), width, height) {
            // Fails only for NaN.
            self.context.put_image_data(&image, 0.0, 0.0).ok();
        }
        self.drawn = Some(key);
    }
}

fn density<'a>(
    Overview { sheet, source, whole }: Overview<'_>,
    tiles: impl Iterator<Item = &'a Rc<Tile>>,
) -> Density {
    let all = sheet.tracks();
    let is_shown = |at: &usize| all[*at].source == source && all[*at].kind == TrackKind::Slices;
    let tracks: Vec<_> = (0..all.len()).filter(is_shown).collect();
    let rows = tracks.len().clamp(1, MOST_ROWS);
    let mut row_of = vec![None; all.len()];
    let mut lanes = vec![0.0_f32; rows];
    for (position, at) in tracks.iter().enumerate() {
        let row = position * rows / tracks.len();
        row_of[*at] = Some(row);
        lanes[row] += all[*at].lanes.max(1) as f32;
    }
    let mut density = Density::new(whole, COLUMNS, rows);
    for tile in tiles {
        density.add(tile, sheet.axis(source), |track| {
            let row = row_of[sheet.position(source, track)?]?;
            Some((row, lanes[row]))
        });
    }
    density
}

/// Red, green, blue and alpha of each place.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of 0 to 1 times 255")]
fn pixels(density: &Density, ground: Ground) -> Vec<u8> {
    let colour = palette::colours(ground)[usize::from(palette::COUNTER)].map(|share| (share * 255.0) as u8);
    // The busiest place is solid. Otherwise a rank of many idle lanes would be a uniform haze.
    let peak = density.peak().max(f32::MIN_POSITIVE);
    let mut pixels = Vec::with_capacity(density.columns() * density.rows() * 4);
    for row in 0..density.rows() {
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
enum Drag {
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
    /// The span of the rank.
    whole: Memo<Interval>,
    /// The visible span.
    shown: Memo<Interval>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    let area = NodeRef::<leptos::html::Div>::new();
    let drag = StoredValue::new(None::<Drag>);
    let scale = move || {
        let width_px = area.get_untracked().map_or(1.0, |area| f64::from(area.client_width()));
        TimeScale { window: whole.get_untracked(), width_px }
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
    let frame = move || frame_style(whole.get(), shown.get());
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
            <div class="minimap-window" style=frame></div>
        </div>
    }
}

/// The target of a drag that starts at a pixel. Outside of the window, the window jumps to the
/// pointer.
fn grip(scale: &TimeScale, shown: Interval, at_px: f64) -> Drag {
    let (left, right) = (scale.px_from_time(shown.start.0), scale.px_from_time(shown.end.0));
    let is_wide = right - left > 4.0 * GRIP_PX;
    let duration_ps = shown.duration_ps();
    if is_wide && (at_px - left).abs() <= GRIP_PX {
        Drag::Edge { other_ps: shown.end.0 }
    } else if is_wide && (at_px - right).abs() <= GRIP_PX {
        Drag::Edge { other_ps: shown.start.0 }
    } else if (left..=right).contains(&at_px) {
        Drag::Window { grip_ps: scale.time_from_px(at_px).saturating_sub(shown.start.0), duration_ps }
    } else {
        Drag::Window { grip_ps: duration_ps / 2, duration_ps }
    }
}

fn slide(drag: Drag, at_ps: i64) -> Command {
    Command::Slide(match drag {
        Drag::Window { grip_ps, duration_ps } => {
            let start_ps = at_ps.saturating_sub(grip_ps);
            Interval::new(start_ps, start_ps.saturating_add(duration_ps))
        }
        Drag::Edge { other_ps } => {
            let (start, end) = (other_ps.min(at_ps), other_ps.max(at_ps));
            Interval::new(start, end.max(start.saturating_add(window::NARROWEST_PS)))
        }
    })
}

fn frame_style(whole: Interval, shown: Interval) -> String {
    let scale = TimeScale { window: whole, width_px: 100.0 };
    let left = scale.px_from_time(shown.start.0).clamp(0.0, 100.0);
    let right = scale.px_from_time(shown.end.0).clamp(left, 100.0);
    format!("left: min({left}%, calc(100% - {LEAST_PX}px)); width: max({}%, {LEAST_PX}px)", right - left)
}
