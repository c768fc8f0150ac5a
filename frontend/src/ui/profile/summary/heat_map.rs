//! The heat map of ranks over time. A cell leads to its rank at that time.

use std::sync::Arc;

use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::makers::job::activity::ActivityQuantity;
use nprof_engine::wire::activity::AbsentQuantity;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::page_link::window_around;
use nprof_engine::wire::questions::ActivityQuestion;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use crate::draw::palette::{self, Rgb};
use crate::ui::controls::{Failure, Loading};
use crate::ui::profile::ground::current_ground;
use crate::ui::profile::open_profile::Opened;
use crate::ui::profile::time_axis::TimeAxis;
use crate::ui::shell::QuestionAnswers;
use crate::ui::text::format;
use crate::ui::timeline::measure;
use crate::view::source_id::rank_label;
use crate::view::state::plots::PlotsChange;
use crate::view::summary::heat_map::{HeatCell, HeatMap};
use crate::view::{Command, ProfilePlace, Size};

/// Height of a label of a row, in CSS pixels.
const LABEL_PX: f64 = 16.0;
/// More rows than this are lower than a pixel on most screens: neighbours are blended.
const MANY_ROWS: usize = 128;

/// The words of a quantity: for its button, after a share, and its definition.
fn words(quantity: ActivityQuantity) -> [&'static str; 3] {
    match quantity {
        ActivityQuantity::Busy => {
            ["Busy", "busy", "Share of time with computation, transfers, copies or fills, and no wait"]
        }
        ActivityQuantity::Wait => {
            ["Wait", "wait", "Share of time that the rank waits for others in collective operations"]
        }
        ActivityQuantity::Compute => [
            "Compute",
            "computation",
            "Floating-point operations a second, or share of time with computation",
        ],
    }
}

/// A cell or a mean in words: a share of time, or a rate beside the peak.
fn amount(map: &HeatMap, share: f64) -> String {
    let Some(rate) = map.rate else { return format::short_percent(share) };
    let flops = flops_rate(share * rate.top_flops);
    match rate.is_peak {
        true => format!("{flops} ({} of the peak)", format::short_percent(share)),
        false => flops,
    }
}

fn flops_rate(flops: f64) -> String {
    format::value(&FieldContent::Float(flops), "FLOP/s").text
}

/// The heading: of computation it says whether cells are rates or shares of time.
fn heading(title: &str, quantity: ActivityQuantity, map: &HeatMap) -> String {
    match (quantity, map.rate) {
        (ActivityQuantity::Compute, Some(_)) => format!("{title}: compute rate"),
        (ActivityQuantity::Compute, None) => format!("{title}: share of time with computation"),
        _ => title.to_owned(),
    }
}

/// State of the card.
#[derive(Clone, Copy)]
struct HeatState {
    opened: Opened,
    quantity: Memo<ActivityQuantity>,
    map: Memo<Arc<HeatMap>>,
    /// Reasons of the quantities that the traces do not tell.
    absent: Memo<Vec<(ActivityQuantity, String)>>,
    /// The cell under the pointer, or that of the keyboard.
    pointed: RwSignal<Option<HeatCell>>,
}

impl HeatState {
    fn reason(self, quantity: ActivityQuantity) -> Option<String> {
        self.absent.with(|absent| absent.iter().find(|(of, _)| *of == quantity).map(|(_, why)| why.clone()))
    }

    /// The cell under the pointer in words.
    fn said(self) -> Option<String> {
        let cell = self.pointed.get()?;
        let map = self.map.get();
        let (rank, span) = (*map.ranks.get(cell.row)?, map.span(cell.column));
        let clock = self.opened.times.clock.get();
        let share = amount(&map, map.share(cell));
        let [_, word, _] = words(self.quantity.get());
        let (start, end) = (clock.text(span.start.0), clock.text(span.end.0));
        Some(format!("{}, {start} to {end}: {share} {word}", rank_label(rank.into())))
    }

    /// The ranks that stand out.
    fn outliers(self) -> String {
        let Some((least, most)) = self.map.with(|map| map.extremes()) else { return String::new() };
        let [_, word, _] = words(self.quantity.get());
        let share = |of: f64| self.map.with(|map| amount(map, of));
        let (first, last) = (rank_label(most.rank.into()), rank_label(least.rank.into()));
        match most.rank == least.rank {
            true => format!("{first}: {} {word}", share(most.share)),
            false => {
                format!("Most {word}: {first}, {}. Least: {last}, {}", share(most.share), share(least.share))
            }
        }
    }

    fn point(self, area: NodeRef<Div>, event: &web_sys::MouseEvent) {
        let Some(area) = area.get_untracked() else { return };
        let across = f64::from(event.offset_x()) / f64::from(area.client_width()).max(1.0);
        let down = f64::from(event.offset_y()) / f64::from(area.client_height()).max(1.0);
        self.pointed.set(self.map.with_untracked(|map| map.cell_at(across, down)));
    }

    fn walk(self, rows: isize, columns: isize) {
        let from = self.pointed.get_untracked();
        let next = self.map.with_untracked(|map| match from {
            Some(cell) => Some(map.beside(cell, rows, columns)),
            None => map.cell_at(0.0, 0.0),
        });
        self.pointed.set(next);
    }

    fn press(self, event: &web_sys::KeyboardEvent) {
        match event.key().as_str() {
            "ArrowLeft" => self.walk(0, -1),
            "ArrowRight" => self.walk(0, 1),
            "ArrowUp" => self.walk(-1, 0),
            "ArrowDown" => self.walk(1, 0),
            "Enter" => self.go(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    /// Opens the timeline of the rank at the time of the pointed cell.
    fn go(self) {
        let Some(cell) = self.pointed.get_untracked() else { return };
        let map = self.map.get_untracked();
        let Some(rank) = map.ranks.get(cell.row).copied() else { return };
        let (opened, span) = (self.opened, map.span(cell.column));
        let shown = opened.findings.times.with_untracked(|times| {
            let time = |ps| times.shown(Some(rank), ps);
            Interval::new(time(span.start.0), time(span.end.0))
        });
        let current = opened.current.source.get_untracked().unwrap_or_default();
        opened.act(&Command::Show(window_around(shown)).in_rank(opened.beside(rank), current));
        opened.act(&Command::GoTo(ProfilePlace::Timeline));
    }
}

/// The card of the heat map.
#[component]
pub(super) fn HeatMapCard(opened: Opened, title: String) -> impl IntoView {
    let (view, known) = (opened.session.view, opened.profile.rank_times.known);
    opened.profile.rank_times.show();
    let quantity = Memo::new(move |_| view.with(|view| view.plots.heat));
    let all = Memo::new(move |_| opened.current.source.get().filter(|source| source.rank.is_all()));
    let question = Memo::new(move |_| Some((all.get()?, quantity.get())));
    let asked = QuestionAnswers::new(question, move |(source, quantity), signal| async move {
        opened.ask(source, ActivityQuestion { quantity }, Some(&signal)).await
    });
    let ranks = Memo::new(move |_| {
        let mut ranks: Vec<u32> = opened.profile.info.with(|answer| {
            let ranks = answer.iter().flatten().flat_map(|profile| &profile.ranks);
            ranks.filter_map(|rank| rank.rank.number()).collect()
        });
        let order = view.with(|view| view.tracks.order);
        known.with(|known| known.sort(&mut ranks, order));
        ranks
    });
    let map = Memo::new(move |before: Option<&Arc<HeatMap>>| match asked.answer() {
        Some(Ok(found)) => Arc::new(ranks.with(|ranks| HeatMap::of(&found, ranks))),
        _ => before.cloned().unwrap_or_default(),
    });
    let absent = Memo::new(move |_| {
        let Some(Ok(found)) = asked.answer() else { return Vec::new() };
        let of =
            |one: &AbsentQuantity| Some((ActivityQuantity::from_name(&one.quantity)?, one.reason.clone()));
        found.absent.iter().filter_map(of).collect()
    });
    let heat = HeatState { opened, quantity, map, absent, pointed: RwSignal::new(None) };
    let label = title.clone();
    let failed = Memo::new(move |_| asked.answer().map(|answer| answer.err().map(|error| error.to_string())));
    let body = move || match failed.get() {
        None if map.with(|map| map.is_empty()) => view! { <Loading what="Loading …" /> }.into_any(),
        Some(Some(reason)) => {
            view! { <Failure title="The heat map did not arrive" reason on_retry=asked.retry /> }.into_any()
        }
        Some(None) if map.with(|map| map.is_empty()) => {
            let reason = heat.reason(quantity.get()).unwrap_or_else(|| "no rank has any".to_owned());
            let [name, ..] = words(quantity.get());
            view! { <p class="muted">{format!("{name} is not known: {reason}.")}</p> }.into_any()
        }
        _ => view! { <Picture heat /> }.into_any(),
    };
    view! {
        <section class="metric-card summary-card heat-card" aria-label=label>
            <header>
                <h3>{move || map.with(|map| heading(&title, quantity.get(), map))}</h3>
                <QuantitySwitch heat />
                <Scale heat />
            </header>
            {body}
        </section>
    }
}

/// Chooses the quantity. One that the traces do not tell says why.
#[component]
fn QuantitySwitch(heat: HeatState) -> impl IntoView {
    let button = |one: ActivityQuantity| {
        let [name, _, doc] = words(one);
        let title = move || match heat.reason(one) {
            Some(reason) => format!("Not known: {reason}"),
            None => doc.to_owned(),
        };
        view! {
            <button
                class="button"
                type="button"
                aria-pressed=move || (heat.quantity.get() == one).to_string()
                disabled=move || heat.reason(one).is_some()
                title=title
                on:click=move |_| heat.opened.act(&Command::Plots(PlotsChange::Heat(one)))
            >
                {name}
            </button>
        }
    };
    view! {
        <div class="switch" role="group" aria-label="Quantity">
            {ActivityQuantity::ALL.map(button).collect_view()}
        </div>
    }
}

/// The shares or rates of the weakest and of the strongest colour.
#[component]
fn Scale(heat: HeatState) -> impl IntoView {
    let ramp = move || {
        let [red, green, blue] = colour(heat.quantity.get());
        format!("linear-gradient(90deg, transparent, rgb({red} {green} {blue}))")
    };
    let top = move || {
        heat.map.with(|map| match map.rate {
            Some(rate) => flops_rate(f64::from(map.top) * rate.top_flops),
            None => format::percent(f64::from(map.top)),
        })
    };
    view! {
        <span class="heat-scale muted" aria-hidden="true">
            "0" <span class="heat-ramp" style:background-image=ramp></span> {top}
        </span>
    }
}

/// The colour of a quantity: waits have that of rows of ranks in the timeline.
fn colour(quantity: ActivityQuantity) -> Rgb {
    let index = match quantity {
        ActivityQuantity::Busy => palette::GROUP,
        ActivityQuantity::Wait => palette::HEAT,
        ActivityQuantity::Compute => palette::COUNTER,
    };
    palette::colours(current_ground())[usize::from(index)]
}

/// The cells with their labels, the axis and the words of the pointed cell.
#[component]
fn Picture(heat: HeatState) -> impl IntoView {
    let (area, canvas) = (NodeRef::<Div>::new(), NodeRef::<Canvas>::new());
    let size = RwSignal::new(Size::default());
    measure::follow(area, area, size);
    Effect::new(move |_| {
        let Some(canvas) = canvas.get() else { return };
        let colour = colour(heat.quantity.get());
        heat.map.with(|map| paint(&canvas, map, colour));
    });
    let label = move || {
        let [name, ..] = words(heat.quantity.get());
        let outliers = heat.outliers();
        format!("{name} of ranks over time. {outliers}. Arrow keys move, Enter opens the rank at that time")
    };
    let last_column = move || heat.map.with(|map| map.columns).saturating_sub(1).to_string();
    let column = move || heat.pointed.get().map_or(0, |cell| cell.column).to_string();
    let whole = Signal::derive(move || heat.map.with(|map| map.whole));
    view! {
        <div class="heat-map">
            <RowLabels heat size />
            <div
                class="heat-area"
                node_ref=area
                tabindex="0"
                role="slider"
                aria-label=label
                aria-valuemin="0"
                aria-valuemax=last_column
                aria-valuenow=column
                aria-valuetext=move || heat.said()
                on:pointermove=move |event| heat.point(area, &event)
                on:pointerleave=move |_| heat.pointed.set(None)
                on:click=move |event| {
                    heat.point(area, &event);
                    heat.go();
                }
                on:keydown=move |event| heat.press(&event)
            >
                <canvas
                    node_ref=canvas
                    class:is-dense=move || heat.map.with(|map| map.ranks.len() > MANY_ROWS)
                    aria-hidden="true"
                ></canvas>
                <Cursor heat />
            </div>
            <TimeAxis
                window=whole
                first_ps=Signal::derive(move || heat.opened.times.whole.get().start.0)
                width_px=Signal::derive(move || size.get().width_px)
            />
        </div>
        <p class="heat-said muted">{move || heat.said().unwrap_or_else(|| heat.outliers())}</p>
    }
}

/// The numbers of some ranks beside their rows.
#[component]
fn RowLabels(heat: HeatState, size: RwSignal<Size>) -> impl IntoView {
    let labels = move || {
        let map = heat.map.get();
        let room = (size.get().height_px / LABEL_PX) as usize;
        let rows = map.ranks.len().max(1) as f64;
        let label = |row: usize| {
            let top = format!("{:.3}%", (row as f64 + 0.5) / rows * 100.0);
            view! { <span style:top=top>{map.ranks[row]}</span> }
        };
        map.labelled_rows(room).into_iter().map(label).collect_view()
    };
    view! {
        <div class="heat-rows" aria-hidden="true">
            {labels}
        </div>
    }
}

/// A frame around the pointed cell.
#[component]
fn Cursor(heat: HeatState) -> impl IntoView {
    move || {
        let HeatCell { row, column } = heat.pointed.get()?;
        let (rows, columns) = heat.map.with(|map| (map.ranks.len().max(1), map.columns.max(1)));
        let percent = |at: usize, of: usize| format!("{:.3}%", at as f64 / of as f64 * 100.0);
        Some(view! {
            <span
                class="heat-cursor"
                style:left=percent(column, columns)
                style:top=percent(row, rows)
                style:width=percent(1, columns)
                style:height=percent(1, rows)
            ></span>
        })
    }
}

/// Paints a pixel for each cell; the style sheet stretches them. A browser without a context leaves
/// the words.
fn paint(canvas: &HtmlCanvasElement, map: &HeatMap, colour: Rgb) {
    let (width, height) = (map.columns as u32, map.ranks.len() as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|of| of.dyn_into::<CanvasRenderingContext2d>().ok()) else { return };
    canvas.set_width(width);
    canvas.set_height(height);
    let pixels = map.pixels(colour);
    if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), width, height) {
        // Fails only for NaN.
        context.put_image_data(&image, 0.0, 0.0).ok();
    }
}
