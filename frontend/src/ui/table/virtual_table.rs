//! A table that fills its place: only the rows in sight are in the page, however many there are.

use std::sync::Arc;

use leptos::html::{Div, Table};
use leptos::prelude::*;
use nprof_engine::base::narrow;
use web_sys::{KeyboardEvent, MouseEvent};

use super::TableSource;
use super::cell::Cells;
use super::follow::{follow_height, follow_width};
use super::head::Head;
use super::tools::TableToolsState;
use super::widths::{fitted, widths};
use crate::ui::controls::{keyed, scrolled_px};
use crate::view::table::{Scroller, Sight};

/// Height of a row and of the head, in CSS pixels; the style sheet has the same.
const ROW_PX: f64 = 28.0;
/// Width of a digit in the widest usual font, in CSS pixels.
const DIGIT_PX: f64 = 8.5;
/// Padding of a cell on both sides, in characters.
const PADDING_CH: usize = 3;

/// A scrolled table with keys: arrows, pages, Home and End move; Shift marks rows; Enter opens.
#[component]
pub fn VirtualTable(
    /// The table.
    source: TableSource,
    /// Marked rows, and how they are copied.
    tools: TableToolsState,
    /// Name of the table for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Opens a row; `None` if rows lead nowhere.
    #[prop(into)]
    on_open: Signal<Option<Callback<u32>>>,
) -> impl IntoView {
    let (scrolled, table) = (NodeRef::<Div>::new(), NodeRef::<Table>::new());
    let (scroll_px, sight_px) = (RwSignal::new(0.0), RwSignal::new(0.0));
    let width_px = RwSignal::new(f64::INFINITY);
    follow_height(scrolled, sight_px);
    follow_width(scrolled, width_px);
    let scroller = Memo::new(move |_| Scroller {
        rows: source.rows.with(|rows| narrow(rows.len())),
        row_px: ROW_PX,
        // The head covers a row.
        sight_px: (sight_px.get() - ROW_PX).max(0.0),
    });
    let sight = Memo::new(move |_| scroller.get().sight(scroll_px.get()));
    let keys = Keys { source, tools, scroller, scrolled, scroll_px, on_open };
    keys.return_to_first_row();
    let sizes = sizes_in(source, width_px);
    let least_width = move || {
        let all: usize = sizes.with(|sizes| sizes.iter().map(|size| size + PADDING_CH).sum());
        format!("{all}ch")
    };
    view! {
        <div
            class="table-scroll"
            node_ref=scrolled
            on:scroll=move |event| scrolled_px(&event).into_iter().for_each(|now_px| scroll_px.set(now_px))
        >
            <table
                node_ref=table
                class="grid-table grid-table-virtual"
                class:can-open=move || on_open.get().is_some()
                role="grid"
                tabindex="0"
                aria-label=label
                aria-multiselectable="true"
                aria-rowcount=move || (scroller.get().rows + 1).to_string()
                aria-activedescendant=move || tools.marked.current().map(row_id)
                style:min-width=least_width
                on:keydown=move |event| keys.press(&event)
            >
                <ColumnWidths sizes />
                <Head source />
                <Body source tools sight keys />
            </table>
        </div>
    }
}

/// Widths of the columns in characters, in a table of this width.
fn sizes_in(source: TableSource, width_px: RwSignal<f64>) -> Memo<Vec<usize>> {
    let wanted =
        Memo::new(move |_| source.table.with(|table| source.columns.with(|columns| widths(table, columns))));
    Memo::new(move |_| {
        let (wanted, room_ch) = (wanted.get(), (width_px.get() / DIGIT_PX) as usize);
        let room_ch = room_ch.saturating_sub(wanted.len() * PADDING_CH);
        source.table.with(|table| source.columns.with(|columns| fitted(wanted, table, columns, room_ch)))
    })
}

/// Widths of the columns. `sizes` are those of their texts, in characters.
#[component]
fn ColumnWidths(sizes: Memo<Vec<usize>>) -> impl IntoView {
    let columns = move || {
        let columns = sizes.get().into_iter();
        columns.map(|size| view! { <col style:width=format!("{}ch", size + PADDING_CH) /> }).collect_view()
    };
    view! { <colgroup>{columns}</colgroup> }
}

/// The rows in sight, with room for those above and below.
#[component]
fn Body(source: TableSource, tools: TableToolsState, sight: Memo<Sight>, keys: Keys) -> impl IntoView {
    let above_px = Signal::derive(move || sight.get().top_px);
    let below_px = Signal::derive(move || {
        let Sight { first, end, top_px } = sight.get();
        keys.scroller.get().height_px() - top_px - f64::from(end - first) * ROW_PX
    });
    view! {
        <tbody>
            <Space height_px=above_px />
            {move || {
                source.table.track();
                source.columns.track();
                view! { <Rows source tools sight keys /> }
            }}
            <Space height_px=below_px />
        </tbody>
    }
}

/// Room of the rows that are out of sight.
#[component]
fn Space(height_px: Signal<f64>) -> impl IntoView {
    let height = move || format!("{:.2}px", height_px.get().max(0.0));
    view! { <tr class="space" aria-hidden="true" style:height=height></tr> }
}

/// The rows in sight.
#[component]
fn Rows(source: TableSource, tools: TableToolsState, sight: Memo<Sight>, keys: Keys) -> impl IntoView {
    let in_sight = move || {
        let Sight { first, end, .. } = sight.get();
        source.rows.with(|rows| {
            let rows = rows.get(first as usize..end as usize).unwrap_or_default();
            (first..).zip(rows.iter().copied()).collect::<Vec<(u32, u32)>>()
        })
    };
    let (table, columns) = (source.table.get_untracked(), source.columns.get_untracked());
    let draw = move |(place, row): (u32, u32)| {
        view! {
            <tr
                id=row_id(place)
                aria-rowindex=(place + 2).to_string()
                aria-selected=move || tools.marked.has(place).to_string()
                class:is-current=move || tools.marked.current() == Some(place)
                on:click=move |event: MouseEvent| tools.marked.go(place, event.shift_key())
                on:dblclick=move |_| keys.open(row)
            >
                <Cells table=Arc::clone(&table) columns=columns.clone() row draw=source.draw />
            </tr>
        }
        .into_any()
    };
    keyed(in_sight, |(place, row)| format!("{place} {row}"), draw)
}

fn row_id(place: u32) -> String {
    format!("row-{place}")
}

/// Object that keys act on.
#[derive(Clone, Copy)]
struct Keys {
    source: TableSource,
    tools: TableToolsState,
    scroller: Memo<Scroller>,
    scrolled: NodeRef<Div>,
    scroll_px: RwSignal<f64>,
    on_open: Signal<Option<Callback<u32>>>,
}

impl Keys {
    /// Scrolls to the first row and clears the marks whenever order or filter change. Setting the
    /// place costs a layout of the whole page, so it is set only if it is another one.
    fn return_to_first_row(self) {
        Effect::new(move |before: Option<()>| {
            self.source.rows.track();
            if let (Some(()), Some(element)) = (before, self.scrolled.get_untracked()) {
                if self.scroll_px.get_untracked() > 0.0 {
                    element.set_scroll_top(0);
                }
                self.tools.marked.clear();
            }
        });
    }

    fn open(self, row: u32) {
        if let Some(open) = self.on_open.get_untracked() {
            open.run(row);
        }
    }

    fn press(self, event: &KeyboardEvent) {
        let on_table = event.target() == event.current_target();
        let command = event.ctrl_key() || event.meta_key();
        if !on_table || event.alt_key() {
            return;
        }
        let scroller = self.scroller.get_untracked();
        let Some(last) = scroller.rows.checked_sub(1) else { return };
        let now = untrack(|| self.tools.marked.current());
        let by = |step: i64| {
            let at = now.map_or(if step > 0 { -1 } else { 0 }, i64::from);
            u32::try_from((at + step).clamp(0, i64::from(last))).unwrap_or_default()
        };
        let page = i64::from(scroller.page());
        let place = match event.key().as_str() {
            "c" | "C" if command => {
                event.prevent_default();
                return self.tools.copy();
            }
            _ if command => return,
            "ArrowDown" => by(1),
            "ArrowUp" => by(-1),
            "PageDown" => by(page),
            "PageUp" => by(-page),
            "Home" => 0,
            "End" => last,
            "Enter" => {
                let row = now.and_then(|place| {
                    self.source.rows.with_untracked(|rows| rows.get(place as usize).copied())
                });
                row.into_iter().for_each(|row| self.open(row));
                return;
            }
            _ => return,
        };
        event.prevent_default();
        self.tools.marked.go(place, event.shift_key());
        if let Some(element) = self.scrolled.get_untracked() {
            element.set_scroll_top(scroller.revealing(f64::from(element.scroll_top()), place).ceil() as i32);
        }
    }
}
