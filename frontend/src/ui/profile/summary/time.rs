//! The time as one bar: what the devices did.

use leptos::prelude::*;
use nprof_engine::base::time::{PS_PER_S, short_duration};
use nprof_engine::makers::TimePart;

use crate::ui::text::format;
use crate::view::summary::time_bar::{TimeBar, TimeBarPart};

/// The bar with its legend.
#[component]
pub(super) fn TimeCard(bar: TimeBar) -> impl IntoView {
    let zoomed = bar.zoomed().map(|parts| {
        let share: f64 = parts.iter().map(|part| part.share).sum();
        let title = format!("The active {} of it", format::short_percent(share));
        view! {
            <p class="time-zoomed muted">{title}</p>
            {strip(&parts, |part| part.of_active.unwrap_or(0.0))}
        }
    });
    // Shares are of the active stretch wherever a part lies outside of it.
    let has_outside = bar.parts.iter().any(|part| part.of_active.is_none());
    let active = (has_outside && bar.active_s > 0.0).then(|| {
        let time = short_duration(bar.active_s * PS_PER_S as f64);
        view! { <small class="muted">{format!("shares of the active {time}")}</small> }
    });
    let legend = bar.parts.iter().map(|part| view! { <LegendEntry part=*part /> }).collect_view();
    view! {
        <section class="time-card metric-card" aria-label="Time">
            <header class="time-head">
                <h3>"Where the time went"</h3>
                {active}
            </header>
            {strip(&bar.parts, |part| part.share)}
            {zoomed}
            <ul class="time-legend">{legend}</ul>
        </section>
    }
}

/// The parts beside each other. The legend tells the numbers.
fn strip(parts: &[TimeBarPart], share: fn(&TimeBarPart) -> f64) -> impl IntoView + use<> {
    let parts: Vec<_> = parts
        .iter()
        .map(|part| {
            let title = words(part);
            view! {
                <span data-part=name(part.part) style:--share=share(part).to_string() title=title></span>
            }
        })
        .collect();
    view! { <div class="time-bar" aria-hidden="true">{parts}</div> }
}

/// A part with its share of the active stretch and its time. Time outside of the stretch has no
/// share: the shares sum up to the stretch.
#[component]
fn LegendEntry(part: TimeBarPart) -> impl IntoView {
    let share = part.of_active.map(|share| view! { <b class="number">{format::short_percent(share)}</b> });
    let time = part.seconds.map(|seconds| {
        view! { <span class="number muted">{short_duration(seconds * PS_PER_S as f64)}</span> }
    });
    view! {
        <li data-part=name(part.part) title=words(&part)>
            <span class="time-name">{part.part.title()}</span>
            {share}
            {time}
        </li>
    }
}

/// Both shares of a part.
fn words(part: &TimeBarPart) -> String {
    let of_whole = format!("{}: {} of the whole time", part.part.title(), format::short_percent(part.share));
    match part.of_active {
        Some(share) if (share - part.share).abs() > 1e-9 => {
            format!("{of_whole}, {} of the active stretch", format::short_percent(share))
        }
        _ => of_whole,
    }
}

/// The name of a part for the style sheet.
fn name(part: TimePart) -> &'static str {
    part.title()
}
