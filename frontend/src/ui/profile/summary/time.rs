//! The time as one bar: what the devices did.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::{PS_PER_S, short_duration};
use nprof_engine::makers::TimePart;

use super::number_link::NumberLink;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::summary::number_target::NumberTarget;
use crate::view::summary::time_bar::{TimeBar, TimeBarPart};

/// The bar with its legend. `whole` is the span that the parts divide.
#[component]
pub(super) fn TimeCard(opened: Opened, bar: TimeBar, whole: Memo<Option<Interval>>) -> impl IntoView {
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
    let parts = bar.parts.clone();
    let legend = move || {
        let stretch = |part: TimePart| whole.get().map(|whole| bar.stretch(part, whole));
        let entry = |part: &TimeBarPart| {
            view! { <LegendEntry opened part=*part stretch=stretch(part.part) whole_s=bar.whole_s /> }
        };
        bar.parts.iter().map(entry).collect_view()
    };
    view! {
        <section class="time-card metric-card" aria-label="Time">
            <header class="time-head">
                <h3>"Where the time went"</h3>
                {active}
            </header>
            {strip(&parts, |part| part.share)}
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
fn LegendEntry(opened: Opened, part: TimeBarPart, stretch: Option<Interval>, whole_s: f64) -> impl IntoView {
    let share = part.of_active.map(|share| view! { <b class="number">{format::short_percent(share)}</b> });
    let time = part.seconds.map(|seconds| {
        view! { <span class="number muted">{short_duration(seconds * PS_PER_S as f64)}</span> }
    });
    let target = part.target.and_then(NumberTarget::of_time);
    let is_link = target.is_some();
    let label = part.part.title().to_owned();
    let label = match target {
        Some(target) => {
            let title = match whole_s > 0.0 {
                true => format!("{} {}", words(&part), short_duration(whole_s * PS_PER_S as f64)),
                false => words(&part),
            };
            view! { <NumberLink opened target stretch label title /> }.into_any()
        }
        None => label.into_any(),
    };
    view! {
        <li data-part=name(part.part) class:is-link=is_link title=words(&part)>
            <span class="time-name">{label}</span>
            {share}
            {time}
        </li>
    }
}

/// Both shares of a part, that of the whole last.
fn words(part: &TimeBarPart) -> String {
    let of_whole = format!("{} of the whole", format::short_percent(part.share));
    let (title, of_active) = (part.part.title(), part.of_active);
    match of_active.filter(|share| (share - part.share).abs() > 1e-9) {
        Some(share) => format!("{title}: {} of the active stretch, {of_whole}", format::short_percent(share)),
        None => format!("{title}: {of_whole}"),
    }
}

/// The name of a part for the style sheet.
fn name(part: TimePart) -> &'static str {
    part.title()
}
