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
    move || {
        steps.get().map(|steps| {
            let (title, said) = (title(steps.kind), said(&steps));
            let bars = steps.bars.iter().map(|bar| view! { <Bar opened bar=bar.clone() chosen /> });
            let bars = bars.collect_view();
            view! {
                <section class="step-strip metric-card" aria-label="Steps">
                    <h3>{title}</h3>
                    <p>{said}</p>
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

/// Number and duration of the steps in a sentence.
fn said(steps: &StepBars) -> String {
    let median = short_duration(steps.median_ps as f64);
    if let [only] = &steps.bars[..] {
        return format!(
            "one {}: {}, {}",
            steps.kind,
            only.name,
            short_duration(only.span.duration_ps() as f64)
        );
    }
    let count = format::count(steps.steps as u64);
    let several = format!("{}s", steps.kind);
    let slowest = steps.slowest().map(|bar| {
        format!("; the slowest is {}, {}", bar.name, short_duration(bar.span.duration_ps() as f64))
    });
    format!("{count} {several}, usually {median}{}", slowest.unwrap_or_default())
}

/// A step. A click makes the numbers those of the step, another one those of the whole.
#[component]
fn Bar(opened: Opened, bar: StepBar, chosen: Memo<Option<String>>) -> impl IntoView {
    let StepBar { name, span, start, width, height, is_outlier } = bar;
    let title = format!("{name}: {}", short_duration(span.duration_ps() as f64));
    let of_name = name.clone();
    let is_chosen = Memo::new(move |_| chosen.with(|chosen| chosen.as_deref() == Some(of_name.as_str())));
    let choose = move |_| {
        let region = (!is_chosen.get_untracked()).then(|| name.clone());
        opened.act(&Command::LimitTo(region));
    };
    view! {
        <button
            type="button"
            class="step-bar"
            class:is-outlier=is_outlier
            title=title.clone()
            aria-label=title
            aria-pressed=move || is_chosen.get().to_string()
            style:--start=start.to_string()
            style:--width=width.to_string()
            style:--height=height.to_string()
            on:click=choose
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
