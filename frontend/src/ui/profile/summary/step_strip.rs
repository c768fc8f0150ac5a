//! The steps over time, as high as they take.

use leptos::prelude::*;
use nprof_engine::base::time::short_duration;

use super::scope::rank_span;
use crate::ui::profile::lit::Lit;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::summary::lit_place::LitPlace;
use crate::view::summary::step_bars::{StepBar, StepBars};

/// The steps of the rank, else its layers or phases. Nothing without any.
#[component]
pub(super) fn StepStrip(opened: Opened) -> impl IntoView {
    let steps = Memo::new(move |_| {
        let list = opened.regions.found.get()?.ok()?;
        StepBars::of(&list, rank_span(opened)?)
    });
    let chosen = Memo::new(move |_| opened.session.view.with(|view| view.region.clone()));
    let choice = StepChoice { opened, chosen };
    move || {
        steps.get().map(|steps| {
            let (title, said) = (title(steps.kind), said(&steps));
            let bars = steps.bars.iter().map(|bar| view! { <Bar choice bar=bar.clone() /> });
            let bars = bars.collect_view();
            let slowest = steps.slowest().map(|bar| view! { <Slowest choice bar=bar.clone() /> });
            view! {
                <section class="step-strip metric-card" aria-label="Steps">
                    <header class="step-head">
                        <h3>{title}</h3>
                        <p>{said} {slowest}</p>
                    </header>
                    <div class="step-bars" role="group" aria-label="Steps over time">{bars}</div>
                </section>
            }
        })
    }
}

fn title(kind: &str) -> &'static str {
    match kind {
        "layer" => "Layers",
        "phase" => "Phases",
        _ => "Steps",
    }
}

/// Number and duration of the steps in words, before the slowest one.
fn said(steps: &StepBars) -> String {
    if let [only] = &steps.bars[..] {
        return format!("one {}: {}, {}", steps.kind, only.name, duration_of(only));
    }
    let several = format!("{}s", steps.kind);
    format!(
        "{} {several}, median {}, deviation {}",
        format::count(steps.steps as u64),
        short_duration(steps.median_ps as f64),
        short_duration(steps.deviation_ps)
    )
}

fn duration_of(bar: &StepBar) -> String {
    short_duration(bar.span.duration_ps() as f64)
}

/// The choice of a step: its numbers, and after another click those of the whole.
#[derive(Clone, Copy)]
struct StepChoice {
    opened: Opened,
    chosen: Memo<Option<String>>,
}

impl StepChoice {
    fn is(self, name: &str) -> bool {
        self.chosen.with(|chosen| chosen.as_deref() == Some(name))
    }

    fn toggle(self, name: &str) {
        let is_chosen = self.chosen.with_untracked(|chosen| chosen.as_deref() == Some(name));
        self.opened.act(&Command::LimitTo((!is_chosen).then(|| name.to_owned())));
    }
}

/// The name of the slowest step. A click makes the numbers those of the step.
#[component]
fn Slowest(choice: StepChoice, bar: StepBar) -> impl IntoView {
    let (text, name) = (format!("{}, {}", bar.name, duration_of(&bar)), bar.name);
    let of_name = name.clone();
    view! {
        "; slowest "
        <button
            class="button-link"
            type="button"
            title="Show the numbers of this one alone"
            aria-pressed=move || choice.is(&of_name).to_string()
            on:click=move |_| choice.toggle(&name)
        >
            {text}
        </button>
    }
}

/// A step. A click makes the numbers those of the step, another one those of the whole.
#[component]
fn Bar(choice: StepChoice, bar: StepBar) -> impl IntoView {
    let title = format!("{}: {}", bar.name, duration_of(&bar));
    let StepBar { name, span, start, width, height, is_outlier } = bar;
    let looked = Lit::follow(Some(LitPlace::Spans(vec![span])));
    let of_name = name.clone();
    view! {
        <button
            type="button"
            class="step-bar"
            class:is-outlier=is_outlier
            title=title.clone()
            aria-label=title
            aria-pressed=move || choice.is(&of_name).to_string()
            style:--start=start.to_string()
            style:--width=width.to_string()
            style:--height=height.to_string()
            on:click=move |_| choice.toggle(&name)
            on:pointerenter=move |_| looked.enter()
            on:pointerleave=move |_| looked.leave()
            on:focus=move |_| looked.enter()
            on:blur=move |_| looked.leave()
        ></button>
    }
}
