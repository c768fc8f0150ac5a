//! Statistics of the marked span.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::Interval;
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::selection::SelectionSummary;

use super::data::content::texts;
use super::opened::{Answer, Opened};
use crate::ui::asked::Asked;
use crate::ui::failure::{Failure, Loading};
use crate::ui::format;
use crate::ui::name::Name;
use crate::ui::table::{DrawCell, PlainTable, TableSource};
use crate::view::table::{DataTable, Sorting, TableColumn, sorted};
use crate::view::{Act, Command};

/// Limit of listed rows. The others are counted.
const MOST_ROWS: usize = 200;
/// Keys of columns with a bar.
const SELF: &str = "self";
const SHARE: &str = "share";
/// Keys of columns that are drawn in a way of their own.
const NAME: &str = "name";
const LONGEST: &str = "longest";

/// Statistics of the slices in the marked span.
#[component]
pub fn Selection(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let most_self = Sorting { column: SELF.to_owned(), descending: true };
    provide_context(SelectionSort { names: RwSignal::new(Some(most_self)), tracks: RwSignal::new(None) });
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
            let key = Act::MarkSlice.keys();
            let text = format!("Mark a span on the ruler, or press {key} on a selected slice, to see what lies in it.");
            view! { <p class="panel-empty">{text}</p> }.into_any()
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
    let sort = expect_context::<SelectionSort>();
    let names = Signal::stored(Arc::new(by_name(&summary)));
    let names = table_of(names, sort.names, name_cells(opened, &summary, whole));
    let of_tracks = Arc::clone(&summary);
    // The names of the tracks can arrive later than the totals.
    let tracks =
        Memo::new(move |_| Arc::new(by_track(&of_tracks, whole, |track| opened.track_title(track).get())));
    let tracks = table_of(tracks.into(), sort.tracks, share_cells());
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
            <PlainTable source=names most=MOST_ROWS noun="names" />
            <PlainTable source=tracks most=MOST_ROWS noun="tracks" />
        </div>
    }
}

/// Order of both tables, kept when the span changes.
#[derive(Debug, Clone, Copy)]
struct SelectionSort {
    names: RwSignal<Option<Sorting>>,
    tracks: RwSignal<Option<Sorting>>,
}

/// A table in an order that the user changes.
pub fn table_of(
    table: Signal<Arc<DataTable>>,
    sort: RwSignal<Option<Sorting>>,
    draw: DrawCell,
) -> TableSource {
    let columns = move || table.with(|table| (0..table.columns.len()).collect::<Vec<usize>>());
    let rows = move || {
        table.with(|table| {
            let all = (0..table.rows).collect();
            Arc::new(sort.with(|sorting| sorted(table, all, sorting.as_ref())))
        })
    };
    TableSource {
        table,
        columns: Signal::derive(columns),
        rows: Signal::derive(rows),
        sorting: sort.into(),
        on_sort: Callback::new(move |sorting| sort.set(sorting)),
        draw: StoredValue::new(draw),
    }
}

/// Times by name. Equal ones are in the order of names.
fn by_name(summary: &SelectionSummary) -> DataTable {
    let mut totals: Vec<_> = summary.by_name.iter().collect();
    totals.sort_by(|a, b| a.name.cmp(&b.name));
    let times = |time: fn(&nprof_engine::wire::selection::NameTotal) -> u64| {
        ColumnValues::Ints(totals.iter().map(|total| picoseconds(time(total))).collect())
    };
    let names = texts(totals.iter().map(|total| total.name.clone()).collect());
    let counts = ColumnValues::Uints(totals.iter().map(|total| total.count).collect());
    let longest = times(|total| total.longest_ps);
    DataTable {
        columns: vec![
            TableColumn::new(NAME, "Name", "", names),
            TableColumn::new("count", "Count", "count", counts).explained("Slices that overlap the span"),
            TableColumn::new(SELF, "Self", "ps", times(|total| total.self_ps))
                .explained("Time inside the span without the calls inside: no time counts twice on a thread"),
            TableColumn::new("union", "Union", "ps", times(|total| total.union_ps))
                .explained("As the total, where calls of the same name inside do not count again")
                .extra(),
            TableColumn::new("total", "Total", "ps", times(|total| total.total_ps))
                .explained("Sum of the durations inside the span: calls inside calls count in each"),
            TableColumn::new(LONGEST, "Longest", "ps", longest)
                .explained("The longest slice, with what lies outside of the span")
                .extra(),
        ],
        rows: u32::try_from(totals.len()).unwrap_or(u32::MAX),
    }
}

fn by_track(summary: &SelectionSummary, whole: u64, path: impl Fn(u32) -> String) -> DataTable {
    let totals = &summary.by_track;
    let paths = texts(totals.iter().map(|total| path(total.track)).collect());
    let counts = ColumnValues::Uints(totals.iter().map(|total| total.count).collect());
    let busy = ColumnValues::Ints(totals.iter().map(|total| picoseconds(total.busy_ps)).collect());
    let shares = totals.iter().map(|total| format::share(total.busy_ps, whole));
    DataTable {
        columns: vec![
            TableColumn::new("track", "Track", "", paths),
            TableColumn::new("slices", "Slices", "count", counts),
            TableColumn::new("busy", "Busy", "ps", busy),
            TableColumn::new(SHARE, "Share", "ratio", ColumnValues::Floats(shares.collect())),
        ],
        rows: u32::try_from(totals.len()).unwrap_or(u32::MAX),
    }
}

/// Draws names, shares of the span, and links to the longest slices.
fn name_cells(opened: Opened, summary: &SelectionSummary, whole: u64) -> DrawCell {
    let mut totals: Vec<_> = summary.by_name.iter().collect();
    totals.sort_by(|a, b| a.name.cmp(&b.name));
    let longest: Vec<u32> = totals.iter().map(|total| total.longest_row).collect();
    Arc::new(move |column, row| match column.key.as_str() {
        NAME => {
            let name = column.text(row);
            Some(view! { <span title=name.clone()><Name name=name.clone() /></span> }.into_any())
        }
        SELF => {
            let time_ps = column.int(row)?;
            let share = format::share(time_ps.unsigned_abs(), whole);
            Some(with_bar(format::duration(time_ps), share).into_any())
        }
        LONGEST => {
            let (time_ps, slice) = (column.int(row)?, *longest.get(row as usize)?);
            Some(
                view! {
                    <button
                        class="button-link"
                        type="button"
                        title="Show the longest one"
                        on:click=move |_| opened.reveal_row(slice)
                    >
                        {format::duration(time_ps)}
                    </button>
                }
                .into_any(),
            )
        }
        _ => None,
    })
}

fn share_cells() -> DrawCell {
    Arc::new(|column, row| match column.cell(row)? {
        FieldContent::Float(share) if column.key == SHARE => {
            Some(with_bar(format::percent(share), share).into_any())
        }
        _ => None,
    })
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

fn picoseconds(ps: u64) -> i64 {
    i64::try_from(ps).unwrap_or(i64::MAX)
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
