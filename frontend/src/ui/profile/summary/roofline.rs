//! The picture of a roofline.

use leptos::prelude::*;
use nprof_engine::wire::detail::FieldContent;

use super::axes::{AxisGrid, AxisScale, percent};
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::summary::roofline::{Roofline, RooflineMark};
use crate::view::{Command, ProfilePlace};

/// Radius of a point that takes no time, and what all time adds to it, in pixels.
const RADIUS: (f64, f64) = (2.5, 6.5);

/// Work by its intensity and its rate. A point leads to the slices of its operator.
#[component]
pub(super) fn RooflinePicture(opened: Opened, of: Roofline) -> impl IntoView {
    let roofs = of.roofs.iter().map(|roof| {
        let points = roof.map(|(x, y)| format!("{},{}", x * 100.0, (1.0 - y) * 100.0)).join(" ");
        view! { <polyline points=points /> }
    });
    let marks = of
        .points
        .iter()
        .enumerate()
        .rev()
        .map(|(at, mark)| view! { <Mark opened mark=mark.clone() is_whole=at == 0 /> });
    let what =
        "Work by operations per byte, from left to right, and by operations a second, from bottom to top";
    view! {
        <figure class="card-picture roofline">
            <svg role="img" aria-label=what>
                <AxisGrid
                    across=AxisScale { ticks: of.intensities, label: power_label }
                    up=AxisScale { ticks: of.rates, label: power_label }
                />
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

/// A power of ten with the prefix of its thousand: `100 G`.
fn power_label(value: f64) -> String {
    format::value(&FieldContent::Float(value), "FLOP").text.replace(" FLOP", "").replace("FLOP", "")
}
