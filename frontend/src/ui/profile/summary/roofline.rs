//! The picture of a roofline.

use leptos::prelude::*;
use nprof_engine::wire::detail::FieldContent;

use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::summary::roofline::{Roofline, RooflineMark};
use crate::view::{Command, ProfilePlace};

/// Radius of a point that takes no time, and what all time adds to it, in pixels.
const RADIUS: (f64, f64) = (2.5, 6.5);
/// Steps between labelled powers of ten at most, so that labels do not touch.
const MOST_LABELS: usize = 5;

/// Work by its intensity and its rate. A point leads to the slices of its operator.
#[component]
pub(super) fn RooflinePicture(opened: Opened, of: Roofline) -> impl IntoView {
    let roofs = of.roofs.iter().map(|roof| {
        let points = roof.map(|(x, y)| format!("{},{}", x * 100.0, (1.0 - y) * 100.0)).join(" ");
        view! { <polyline points=points /> }
    });
    let every = |ticks: usize| ticks.div_ceil(MOST_LABELS).max(1);
    let grid = |ticks: &[(f64, i32)], is_rate: bool| {
        let step = every(ticks.len());
        let line = move |(at, power): &(f64, i32)| {
            let label = power_label(*power);
            if is_rate {
                let y = percent(1.0 - at);
                view! {
                    <line x1="0" x2="100%" y1=y.clone() y2=y.clone() />
                    <text x="2" y=y dy="12">{label}</text>
                }
                .into_any()
            } else {
                let x = percent(*at);
                view! {
                    <line x1=x.clone() x2=x.clone() y1="0" y2="100%" />
                    <text x=x y="100%" dx="3" dy="-3">{label}</text>
                }
                .into_any()
            }
        };
        // A label stands right of its line or below it: one edge has none.
        let inner = if is_rate { &ticks[1..] } else { &ticks[..ticks.len() - 1] };
        inner.iter().step_by(step).map(line).collect_view()
    };
    let marks = of
        .points
        .iter()
        .enumerate()
        .rev()
        .map(|(at, mark)| view! { <Mark opened mark=mark.clone() is_whole=at == 0 /> });
    let what =
        "Work by operations per byte, from left to right, and by operations a second, from bottom to top";
    view! {
        <figure class="roofline">
            <svg role="img" aria-label=what>
                <g class="roofline-grid">{grid(&of.intensities, false)} {grid(&of.rates, true)}</g>
                <svg class="roofline-roofs" viewBox="0 0 100 100" preserveAspectRatio="none">
                    {roofs.collect_view()}
                </svg>
                {marks.collect_view()}
            </svg>
            <figcaption class="muted">{caption(of.left_out)}</figcaption>
        </figure>
    }
}

/// Words below the picture: its axes, and how many points are not drawn.
fn caption(left_out: usize) -> String {
    let axes = "FLOP per byte →, FLOP/s ↑";
    match left_out {
        0 => axes.to_owned(),
        1 => format!("{axes}; 1 point with less time is left out"),
        many => format!("{axes}; {many} points with less time are left out"),
    }
}

#[component]
fn Mark(opened: Opened, mark: RooflineMark, is_whole: bool) -> impl IntoView {
    let number = |value: f64, unit: &str| format::value(&FieldContent::Float(value), unit).text;
    let reached = mark.of_reachable.map_or_else(String::new, |share| {
        let bound = if mark.is_memory_bound == Some(true) { "memory" } else { "compute" };
        format!(", {} of what {bound} allows", number(share, "ratio"))
    });
    let (time, rate) = (number(mark.time_s, "s"), number(mark.rate, "FLOP/s"));
    let words =
        format!("{}\n{time}, {rate}, {} FLOP per byte{reached}", mark.name, number(mark.intensity, ""));
    let radius = RADIUS.0 + if is_whole { 1.5 } else { RADIUS.1 * mark.share.clamp(0.0, 1.0).sqrt() };
    let operator = mark.name.split(' ').next().unwrap_or_default().to_owned();
    let go = move |_| {
        if !is_whole {
            opened.act(&Command::GoTo(ProfilePlace::Timeline));
            opened.act(&Command::SearchForText(operator.clone()));
        }
    };
    view! {
        <circle
            class="roofline-mark"
            class:is-memory=mark.is_memory_bound == Some(true)
            class:is-whole=is_whole
            cx=percent(mark.at.0)
            cy=percent(1.0 - mark.at.1)
            r=radius.to_string()
            on:click=go
        >
            <title>{words}</title>
        </circle>
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A power of ten with the prefix of its thousand: `100 G`.
fn power_label(power: i32) -> String {
    format::value(&FieldContent::Float(10_f64.powi(power)), "FLOP")
        .text
        .replace(" FLOP", "")
        .replace("FLOP", "")
}
