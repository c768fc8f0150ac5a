//! The picture of collective operations: points by size and time, beside them the spread of those
//! that are alike. The legend hides kinds, here and in the plots of all ranks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use leptos::prelude::*;
use nprof_engine::base::time::{PS_PER_S, short_duration};
use nprof_engine::makers::{colours as kind_colours, job};
use nprof_engine::wire::detail::FieldContent;
use wasm_bindgen::JsCast;

use super::axes::{AxisGrid, AxisScale, percent};
use crate::ui::profile::ground;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::state::plots::PlotsChange;
use crate::view::summary::collectives::{
    CollectiveMark, CollectivePicture, PicturePlace, PointedAt, SpreadMark,
};

/// Outliers that have a line with their name.
const MOST_NAMED: usize = 2;

/// State of the picture.
#[derive(Clone, Copy)]
struct PictureState {
    opened: Opened,
    of: StoredValue<CollectivePicture>,
    /// Kinds that the legend hides.
    hidden: Memo<BTreeSet<String>>,
    /// The thing under the pointer.
    pointed: RwSignal<Option<PointedAt>>,
}

/// The picture with its legend and the names of its outliers. A point leads to its slice.
#[component]
pub(super) fn CollectivesPicture(opened: Opened, of: CollectivePicture) -> impl IntoView {
    let across = AxisScale { ticks: of.sizes.clone(), label: format::bytes };
    let up = AxisScale { ticks: of.times.clone(), label: time };
    let kinds = (0..of.kinds.len()).collect::<Vec<_>>();
    let state = PictureState {
        opened,
        of: StoredValue::new(of),
        hidden: Memo::new(move |_| opened.session.view.with(|view| view.plots.hidden_kinds.clone())),
        pointed: RwSignal::new(None),
    };
    let at = move |event: &web_sys::MouseEvent| state.at(event);
    let shapes = kinds.iter().map(|kind| view! { <KindShapes state kind=*kind /> }).collect_view();
    view! {
        <figure class="card-picture collectives">
            <div class="plot-legend" role="group" aria-label="Kinds">
                {kinds.iter().map(|kind| view! { <LegendEntry state kind=*kind /> }).collect_view()}
            </div>
            <div
                class="collectives-area"
                class:is-pointed=move || matches!(state.pointed.get(), Some(PointedAt::Point(_)))
                on:pointermove=move |event| state.pointed.set(at(&event))
                on:pointerleave=move |_| state.pointed.set(None)
                on:click=move |event| state.go(at(&event))
            >
                <svg role="img" aria-label="Operations by size, from left to right, and by time, from bottom to top">
                    <AxisGrid across up />
                    {shapes}
                </svg>
            </div>
            <figcaption class="muted">{move || state.said()}</figcaption>
            <Outliers state />
        </figure>
    }
}

impl PictureState {
    fn is_shown(self, kind: usize) -> bool {
        let name = self.of.with_value(|of| of.kinds[kind].clone());
        self.hidden.with(|hidden| !hidden.contains(&name))
    }

    /// The thing under the pointer.
    fn at(self, event: &web_sys::MouseEvent) -> Option<PointedAt> {
        let area = event.current_target()?.dyn_into::<web_sys::Element>().ok()?.get_bounding_client_rect();
        let place = PicturePlace {
            across_px: f64::from(event.client_x()) - area.left(),
            above_px: area.bottom() - f64::from(event.client_y()),
            width_px: area.width(),
            height_px: area.height(),
        };
        self.of.with_value(|of| self.hidden.with(|hidden| of.nearest(place, hidden)))
    }

    fn go(self, to: Option<PointedAt>) {
        let Some(PointedAt::Point(at)) = to else { return };
        let row = self.of.with_value(|of| of.points.get(at).and_then(|point| point.row));
        row.into_iter().for_each(|row| self.opened.reveal_row(row));
    }

    /// The thing under the pointer in words, else what is drawn.
    fn said(self) -> String {
        let pointed = self.pointed.get();
        self.of.with_value(|of| match pointed {
            Some(PointedAt::Point(at)) => of.points.get(at).map(point_words).unwrap_or_default(),
            Some(PointedAt::Spread(at)) => of.spreads.get(at).map(spread_words).unwrap_or_default(),
            None => caption(of),
        })
    }
}

/// The axes, and how many operations are not drawn.
fn caption(of: &CollectivePicture) -> String {
    let mut words = "size →, time ↑".to_owned();
    if of.has_unsized {
        words.push_str(", without size at the left edge");
    }
    let drawn = of.points.len() as u64;
    // A text takes everything.
    if of.count > drawn {
        let (drawn, all) = (format::count(drawn), format::count(of.count));
        write!(words, "; {drawn} of {all} are drawn, outliers first").ok();
    } else {
        write!(words, "; {}", format::counted(of.count, "operation", "operations")).ok();
    }
    words
}

fn time(seconds: f64) -> String {
    short_duration(seconds * PS_PER_S as f64)
}

fn rate(bytes_per_s: f64) -> String {
    format::value(&FieldContent::Float(bytes_per_s), "B/s").text
}

fn point_words(point: &CollectiveMark) -> String {
    let parts = [
        Some(format!("{}: {}", point.name, time(point.time_s))),
        point.of_usual.filter(|_| point.is_outlier).map(of_usual_words),
        point.bytes.map(format::bytes),
        point.ranks.map(|ranks| format::counted(ranks as u64, "rank", "ranks")),
        point.bus_rate.map(|of| format!("bus {}", rate(of))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn spread_words(spread: &SpreadMark) -> String {
    let [_, quarter, median, three_quarters, p95] = spread.times_s.map(time);
    let bus = spread.bus_rate.map(|of| format!(", bus {}", rate(of))).unwrap_or_default();
    let count = format::counted(spread.count as u64, "operation", "operations");
    format!(
        "{}: {count}, median {median}, half {quarter} to {three_quarters}, 95 % below {p95}{bus}",
        spread.name
    )
}

fn multiple(of_usual: f64) -> String {
    format!("{of_usual:.1}")
}

fn of_usual_words(of_usual: f64) -> String {
    format!("{} × usual", multiple(of_usual))
}

/// A kind with its colour. A click hides the kind or shows it again.
#[component]
fn LegendEntry(state: PictureState, kind: usize) -> impl IntoView {
    let name = state.of.with_value(|of| of.kinds[kind].clone());
    let toggle = Command::Plots(PlotsChange::ToggleKind(name.clone()));
    let colour = colour_of(&name);
    view! {
        <button
            class="plot-kind"
            type="button"
            aria-pressed=move || state.is_shown(kind).to_string()
            title="Hide or show this kind"
            on:click=move |_| state.opened.act(&toggle)
        >
            <span class="plot-dot" aria-hidden="true" style:background=colour></span>
            {name}
        </button>
    }
}

/// The colour of a kind, which the timeline of all ranks has, too.
fn colour_of(kind: &str) -> String {
    let of_kinds = kind_colours(job::SOURCE).unwrap_or_default();
    let slot = of_kinds.into_iter().find(|known| known.kind == kind).map_or(0, |known| known.slot);
    ground::colours().swap_remove(usize::from(slot))
}

/// The operations of a kind. Those that are usual are one path: there can be many.
#[component]
fn KindShapes(state: PictureState, kind: usize) -> impl IntoView {
    let colour = state.of.with_value(|of| colour_of(&of.kinds[kind]));
    let shapes = state.of.with_value(|of| {
        let spreads: Vec<SpreadMark> = of.spreads.iter().filter(|one| one.kind == kind).cloned().collect();
        let mut usual = String::new();
        let of_kind = || of.points.iter().filter(|point| point.kind == kind);
        for (across, above) in of_kind().filter(|point| !point.is_outlier).map(|point| point.at) {
            // A line of next to no length with round ends is a dot. A text takes everything.
            write!(usual, "M{:.2} {:.2}h.01", across * 100.0, (1.0 - above) * 100.0).ok();
        }
        let outliers: Vec<(f64, f64)> =
            of_kind().filter(|point| point.is_outlier).map(|point| point.at).collect();
        (spreads, usual, outliers)
    });
    let drawn = move || {
        let (spreads, usual, outliers) = shapes.clone();
        let outlier = |(across, above): (f64, f64)| {
            view! { <circle class="collectives-outlier" cx=percent(across) cy=percent(1.0 - above) r="4" /> }
        };
        view! {
            {spreads.iter().map(spread_shape).collect_view()}
            <svg class="collectives-dots" viewBox="0 0 100 100" preserveAspectRatio="none">
                <path d=usual />
            </svg>
            {outliers.into_iter().map(outlier).collect_view()}
        }
    };
    let shapes = move || state.is_shown(kind).then(&drawn);
    view! { <g style:color=colour>{shapes}</g> }
}

/// Beside the points a line to the 95th percentile, a bar over the middle half, and the median.
fn spread_shape(spread: &SpreadMark) -> impl IntoView + use<> {
    let x = percent(spread.across);
    let [shortest, quarter, median, three_quarters, p95] = spread.up.map(|up| percent(1.0 - up));
    let line = |class: &'static str, from: String, to: String| {
        view! { <line class=class x1=x.clone() x2=x.clone() y1=from y2=to /> }
    };
    view! {
        <g class="collectives-spread" transform="translate(7)">
            {line("collectives-reach", shortest, p95)}
            {line("collectives-half", quarter, three_quarters)}
            <rect x=x.clone() y=median width="8" height="2" transform="translate(-4 -1)" />
        </g>
    }
}

/// The largest outliers by name, and how many there are.
#[component]
fn Outliers(state: PictureState) -> impl IntoView {
    let rows = move || {
        state.of.with_value(|of| {
            let hidden = state.hidden.get();
            let named = of.outliers(&hidden).take(MOST_NAMED).cloned();
            let rows = named.map(|point| view! { <OutlierRow state point /> }).collect_view();
            let more = of.outliers.saturating_sub(MOST_NAMED as u64);
            let more = (more > 0).then(|| {
                let text = format!("{} more of {} outliers", format::count(more), format::count(of.outliers));
                view! { <p class="muted">{text}</p> }
            });
            view! {
                <dl class="rows metrics">{rows}</dl>
                {more}
            }
        })
    };
    view! { <div class="collectives-outliers" role="group" aria-label="Outliers">{rows}</div> }
}

#[component]
fn OutlierRow(state: PictureState, point: CollectiveMark) -> impl IntoView {
    let title = format!("Show it in the timeline\n{}", point_words(&point));
    let go = move |_| point.row.into_iter().for_each(|row| state.opened.reveal_row(row));
    view! {
        <div>
            <dt>
                <button class="button-link" type="button" title=title on:click=go>{point.name.clone()}</button>
            </dt>
            <dd>{time(point.time_s)} <small class="muted">{point.of_usual.map(|of| format!("{} ×", multiple(of)))}</small></dd>
        </div>
    }
}
