//! The spread of the durations of operations: a row for each kind and size, with a box from the
//! first to the third quarter, a line from the shortest to the 95th percentile, and a dot for each
//! operation above.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;

use crate::draw::names::NameColours;
use crate::ui::profile::ground;
use crate::ui::profile::open_profile::Opened;
use crate::ui::text::format;
use crate::view::Command;
use crate::view::ranks::spread::{LogScale, OperationTime, Operations, Spread};
use crate::view::state::plots::PlotsChange;

/// The heading.
pub const TITLE: &str = "By kind and size";
/// The plot's id, to which the list of plots leads.
pub const ID: &str = "plot-by-kind";

/// Choices of the plot.
#[derive(Clone, Copy)]
struct Choices {
    opened: Opened,
    operations: Memo<Arc<Operations>>,
    /// The time that is plotted.
    time: Memo<OperationTime>,
    /// Kinds that the legend hides.
    hidden: Memo<BTreeSet<u32>>,
    /// The colours of the kinds, in CSS.
    colours: Memo<Vec<String>>,
}

/// The plot with its legend.
#[component]
pub fn Spreads(
    /// The opened profile.
    opened: Opened,
    /// The operations.
    operations: Memo<Arc<Operations>>,
) -> impl IntoView {
    let colours = Memo::new(move |_| colours(opened, &operations.read().kinds));
    let time = Memo::new(move |_| opened.session.view.with(|view| view.plots.time));
    let hidden = Memo::new(move |_| {
        let names = opened.session.view.with(|view| view.plots.hidden_kinds.clone());
        let kinds = operations.read();
        (0..).zip(&kinds.kinds).filter(|(_, kind)| names.contains(*kind)).map(|(at, _)| at).collect()
    });
    let choices = Choices { opened, operations, time, hidden, colours };
    let spreads = Memo::new(move |_| {
        let mut spreads = operations.read().spreads(time.get());
        spreads.retain(|one| !hidden.read().contains(&one.kind));
        spreads
    });
    let rows = move || {
        let spreads = spreads.get();
        let scale = LogScale::of(&spreads);
        let rows =
            spreads.into_iter().map(|one| view! { <SpreadRow choices spread=one scale /> }).collect_view();
        view! {
            <thead>
                <tr>
                    <th scope="col">"Kind"</th>
                    <th scope="col">"Size"</th>
                    <th scope="col" class="number">"Count"</th>
                    <th scope="col" class="plot-cell">
                        <span class="unseen">"Spread"</span>
                        <Axis scale />
                    </th>
                    <th scope="col" class="number">"Median"</th>
                    <th scope="col" class="number">"95 %"</th>
                    <th scope="col" class="number">"Longest"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        }
    };
    let cut = move || {
        let (is_cut, count) = operations.with(|all| (all.is_cut, all.all.len() as u64));
        is_cut.then(|| format!("Of the first {} operations.", format::count(count)))
    };
    view! {
        <section class="plot" id=ID aria-label="Duration by kind and size">
            <div class="plot-head">
                <h2>{TITLE}</h2>
                <TimeSwitch opened time />
                <Legend choices />
                <span class="muted">{cut}</span>
            </div>
            <table class="grid-table plot-table">{rows}</table>
        </section>
    }
}

/// The colours of the kinds on the timeline.
fn colours(opened: Opened, kinds: &[String]) -> Vec<String> {
    let names = opened.rank_detail().map(|rank| NameColours::new(&rank.names)).unwrap_or_default();
    let all = ground::colours();
    kinds.iter().map(|kind| all[usize::from(names.colour(kind))].clone()).collect()
}

/// Chooses the time that is plotted.
#[component]
fn TimeSwitch(opened: Opened, time: Memo<OperationTime>) -> impl IntoView {
    let button = |one: OperationTime| {
        view! {
            <button
                class="button"
                type="button"
                aria-pressed=move || (time.get() == one).to_string()
                on:click=move |_| opened.act(&Command::Plots(PlotsChange::Time(one)))
            >
                {one.words()}
            </button>
        }
    };
    view! {
        <div class="switch" role="group" aria-label="Time">
            {OperationTime::ALL.map(button).collect_view()}
        </div>
    }
}

/// The kinds with their colours. A click hides a kind or shows it again.
#[component]
fn Legend(choices: Choices) -> impl IntoView {
    let Choices { opened, hidden, .. } = choices;
    let button = move |(at, kind): (u32, String)| {
        let toggle = Command::Plots(PlotsChange::ToggleKind(kind.clone()));
        view! {
            <button
                class="plot-kind"
                type="button"
                aria-pressed=move || (!hidden.read().contains(&at)).to_string()
                title="Hide or show this kind"
                on:click=move |_| opened.act(&toggle)
            >
                <Dot choices kind=at />
                {kind}
            </button>
        }
    };
    let buttons = move || {
        let kinds = choices.operations.read().kinds.clone();
        (0..).zip(kinds).map(button).collect_view()
    };
    view! {
        <div class="plot-legend" role="group" aria-label="Kinds">
            {buttons}
        </div>
    }
}

#[component]
fn Dot(choices: Choices, kind: u32) -> impl IntoView {
    view! { <span class="plot-dot" aria-hidden="true" style:background=move || colour(choices, kind)></span> }
}

fn colour(choices: Choices, kind: u32) -> String {
    choices.colours.with(|colours| colours.get(kind as usize).cloned().unwrap_or_default())
}

fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

/// Powers of ten, with their lines.
#[component]
fn Axis(scale: LogScale) -> impl IntoView {
    let ticks = scale.ticks();
    // The plot has room for a few labels.
    let every = ticks.len().div_ceil(MOST_LABELS).max(1);
    let label = |ps: &i64| {
        view! { <text x=percent(scale.share(*ps)) y="12">{format::duration(*ps)}</text> }
    };
    view! { <svg class="plot-axis" aria-hidden="true">{ticks.iter().step_by(every).map(label).collect_view()}</svg> }
}

/// Most labels of the axis.
const MOST_LABELS: usize = 6;

#[component]
fn SpreadRow(choices: Choices, spread: Spread, scale: LogScale) -> impl IntoView {
    let opened = choices.opened;
    let kind = choices.operations.with_untracked(|all| all.kinds.get(spread.kind as usize).cloned());
    let size = spread.bytes.map_or_else(String::new, |bytes| format::bytes(bytes as f64));
    let (at, longest) = (spread.kind, spread.most_row);
    view! {
        <tr>
            <td><Dot choices kind=at /> {kind}</td>
            <td>{size}</td>
            <td class="number">{format::count(spread.count as u64)}</td>
            <td class="plot-cell"><SpreadPlot choices spread=spread.clone() scale /></td>
            <td class="number">{format::duration(spread.median_ps)}</td>
            <td class="number">{format::duration(spread.p95_ps)}</td>
            <td class="number">
                <button
                    class="button-link"
                    type="button"
                    title="Show the longest one in the timeline"
                    on:click=move |_| opened.reveal_row(longest)
                >
                    {format::duration(spread.most_ps)}
                </button>
            </td>
        </tr>
    }
}

/// The box, its line and the dots. Screen readers have the numbers beside it.
#[component]
fn SpreadPlot(choices: Choices, spread: Spread, scale: LogScale) -> impl IntoView {
    let (opened, kind) = (choices.opened, spread.kind);
    let at = move |ps: i64| percent(scale.share(ps));
    let width = percent(scale.share(spread.three_quarters_ps) - scale.share(spread.quarter_ps));
    // A slow transfer is no fault of the rank that came last.
    let show = move |row: u32| match choices.time.get_untracked() {
        OperationTime::Transfer => opened.reveal_row(row),
        OperationTime::Whole | OperationTime::Wait => opened.reveal_late(row),
    };
    let dot = move |(ps, row): (i64, u32)| {
        view! {
            <circle cx=at(ps) cy="11" r="3" on:click=move |_| show(row)>
                <title>{format::duration(ps)}</title>
            </circle>
        }
    };
    let dots = spread.outliers.iter().copied().map(dot).collect_view();
    let line =
        |ps: i64, top: &'static str, end: &'static str| view! { <line x1=at(ps) x2=at(ps) y1=top y2=end /> };
    view! {
        <svg class="plot-spread" aria-hidden="true" style:color=move || colour(choices, kind)>
            <line x1=at(spread.least_ps) x2=at(spread.p95_ps) y1="11" y2="11" />
            {line(spread.least_ps, "7", "15")}
            {line(spread.p95_ps, "7", "15")}
            <rect x=at(spread.quarter_ps) width=width y="4" height="14" />
            <line class="plot-median" x1=at(spread.median_ps) x2=at(spread.median_ps) y1="3" y2="19" />
            {dots}
        </svg>
    }
}
