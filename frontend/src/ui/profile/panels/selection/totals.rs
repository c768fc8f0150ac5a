//! Statistics of the marked span, beside those of other ranks that are shown and of regions.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::base::{Interval, clamped, narrow};
use nprof_engine::query::{HitPlace, Syntax};
use nprof_engine::wire::detail::FieldContent;
use nprof_engine::wire::questions::{SearchQuestion, SelectionQuestion, Toward};
use nprof_engine::wire::rows::ColumnValues;
use nprof_engine::wire::selection::SelectionSummary;
use web_sys::AbortSignal;

use super::comparison::{LONGEST, NAME, OtherPart, OtherSummary, Summaries, by_name};
use super::region_column::{BesideLine, shown_regions};
use super::region_name::RegionName;
use crate::fetch::FetchError;
use crate::ui::controls::{Failure, Loading, Name};
use crate::ui::profile::open_profile::{Answer, NamedSpan, Opened};
use crate::ui::profile::panels::panel_table::table_of;
use crate::ui::shell::QuestionAnswers;
use crate::ui::table::{DrawCell, PlainTable};
use crate::ui::text::format;
use crate::view::ranks::namesake::{nearest, pattern_of};
use crate::view::source_id::SourceId;
use crate::view::state::orders::{PanelTable, SELF};
use crate::view::table::{DataTable, TableColumn, texts};
use crate::view::{Act, Command, View};

/// Limit of listed rows. The others are counted.
const MOST_ROWS: usize = 200;
/// Limit of ranks whose times stand beside those of the current rank.
const MOST_BESIDE: usize = 3;
/// Limit of slices of a name that are looked at in another rank.
const MOST_NAMESAKES: u32 = 64;
/// Key of a column with a bar.
const SHARE: &str = "share";

/// Statistics of the slices in the marked span.
#[component]
pub fn Selection(
    /// The opened profile.
    opened: Opened,
) -> impl IntoView {
    let regions = shown_regions(opened);
    let wanted = Memo::new(move |_| {
        let source = opened.current.source.get()?;
        let selection = opened.session.view.with(|view| view.selection.clone());
        let others: Vec<SourceId> = opened.shown_beside().into_iter().take(MOST_BESIDE).collect();
        let name = selection.marked_slice.filter(|_| !others.is_empty());
        let hits = opened.session.view.with(View::summed_hits);
        // The hits of a search are added up over all time, unless a span is marked.
        let whole = || hits.is_some().then(|| opened.times.whole.get());
        let span = selection.marked.or_else(whole)?;
        Some(ComparisonKey { source, span, others, regions: regions.get(), name, hits })
    });
    let asked =
        QuestionAnswers::new(
            wanted,
            move |wanted, signal| async move { compare(opened, wanted, signal).await },
        );
    // During a drag, the last answer stays until the next one arrives. The answer of another rank
    // does not stay.
    let answer = move || -> Answer<Summaries> {
        let source = wanted.get()?.source;
        asked.last.get().filter(|(of, _)| of.source == source).map(|(_, answer)| answer)
    };
    let totals = move || {
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
        Some(Ok(summaries)) => view! { <Totals opened summaries /> }.into_any(),
    }
    };
    view! {
        <div class="marked-region">
            <RegionName opened />
            <BesideLine opened />
            <OnlyHitsChoice opened />
        </div>
        {totals}
    }
}

/// Comparison of a marked span of the current rank with other ranks and regions.
#[derive(Clone, PartialEq)]
struct ComparisonKey {
    source: SourceId,
    span: Interval,
    others: Vec<SourceId>,
    regions: Vec<NamedSpan>,
    /// Name of the slice whose span it is.
    name: Option<String>,
    /// The query whose hits alone count.
    hits: Option<(String, Syntax)>,
}

/// The totals of all ranks, of the same span or of each rank's own slice of the marked name, and
/// those of regions.
async fn compare(opened: Opened, of: ComparisonKey, signal: AbortSignal) -> Result<Summaries, FetchError> {
    let ComparisonKey { source, span, others, regions, name, hits } = of;
    let question = |span| SelectionQuestion {
        text: hits.as_ref().map(|(text, _)| text.clone()),
        syntax: hits.as_ref().map_or(Syntax::Query, |(_, syntax)| *syntax),
        zero_ps: opened.times.zero.get_untracked().0,
        ..SelectionQuestion::of_all(span)
    };
    let own = opened.ask(source, question(span), Some(&signal)).await?;
    let mut beside = Vec::new();
    for other in others {
        let there = match &name {
            Some(name) => namesake(opened, source, other, name, span, &signal).await?,
            None => None,
        };
        let summary = opened.ask(other, question(there.unwrap_or(span)), Some(&signal)).await?;
        let has_slice = there.is_some();
        let part = OtherPart::Rank { source: other, words: opened.words_of(other), has_slice };
        beside.push(OtherSummary { part, summary });
    }
    for (at, NamedSpan { name, span }) in regions.into_iter().enumerate() {
        let summary = opened.ask(source, question(span), Some(&signal)).await?;
        beside.push(OtherSummary { part: OtherPart::Region { at, name }, summary });
    }
    Ok(Summaries { own, beside, slice: name })
}

/// The span of the slice of this name in another rank, where the current rank has it in `span`.
async fn namesake(
    opened: Opened,
    source: SourceId,
    other: SourceId,
    name: &str,
    span: Interval,
    signal: &AbortSignal,
) -> Result<Option<Interval>, FetchError> {
    let at = HitPlace { start_ps: span.start.0, row: 0 };
    let (text, syntax) = (pattern_of(name), Syntax::Regex);
    let (toward, limit) = (Toward::Around, MOST_NAMESAKES);
    let search = SearchQuestion { text, syntax, zero_ps: 0, at, toward, limit, cells: 0, span: None };
    let hits = opened.ask(other, search, Some(signal)).await?;
    let sheet = opened.tracks.sheet.get_untracked();
    let path = |id: SourceId, track: u32| sheet.track(id, track).map(|track| track.path.pattern());
    let selected = opened.current.slice.get_untracked().and_then(Result::ok);
    let own = selected.filter(|detail| detail.slice.name == name).map(|detail| detail.slice.track);
    let own = own.and_then(|track| path(source, track));
    Ok(nearest(&hits, name, span.start.0, |track| own.is_some() && path(other, track) == own))
}

/// Whether only the hits of the search count. Nothing without a search.
#[component]
fn OnlyHitsChoice(opened: Opened) -> impl IntoView {
    let query = Memo::new(move |_| {
        opened.session.view.with(|view| {
            let is_summed = view.selection.marked.is_some() || view.summed_hits().is_some();
            is_summed.then(|| view.search.query.clone())
        })
    });
    let is_on = Memo::new(move |_| opened.session.view.with(|view| view.summed_hits().is_some()));
    move || {
        let query = query.get().filter(|query| !query.is_empty())?;
        let switch = move |_| opened.act(&Command::SumOnlyHits(!is_on.get_untracked()));
        Some(view! {
            <button
                type="button"
                class="button button-toggle only-hits"
                aria-pressed=move || is_on.get().to_string()
                title="Add up the hits of the search alone"
                on:click=switch
            >
                "Only hits of "
                <code>{query}</code>
            </button>
        })
    }
}

#[component]
fn Totals(opened: Opened, summaries: Arc<Summaries>) -> impl IntoView {
    let summary = &summaries.own;
    let span = Interval::new(summary.start_ps, summary.end_ps);
    let whole = u64::try_from(span.duration_ps()).unwrap_or(0);
    let names = summaries.groups().into_iter().map(|group| {
        let (names, longest) = by_name(&summaries, group);
        let cells = name_cells(opened, longest, whole);
        let source = table_of(opened, PanelTable::Names, Signal::stored(Arc::new(names)), cells);
        let noun = if group.is_wait { "waits" } else { "names" };
        view! { <PlainTable source most=MOST_ROWS noun /> }
    });
    let names = names.collect_view();
    let of_tracks = Arc::clone(&summaries);
    // The names of the tracks can arrive later than the totals.
    let tracks = Memo::new(move |_| {
        Arc::new(by_track(&of_tracks.own, whole, |track| opened.track_title(track).get()))
    });
    let tracks = table_of(opened, PanelTable::Tracks, tracks.into(), share_cells());
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
                <button
                    class="button"
                    type="button"
                    on:click=move |_| {
                        opened.act(&Command::SumOnlyHits(false));
                        opened.act(&Command::Mark(None));
                    }
                >
                    "Clear"
                </button>
            </div>
        </div>
        {summaries.spans().map(|said| view! { <p class="stats-note muted">{said}</p> })}
        <div class="columns">
            <div class="stacked">{names}</div>
            <PlainTable source=tracks most=MOST_ROWS noun="tracks" />
        </div>
    }
}

fn by_track(summary: &SelectionSummary, whole: u64, path: impl Fn(u32) -> String) -> DataTable {
    let totals = &summary.by_track;
    let paths = texts(totals.iter().map(|total| path(total.track)).collect());
    let counts = ColumnValues::Uints(totals.iter().map(|total| total.count).collect());
    let busy = ColumnValues::Ints(totals.iter().map(|total| clamped(total.busy_ps)).collect());
    let waits = ColumnValues::Ints(totals.iter().map(|total| clamped(total.wait_ps)).collect());
    let shares = totals.iter().map(|total| format::share(total.busy_ps, whole));
    DataTable {
        columns: vec![
            TableColumn::new("track", "Track", "", paths),
            TableColumn::new("slices", "Slices", "count", counts).giving_way(0),
            TableColumn::new("busy", "Busy", "ps", busy)
                .explained("Time in which at least one slice ran that is no wait"),
            TableColumn::new(SHARE, "Share", "ratio", ColumnValues::Floats(shares.collect()))
                .explained("Share of the span that is busy"),
            TableColumn::new("wait", "Waiting", "ps", waits)
                .explained("Time in which at least one slice waited; work beside it counts as busy, too")
                .giving_way(1),
        ],
        rows: narrow(totals.len()),
    }
}

/// Draws names, shares of the span, and links to the longest slices.
fn name_cells(opened: Opened, longest: Vec<Option<u32>>, whole: u64) -> DrawCell {
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
            let (time_ps, slice) = (column.int(row)?, (*longest.get(row as usize)?)?);
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
    let clock = opened.times.clock;
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

/// A number with a bar as long as its share. Shares above 1 (overlapping slices) fill the bar.
fn with_bar(text: String, share: f64) -> impl IntoView {
    view! {
        <span class="share">
            <i style:width=format!("{:.1}%", (share * 100.0).min(100.0))></i>
            <span>{text}</span>
        </span>
    }
}
