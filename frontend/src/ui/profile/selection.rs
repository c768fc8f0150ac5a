//! Statistics of the marked span.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::selection::{NameTotal, SelectionSummary, TrackTotal};

use super::asked::Asked;
use super::opened::{Answer, Opened};
use crate::ui::failure::{Failure, Loading};
use crate::ui::format;
use crate::ui::name::Name;
use crate::view::Command;
use crate::view::by_name::SortBy;

/// Limit of listed names. The others are counted.
const MOST_NAMES: usize = 200;

/// Statistics of the slices in the marked span.
#[component]
pub fn Selection(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    provide_context(SelectionSort(RwSignal::new(SortBy::default())));
    let wanted =
        Memo::new(move |_| opened.rank_number.get().zip(opened.view.with(|view| view.selection.marked)));
    let asked = Asked::new(wanted, move |(rank, span): (u32, Interval), signal| async move {
        opened.ask(rank).selection(span, &signal).await
    });
    // During a drag, the last answer stays until the next one arrives. The answer of another rank
    // does not stay.
    let answer = move || -> Answer<SelectionSummary> {
        let (rank, _) = wanted.get()?;
        asked.last.get().filter(|((of, _), _)| *of == rank).map(|(_, answer)| answer)
    };
    move || {
        match answer() {
        _ if wanted.get().is_none() => {
            view! { <p class="panel-empty">"Mark a span on the ruler, or press M on a selected slice, to see what lies in it."</p> }.into_any()
        }
        None => view! { <Loading what="Adding up …" /> }.into_any(),
        Some(Err(error)) => {
            view! { <Failure title="The span was not added up" reason=error.to_string() on_retry=asked.retry /> }.into_any()
        }
        Some(Ok(summary)) => view! { <Totals opened summary /> }.into_any(),
    }
    }
}

#[component]
fn Totals(opened: Opened, summary: Arc<SelectionSummary>) -> impl IntoView {
    let span = Interval::new(summary.start_ps, summary.end_ps);
    let whole = u64::try_from(span.duration_ps()).unwrap_or(0);
    let by_track = summary.by_track.iter();
    let by_track =
        by_track.map(|total| track_row(total, whole, opened.track_title(total.track))).collect_view();
    view! {
        <div class="stats-line">
            <dl class="stats">
                <MomentStat opened name="From" time_ps=span.start.0 />
                <MomentStat opened name="To" time_ps=span.end.0 />
                <Stat
                    name="Duration"
                    value=format::duration(span.duration_ps())
                    exact=format::exact_ns(span.duration_ps())
                />
                <Stat name="Slices" value=format::count(summary.count) exact=String::new() />
            </dl>
            <div class="stats-actions">
                <button class="button" type="button" on:click=move |_| opened.act(&Command::Show(span))>
                    "Zoom to it"
                </button>
                <button class="button" type="button" on:click=move |_| opened.act(&Command::Mark(None))>
                    "Clear"
                </button>
            </div>
        </div>
        <div class="columns">
            <ByName opened summary whole />
            <table class="grid-table">
                <thead>
                    <tr>
                        <th scope="col">"Track"</th>
                        <th scope="col" class="number">"Slices"</th>
                        <th scope="col" class="number">"Busy"</th>
                        <th scope="col" class="number">"Share"</th>
                    </tr>
                </thead>
                <tbody>{by_track}</tbody>
            </table>
        </div>
    }
}

/// Times by name, sorted by the column that was clicked last.
#[component]
fn ByName(opened: Opened, summary: Arc<SelectionSummary>, whole: u64) -> impl IntoView {
    let sort = expect_context::<SelectionSort>().0;
    let more = summary.by_name.len().saturating_sub(MOST_NAMES);
    let more = (more > 0).then(|| {
        view! {
            <tr>
                <td class="muted" colspan="6">{format!("and {} more names", format::count(more as u64))}</td>
            </tr>
        }
    });
    let rows = move || {
        let names = sort.get().first(&summary.by_name, MOST_NAMES);
        names.into_iter().map(|total| view! { <NameRow opened total whole /> }).collect_view()
    };
    let headings = SortBy::ALL.map(|(column, title)| view! { <SortHeading sort column title /> });
    view! {
        <table class="grid-table">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    {headings.into_iter().collect_view()}
                </tr>
            </thead>
            <tbody>{rows} {more}</tbody>
        </table>
    }
}

/// Order of the names, kept when the span changes.
#[derive(Debug, Clone, Copy)]
struct SelectionSort(RwSignal<SortBy>);

#[component]
fn SortHeading(sort: RwSignal<SortBy>, column: SortBy, title: &'static str) -> impl IntoView {
    view! {
        <th
            scope="col"
            class=format!("number {}", extra(column))
            aria-sort=move || (sort.get() == column).then_some("descending")
        >
            <button class="button-sort" type="button" title=column.about() on:click=move |_| sort.set(column)>
                {title}
            </button>
        </th>
    }
}

/// CSS class of columns that narrow screens have no room for.
fn extra(column: SortBy) -> &'static str {
    match column {
        SortBy::Count | SortBy::Own | SortBy::Total => "",
        SortBy::Union | SortBy::Longest => "wide-only",
    }
}

/// A timestamp since the profile's start.
#[component]
fn MomentStat(opened: Opened, name: &'static str, time_ps: i64) -> impl IntoView {
    let clock = opened.clock;
    let exact = move || clock.with(|clock| format::exact_ns(clock.since_zero(time_ps)));
    view! {
        <div>
            <dt>{name}</dt>
            <dd title=exact>{move || clock.with(|clock| clock.text(time_ps))}</dd>
        </div>
    }
}

#[component]
fn Stat(name: &'static str, value: String, exact: String) -> impl IntoView {
    view! {
        <div>
            <dt>{name}</dt>
            <dd title=exact>{value}</dd>
        </div>
    }
}

#[component]
fn NameRow(opened: Opened, total: NameTotal, whole: u64) -> impl IntoView {
    let row = total.longest_row;
    view! {
        <tr>
            <td title=total.name.clone()><Name name=total.name.clone() /></td>
            <td class="number">{format::count(total.count)}</td>
            <td class="number">{with_bar(duration(total.self_ps), format::share(total.self_ps, whole))}</td>
            <td class="number wide-only">{duration(total.union_ps)}</td>
            <td class="number">{duration(total.total_ps)}</td>
            <td class="number wide-only">
                <button
                    class="button-link"
                    type="button"
                    title="Show the longest one"
                    on:click=move |_| opened.reveal_row(row)
                >
                    {duration(total.longest_ps)}
                </button>
            </td>
        </tr>
    }
}

fn track_row(total: &TrackTotal, whole: u64, name: Signal<String>) -> impl IntoView + use<> {
    let share = format::share(total.busy_ps, whole);
    view! {
        <tr>
            <td title=name>{name}</td>
            <td class="number">{format::count(total.count)}</td>
            <td class="number">{duration(total.busy_ps)}</td>
            <td class="number">{with_bar(format::percent(share), share)}</td>
        </tr>
    }
}

fn duration(ps: u64) -> String {
    format::duration(i64::try_from(ps).unwrap_or(i64::MAX))
}

/// A number with a bar as long as its share. Shares above 1 (overlapping slices) fill the bar.
fn with_bar(text: String, share: f64) -> impl IntoView {
    view! {
        <span class="share">
            <i style:width=format!("{:.1}%", (share * 100.0).min(100.0))></i>
            <span>{text}</span>
        </span>
    }
}
