//! The steps over time, as high as they take, with the places of the findings below.

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::base::time::short_duration;

use crate::ui::profile::open_profile::{Opened, ShownFinding};
use crate::ui::text::format;
use crate::view::Command;
use crate::view::finding_place::FindingPlace;
use crate::view::summary::step_bars::{StepBar, StepBars};

/// The steps of the rank, else its layers or phases. Nothing without any and without findings.
#[component]
pub(super) fn StepStrip(opened: Opened) -> impl IntoView {
    let whole = Memo::new(move |_| {
        let rank = opened.rank_detail()?;
        Some(Interval::new(rank.entry.start_ps, rank.entry.end_ps))
    });
    let steps = Memo::new(move |_| {
        let list = opened.regions.found.get()?.ok()?;
        StepBars::of(&list, whole.get()?)
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
                    <h3>{title}</h3>
                    <p>{said} {slowest}</p>
                    <div class="step-bars" role="group" aria-label="Steps over time">{bars}</div>
                    <Marks opened whole />
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
    let StepBar { name, start, width, height, is_outlier, .. } = bar;
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
        ></button>
    }
}

/// The places of the findings on the axis of the steps.
#[component]
fn Marks(opened: Opened, whole: Memo<Option<Interval>>) -> impl IntoView {
    let marks = move || {
        let whole = whole.get()?;
        let length = (whole.duration_ps() as f64).max(1.0);
        let share = |ps: i64| ((ps - whole.start.0) as f64 / length).clamp(0.0, 1.0);
        let mark = |finding: &ShownFinding, span: Interval| {
            let (start, end) = (share(span.start.0), share(span.end.0));
            let title = format!("{}: {}", finding.entry.rule, finding.entry.text);
            let finding = finding.clone();
            let go = move |_| opened.reveal_finding(&finding);
            view! {
                <button
                    type="button"
                    class="step-mark"
                    tabindex="-1"
                    title=title.clone()
                    aria-label=title
                    style:--start=start.to_string()
                    style:--width=(end - start).to_string()
                    on:click=go
                ></button>
            }
        };
        let shown = opened.findings.shown.get();
        let marks = shown.iter().flat_map(|finding| {
            let spans = finding.place.iter().flat_map(FindingPlace::spans);
            spans.map(|span| mark(finding, span)).collect::<Vec<_>>()
        });
        Some(marks.collect_view())
    };
    view! { <div class="step-marks">{marks}</div> }
}
