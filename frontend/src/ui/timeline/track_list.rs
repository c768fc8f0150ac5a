//! The names of the visible tracks, as a list left of the tracks. Groups open and close.

use std::sync::Arc;

use leptos::prelude::*;
use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::detail::FieldContent;

use super::heading::focus_heading;
use super::pin::{PinButton, PinMenu, PinnedHead};
use crate::ui::controls::{RankOrderMenu, RankTime, keyed};
use crate::ui::text::format;
use crate::view::ranks::standing::{RankOrder, Standings};
use crate::view::rows::layout::RankHeight;
use crate::view::rows::layout::Row;
use crate::view::rows::layout::sight::{Area, RowPart, RowSight};
use crate::view::rows::pins::PinOffers;
use crate::view::rows::sheet_track::SheetTrack;
use crate::view::state::tracks::TracksState;
use crate::view::{Act, Command, Extent, Layout, Sheet, View};

/// Indentation per enclosing group.
const INDENT_PX: f64 = 14.0;
/// Height from which on the name of a track keeps to its top.
const TALL_PX: f64 = 48.0;
/// Least height of a name.
const NAME_PX: f64 = 15.0;
/// Height of rows beyond the visible ones that are ready for scrolling.
const AHEAD_PX: f64 = 240.0;

/// One row of the list.
#[derive(Debug, Clone, PartialEq)]
struct Item {
    /// Content id of the rank. Tracks of other ranks have other names and counts, even in the same
    /// place.
    content: Arc<str>,
    row: Row,
    track: SheetTrack,
    position: usize,
    is_closed: bool,
    /// Whether the computation of its rank stands right below.
    has_load: bool,
    /// Whether it is the heading of the rows of ranks.
    is_of_ranks: bool,
    /// Time by which the rows of ranks are sorted, and its share of the longest time.
    time: Option<(i64, f64)>,
    /// Host of a rank's row, if the rows are sorted by host.
    host: Option<String>,
}

impl Item {
    /// The row in this position of a layout, in the list of a part.
    fn of(
        part: RowPart,
        position: usize,
        sheet: &Sheet,
        layout: &Layout,
        state: &TracksState,
        standings: &Standings,
    ) -> Option<Self> {
        let mut row = *layout.rows.get(position)?;
        row.top_px -= layout.start_px(part);
        let track = sheet.tracks().get(row.track)?.clone();
        let below = layout.rows.get(position + 1).and_then(|row| sheet.tracks().get(row.track));
        let order = state.order;
        let is_timed = matches!(order, RankOrder::Late | RankOrder::Wait) && !track.is_load();
        let time = track
            .subject()
            .filter(|_| is_timed)
            .and_then(|rank| Some((standings.time_ps(rank, order)?, standings.share(rank, order))));
        Some(Self {
            content: sheet.source(track.source)?.entry.content.as_str().into(),
            row,
            position,
            is_closed: state.is_closed(&track),
            has_load: below.is_some_and(SheetTrack::is_load) && !track.is_load(),
            is_of_ranks: sheet.rank_group() == Some(row.track),
            time,
            host: host_of(&track, order, standings),
            track,
        })
    }

    /// The classes of the row.
    fn class(&self) -> &'static str {
        match self.track.kind {
            TrackKind::Slices if self.row.is_fitted() => "track track-fitted",
            TrackKind::Slices if self.row.is_empty() => "track track-empty",
            TrackKind::Slices if self.has_load => "track track-above-load",
            TrackKind::Slices if self.row.height_px > TALL_PX => "track track-tall",
            TrackKind::Slices => "track",
            TrackKind::Counter if self.track.is_load() => "track track-load",
            TrackKind::Counter => "track track-counter",
            TrackKind::Group => "track track-heading",
        }
    }

    /// The place of the row.
    fn style(&self) -> String {
        let Row { top_px, height_px, depth, .. } = self.row;
        let height_px = if self.row.is_fitted() { height_px.max(NAME_PX) } else { height_px };
        format!("top: {top_px}px; height: {height_px}px; --indent: {}px", f64::from(depth) * INDENT_PX)
    }

    /// A row is drawn again when any part of the key changes.
    fn key(&self) -> String {
        let Self { content, row, track, is_closed, has_load, time, host, .. } = self;
        let pin = &track.pin;
        let (top_px, height_px) = (row.top_px.to_bits(), row.height_px);
        format!(
            "{content} {:?} {top_px} {height_px} {is_closed} {has_load} {time:?} {host:?} {pin:?}",
            track.number
        )
    }
}

/// The list of track names.
#[component]
pub fn TrackList(
    /// The tracks of the list.
    part: RowPart,
    /// The current view.
    view: Signal<View>,
    /// The tracks.
    sheet: Memo<Arc<Sheet>>,
    /// Lateness of all ranks.
    standings: Memo<Arc<Standings>>,
    /// The ranks that a pinned track can be shown of.
    offers: Memo<PinOffers>,
    /// The rows of the tracks.
    layout: Memo<Arc<Layout>>,
    /// The areas that show the rows.
    sight: Memo<RowSight>,
    /// Receives the user's commands.
    on_command: Callback<Command>,
) -> impl IntoView {
    // Changes only when other rows come into sight.
    let in_sight = Memo::new(move |_| {
        let Area { scroll_px, height_px, .. } = sight.with(|sight| sight.area(part));
        let top_px = scroll_px - AHEAD_PX;
        layout.with(|layout| {
            let (rows, own) =
                (layout.visible(top_px, top_px + height_px + 2.0 * AHEAD_PX), layout.positions(part));
            rows.first().map_or(0..0, |first| {
                let start = layout.rows.partition_point(|row| row.top_px < first.top_px);
                start.max(own.start)..(start + rows.len()).min(own.end)
            })
        })
    });
    let state = Memo::new(move |_| view.with(|view| view.tracks.clone()));
    let items = move || {
        let (sheet, layout, state, standings) = (sheet.get(), layout.get(), state.get(), standings.get());
        let rows = layout.rows.iter().enumerate().skip(in_sight.get().start).take(in_sight.get().len());
        let first = layout.rows.iter().position(Row::is_fitted).unwrap_or_default();
        rows.filter(|(position, row)| has_name(position.saturating_sub(first), row))
            .filter_map(|(position, _)| Item::of(part, position, &sheet, &layout, &state, &standings))
            .collect::<Vec<_>>()
    };
    let height = move || format!("height: {}px", layout.with(|layout| layout.part_px(part)));
    let count = Memo::new(move |_| layout.with(|layout| layout.rows.len()));
    let label = match part {
        RowPart::Pinned => "Pinned tracks",
        RowPart::Others => "Tracks",
    };
    let order = Memo::new(move |_| state.with(|state| state.order));
    let rank_height = Memo::new(move |_| state.with(|state| state.height));
    let pins = PinMenu { offers, state };
    view! {
        <ul class="tracks" aria-label=label style=height>
            {keyed(items, Item::key, move |item| {
                view! { <TrackName item order standings height=rank_height count pins on_command /> }.into_any()
            })}
        </ul>
    }
}

/// Whether a row has its name in the list. If rows are lower than a name, only one in so many has
/// it that names do not cover each other. `position` counts from the first such row.
fn has_name(position: usize, row: &Row) -> bool {
    !row.is_fitted() || position.is_multiple_of((NAME_PX / row.height_px.max(1.0)).ceil() as usize)
}

#[component]
fn TrackName(
    item: Item,
    order: Memo<RankOrder>,
    standings: Memo<Arc<Standings>>,
    height: Memo<RankHeight>,
    count: Memo<usize>,
    pins: PinMenu,
    on_command: Callback<Command>,
) -> impl IntoView {
    let (class, style) = (item.class(), item.style());
    let Item { track, position, is_closed, is_of_ranks, time, host, .. } = item;
    let about = said(&track, time, host.as_deref(), order.get_untracked());
    let name = if track.is_load() { format!("Computation of {}", track.name) } else { track.name.clone() };
    let title = if about.is_empty() { name } else { format!("{name}: {about}") };
    let can_pin = track.pin.is_none() && track.kind != TrackKind::Group && !track.source.rank.is_all();
    let content = match track.kind {
        TrackKind::Group => view! {
            <GroupButton track=track.clone() position is_closed on_command />
            {is_of_ranks.then(|| {
                let on_choose = Callback::new(move |order| on_command.run(Command::SortRanks(order)));
                view! { <RankOrderMenu order known=standings on_choose /> <RankFit height on_command /> }
            })}
            {track.pin.clone().map(|path| view! { <PinnedHead path menu=pins on_command /> })}
        }
        .into_any(),
        TrackKind::Slices => view! {
            <span class="track-name">{track.name.clone()}</span>
            {time.map(|(time_ps, share)| view! { <RankTime time_ps share /> })}
            {host.map(|host| view! { <span class="rank-host">{host}</span> })}
        }
        .into_any(),
        TrackKind::Counter if track.is_load() => view! {
            <span class="track-name">"computation"<span class="unseen">{format!(" of {}", track.name)}</span></span>
        }
        .into_any(),
        TrackKind::Counter => view! {
            <span class="track-name">{track.name.clone()}</span>
            <span class="track-range">{range(&track)}</span>
        }
        .into_any(),
    };
    view! {
        <li
            class=class
            style=style
            title=title.clone()
            aria-setsize=move || count.get().to_string()
            aria-posinset=(position + 1).to_string()
        >
            <div class="track-label">
                {content}
                {can_pin.then(|| view! { <PinButton path=track.path.clone() menu=pins on_command /> })}
                <span class="unseen">{about}</span>
            </div>
        </li>
    }
}

/// The name of a group, which opens and closes it.
#[component]
fn GroupButton(
    track: SheetTrack,
    position: usize,
    is_closed: bool,
    on_command: Callback<Command>,
) -> impl IntoView {
    let SheetTrack { path, name, .. } = track;
    let toggle = move |event: web_sys::MouseEvent| {
        on_command.run(Command::SetGroup { path: path.clone(), is_open: is_closed });
        // The row is drawn again. A key must not lose its place.
        if event.detail() == 0 {
            focus_heading(position, || {});
        }
    };
    view! {
        <button
            type="button"
            class="track-group"
            aria-expanded=if is_closed { "false" } else { "true" }
            on:click=toggle
        >
            <svg class="track-chevron" viewBox="0 0 16 16" aria-hidden="true">
                <path d="M6 4l4 4-4 4" />
            </svg>
            <span class="track-name">{name}</span>
        </button>
    }
}

/// The button that fits the rows of all ranks into the view.
#[component]
fn RankFit(height: Memo<RankHeight>, on_command: Callback<Command>) -> impl IntoView {
    let title = "Fit the rows of all ranks into the view. Rows below 3 px show waiting as a colour";
    view! {
        <button
            class="rank-fit"
            type="button"
            title=Act::FitRanks.titled(title)
            aria-pressed=move || (height.get() == RankHeight::Fit).to_string()
            on:click=move |_| on_command.run(Command::SetRankHeight(height.get_untracked().other()))
        >
            "Fit"
        </button>
    }
}

/// The host of a rank's row, if the rows are sorted by host.
fn host_of(track: &SheetTrack, order: RankOrder, standings: &Standings) -> Option<String> {
    let rank = track.subject().filter(|_| order == RankOrder::Host && !track.is_load())?;
    Some(standings.host(rank).unwrap_or("host not known").to_owned())
}

/// The content of a row, in words: first why it has its place.
fn said(track: &SheetTrack, time: Option<(i64, f64)>, host: Option<&str>, order: RankOrder) -> String {
    let about = about(track);
    match (time, host) {
        (Some((time_ps, _)), _) => format!("{} {}, {about}", order.quantity(), format::duration(time_ps)),
        (None, Some(host)) => format!("{host}, {about}"),
        (None, None) => about,
    }
}

/// The content of a track, in words.
fn about(track: &SheetTrack) -> String {
    match track.kind {
        TrackKind::Group => String::new(),
        TrackKind::Slices => format::counted(track.rows, "slice", "slices"),
        TrackKind::Counter => {
            format!("{}, {}", format::counted(track.rows, "sample", "samples"), values(track))
        }
    }
}

/// The values at the lower and upper edge of a counter's row.
fn range(track: &SheetTrack) -> String {
    let shown = |value: f64| format::value(&FieldContent::Float(value), &track.unit).text;
    track.value_range.map_or_else(String::new, |(least, most)| {
        if least.total_cmp(&most).is_eq() {
            return format!("always {}", shown(least));
        }
        let extent = Extent::of_values(least, most);
        format!("{} – {}", shown(extent.low), shown(extent.high))
    })
}

/// A counter's smallest and largest value.
fn values(track: &SheetTrack) -> String {
    let shown = |value: f64| format::value(&FieldContent::Float(value), &track.unit).text;
    track
        .value_range
        .map_or_else(String::new, |(least, most)| format!("values from {} to {}", shown(least), shown(most)))
}
